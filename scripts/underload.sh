#!/usr/bin/env bash
# Runs the tests that depend on the machine, several times in random order, beside processes that keep it busy.
#
#   scripts/underload.sh [RUNS [FIRST_SEED [PATH…]]]   # default: 10 runs, seeds 1 to 10, all of the tests below
#   scripts/underload.sh list                          # the files
#
# The tests are those of every file that touches sockets, threads, processes, signals, clocks, time limits, memory, garbage
# collection or the environment, and all tests of the server; PATH… chooses those in some folders. Odd seeds use one worker, even
# seeds four. The order depends on the seed alone: repeat a failure with RUNS = 1 and its seed. BUSY is the number of busy
# processes (2); a machine that others use needs none. Stops at the first run that fails.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-.venv/bin/python}
modules='asyncio|concurrent|gc|multiprocessing|psutil|resource|signal|socket|subprocess|threading|time|tracemalloc|weakref'
touches="^ *(import|from) ($modules)\b|os\.(fork|kill|utime|environ|chdir)|monkeypatch\.(setenv|chdir|delenv)"
touches+="|[tT]imeout|core\.workers|tests\.(bounded|postgres|works|index\.kills)"
mapfile -t files < <({ grep -rlE "$touches" tests --include='test_*.py'; find tests/serve -name 'test_*.py'; } | sort -u)
if [ "${1:-}" = list ]; then printf '%s\n' "${files[@]}"; exit; fi

runs=${1:-10} seed=${2:-1}
if [ $# -gt 2 ]; then
    mapfile -t files < <(for path in "${@:3}"; do printf '%s\n' "${files[@]}" | grep -E "^$path(/|$)" || true; done | sort -u)
fi
for ((busy = 0; busy < ${BUSY:-2}; busy++)); do
    "$python" -c "while True: sum(range(10**6))" &
done
trap 'kill $(jobs -p) 2> /dev/null || true' EXIT
for ((run = 0; run < runs; run++, seed++)); do
    workers=$((seed % 2 ? 1 : 4))
    echo "run $((run + 1)) of $runs: ${#files[@]} files, seed $seed, $workers workers, load $(cut -d' ' -f1 /proc/loadavg)"
    "$python" -m pytest -q -p no:cacheprovider -n "$workers" --dist loadfile --random-order --random-order-seed="$seed" "${files[@]}"
done

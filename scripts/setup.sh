#!/usr/bin/env bash
# Creates the virtual environment and installs mathamr into it.
#   setup.sh runtime     what `mathamr` itself needs
#   setup.sh developer   that, and the tools for tests, lint and benchmarks
# Called by make, which skips it when pyproject.toml has not changed since the last time.
set -euo pipefail

what=${1:-runtime}
python=${PYTHON:-python3}
venv=${VENV:-.venv}
say() { echo "mathamr: $*" >&2; }

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    say "Python 3.11 or newer is needed; '$python' is $("$python" --version 2>&1 || echo missing)."
    say "Name another one with: make PYTHON=/path/to/python3.12 ..."
    exit 1
fi

# The torch that a machine already has is kept, so that its accelerator is used; elsewhere this one is installed.
torch=2.13.0
has_torch() { "$1" -c 'import sys, torch; v = tuple(map(int, torch.__version__.split(".")[:2])); sys.exit(not (2, 6) <= v < (3, 0))' >/dev/null 2>&1; }

if [ ! -x "$venv/bin/python" ]; then
    say "creating $venv with $("$python" --version)"
    if has_torch "$python"; then
        say "keeping the torch that is already here"
        "$python" -m venv --system-site-packages "$venv"
    else
        "$python" -m venv "$venv"
    fi
fi
if ! has_torch "$venv/bin/python"; then
    say "installing torch $torch"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "torch==$torch"
fi

if [ "$what" = developer ]; then target='.[dev]'; else target='.[research]'; fi
say "installing mathamr ($what) into $venv; the first time this takes a few minutes"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --editable "$target"
[ "$what" = developer ] && bash scripts/setup_browser.sh
touch "$venv/.$what"
[ "$what" = developer ] && touch "$venv/.runtime"
say "ready: $venv/bin/mathamr --help"

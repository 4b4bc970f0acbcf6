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

if [ ! -x "$venv/bin/python" ]; then
    say "creating $venv with $("$python" --version)"
    "$python" -m venv "$venv"
fi

if [ "$what" = developer ]; then target='.[dev]'; else target='.'; fi
say "installing mathamr ($what) into $venv; the first time this takes a few minutes"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --editable "$target"
touch "$venv/.$what"
[ "$what" = developer ] && touch "$venv/.runtime"
say "ready: $venv/bin/mathamr --help"

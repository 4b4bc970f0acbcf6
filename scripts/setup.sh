#!/usr/bin/env bash
# Creates the virtual environment and installs mathamr into it.
#   setup.sh product     what `mathamr` needs: no PyTorch, no experiments
#   setup.sh test        the product and the tools of its own tests: no PyTorch either
#   setup.sh developer   the product, the laboratory, and the tools for tests, lint and benchmarks
# make calls it, and skips it while pyproject.toml has not changed.
set -euo pipefail

what=${1:-product}
python=${PYTHON:-python3}
venv=${VENV:-.venv}
say() { echo "mathamr: $*" >&2; }
# Modules are compiled when they are first used: to compile all of them takes as long as everything else.
install() { "$venv/bin/python" -m pip --quiet --disable-pip-version-check install --no-compile "$@"; }

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    say "Python 3.11 or newer is needed; '$python' is $("$python" --version 2>&1 || echo missing)."
    say "Name another one with: make PYTHON=/path/to/python3.12 ..."
    exit 1
fi

# The laboratory uses the torch that a machine already has, so that its accelerator is used; elsewhere this one is installed.
torch=2.13.0
has_torch() { "$1" -c 'import sys, torch; v = tuple(map(int, torch.__version__.split(".")[:2])); sys.exit(not (2, 6) <= v < (3, 0))' >/dev/null 2>&1; }

if [ ! -x "$venv/bin/python" ]; then
    say "creating $venv with $("$python" --version)"
    if has_torch "$python"; then
        "$python" -m venv --system-site-packages "$venv"
    else
        "$python" -m venv "$venv"
    fi
fi

say "installing mathamr ($what) into $venv"
if [ "$what" = developer ]; then
    if ! has_torch "$venv/bin/python"; then
        say "installing torch $torch"
        install "torch==$torch"
    fi
    install --editable '.[dev]' --editable lab
    bash scripts/setup_browser.sh
    touch "$venv/.developer" "$venv/.test" "$venv/.product"
elif [ "$what" = test ]; then
    install --editable '.[test]'
    touch "$venv/.test" "$venv/.product"
else
    install --editable .
    touch "$venv/.product"
fi
say "ready: source $venv/bin/activate && mathamr --help"

"""``python -m mathamr`` is the ``mathamr`` command."""

import sys

if not sys.flags.safe_path:
    # Python puts the current folder first: a typer.py there must not stand in for the library.
    del sys.path[0]

from mathamr.cli import main

main()

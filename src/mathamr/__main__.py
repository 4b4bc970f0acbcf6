"""``python -m mathamr`` is the ``mathamr`` command."""

from mathamr.cli import main

main()

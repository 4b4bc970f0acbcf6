"""What the trainings of whole systems are prepared from."""

from __future__ import annotations

from tests.lab.systems.mathamrplus.conftest import text_files

__all__ = ["text_files"]

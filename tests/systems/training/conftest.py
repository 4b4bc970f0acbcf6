"""What the trainings of whole systems are prepared from."""

from __future__ import annotations

from tests.systems.mathamrplus.training.conftest import text_files

__all__ = ["text_files"]

"""The command in the process of the tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

from mathamr.cli import main


class Ran(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def mathamr(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    """The command in this process, so that torch and spaCy are loaded once."""

    def run(*arguments: str) -> Ran:
        monkeypatch.setattr("sys.argv", ["mathamr", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return Ran(int(ended.value.code or 0), *capsys.readouterr())

    return run

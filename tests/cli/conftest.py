"""The command in the process of the tests."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import NamedTuple

import pytest

from mathamr.cli import main


class Ran(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


Command = Callable[..., Ran]


@pytest.fixture
def mathamr(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """The command in this process, so that what it imports is loaded once."""

    def run(*arguments: object, stdin: str | bytes = "") -> Ran:
        monkeypatch.setattr("sys.argv", ["mathamr", *map(str, arguments)])
        given = stdin if isinstance(stdin, bytes) else stdin.encode()
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given), encoding="utf-8"))
        with pytest.raises(SystemExit) as ended:
            main()
        return Ran(int(ended.value.code or 0), *capsys.readouterr())

    return run

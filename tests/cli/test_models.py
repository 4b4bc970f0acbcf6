"""`mathamr models`: a line for every model that says what it is."""

from __future__ import annotations

from mathamr.systems.models import boxed
from tests.cli.test_cli import mathamr


def test_every_model_in_the_box_has_a_line_of_its_own() -> None:
    result = mathamr("models")
    assert result.returncode == 0, result.stderr
    lines = result.stdout.partition("\n\n")[0].splitlines()
    said = dict(line.split(maxsplit=1) for line in lines)
    assert set(said) == set(boxed())
    assert len(set(said.values())) == len(said)
    assert "share .05" in said["mathamr-2"]
    assert "--strategy maxsim" in said["mathamr-plus"]
    assert lines[0].startswith("mathamr-3 ")

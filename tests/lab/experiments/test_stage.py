from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mathamr.core.errors import MathAMRError
from mathamr_lab.experiments.stage import Stage


def stage(
    path: Path, name: str, done: list[str], needs: tuple[Stage, ...] = (), output: str = "", **inputs: Any
) -> Stage:
    def work() -> dict[str, Any]:
        done.append(name)
        return {"output": output or name, "figure": 7}

    return Stage("run", name, path / f"{name}.json", inputs, needs, work)


def test_a_stage_is_marked_with_what_came_out(tmp_path: Path) -> None:
    one = stage(tmp_path, "one", [], seed=1)
    assert one.mark() is None
    one.do()
    mark = one.mark()
    assert mark is not None
    assert (mark.output, mark.figures) == ("one", {"figure": 7})
    assert stage(tmp_path, "one", [], seed=2).mark() is None


def test_a_stage_waits_for_those_it_needs(tmp_path: Path) -> None:
    done: list[str] = []
    first = stage(tmp_path, "first", done)
    second = stage(tmp_path, "second", done, (first,))
    with pytest.raises(MathAMRError, match="second: a stage that it needs is not done yet"):
        second.do()
    first.do()
    second.do()
    assert done == ["first", "second"]


def test_what_comes_out_the_same_again_changes_nothing_behind_it(tmp_path: Path) -> None:
    done: list[str] = []
    first = stage(tmp_path, "first", done, corpus="yesterday")
    second = stage(tmp_path, "second", done, (first,))
    first.do()
    second.do()
    again = stage(tmp_path, "first", done, corpus="today, with the same posts")
    assert stage(tmp_path, "second", done, (again,)).mark() is None
    again.do()
    assert stage(tmp_path, "second", done, (again,)).mark() is not None
    other = stage(tmp_path, "first", done, output="other posts", corpus="tomorrow")
    other.do()
    assert stage(tmp_path, "second", done, (other,)).mark() is None


def test_work_that_fails_leaves_no_mark_not_even_an_old_one(tmp_path: Path) -> None:
    stage(tmp_path, "one", [], seed=1).do()

    def fails() -> dict[str, Any]:
        raise MathAMRError("the disk is full")

    with pytest.raises(MathAMRError, match="disk"):
        Stage("run", "one", tmp_path / "one.json", {"seed": 2}, (), fails).do()
    assert not (tmp_path / "one.json").exists()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"digest": 1}', '{"digest": "a", "output": "b", "seconds": "x"}']
)
def test_a_damaged_mark_is_no_mark(tmp_path: Path, text: str) -> None:
    one = stage(tmp_path, "one", [], seed=1)
    one.do()
    (tmp_path / "one.json").write_text(text)
    assert one.mark() is None

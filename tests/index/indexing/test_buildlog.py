"""One bar shows all stages of a build."""

from __future__ import annotations

import pytest

from mathamr.index.indexing import buildlog
from mathamr.index.indexing.buildlog import WORK, BuildLog, spans_of
from mathamr.systems.system import Need


class Shown:
    """Takes the place of a progress bar and remembers which part of the build it showed."""

    seen: list[float | None] = []  # noqa: RUF012

    def __init__(self, name: str, unit: str, total: int | None, share: object) -> None:
        self.done, self._share = 0, share

    def __enter__(self) -> Shown:
        return self

    def __exit__(self, *failure: object) -> None:
        self.seen.append(self._share())  # type: ignore[operator]


def test_the_part_of_a_build_never_falls_and_ends_with_the_last_stage(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(buildlog, "Progress", Shown)
    monkeypatch.setattr(Shown, "seen", [])
    log = BuildLog(show=True)
    for place in range(2):
        with log.stage("read", share=lambda: 1.0, of=(place, 2)):
            pass
    for name, done in (("lexical", 8), ("vectors", 4), ("vectors", 8), ("optimize", 8)):
        with log.stage(name, total=8) as progress:
            assert progress is not None
            progress.done = done
    ends = {name: end for name, (_, end) in spans_of(WORK).items()}
    half = (ends["lexical"] + ends["vectors"]) / 2
    expected = [ends["read"] / 2, ends["read"], ends["lexical"], half, ends["vectors"], 1.0]
    assert Shown.seen == pytest.approx(expected)
    assert set(log.seconds) == {"read", "lexical", "vectors", "optimize"}


def test_words_last_until_the_end_of_the_vectors_that_are_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buildlog, "Progress", Shown)
    monkeypatch.setattr(Shown, "seen", [])
    log = BuildLog(show=True)
    log.leave_out("vectors")
    for name, done in (("lexical", 4), ("lexical", 8), ("optimize", 8)):
        with log.stage(name, total=8) as progress:
            assert progress is not None
            progress.done = done
    first, last = spans_of(WORK)["read"][1], spans_of(WORK)["vectors"][1]
    assert Shown.seen == pytest.approx([(first + last) / 2, last, 1.0])


@pytest.mark.parametrize("needs", [frozenset(), frozenset({"graph"}), frozenset({"tensor"})])
def test_the_bar_is_divided_among_the_stages_that_a_model_has(needs: frozenset[Need]) -> None:
    """A model that parses takes most of its time for graphs; one of formulas alone has no vectors of posts."""
    log = BuildLog()
    log.plan(needs, {"posts"})
    first, last = log._spans["vectors"]
    assert last - first == pytest.approx(
        (18 if needs & {"graph", "tensor"} else 6) / (19.2 if needs & {"graph", "tensor"} else 7.2)
    )
    log.plan(needs, {"visual"})
    assert list(log._spans) == ["read", "lexical", "visual", "optimize"]
    assert log._spans["optimize"][1] == 1.0

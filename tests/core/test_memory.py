from __future__ import annotations

import pytest

from mathamr.core import memory


def test_memory_is_given_back_where_the_library_can(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(memory, "_trim", lambda: asked.append)
    memory.give_back()
    assert asked == [0]


def test_elsewhere_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_trim", lambda: None)
    memory.give_back()
    monkeypatch.undo()
    memory.give_back()

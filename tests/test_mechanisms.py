"""scripts/count_mechanisms.py, and what it counts: a list that stands in one place is not written a second time."""

from __future__ import annotations

from collections import defaultdict
from importlib import util
from types import ModuleType

import pytest

from tests.conftest import ROOT

SCRIPT = ROOT / "scripts" / "count_mechanisms.py"
MOST = {
    "modules that cut documents": 2,
    "modules that follow relative paths": 4,
    "interpreters of LaTeX": 2,
    "lists of functions": 1,
    "lists of statements": 9,
    "lists of Greek letters": 0,
    "lists of scripts": 4,
}


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = util.spec_from_file_location("count_mechanisms", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_no_second_table_of_words_and_no_second_way_to_cut_comes_back(script: ModuleType) -> None:
    found: dict[str, set[str]] = defaultdict(set)
    for room in script.ROOMS:
        for file in sorted((ROOT / "src" / "mathamr" / room).rglob("*.py")):
            name = file.relative_to(ROOT / "src" / "mathamr").as_posix()
            for kind, place in script.mechanisms(name, file.read_text("utf-8")):
                found[kind].add(place)
    assert {kind: sorted(found[kind]) for kind, most in MOST.items() if len(found[kind]) > most} == {}
    assert found.keys() <= MOST.keys()


def test_a_list_a_cutter_and_an_interpreter_are_seen(script: ModuleType) -> None:
    source = (
        'NAMES = names("sin cos tan log exp")\nGREEK = {"alpha": 1, "beta": 2, "gamma": 3, "delta": 4}\n'
        "def cut(words): return words < WHOLE_BELOW\nclass Drawing(Walk[Atom]): ...\n"
    )
    found = {kind for kind, _ in script.mechanisms("posts/formats/a.py", source)}
    assert found == {
        "lists of functions",
        "lists of Greek letters",
        "modules that cut documents",
        "interpreters of LaTeX",
    }
    assert not list(
        script.mechanisms("posts/formats/a.py", 'NAMES = names("sin cos")\nTEXT = "alpha and beta"\n')
    )

"""Every ability has a protocol, which finds it in the systems that have it, and nothing asks for one by its name."""

from __future__ import annotations

import re
from pathlib import Path

from mathamr.systems.abilities import ABILITIES, CutsPieces
from mathamr.systems.models import boxed, boxed_folder, system_of
from mathamr.systems.system import SYSTEMS

SOURCE = Path(__file__).parents[2] / "src" / "mathamr"
WHO = {
    "CutsPieces": {"text"},
    "MatchesNodes": {"formula-graph", "ssemb"},
    "JoinsWording": {"mathamrplus"},
    "ComparesSentences": {"mathamr"},
}


def test_each_ability_is_found_in_the_classes_that_have_it_and_in_no_others() -> None:
    ours = {name: SYSTEMS[name] for name in SYSTEMS if SYSTEMS[name].__module__.startswith("mathamr.")}
    assert {
        each.__name__: {name for name, kind in ours.items() if isinstance(kind, each)} for each in ABILITIES
    } == WHO


def test_what_prepares_posts_is_of_the_system_that_encodes_them() -> None:
    folder = next(
        found
        for name in boxed()
        if (found := boxed_folder(name)) and isinstance(system_of(found), CutsPieces)
    )
    kind = system_of(folder)
    assert isinstance(kind, CutsPieces)
    assert kind.without_weights(folder).fingerprint == system_of(folder).fingerprint_of(folder)


def test_no_ability_is_asked_for_by_its_name() -> None:
    names = {
        name
        for each in ABILITIES
        for name in (*vars(each), *each.__annotations__)
        if not name.startswith("_")
    }
    asked = re.compile(rf"(?:has|get)attr\([^)]*[\"'](?:{'|'.join(sorted(names | {'cut'}))})[\"']")
    assert {"match_nodes", "wording_size", "sentence_field", "encode_pieces", "without_weights"} == names
    assert not [path for path in SOURCE.rglob("*.py") if asked.search(path.read_text(encoding="utf-8"))]

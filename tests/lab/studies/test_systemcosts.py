"""The index of made-up rows that tells what a system costs at full size."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mathamr.index.build.builder import BuildOptions, build_index
from mathamr.search.searcher import Index
from mathamr.systems.system import SYSTEMS
from mathamr_lab.studies.costs import made_up
from tests.index.small import note, write_posts
from tests.systems.tiny import TINY, NodeSystem, WordSystem

POSTS = [
    note("groups", "Every subgroup of a cyclic group is cyclic: $gH = Hg$."),
    note("sums", "The sum of squares $a^2+b^2=c^2$ has $n$ solutions, as $x+y$ has."),
    note("roots", "A root of $x^2-2$ is irrational. So is one of $a^2+b^2$."),
]


@pytest.mark.parametrize(("system", "task"), [(NodeSystem(), "formulas"), (WordSystem(), "answers")])
def test_a_made_up_index_has_all_posts_of_the_whole_and_rows_like_those_of_the_slice(
    system: NodeSystem | WordSystem, task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, where in TINY.items():
        monkeypatch.setitem(SYSTEMS._entries, name, where)
    other = WordSystem() if isinstance(system, NodeSystem) else NodeSystem()
    for each, posts, out in ((system, POSTS[:2], "slice"), (other, POSTS, "whole")):
        each.save(tmp_path / f"{out}.model")
        source = write_posts(tmp_path / f"{out}.jsonl", posts)
        build_index([source], tmp_path / out, BuildOptions(model=tmp_path / f"{out}.model", device="cpu"))
    rows = made_up(tmp_path / "slice", tmp_path / "whole", tmp_path / "made")
    with Index.open(tmp_path / "slice") as few, Index.open(tmp_path / "made") as many:
        (field,) = system.fields
        ours, theirs = many.archive.engine[field.name], few.archive.engine[field.name]
        catalogue = many.archive.catalogue
        wanted = catalogue.visual_keys() if field.of == "visual" else catalogue.ids()
        assert sorted(ours.ids()) == sorted(wanted)
        assert ours.count() > theirs.count()
        found, known = ours.fetch(list(ours.ids())), theirs.fetch(list(theirs.ids()))
        assert rows == sum(map(len, found.values()))
        for made in found.values():
            # Every entry is one of the slice's, a little off.
            near = [
                float((made.vectors * own.vectors).sum(1).min())
                for own in known.values()
                if own.vectors.shape == made.vectors.shape
            ]
            assert max(near) > 0.85
            assert np.allclose(np.linalg.norm(made.vectors, axis=1), 1, atol=1e-3)
        assert len(many) == len(POSTS)
        assert many.search("$a^2+b^2$ of a group", task, k=10)  # type: ignore[arg-type]

"""MaRF over posts of every kind, and Algorithm 1 against a loop."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from mathamr.systems.marf.inference import context_vectors, formula_vectors, fused_vectors
from mathamr.systems.marf.system import REPRESENTATIONS, MarfSystem
from mathamr.systems.system import Item
from tests.index.small import note
from tests.systems.tinytext import tiny_base, tiny_marf

CPU = torch.device("cpu")


POSTS = [
    note("words", "a group is abelian"),
    note("formulas", "$a+b$ $\\frac{a}{b}=c$"),
    note("both", "let $a$ be $b^2$ and $a+b=c$"),
    note("many", " ".join(f"$x_{{{n}}}+{n}$" for n in range(300))),
]


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> MarfSystem:
    return tiny_marf(tiny_base(tmp_path_factory.mktemp("marf") / "base"))


def test_a_post_has_a_representation_for_each_of_its_longest_formulas(system: MarfSystem) -> None:
    found = [list(each.post) for each in system.encode(Item(post=each) for each in POSTS)]
    assert [len(each) for each in found] == [1, 2, 3, 6]
    assert found[3] == list(REPRESENTATIONS)
    rows = [len(each.post[REPRESENTATIONS[0]]) for each in system.encode(Item(post=each) for each in POSTS)]
    assert max(rows) <= system.model.configuration.rows


def test_batches_give_what_single_posts_give_formula_by_formula(system: MarfSystem) -> None:
    network, read = system.model.network, system.model.reader.posts(POSTS)
    together = fused_vectors(network, read, CPU, 6)
    for each, found in zip(read, together, strict=True):
        (context,) = context_vectors(network, [each], CPU)
        (formulas,) = formula_vectors(network, [each], CPU)
        assert len(found) == max(1, len(formulas))
        if not formulas:
            torch.testing.assert_close(found[0], context)
        for vectors, formula in zip(found, formulas, strict=False):
            with torch.inference_mode():
                alone = network.fused(context[None], formula[None], torch.tensor([len(formula)]))[0]
            torch.testing.assert_close(vectors, alone, atol=1e-5, rtol=1e-4)
            assert not torch.allclose(vectors, context, atol=1e-3)


def test_formulas_are_those_with_most_tokens_each_once(system: MarfSystem) -> None:
    (read,) = system.model.reader.posts([note("p", "$a$ and $a+b+c$ and $a+b$ and $a$")])
    assert [name for name, _ in read.formulas] == ["p:1", "p:2", "p:0"]
    assert [len(numbers) for _, numbers in read.formulas] == [5, 3, 1]


def test_a_folder_without_its_base_says_what_is_missing(system: MarfSystem, tmp_path: Path) -> None:
    system.save(tmp_path / "model")
    path = tmp_path / "model" / "config.json"
    path.write_text(
        path.read_text(encoding="utf-8").replace(system.model.configuration.base, str(tmp_path / "gone")),
        encoding="utf-8",
    )
    with pytest.raises(Exception, match="no text encoder"):
        MarfSystem.load(tmp_path / "model")


def test_stored_rows_have_length_one(system: MarfSystem) -> None:
    for each in system.encode(Item(post=each) for each in POSTS):
        for vectors in each.post.values():
            np.testing.assert_allclose(np.linalg.norm(vectors.vectors, axis=1), 1, atol=1e-5)


def test_rows_stand_for_the_sentences_they_were_read_from(system: MarfSystem) -> None:
    (found,) = system.encode([Item(post=note("two", "ab cd ef gh. Then $a$ is b."))])
    references = found.post[REPRESENTATIONS[0]].references
    assert set(references) == {"0", "1"}
    assert list(references) == sorted(references)

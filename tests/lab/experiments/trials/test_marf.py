from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from torch import Tensor

from mathamr.evaluation.qrels import Qrels
from mathamr.posts.post import Formula, Post
from mathamr.systems.marf.fusion import GatedFusion
from mathamr_lab.experiments.trials.marf import (
    FormulaTransformer,
    Marf,
    MarfPaper,
    SearchTask,
    maxsim,
    rank_all,
)
from mathamr_lab.experiments.trials.marftexts import MarfText, MarfTexts
from tests.lab.experiments.trials.tinybases import tiny_published

CPU = torch.device("cpu")


def millions(module: torch.nn.Module) -> float:
    return sum(each.numel() for each in module.parameters()) / 1e6


def test_the_parts_have_the_published_sizes() -> None:
    recipe = MarfPaper()
    with torch.device("meta"):
        assert millions(FormulaTransformer(recipe, 30_522)) == pytest.approx(50, abs=1)
        assert millions(GatedFusion(recipe.size, recipe.fusion_heads, recipe.size)) < 5
    epochs = (recipe.context_epochs, recipe.formula_epochs, recipe.fusion_epochs)
    assert (epochs, recipe.most) == ((3, 3, 4), 6)


def test_the_formula_encoder_sees_all_tokens_and_no_padding() -> None:
    torch.manual_seed(0)
    recipe = MarfPaper(
        size=8, formula_size=16, formula_layers=2, formula_heads=2, formula_inner=16, fusion_heads=2
    )
    encoder = FormulaTransformer(recipe, 20).eval()
    real = torch.tensor([[True, True, True, False]])
    with torch.no_grad():
        one = encoder(torch.tensor([[3, 4, 5, 0]]), real)
        other_padding = encoder(torch.tensor([[3, 4, 5, 9]]), real)
        other_last = encoder(torch.tensor([[3, 4, 6, 0]]), real)
    torch.testing.assert_close(one[:, :3], other_padding[:, :3])
    assert not torch.allclose(one[:, 0], other_last[:, 0]), "the first token sees the last"


def test_maxsim_sums_over_the_tokens_of_a_query() -> None:
    torch.manual_seed(1)
    queries = torch.nn.functional.normalize(torch.randn(2, 3, 4), dim=-1)
    documents = torch.nn.functional.normalize(torch.randn(3, 5, 4), dim=-1)
    asked = torch.tensor([[True, True, True], [True, False, False]])
    real = torch.arange(5) < torch.tensor([5, 2, 4])[:, None]
    expected = [
        [
            float((query[own] @ document[there].T).amax(1).sum())
            for document, there in zip(documents, real, strict=True)
        ]
        for query, own in zip(queries, asked, strict=True)
    ]
    torch.testing.assert_close(maxsim(queries, asked, documents, real), torch.tensor(expected))


def test_all_candidates_are_ranked_by_the_mean_over_their_representations(tmp_path: Path) -> None:
    torch.manual_seed(2)
    texts = [MarfText(f"a{n}", ["x"], ["f"] * (n % 3)) for n in range(11)]
    MarfTexts.write(tmp_path / "answers.jsonl", texts)
    table = {
        (text.id, n): torch.nn.functional.normalize(torch.randn(2 + n, 4), dim=-1)
        for text in texts
        for n in range(3)
    }
    queries = {"q0": torch.nn.functional.normalize(torch.randn(3, 4), dim=-1)}

    def asked(entries: Sequence[MarfText]) -> tuple[Tensor, Tensor, Sequence[int]]:
        return queries[entries[0].id][None], torch.ones(1, 3, dtype=torch.bool), [0]

    def represented(entries: Sequence[MarfText]) -> tuple[Tensor, Tensor, Sequence[int]]:
        jobs = [
            (place, table[each.id, n])
            for place, each in enumerate(entries)
            for n in range(len(each.formulas))
        ]
        if not jobs:
            return torch.zeros(0, 1, 1), torch.zeros(0, 1, dtype=torch.bool), ()
        rows = torch.nn.utils.rnn.pad_sequence([row for _, row in jobs], True)
        lengths = torch.tensor([len(row) for _, row in jobs])
        return rows, torch.arange(rows.shape[1]) < lengths[:, None], [place for place, _ in jobs]

    task = SearchTask("t", [MarfText("q0", [], [])], MarfTexts(tmp_path / "answers.jsonl"), Qrels({}), ())
    found = rank_all(task, asked, represented, CPU, at_a_time=4)["q0"]
    expected = {
        text.id: float(
            torch.stack(
                [(queries["q0"] @ table[text.id, n].T).amax(1).mean() for n in range(len(text.formulas))]
            ).mean()
        )
        for text in texts
        if text.formulas
    }
    assert found == pytest.approx(expected, abs=1e-5)
    assert list(found) == sorted(expected, key=lambda name: -expected[name])


def test_some_formulas_of_a_post_are_always_the_same_and_the_first_is_the_longest() -> None:
    formulas = tuple(Formula(f"1:{n}", "+".join(["a"] * (n + 1))) for n in range(9))
    text = MarfText.of("1", Post("1", "answer", "$a$", markup="text", formulas=formulas))
    assert len(text.formulas[0].split()) == 17
    assert text.some(1) == text.formulas[:1]
    assert text.some(6) == text.some(6)
    assert len(set(text.some(6))) == 6


def test_every_fusion_starts_with_a_projection_that_has_not_learned(tmp_path: Path) -> None:
    recipe = MarfPaper(
        base=tiny_published(tmp_path, "qwen3"),
        tuning="frozen",
        size=8,
        formula_size=16,
        formula_layers=1,
        formula_heads=2,
        formula_inner=16,
        fusion_heads=2,
    )
    marf = Marf(recipe, [], CPU)
    started = []
    for _ in range(2):
        torch.manual_seed(0)
        marf.renew_fusion()
        weight = marf.head.get_parameter("weight")
        started.append(weight.detach().clone())
        torch.nn.init.ones_(weight)  # as if it had learned
    assert torch.equal(*started)

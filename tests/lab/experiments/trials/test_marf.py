from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from mathamr.evaluation.qrels import Qrels, write_qrels
from mathamr.posts.post import Formula, Post
from mathamr.systems.marf.fusion import GatedFusion
from mathamr.systems.marf.llama import LlamaLayers
from mathamr.systems.marf.network import FormulaEncoder
from mathamr.systems.marf.postinput import PostInput, draw_formulas
from mathamr_lab.experiments.trials.marf import MarfPaper, MarfTrial, SearchTask, rank_all
from mathamr_lab.systems.marf.texts import MarfText, MarfTexts, write_commands
from tests.lab.experiments.trials.tinybases import tiny_published
from tests.systems.tinytext import tiny_base

CPU = torch.device("cpu")


def millions(module: torch.nn.Module) -> float:
    return sum(each.numel() for each in module.parameters()) / 1e6


def test_the_parts_have_the_published_sizes() -> None:
    recipe = MarfPaper()
    training = recipe.training("passage", "several", 0)
    with torch.device("meta"):
        assert millions(FormulaEncoder(training.model, 1_500)) == pytest.approx(50, abs=1)
        assert millions(GatedFusion(recipe.size, recipe.fusion_heads, recipe.size)) < 5
    epochs = [training.of(stage).epochs for stage in ("context", "formulas", "fusion")]
    assert (epochs, training.model.formulas) == ([3, 3, 4], 6)


def test_llamas_layers_are_those_of_transformers_and_see_all_tokens_but_no_padding() -> None:
    from transformers import LlamaConfig, LlamaModel

    torch.manual_seed(0)
    ours = LlamaLayers(tokens=20, size=16, layers=2, heads=2, inner=24).eval()
    shape = LlamaConfig(
        vocab_size=20,
        hidden_size=16,
        intermediate_size=24,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        use_cache=False,
    )
    theirs = LlamaModel(shape).eval()
    state = {"embed_tokens.weight": ours.pieces.weight, "norm.weight": ours.norm.weight}
    for number, layer in enumerate(ours.layers):
        names = ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj")
        parts = dict(zip(names, layer.attention.weight.chunk(3), strict=True))
        parts |= dict(zip(("mlp.gate_proj", "mlp.up_proj"), layer.gated.weight.chunk(2), strict=True))
        parts |= {"self_attn.o_proj": layer.attended.weight, "mlp.down_proj": layer.outer.weight}
        parts |= {"input_layernorm": layer.attention_norm.weight}
        parts |= {"post_attention_layernorm": layer.inner_norm.weight}
        state |= {f"layers.{number}.{name}.weight": value for name, value in parts.items()}
    theirs.load_state_dict(state)
    numbers, lengths = torch.tensor([[3, 4, 5, 0], [6, 7, 8, 9]]), torch.tensor([3, 4])
    seen = torch.arange(4) < lengths[:, None]
    mask = torch.zeros(2, 1, 4, 4).masked_fill(~seen[:, None, None, :], torch.finfo(torch.float32).min)
    with torch.no_grad():
        found = ours(numbers, lengths)
        wanted = theirs(input_ids=numbers, attention_mask=mask).last_hidden_state
        other_padding = ours(torch.tensor([[3, 4, 5, 9], [6, 7, 8, 9]]), lengths)
        other_last = ours(torch.tensor([[3, 4, 6, 0], [6, 7, 8, 9]]), lengths)
    torch.testing.assert_close(found[seen], wanted[seen], atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(found[:1, :3], other_padding[:1, :3])
    assert not torch.allclose(found[0, 0], other_last[0, 0]), "the first token sees the last"


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

    def read(entries: Sequence[MarfText]) -> list[PostInput]:
        return [PostInput(np.array([int(each.id[1:])], np.uint16)) for each in entries]

    def asked(entries: Sequence[PostInput]) -> list[list[Tensor]]:
        return [[queries["q0"]], []]  # the second question has no formulas

    def represented(entries: Sequence[PostInput]) -> list[list[Tensor]]:
        return [
            [table[f"a{number}", n] for n in range(number % 3)]
            for number in (int(each.numbers[0]) for each in entries)
        ]

    topics = [MarfText(name, [], []) for name in ("q0", "q1")]
    task = SearchTask("t", topics, MarfTexts(tmp_path / "answers.jsonl"), Qrels({}), ())
    ranked = rank_all(task, read, asked, represented, CPU, at_a_time=4)
    assert list(ranked) == ["q0"]
    found = ranked["q0"]
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
    drawn = draw_formulas(text.formulas, text.id)
    assert drawn == draw_formulas(text.formulas, text.id)
    assert drawn[0] == text.formulas[0]
    assert len(set(drawn)) == 6
    assert drawn != draw_formulas(text.formulas, "2")


def test_latex_is_normalised_in_the_context_and_a_formula_has_its_post_as_context() -> None:
    formulas = (Formula("1:0", "\\dfrac12"), Formula("1:1", "a\\le b"))
    post = Post("1", "answer", "As $\\dfrac12$ and $a\\le b$.", markup="text", formulas=formulas)
    text = MarfText.of("v1", post, formulas[1])
    assert text.sentences == ["As $\\frac { 1 } { 2 }$ and $a \\leq b$."]
    assert text.formulas == ["a \\leq b"]


@pytest.mark.parametrize("kind", ["qwen3", "bert", "box"])
def test_a_trial_trains_and_measures_over_any_base(tmp_path: Path, kind: str) -> None:
    base = str(tiny_base(tmp_path / "box")) if kind == "box" else tiny_published(tmp_path, kind)
    posts = [
        MarfText(f"q{n}", [f"ab {letter}.", "cd."], [f"{letter} + {n}"])
        for n, letter in enumerate("abcdefgh")
    ]
    posts += [
        MarfText(f"a{n}", [f"{letter} ef."], [f"{letter} = {n}", "b"]) for n, letter in enumerate("abcdefgh")
    ]
    MarfTexts.write(tmp_path / "posts.jsonl", posts)
    MarfTexts.write(tmp_path / "answers.jsonl", posts[8:])
    MarfTexts.write(tmp_path / "topics-task1.jsonl", posts[:3])
    np.save(tmp_path / "pairs.npy", np.array([(n, n + 8) for n in range(8)]), allow_pickle=False)
    write_commands(tmp_path, Counter({"frac": 30}))
    (tmp_path / "qrels").mkdir()
    write_qrels(Qrels({f"q{n}": {f"a{n}": 3, "a7": 0} for n in range(3)}), tmp_path / "qrels" / "task1.qrels")
    recipe = MarfPaper(
        base=base,
        tuning="frozen" if kind == "qwen3" else "full",
        size=8,
        length=24,
        formula_size=16,
        formula_layers=1,
        formula_heads=2,
        formula_inner=16,
        formula_length=16,
        fusion_heads=2,
        context_epochs=1,
        formula_epochs=1,
        fusion_epochs=1,
        batch=4,
        formula_batch=4,
        validation=0.25,
    )
    rows = ("context", "formula-passage-several", "marf-passage-several")
    MarfTrial(tmp_path, tmp_path / "out", recipe, CPU, 0).run(rows)
    for row in rows:
        scores = json.loads((tmp_path / "out" / "seed-0" / row / "task1.json").read_text(encoding="utf-8"))
        assert set(scores["nDCG'"]) == {"q0", "q1", "q2"}
    learned = json.loads((tmp_path / "out" / "seed-0" / rows[2] / "learned.json").read_text(encoding="utf-8"))
    trained = {"formulas", "fusion"} if kind == "qwen3" else {"words", "context", "formulas", "fusion"}
    assert set(learned) == trained
    assert all(each["steps"] for each in learned.values())

"""MaRF's experiments: Algorithm 1 against a loop, tables by the share of mathematics, and an experiment from posts to tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn.functional import normalize

from mathamr.evaluation.scores import Scores
from mathamr.posts.post import Post
from mathamr.systems.marf.llama import LlamaLayers
from mathamr.systems.marf.postinput import PostInput
from mathamr_lab.experiments import EXPERIMENTS, ntcir12, training
from mathamr_lab.experiments.collection import collection_of
from mathamr_lab.experiments.experiment import TrialExperiment
from mathamr_lab.experiments.marfplan import MarfPlan, rank_all
from mathamr_lab.experiments.planner import planned, write_report
from mathamr_lab.experiments.runner import run
from mathamr_lab.experiments.setting import ExperimentSetting
from mathamr_lab.experiments.smallest import smallest_changes
from mathamr_lab.systems.marf.recipe import is_positive
from tests.lab.experiments.conftest import train_here
from tests.systems.tinytext import tiny_base

SMALL = smallest_changes(EXPERIMENTS["marf-benchmark"])


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


def test_all_candidates_are_ranked_by_the_mean_over_their_representations() -> None:
    torch.manual_seed(2)
    table = {(n, m): normalize(torch.randn(2 + m, 4), dim=-1) for n in range(11) for m in range(3)}
    query = normalize(torch.randn(3, 4), dim=-1)
    entries = [(f"a{n}", PostInput(np.array([n], np.uint16))) for n in range(11)]

    def asked(_: Sequence[PostInput]) -> list[list[Tensor]]:
        return [[query], []]  # the second question has no formulas

    def represented(some: Sequence[PostInput]) -> list[list[Tensor]]:
        numbers = [int(each.numbers[0]) for each in some]
        return [[table[number, m] for m in range(number % 3)] for number in numbers]

    topics = [("q0", entries[0][1]), ("q1", entries[0][1])]
    ranked = rank_all(topics, entries, asked, represented, torch.device("cpu"), at_a_time=4)
    assert list(ranked) == ["q0"]
    expected = {
        f"a{n}": float(torch.stack([(query @ table[n, m].T).amax(1).mean() for m in range(n % 3)]).mean())
        for n in range(11)
        if n % 3
    }
    assert dict(ranked["q0"]) == pytest.approx(expected, abs=1e-5)
    assert [name for name, _ in ranked["q0"]] == sorted(expected, key=lambda name: -expected[name])


def test_marf_is_trained_once_a_way_to_score_and_measured_from_posts_to_tables(
    corner: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training, "run_child", train_here)
    changes = (*SMALL, f"model.base={tiny_base(tmp_path / 'base')}")
    pool = tmp_path / "NTCIR12"
    pool.mkdir()
    (pool / "corpus.txt").write_text("Algebra:1 a+b\nAlgebra:2 c\n")
    (pool / "topics.txt").write_text("T-1 a+b\nT-2 c\nT-3 \\qvar{x}+1\n")
    (pool / "judge.dat").write_text("T-1 x Algebra:1 4\nT-2 x Algebra:2 1\nT-3 x Algebra:1 4\n")

    def plan(name: str, *only: str) -> MarfPlan:
        setting = ExperimentSetting(
            *(EXPERIMENTS[name], collection_of([corner]), tmp_path),
            seeds=1,
            changes=changes,
            device="cpu",
            only=only,
            pools=(pool,) if name == "marf-benchmark" else (),
        )
        (made,) = run([setting])
        assert isinstance(made, MarfPlan)
        return made

    benchmark = plan("marf-benchmark")
    # Topics with wildcards are not asked.
    assert benchmark.tests["ntcir12"].qrels().topics == ("T-1", "T-2")
    assert benchmark.tests["ntcir12"].measures == ntcir12.MEASURES
    text = (write_report(benchmark) / "results.md").read_text(encoding="utf-8")
    assert all(f"| {row} | " in text for row in ("context encoder", "formula encoder", "MaRF"))
    assert "| 0.436 |" in text
    assert "| context encoder, seed 0 | words |" in text
    # Words and context once for all ways to score, then formulas and fusion.
    assert [stage.kind for stage in benchmark.stages].count("train") == 2
    dominance = plan("marf-math-dominance")
    by_share = (write_report(dominance) / "results.md").read_text(encoding="utf-8")
    assert "## Answers, by the share of mathematics in the answer" in by_share
    assert "| answers | recall@1000 |" in by_share
    again = plan("marf-scoring", "passage level, several formulas")
    trained = [stage.mark_path for stage in again.stages if stage.kind == "train"]
    assert trained == [stage.mark_path for stage in benchmark.stages if stage.kind == "train"]


def test_topics_and_answers_above_a_share_of_mathematics_have_lines_of_their_own(
    corner: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dominance = EXPERIMENTS["marf-math-dominance"]
    assert isinstance(dominance, TrialExperiment)
    setting = ExperimentSetting(dominance, collection_of([corner]), tmp_path, seeds=1)
    plan = planned(setting)
    assert isinstance(plan, MarfPlan)
    topics = plan.tests["task1"].qrels().topics
    known = {0: Scores("MaRF", {name: dict.fromkeys(topics, 0.5) for name in plan.tests["task1"].measures})}
    monkeypatch.setattr(MarfPlan, "scores", lambda self, row, test: known if test == "task1" else {})
    (tmp_path / "marf").mkdir()
    (tmp_path / "marf" / "shares.json").write_text(f'{{"answers": {{}}, "task1": {{"{topics[0]}": 0.8}}}}')
    monkeypatch.setattr(MarfPlan, "_recall", lambda self, table, rows: "")
    tables = dict(plan.tables())
    shown = tables["Answers, by the share of mathematics in the question"]
    assert f"| MaRF | all | {len(topics)} | 0.500 |" in shown
    assert "| MaRF | > 70% | 1 | 0.500 |" in shown


def test_an_answer_is_learned_from_if_it_is_accepted_or_liked_or_nothing_is_known() -> None:
    def learned(score: int | None, accepted: str | None) -> bool:
        answer = Post("a", "answer", "", score=score)
        return is_positive(answer, Post("q", "question", "", accepted_answer=accepted))

    assert [learned(6, None), learned(5, None), learned(5, "a"), learned(7, "b")] == [True, False, True, True]
    assert [learned(None, None), learned(None, "a"), learned(None, "b")] == [True, True, False]

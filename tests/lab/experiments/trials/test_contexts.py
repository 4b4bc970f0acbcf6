from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from mathamr.amr.parser import load_parser
from mathamr.core.errors import MathAMRError
from mathamr.evaluation.qrels import Qrels, write_qrels
from mathamr.evaluation.runs import read_run
from mathamr.evaluation.topics import Topic
from mathamr.posts.post import Formula, Post
from mathamr.systems.mathamr.context import CONTEXTS
from mathamr_lab.experiments.formulaplaces import (
    FormulaPlace,
    collection_places,
    read_places,
    topic_places,
    write_places,
)
from mathamr_lab.experiments.trials import contexts
from mathamr_lab.experiments.trials.__main__ import main
from mathamr_lab.experiments.trials.contexts import ContextMaterials, ContextTraining, encoder_of, ranked
from mathamr_lab.systems.mathamr.judgedlines import read_pairs
from mathamr_lab.systems.stateencoder import PublishedBase
from tests.lab.experiments.trials.tinybases import tiny_published

CPU = torch.device("cpu")


def place(identifier: str, visual: str, line: str, topic: str = "") -> FormulaPlace:
    return FormulaPlace(id=identifier, visual=visual, topic=topic, contexts=dict.fromkeys(CONTEXTS, line))


WORDS = ("ab", "cd", "ef", "gh")
TOPICS = [place(f"t{n}", "", f"{word} a", f"B.{150 + 50 * n}") for n, word in enumerate(WORDS)]
PLACES = [place(f"p{n}", f"v{n % 4}", f"{word} b") for n, word in enumerate((*WORDS, "ij", "kl"))]
QRELS = Qrels({f"B.{150 + 50 * n}": {f"v{m}": 3 if n == m else m % 2 for m in range(4)} for n in range(4)})
MATERIALS = ContextMaterials(TOPICS, PLACES, QRELS)


def test_no_topic_is_ranked_by_a_model_that_was_trained_on_it(tmp_path: Path) -> None:
    for learned, asked in MATERIALS.splits("folds", 3):
        assert learned
        assert set(learned).isdisjoint(asked)
    folds = [asked for _, asked in MATERIALS.splits("folds", 3)]
    assert sorted(topic for fold in folds for topic in fold) == sorted(QRELS.grades)
    assert list(MATERIALS.splits("first-year")) == [(["B.150"], ["B.200", "B.250", "B.300"])]
    (tmp_path / "topics.txt").write_text("B.150\nB.300\n")
    assert list(MATERIALS.splits(str(tmp_path / "topics.txt"))) == [(["B.150", "B.300"], ["B.200", "B.250"])]
    (tmp_path / "topics.txt").write_text("B.7\n")
    with pytest.raises(MathAMRError, match="of 4 judged topics 4 are left to rank"):
        list(MATERIALS.splits(str(tmp_path / "topics.txt")))


@pytest.mark.parametrize("kind", ["roberta", "bert", "qwen3"])
def test_a_published_base_of_any_kind_is_fine_tuned_from_its_folder(tmp_path: Path, kind: str) -> None:
    base = tiny_published(tmp_path, kind)
    training = ContextTraining(base=base, epochs=2, learning_rate=1e-2, length=16, batch_size=4)
    pairs = MATERIALS.pairs("amr-opt", QRELS.topics)
    before = PublishedBase(base)
    encoder, learned = encoder_of(pairs, "amr-opt", training, 0, CPU, tmp_path / "out")
    assert {name: each["steps"] > 0 for name, each in learned.items()} == {"contrast": True, "ranking": True}
    changed = [
        not torch.equal(one, two)
        for one, two in zip(before.model.parameters(), encoder.model.parameters(), strict=True)
    ]
    assert any(changed)
    for each in learned.values():
        # Spearman's correlation and the loss of every epoch; the lowest loss is taken.
        assert len(each["spearman"]) == len(each["validation"])
        if each["validation"]:
            assert each["validation"][each["kept"] - 1] == min(each["validation"])


def test_only_changes_of_low_rank_learn_if_asked_for_and_none_of_a_frozen_base(tmp_path: Path) -> None:
    base = tiny_published(tmp_path, "roberta")
    low = [
        name
        for name, each in PublishedBase(base, tuning="low-rank", rank=2).named_parameters()
        if each.requires_grad
    ]
    assert low
    assert all(name.endswith((".down", ".up")) for name in low)
    assert not any(each.requires_grad for each in PublishedBase(base, tuning="frozen").parameters())
    with pytest.raises(MathAMRError, match="unknown tuning 'soft'"):
        PublishedBase(base, tuning="soft")
    with pytest.raises(MathAMRError, match="transformers cannot load the base"):
        PublishedBase(str(tmp_path / "nothing"))


def test_a_visual_is_ranked_at_its_best_place(tmp_path: Path) -> None:
    base = PublishedBase(tiny_published(tmp_path))
    same = [*PLACES, place("same", "v3", "ab a")]
    found = ranked(base, "amr-opt", 16, TOPICS[:1], same, CPU)["B.150"]
    assert max(found, key=lambda visual: found[visual]) == "v3"
    assert found["v3"] == pytest.approx(1.0, abs=1e-5)


def write_prepared(folder: Path) -> None:
    write_places(TOPICS, folder / "topic-places.jsonl.gz")
    write_places(PLACES, folder / "places.jsonl.gz")
    (folder / "qrels").mkdir()
    write_qrels(QRELS, folder / "qrels" / "task2.qrels")


def test_only_judged_formulas_are_measured_and_all_are_kept_to_rerank(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_prepared(tmp_path)
    found = {"B.200": {"v1": 0.5, "v0": 0.1} | {f"other{n}": 0.9 for n in range(1200)}}
    monkeypatch.setattr(contexts, "ranked_by_others", lambda *given: (found, []))
    words = ["contexts", str(tmp_path), "--out", str(tmp_path), "--seeds", "0", "--device", "cpu"]
    assert main([*words, "--rows", "amr-opt"]) == 0
    assert json.loads((tmp_path / "seed-0" / "amr-opt.json").read_text())["MAP'"] == {"B.200": 1.0}
    assert len(read_run(tmp_path / "seed-0" / "amr-opt.run.gz").rankings["B.200"]) == 1202


def test_a_context_whose_scores_are_kept_is_not_trained_again(tmp_path: Path) -> None:
    base = tiny_published(tmp_path / "base")
    write_prepared(tmp_path)
    given = ["contexts", str(tmp_path), "--out", str(tmp_path / "out"), "--seeds", "0", "--device", "cpu"]
    for change in (f"base={base}", "epochs=1", "topics=folds", "length=16"):
        given += ["--set", f"contexts.{change}"]
    assert main([*given, "--rows", "soup"]) == 1
    assert main([*given, "--rows", "opt"]) == 0
    kept = tmp_path / "out" / "seed-0" / "opt.json"
    kept.write_text('{"kept": {}}')
    assert main([*given, "--rows", "opt", "text-latex"]) == 0
    assert kept.read_text() == '{"kept": {}}'
    learned = json.loads((tmp_path / "out" / "seed-0" / "text-latex" / "learned.json").read_text())
    assert set(learned) >= {"1, contrast", "1, ranking"}


def test_judged_lines_of_a_collection_are_written_as_a_training_reads_them(
    corner: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "judged.jsonl"
    words = ["judged", str(corner), "--out", str(out), "--parser", "tests.amr.rule_parser:RuleParser"]
    assert main([*words, "--context", "text-latex"]) == 0
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert {row["topic"] for row in rows} <= {f"B.{number}" for number in range(1, 5)}
    assert len(read_pairs(out)) == len(rows) > 4
    assert main([*words, "--context", "soup"]) == 1
    assert "unknown context 'soup'; known: amr-opt" in capsys.readouterr().err


def test_places_of_judged_visuals_are_read_and_come_back_from_a_file(tmp_path: Path) -> None:
    parser = load_parser("tests.amr.rule_parser:RuleParser")
    formulas = tuple(
        Formula(f"p:{n}", latex, visual_id=f"v{n}") for n, latex in enumerate(("a+b", "c", "d^2"))
    )
    post = Post("p", "answer", "Let $a+b$ be $c$. Then $d^2$ is odd.", markup="text", formulas=formulas)
    found = list(collection_places([post], Qrels({"B.1": {"v0": 3}}), parser))
    assert [(each.id, each.visual) for each in found] == [("p:0", "v0")]
    assert found[0].contexts["text-latex"] == "Let a+b be c."
    wider = list(collection_places([post], Qrels({"B.1": {"v0": 3}}), parser, ["v2"]))
    assert [each.visual for each in wider] == ["v0", "v2"]
    (asked,) = topic_places([Topic("B.1", post, "p:2")], parser)
    assert (asked.topic, asked.contexts["text-latex"]) == ("B.1", "Then d^2 is odd.")
    assert write_places(wider, tmp_path / "places.jsonl.gz") == 2
    assert read_places(tmp_path / "places.jsonl.gz") == wider

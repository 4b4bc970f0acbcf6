from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from mathamr.amr.parser import load_parser
from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.topics import Topic
from mathamr.posts.post import Formula, Post
from mathamr.systems.mathamr.configuration import MathAMRConfiguration
from mathamr.systems.mathamr.context import CONTEXTS
from mathamr.text.torchfolder import load_text_encoder
from mathamr_lab.experiments.formulaplaces import (
    FormulaPlace,
    collection_places,
    read_places,
    topic_places,
    write_places,
)
from mathamr_lab.experiments.trials import contexts
from mathamr_lab.experiments.trials.__main__ import main
from mathamr_lab.experiments.trials.contexts import (
    ContextMaterials,
    cross_fitted,
    folds,
    keep_widely,
    ranked,
    trainings_of,
)
from mathamr_lab.experiments.trials.scoretable import ScoreTable
from mathamr_lab.systems.mathamr.judgedlines import JudgedLines
from tests.systems.tinytext import tiny_base


def place(identifier: str, visual: str, line: str, topic: str = "") -> FormulaPlace:
    return FormulaPlace(id=identifier, visual=visual, topic=topic, contexts=dict.fromkeys(CONTEXTS, line))


TOPICS = [place(f"t{n}", "", f"{word} a", f"B.{n}") for n, word in enumerate(("ab", "cd", "ef", "gh"))]
PLACES = [
    place(f"p{n}", f"v{n % 4}", f"{word} b") for n, word in enumerate(("ab", "cd", "ef", "gh", "ij", "kl"))
]
QRELS = Qrels({f"B.{n}": {f"v{m}": 3 if n == m else 0 for m in range(4)} for n in range(4)})


def test_no_topic_is_ranked_by_a_model_that_was_trained_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = tiny_base(tmp_path / "base")
    seen: list[set[str]] = []
    asked: list[set[str]] = []

    def trained(configuration: object, rows: list[dict[str, str]], *rest: object) -> object:
        seen.append({row["topic"] for row in rows})
        return load_text_encoder(base, "cpu")

    def ranks(
        encoder: object, length: int, context: str, topics: list[FormulaPlace], places: object
    ) -> object:
        asked.append({each.topic for each in topics})
        return {each.topic: {"v0": 1.0} for each in topics}

    monkeypatch.setattr(contexts, "trained", trained)
    monkeypatch.setattr(contexts, "ranked", ranks)
    materials = ContextMaterials(TOPICS, PLACES, QRELS)
    found, _ = cross_fitted(
        materials, MathAMRConfiguration(base=str(base)), trainings_of(0), torch.device("cpu"), count=2
    )
    assert set(found) == set(QRELS.grades)
    assert len(seen) == 2
    for learned, measured in zip(seen, asked, strict=True):
        assert learned
        assert learned.isdisjoint(measured)


def test_a_context_whose_scores_are_kept_is_not_trained_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = tiny_base(tmp_path / "base")
    write_places(TOPICS, tmp_path / "topic-places.jsonl.gz")
    write_places(PLACES, tmp_path / "places.jsonl.gz")
    (tmp_path / "qrels").mkdir()
    lines = [f"{t} 0 {v} {g}\n" for t, grades in QRELS.grades.items() for v, g in grades.items()]
    (tmp_path / "qrels" / "task2-2020.qrels").write_text("".join(lines))
    trained: list[str] = []

    def once(materials: object, configuration: MathAMRConfiguration, *_: object, **__: object) -> object:
        trained.append(configuration.context)
        return {topic: {"v0": 1.0} for topic in QRELS.grades}, {}

    monkeypatch.setattr(contexts, "cross_fitted", once)
    given = ["contexts", str(tmp_path), "--out", str(tmp_path / "out"), "--seeds", "0", "--device", "cpu"]
    given += ["--base", str(base), "--base-name", "tiny", "--contexts"]
    assert main([*given, "opt"]) == 0
    assert main([*given, "opt", "text-latex"]) == 0
    assert trained == ["opt", "text-latex"]


def test_judged_lines_of_a_collection_are_written_as_a_training_reads_them(
    corner: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "judged.jsonl"
    words = ["judged", str(corner), "--out", str(out), "--parser", "tests.amr.rule_parser:RuleParser"]
    assert main([*words, "--context", "text-latex"]) == 0
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert {row["topic"] for row in rows} <= {f"B.{number}" for number in range(1, 5)}
    pieces = load_text_encoder(tiny_base(tmp_path / "base"), "cpu").pieces
    assert len(JudgedLines.read(out, pieces, 16)) == len(rows) > 4
    assert main([*words, "--context", "soup"]) == 1
    assert "unknown context 'soup'; known: amr-opt" in capsys.readouterr().err


def test_every_topic_is_in_one_fold() -> None:
    cut = folds([f"B.{n}" for n in range(11)], 3)
    assert sorted(topic for fold in cut for topic in fold) == sorted(f"B.{n}" for n in range(11))
    assert [len(fold) for fold in cut] == [4, 4, 3]


def test_a_visual_is_ranked_at_its_best_place(tmp_path: Path) -> None:
    encoder = load_text_encoder(tiny_base(tmp_path / "base"), "cpu")
    same = [*PLACES, place("same", "v3", "ab a")]
    found = ranked(encoder, 16, "amr-opt", TOPICS[:1], same)["B.0"]
    assert max(found, key=lambda visual: found[visual]) == "v3"
    assert found["v3"] == pytest.approx(1.0, abs=1e-5)


def test_places_of_judged_visuals_are_read_and_come_back_from_a_file(tmp_path: Path) -> None:
    parser = load_parser("tests.amr.rule_parser:RuleParser")
    formulas = tuple(
        Formula(f"p:{n}", latex, visual_id=f"v{n}") for n, latex in enumerate(("a+b", "c", "d^2"))
    )
    post = Post("p", "answer", "Let $a+b$ be $c$. Then $d^2$ is odd.", markup="text", formulas=formulas)
    found = list(collection_places([post], Qrels({"B.1": {"v0": 3}}), parser))
    assert [(each.id, each.visual) for each in found] == [("p:0", "v0")]
    assert found[0].contexts["text-latex"] == "Let a+b be c."
    wider = list(collection_places([post], Qrels({"B.1": {"v0": 3}}), parser, others=5))
    assert [each.visual for each in wider] == ["v0", "v1", "v2"]
    (asked,) = topic_places([Topic("B.1", post, "p:2")], parser)
    assert (asked.topic, asked.contexts["text-latex"]) == ("B.1", "Then d^2 is odd.")
    assert write_places(wider, tmp_path / "places.jsonl.gz") == 3
    assert read_places(tmp_path / "places.jsonl.gz") == wider


def test_a_search_in_all_formulas_is_measured_by_its_best_and_keeps_every_score(tmp_path: Path) -> None:
    found = {f"B.{n}": {f"v{m}": 0.9 - abs(n + 1 - m) / 10 for m in range(4)} for n in range(3)}
    materials = ContextMaterials(TOPICS, PLACES, Qrels({t: g for t, g in QRELS.grades.items() if t in found}))
    keep_widely(tmp_path, "box/seed-0/amr-latex-all", found, materials, depth=1)
    values = json.loads((tmp_path / "box/seed-0/amr-latex-all.json").read_text())
    # The right look is always second: it is beyond a depth of one.
    assert set(values["MAP'"].values()) == {0.0}
    assert set(values["judged@10"].values()) == {0.1}
    table = ScoreTable.load(tmp_path / "box/seed-0/amr-latex-all.npz")
    assert table.topics == tuple(found)
    assert table.items == ("v0", "v1", "v2", "v3")

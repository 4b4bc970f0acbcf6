"""From posts to a cross-encoder that learned what another one thinks of what is easily mistaken."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from mathamr.errors import MathAMRError
from mathamr.integrity import file_hash
from mathamr.layers.language.crossfiles import load_cross_encoder, save_cross_encoder
from mathamr.layers.language.files import load_text_encoder, save_text_encoder
from mathamr.systems.cross.training.candidates import Candidates, Finder
from mathamr.systems.cross.training.configuration import CrossTraining, configured
from mathamr.systems.cross.training.likeness import Likeness
from mathamr.systems.cross.training.recipe import FOUND, MINED, SCORED, begun, shortened
from mathamr.systems.cross.training.trainer import CrossTrainer
from mathamr.systems.mathamrplus.training.text.corpus import TextCorpus
from mathamr.systems.text.training import materials
from mathamr.systems.text.training.materials import TextMaterials, gathered, read_materials
from mathamr.systems.training.prepared import PreparedTraining, train_prepared
from mathamr.systems.training.recipe import TrainingSettings
from mathamr.training.resources import Resources
from tests.layers.language.small import small_text_encoder
from tests.training.contract import check_trainer

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a text encoder."""
    folder = tmp_path_factory.mktemp("start")
    save_text_encoder(folder, small_text_encoder())
    return folder


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> TextCorpus:
    """Questions that share a rare letter with their own answers, and all else with the others'."""
    rows = [
        {"id": f"p{place}", "question": f"is {mark} so?", "answer": f"then {mark} is so"}
        for place, mark in enumerate(
            [
                "a1",
                "b2",
                "c3",
                "d4",
                "e5",
                "f6",
                "g7",
                "h8",
                "i9",
                "j1",
                "k2",
                "l3",
                "m4",
                "n5",
                "o6",
                "p7",
                "q8",
                "r9",
                "t1",
                "u2",
            ]
        )
    ]
    path = tmp_path_factory.mktemp("posts") / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = TextMaterials()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(materials, "MOST_HELD_SHARE", 0.5)
        read_materials(path, (), found)
    return gathered(found, small_text_encoder().pieces)


def training(start: Path, **fields: object) -> CrossTraining:
    given = {
        "query": 12,
        "document": 16,
        "batch_size": 4,
        "candidates": 4,
        "epochs": 2,
        "learning_rate": 0.003,
    }
    return CrossTraining(start=str(start), **(given | fields))  # type: ignore[arg-type]


def test_candidates_are_of_other_threads_and_by_both_ways_of_finding(corpus: TextCorpus) -> None:
    learned, held = corpus.parted()
    finder = Finder(small_text_encoder(), corpus)
    mined = finder.mined(learned, 5)
    assert mined.texts.shape == (len(learned), 6)
    assert (mined.texts[:, 0] == learned[:, 1]).all()
    groups = corpus.groups
    for question, texts in zip(mined.questions, mined.texts, strict=True):
        assert len(set(texts.tolist())) == 6
        assert (groups[texts[1:]] != groups[question]).all()
    vectors = finder.vectors.numpy()
    question = mined.questions[0]
    others = [text for text in np.unique(learned[:, 1]) if groups[text] != groups[question]]
    assert max(others, key=lambda text: float(vectors[question] @ vectors[text])) in mined.texts[0, 1:]
    searched = finder.searched(held, most=4)
    assert len(held) > 2
    for row, right in enumerate(held[:, 1]):
        place = searched.right[row]
        assert (searched.texts[row, place] == right) if place >= 0 else (right not in searched.texts[row])


def test_a_cross_encoder_learns_which_text_is_right(corpus: TextCorpus, start: Path) -> None:
    learned, _ = corpus.parted()
    wrong = np.stack(
        [np.roll(learned[:, 0], shift) for shift in (1, 2, 3)], 1
    )  # other questions: they never say "then"
    texts = np.concatenate([learned[:, 1:], wrong], 1)
    lists = Candidates(
        learned[:, 0], texts, np.zeros(texts.shape, np.float32), np.zeros(len(texts), np.int64)
    )
    given = training(start, epochs=8, learning_rate=0.01)
    trainer = CrossTrainer(begun(given), corpus, lists, lists, given, CPU, save_cross_encoder)
    before = trainer.validate()
    for epoch in range(trainer.epochs):
        for place, batch in enumerate(trainer.plan(epoch)):
            trainer.learn(trainer.step(batch, epoch), epoch * trainer.steps + place)
    after = trainer.validate()
    assert before is not None
    assert after is not None
    assert after.figures["mrr"] > 0.9 > before.figures["mrr"]
    assert not [name for name in trainer.learned if name.startswith("text.pieces.")]


def test_the_trainer_holds_the_contract(
    corpus: TextCorpus, start: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learned, held = corpus.parted()
    finder = Finder(small_text_encoder(), corpus)
    lists, found = finder.mined(learned, 4), finder.searched(held)

    def make() -> CrossTrainer:
        return CrossTrainer(
            begun(training(start)), corpus, lists, found, training(start), CPU, save_cross_encoder
        )

    check_trainer(make, tmp_path / "run", monkeypatch)


def test_all_stages_end_in_a_folder_in_few_bits(corpus: TextCorpus, start: Path, tmp_path: Path) -> None:
    prepared = tmp_path / "prepared"
    prepared.mkdir()
    corpus.save(prepared / "corpus.npz")
    few = ("epochs=1", "batch_size=4", "candidates=3", "query=12", "document=16")
    changes = (
        f"mine.finder={start}", "mine.found=4", f"teach.start={start}", f"distil.start={start}", "distil.layers=1",
        *(f"{stage}.{each}" for stage in ("teach", "distil") for each in few),
    )  # fmt: skip
    settings = TrainingSettings(config="small", changes=changes)
    hashes = {"corpus.npz": file_hash(prepared / "corpus.npz")}
    PreparedTraining(system="cross", settings=settings, sources={}, hashes=hashes).save(prepared)
    rows = list(train_prepared(prepared, tmp_path / "out", Resources(device=CPU, threads=0)))
    assert {row["stage"] for row in rows} == {"mine", "teach", "score", "distil", "join"}
    scored, mined = (Candidates.load(tmp_path / "out" / name) for name in (SCORED, MINED))
    assert scored.texts.tolist() == mined.texts[:, :3].tolist()
    assert np.unique(scored.scores).size > len(scored)
    model = load_cross_encoder(tmp_path / "out" / "model")
    assert model.text.configuration.layers == 1
    assert len(Candidates.load(tmp_path / "out" / FOUND)) == len(corpus.parted()[1])


def test_six_layers_learn_from_vectors_and_some_of_them_from_those(
    corpus: TextCorpus, start: Path, tmp_path: Path
) -> None:
    prepared = tmp_path / "prepared"
    prepared.mkdir()
    corpus.save(prepared / "corpus.npz")
    few = ("epochs=1", "batch_size=4", "candidates=3", "query=12", "document=16")
    changes = (
        f"mine.finder={start}", f"mine.lessons={start}", "mine.found=4", "mine.often=pairs", f"distil.start={start}",
        "distil.long_query=14", "distil.long_document=20", "shorten.layers=1",
        *(f"{stage}.{each}" for stage in ("distil", "shorten") for each in few),
    )  # fmt: skip
    settings = TrainingSettings(config="vectors", changes=changes)
    hashes = {"corpus.npz": file_hash(prepared / "corpus.npz")}
    PreparedTraining(system="cross", settings=settings, sources={}, hashes=hashes).save(prepared)
    rows = list(train_prepared(prepared, tmp_path / "out", Resources(device=CPU, threads=0)))
    assert [row["stage"] for row in rows] == ["mine", "distil", "shorten", "join"]
    mined = Candidates.load(tmp_path / "out" / MINED)
    assert len(mined) == 3 * len(corpus.parted()[0])
    sharp = np.array(rows[0]["sharpness"], np.float32)
    likeness = Likeness(load_text_encoder(start), corpus)
    assert np.allclose(mined.scores * sharp, likeness.of(mined), atol=1e-4)
    assert load_cross_encoder(tmp_path / "out" / "distil").text.configuration.layers == 2
    assert load_cross_encoder(tmp_path / "out" / "model").text.configuration.layers == 1


def test_likeness_is_the_mean_of_the_best_cosines(corpus: TextCorpus) -> None:
    encoder = small_text_encoder()
    vectors = [row.vectors for row in encoder.encode_pieces(corpus.texts.posts)]
    lists = Finder(encoder, corpus).mined(corpus.parted()[0], 3)
    found = Likeness(encoder, corpus).of(lists)
    for row, question in enumerate(lists.questions):
        expected = [(vectors[question] @ vectors[text].T).max(1).mean() for text in lists.texts[row]]
        assert found[row] == pytest.approx(expected, abs=1e-5)


def test_a_teacher_with_all_layers_is_what_its_shortened_self_learns_from(
    corpus: TextCorpus, start: Path
) -> None:
    lists = Finder(small_text_encoder(), corpus).mined(corpus.parted()[0], 3)
    whole = begun(training(start))
    torch.nn.init.normal_(whole.score.weight)
    same = training(start, labels=0.0, lessons=1.0)
    fewer = training(start, labels=0.0, lessons=1.0, layers="0")
    losses = []
    for given in (same, fewer):
        trainer = CrossTrainer(
            shortened(whole, given), corpus, lists, lists, given, CPU, save_cross_encoder, whole
        )
        trainer.model.eval()
        losses.append(float(trainer.loss(trainer.step(trainer.plan(0)[0], 0)).detach()))
    assert abs(losses[0]) < 1e-6 < losses[1]


def test_so_many_questions_are_drawn_and_always_the_same(corpus: TextCorpus) -> None:
    lists = Finder(small_text_encoder(), corpus).mined(corpus.parted()[0], 3)
    few = lists.drawn(5, seed=1)
    assert len(few) == 5
    assert (
        few.texts.tolist() == lists.drawn(5, seed=1).texts.tolist() != lists.drawn(5, seed=2).texts.tolist()
    )
    assert lists.drawn(0, seed=1) is lists
    with pytest.raises(MathAMRError, match="a score for every text"):
        replace(lists, scores=lists.scores[:, 1:])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("distil.layers=one", "numbers with blanks"),
        ("distil.bits=5", "4 bits or 32"),
        ("distil.long_query=100", "both long_query and long_document"),
        ("teach.candidates=1", "candidates is from 2"),
        ("score.x=1", "nothing to change"),
        ("cook.x=1", "stage"),
    ],
)
def test_settings_that_cannot_be_trained_are_refused(change: str, message: str) -> None:
    with pytest.raises(MathAMRError, match=message):
        configured(TrainingSettings(config="small", changes=(change,)))

"""From posts and an encyclopedia to a tuned encoder, a student of it, and their model folders."""

from __future__ import annotations

import gzip
import io
import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mathamr.core.errors import MathAMRError
from mathamr.systems.models import load_system
from mathamr.text.torchfolder import load_text_encoder, save_text_encoder
from mathamr_lab.recipes.prepared import prepare, train_prepared
from mathamr_lab.recipes.recipe import TrainingSettings, TrainingSources
from mathamr_lab.systems.text import materials
from mathamr_lab.systems.text.corpus import TextCorpus, vocabulary_checksum
from mathamr_lab.systems.text.distilling import Distilling, DistillingTrainer, read_taught, taught
from mathamr_lab.systems.text.materials import TextMaterials, gathered, held_names, read_materials
from mathamr_lab.systems.text.training import TextTraining
from mathamr_lab.training.resources import Resources
from tests.lab.training.contract import check_trainer
from tests.text.small import small_text_encoder

CPU = torch.device("cpu")
WORDS = ("prime", "number", "let", "then", "ab", "cd", "ef", "gh")


def entry(place: int) -> dict[str, Any]:
    return {
        "id": f"entry:{place}",
        "title": f"proof of a{place - 1}" if place == 3 else f"a{place}",
        "type": "Definition",
        "synonyms": [f"b{place}"],
        "defines": [],
        "related": [f"entry:{place + 1}"],
        "text": f"The number a{place} is ${place}+x^{place}$.",
    }


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> TrainingSources:
    folder = tmp_path_factory.mktemp("texts")
    rows = [
        {
            "id": f"pair:{place}",
            "question": f"Is {WORDS[place % 8]} x{place} prime? ${'a' * 18}+{place}$",
            "answer": f"Yes, as the word {WORDS[place % 8]} with x{place} shows. And that is a long enough sentence {place}.",
        }
        for place in range(40)
    ]
    pairs = folder / "pairs.jsonl"
    pairs.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with gzip.open(folder / "entries.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(entry(place)) + "\n" for place in range(30))
    (folder / "without.txt").write_text("pair:7\n", encoding="utf-8")
    return TrainingSources(
        path=pairs, posts=(folder / "entries.jsonl.gz",), without=(folder / "without.txt",)
    )


@pytest.fixture(scope="module")
def corpus(sources: TrainingSources) -> TextCorpus:
    found = TextMaterials(held_share=0.3)
    for path in (sources.path, *sources.posts):
        read_materials(path, sources.without, found)
    return gathered(found, small_text_encoder().pieces)


def test_what_is_left_out_or_held_back_is_never_learned_from(
    corpus: TextCorpus, sources: TrainingSources
) -> None:
    assert not [each for each in corpus.ids if "pair:7/" in each]
    asked = held_names(sources.posts[0])
    assert asked == {f"entry:{n}" for n in range(30) if zlib.crc32(f"entry:{n}".encode()) % 10 == 0} != set()
    assert not [each for each in corpus.ids if each.partition("#")[0] in asked]
    train, held = corpus.parted()
    assert 0 < len(held) < 20
    threads = {corpus.ids[place].partition("/")[0] for place in held.flatten()}
    assert not {corpus.ids[place].partition("/")[0] for place in train.flatten()} & threads


def test_pairs_are_of_the_kinds_that_posts_and_entries_give(corpus: TextCorpus) -> None:
    found = {
        kind: (corpus.ids[question], corpus.ids[answer])
        for (question, answer), kind in zip(corpus.pairs, corpus.kinds, strict=True)
    }
    assert {"answer of pairs", "sentence", "formula", "name", "what", "related", "proof"} <= found.keys()
    assert found["proof"] == ("entry:2", "entry:3")
    question, answer = found["sentence"]
    assert question == f"{answer}#sentence"
    assert corpus.among(np.array([corpus.ids.index(question)]), np.array([corpus.ids.index(answer)])).all()


@pytest.fixture(scope="module")
def lettered(sources: TrainingSources) -> TextCorpus:
    found = TextMaterials(held_share=0.3, same_share=1.0)
    for path in (sources.path, *sources.posts):
        read_materials(path, sources.without, found)
    materials.same_texts(found)
    return gathered(found, small_text_encoder().pieces, letters=2)


def test_forms_keep_the_parts_of_their_texts_and_foils_are_only_of_texts_asked_for_in_other_letters(
    lettered: TextCorpus, tmp_path: Path
) -> None:
    assert len(lettered.forms.of) > 0
    assert len(lettered.foils.of) > 0
    lettered.save(tmp_path / "corpus.npz")
    back = TextCorpus.load(tmp_path / "corpus.npz").cut(6)
    for place, form in zip(back.forms.of, back.forms.texts.posts, strict=True):
        assert set(form.of) <= set(back.texts.posts[place].of)
    same = {int(question) for question, answer in back.pairs if question == answer}
    assert set(back.foils.of.tolist()) <= same


def test_a_batch_reads_texts_in_other_letters_and_their_foils_as_further_negatives(
    lettered: TextCorpus, tmp_path: Path
) -> None:
    base = small_text_encoder()
    taught(base, lettered, tmp_path / "taught.npy")
    settings = TextTraining(batch_size=8, projection=0, neighbours=1, renamed=1.0, foils=1.0)
    trainer = DistillingTrainer(
        lettered, base, settings, Distilling(labels=1.0), read_taught(tmp_path / "taught.npy"), CPU
    )
    places = [place for place, (question, answer) in enumerate(trainer.train.tolist()) if question == answer][
        :8
    ]
    chosen, posts, foils = trainer.read(np.array(places), 0)
    assert foils > 0
    assert len(posts) == len(chosen) == 16 + foils
    assert all(
        post is not lettered.texts.posts[number] for number, post in zip(chosen[:8], posts, strict=False)
    )
    step = trainer.step(np.array(places), 0)
    assert step.contrast.ignored.shape == (8, 8 + foils)
    assert not step.contrast.ignored[:, 8:].any()
    assert torch.isfinite(trainer.learn(step, 0))


def test_a_corpus_comes_back_from_its_file_with_the_numbers_of_any_vocabulary(
    corpus: TextCorpus, tmp_path: Path
) -> None:
    corpus.save(tmp_path / "corpus.npz")
    back = TextCorpus.load(tmp_path / "corpus.npz")
    assert (back.ids, back.kinds) == (corpus.ids, corpus.kinds)
    assert back.texts.fingerprint() == corpus.texts.fingerprint()
    pieces = small_text_encoder().pieces
    shifted = type(pieces)(["<s>", "<pad>", "</s>", *pieces.vocabulary])
    moved = back.numbered_for(shifted)
    for ours, theirs in zip(corpus.texts.posts, moved.texts.posts, strict=True):
        assert [pieces.vocabulary[n] for n in ours.numbers] == [shifted.vocabulary[n] for n in theirs.numbers]
    with pytest.raises(MathAMRError, match="different word pieces"):
        back.numbered_for(type(pieces)([*pieces.vocabulary, "more"]))
    assert vocabulary_checksum(pieces) == corpus.vocabulary


def student(corpus: TextCorpus, folder: Path, anchor: float = 0.0, **fields: Any) -> DistillingTrainer:
    path = folder / "taught.npy"
    if not path.exists():
        taught(small_text_encoder(projection=12, seed=4), corpus, path)
    given = {"batch_size": 16, "epochs": 2, "neighbours": 4, "projection": 0, "learning_rate": 0.01, **fields}
    lessons = Distilling(drawn=40, anchor=anchor)
    return DistillingTrainer(
        corpus, small_text_encoder(), TextTraining(**given), lessons, read_taught(path), CPU
    )


def test_a_student_holds_the_contract_of_trainers(
    corpus: TextCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mathamr_lab.systems.text.trainer.ASKED", 4)
    few = corpus.of_kinds([kind for kind in set(corpus.kinds) if not kind.startswith("answer")])
    check_trainer(lambda: student(few, tmp_path), tmp_path / "run", monkeypatch)


def test_a_student_comes_to_find_alike_what_its_teacher_does(corpus: TextCorpus, tmp_path: Path) -> None:
    made = student(corpus, tmp_path)
    teacher = read_taught(tmp_path / "taught.npy").astype(np.float32)

    def agreement() -> float:
        made.encoder.model.eval()
        rows = np.concatenate([row.vectors for row in made.encoder.encode_pieces(corpus.texts.posts)])
        chosen = slice(0, 300)
        ours, theirs = rows[chosen] @ rows[chosen].T, teacher[chosen] @ teacher[chosen].T
        return float(np.corrcoef(ours.flatten(), theirs.flatten())[0, 1])

    before = agreement()
    for number, batch in enumerate(made.plan(0) + made.plan(1)):
        made.learn(made.step(batch, 0), number)
    assert 1 - agreement() < 0.7 * (1 - before)


def test_an_anchored_student_stays_nearer_to_its_start(lettered: TextCorpus, tmp_path: Path) -> None:
    texts = lettered.texts.posts[:200]
    before = np.concatenate([row.vectors for row in small_text_encoder().encode_pieces(texts)])

    def moved(anchor: float) -> float:
        made = student(lettered, tmp_path, anchor, renamed=0.5)
        for number, batch in enumerate(made.plan(0)):
            made.learn(made.step(batch, 0), number)
        made.encoder.model.eval()
        after = np.concatenate([row.vectors for row in made.encoder.encode_pieces(texts)])
        return float(1 - (before * after).sum(1).mean())

    assert moved(50.0) < 0.5 * moved(0.0)


def test_the_teacher_s_vectors_must_be_of_the_corpus(corpus: TextCorpus) -> None:
    with pytest.raises(MathAMRError, match="the teacher has 3 vectors"):
        DistillingTrainer(
            corpus,
            small_text_encoder(),
            TextTraining(projection=0),
            Distilling(),
            np.zeros((3, 4), np.float16),
            CPU,
        )


def test_a_teacher_and_its_student_become_models(
    sources: TrainingSources, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_text_encoder(tmp_path / "start", small_text_encoder())
    monkeypatch.setattr("mathamr.text.published.packaged_minilm", lambda: small_text_encoder())
    start = f"base.start={tmp_path / 'start'}"
    small = ("neighbours=4", "batch_size=64", "epochs=1")
    join = ("join.size=6", "join.learned=0.5/1")

    def run(name: str, config: str, changes: tuple[str, ...]) -> list[dict[str, Any]]:
        prepare(
            "text",
            sources,
            TrainingSettings(config=config, changes=(start, *changes)),
            tmp_path / f"{name}-prepared",
            say=lambda line: None,
        )
        resources = Resources(device=CPU, threads=0, stream=io.StringIO())
        return list(train_prepared(tmp_path / f"{name}-prepared", tmp_path / name, resources))

    run("teacher", "teacher", (*join, *(f"tune.{each}" for each in small)))
    frozen = load_text_encoder(tmp_path / "teacher" / "tune", "cpu").model.state_dict()
    before = load_text_encoder(tmp_path / "start", "cpu").model.state_dict()
    torch.testing.assert_close(frozen["pieces.weight"], before["pieces.weight"], atol=1e-3, rtol=0)
    assert not torch.allclose(frozen["layers.0.inner.weight"], before["layers.0.inner.weight"], atol=1e-5)
    lessons = ("base.teacher=../teacher/taught.npy", "distil.drawn=40")
    rows = run("small", "small", (*lessons, *join, *(f"distil.{each}" for each in small)))
    tried = {row["learned"]: row["mean"] for row in rows if "learned" in row}
    assert set(tried) == {0.5, 1.0}
    assert tried[rows[-1]["chosen"]] == max(tried.values())
    system = load_system(tmp_path / "small" / "model", "cpu")
    assert (system.kind, system.fields[0].size) == ("text", 6)
    with pytest.raises(MathAMRError, match="a student needs a teacher"):
        run("other", "small", tuple(f"distil.{each}" for each in small))

"""Passages of a corpus, and a student of two teachers."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
import torch

from mathamr.core.errors import MathAMRError
from mathamr.systems.models import load_system
from mathamr.text.torchfolder import save_text_encoder
from mathamr.text.wordpieces import Pieces
from mathamr_lab.recipes.prepared import prepare, train_prepared
from mathamr_lab.recipes.recipe import TrainingSettings, TrainingSources
from mathamr_lab.systems.text.corpus import TextCorpus, Variants
from mathamr_lab.systems.text.following import FollowingTrainer, PassageTraining, clustered, passage_vectors
from mathamr_lab.systems.text.materials import TextMaterials, gathered, read_materials, same_texts
from mathamr_lab.systems.text.passages import NONE, Passages
from mathamr_lab.systems.text.shard import TextShard
from mathamr_lab.training.resources import Resources
from tests.lab.training.contract import check_trainer
from tests.text.small import small_text_encoder

CPU = torch.device("cpu")
SMALL = PassageTraining(batch_size=64, pairs=8, group=4, epochs=2, clusters=4, learning_rate=3e-3)


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> TrainingSources:
    path = tmp_path_factory.mktemp("passages") / "pairs.jsonl"
    rows = [
        {
            "id": f"pair:{place}",
            "question": f"Let $x+{place}$ be prime. Is $y+x$ then a prime number? Let {'abcdefgh'[place % 8]} be it.",
            "answer": f"Then $y = {place}$ is. And the number {'abcdefgh'[place % 8]} is prime. So $x^{place}=y$.",
        }
        for place in range(40)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return TrainingSources(path=path)


@pytest.fixture(scope="module")
def corpus(sources: TrainingSources) -> TextCorpus:
    found = TextMaterials(held_share=0.3)
    read_materials(sources.path, (), found)
    same_texts(found)
    return gathered(found, small_text_encoder().pieces, letters=2)


@pytest.fixture(scope="module")
def passages(corpus: TextCorpus) -> Passages:
    return Passages.of(corpus)


def one_text() -> TextCorpus:
    """A text of three sentences of 70 pieces, the second with a formula, and a form whose first sentence is shorter."""
    ends = np.array([70, 90, 140, 210, 210], np.int32)
    starts = np.array([0, 80, 70, 140, 0], np.int32)
    of = np.arange(5, dtype=np.int32)
    text = Pieces(np.arange(210, dtype=np.uint16), of, starts, ends)
    form = Pieces(np.arange(500, 700, dtype=np.uint16), of, np.maximum(starts - 10, 0), ends - 10)
    return TextCorpus(
        ids=("text",),
        texts=TextShard((text,)),
        groups=np.zeros(1, np.int64),
        pairs=np.zeros((0, 2), np.int64),
        held=np.zeros(0, np.bool_),
        kinds=(),
        vocabulary=0,
        forms=Variants(TextShard((form,)), np.zeros(1, np.int64)),
    )


def test_passages_are_the_text_its_sentences_and_runs_of_them_in_their_own_and_in_other_letters() -> None:
    found = Passages.of(one_text())
    read = {(int(start), int(length)) for start, length in zip(found.starts, found.lengths, strict=True)}
    assert read == {(0, 210), (0, 70), (70, 70), (140, 70), (0, 140)}
    other = {
        (int(own), int(length)): found.numbers[start : start + count].tolist()
        for own, length, (start,), (count,) in zip(
            found.starts, found.lengths, found.other_starts, found.other_lengths, strict=True
        )
    }
    assert other[70, 70] == list(range(560, 630))
    assert other[0, 140] == list(range(500, 630))
    assert other[0, 210] == list(range(500, 700))


def test_no_passage_is_of_a_group_with_a_validation_pair(corpus: TextCorpus, passages: Passages) -> None:
    assert corpus.apart.any()
    assert (passages.wholes[corpus.apart] == NONE).all()
    assert (passages.wholes[~corpus.apart] != NONE).all()
    ends = np.cumsum([len(post) for post in corpus.texts.posts])
    owners = np.searchsorted(ends, passages.starts, side="right")
    assert not corpus.apart[owners].any()
    forms = passages.other_starts[passages.other_starts != NONE] - ends[-1]
    form_ends = np.cumsum([len(post) for post in corpus.forms.texts.posts])
    assert len(forms)
    assert not corpus.apart[corpus.forms.of[np.searchsorted(form_ends, forms, side="right")]].any()


def test_passages_are_drawn_in_other_letters_where_they_have_a_form(
    passages: Passages, tmp_path: Path
) -> None:
    passages.save(tmp_path / "passages.npz")
    back = Passages.load(tmp_path / "passages.npz")
    chosen, generator = np.arange(len(back)), np.random.default_rng(0)
    own, _ = back.drawn(chosen, np.zeros(len(back), np.bool_), generator)
    assert (own == passages.starts).all()
    starts, lengths = back.drawn(chosen, np.ones(len(back), np.bool_), generator)
    known = (back.other_starts != NONE).any(1)
    assert 0 < known.sum() < len(known)
    assert ((starts != own) == known).all()
    assert (
        ((starts[:, None] == back.other_starts) & (lengths[:, None] == back.other_lengths))
        .any(1)[known]
        .all()
    )
    (tmp_path / "passages.npz").write_bytes(b"PK")
    with pytest.raises(MathAMRError, match="does not hold passages"):
        Passages.load(tmp_path / "passages.npz")


def test_a_passage_has_the_vector_that_the_encoder_gives_its_text(passages: Passages) -> None:
    encoder = small_text_encoder()
    texts = [
        Pieces(
            passages.numbers[start : start + length], *(np.array([end], np.int32) for end in (0, 0, length))
        )
        for start, length in zip(passages.starts[:60], passages.lengths[:60], strict=True)
    ]
    wanted = np.concatenate([row.vectors for row in encoder.encode_pieces(texts)])
    np.testing.assert_allclose(passage_vectors(encoder, passages)[:60], wanted, atol=2e-3)


def test_clusters_hold_what_is_alike() -> None:
    generator = torch.Generator().manual_seed(0)
    centres = torch.nn.functional.normalize(torch.randn(3, 8, generator=generator), dim=-1)
    own = torch.arange(300) % 3
    vectors = torch.nn.functional.normalize(
        centres[own] + 0.05 * torch.randn(300, 8, generator=generator), dim=-1
    )
    labels = clustered(vectors, 3)
    assert all(len(set(labels[own.numpy() == each].tolist())) == 1 for each in range(3))


@pytest.fixture(scope="module")
def make(corpus: TextCorpus, passages: Passages) -> Callable[[], FollowingTrainer]:
    both = [passage_vectors(small_text_encoder(seed=seed), passages) for seed in (5, 0)]
    rows = np.concatenate(both, 1) * np.float16(0.5**0.5)
    return lambda: FollowingTrainer(passages, corpus, small_text_encoder(), SMALL, rows, 16, CPU)


def test_the_trainer_keeps_the_contract(
    make: Callable[[], FollowingTrainer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_trainer(make, tmp_path, monkeypatch)


def test_a_batch_is_groups_of_one_cluster_and_pairs_with_their_teachers_rows(
    corpus: TextCorpus, passages: Passages, make: Callable[[], FollowingTrainer]
) -> None:
    made = make()
    batch = made.plan(0)[0]
    assert len(batch) == 48 + 8
    step = made.step(batch, 0)
    assert len(step.taught) == 64
    assert step.taught[:48].tolist() == batch[:48].tolist()
    assert step.taught[48:].reshape(2, 8).T.tolist() == made.pairs[batch[48:]].tolist()
    seen = np.concatenate([each[:48] for each in made.plan(0)])
    assert len(set(seen.tolist())) == len(seen) > len(passages) - 64
    known = {tuple(pair) for pair in made.pairs.tolist()}
    assert known <= {tuple(pair) for pair in passages.wholes[corpus.parted()[0]].tolist()}
    assert all(question != answer for question, answer in known)


def test_a_student_comes_nearer_to_both_teachers(make: Callable[[], FollowingTrainer]) -> None:
    made = make()

    def distance() -> float:
        with torch.no_grad():
            return float(made.loss(made.step(made.plan(0)[0], 0)))

    before = distance()
    for epoch in range(3):
        for number, batch in enumerate(made.plan(epoch)):
            made.learn(made.step(batch, epoch), epoch * made.steps + number)
    assert distance() < 0.9 * before


def test_the_teachers_vectors_must_be_of_the_passages(corpus: TextCorpus, passages: Passages) -> None:
    with pytest.raises(MathAMRError, match="the teachers have 3 vectors"):
        FollowingTrainer(
            passages, corpus, small_text_encoder(), SMALL, np.zeros((3, 32), np.float16), 16, CPU
        )


def test_a_share_of_a_librarys_pairs_is_trained_on_and_all_others(
    corpus: TextCorpus, passages: Passages
) -> None:
    rows = np.random.default_rng(0).standard_normal((len(passages), 32)).astype(np.float16)
    ids = tuple(f"lean:{name}" if crc32(name.encode()) % 2 else name for name in corpus.ids)
    declared = replace(corpus, ids=ids)

    def trained(share: float) -> set[tuple[int, int]]:
        settings = replace(SMALL, library=share)
        trainer = FollowingTrainer(passages, declared, small_text_encoder(), settings, rows, 16, CPU)
        return {(int(asked), int(found)) for asked, found in trainer.pairs}

    every, others = trained(1), trained(0)
    questions = {int(passages.wholes[place]) for place, name in enumerate(ids) if name.startswith("lean:")}
    assert others == {pair for pair in every if pair[0] not in questions}
    assert others
    assert others < trained(0.5) < every


def test_two_teachers_make_a_model(sources: TrainingSources, tmp_path: Path) -> None:
    save_text_encoder(tmp_path / "start", small_text_encoder())
    save_text_encoder(tmp_path / "large", small_text_encoder(seed=5))

    def run(*changes: str) -> list[dict[str, object]]:
        settings = TrainingSettings(
            config="two-teachers",
            changes=(
                f"base.start={tmp_path / 'start'}",
                "follow.batch_size=96",
                "follow.pairs=8",
                "follow.epochs=2",
                "join.size=6",
                "join.learned=0.7/1",
                "join.trained=false",
                *changes,
            ),
        )
        prepare("text", sources, settings, tmp_path / "prepared", say=lambda line: None)
        resources = Resources(device=CPU, threads=0, stream=io.StringIO())
        return list(train_prepared(tmp_path / "prepared", tmp_path / "out", resources))

    with pytest.raises(MathAMRError, match="needs the first teacher"):
        run()
    rows = run(f"base.teacher={tmp_path / 'large'}")
    assert [row["stage"] for row in rows].count("follow") == 2
    assert rows[-1]["chosen"] in (0.7, 1.0)
    system = load_system(tmp_path / "out" / "model", "cpu")
    assert (system.kind, system.fields[0].size) == ("text", 6)

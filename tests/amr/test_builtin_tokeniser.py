"""Words cut and numbered without spaCy are those of spaCy."""

from __future__ import annotations

import random
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mathamr.amr.builtin.spacyfolder import SpacyFolder, shape
from mathamr.amr.builtin.syntax import MODELS, clean
from mathamr.amr.builtin.texthash import number_of, symbols, table_rows
from mathamr.amr.builtin.tokeniser import _NORMS, Tokeniser
from mathamr.posts.passage import passage
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.sample import folder as sample

ODD = [
    "hello", "World", "x", "3.5", "10km", "5km.", "U.S.", "http://a.b/c?d=e", "foo@bar.com", ":-)", "(", '"', ")",
    "...", "--", "—", "'s", "$", "%", "x-y", "A/B", "C++", "FORMULA_3", "FORMULA_12's", "non-FORMULA_1", "1990s", "ü",
    "1,000", "#1", "[sic]", "*a*", "x_1", "?!", "word?", "it's", "’s", "we’re", "a,b", "Mr.", "cf.", "prep", "NOUN",
]  # fmt: skip


@pytest.fixture(scope="module")
def spacy_tokeniser() -> Any:
    spacy = pytest.importorskip("spacy")
    return spacy.load(
        MODELS[0], exclude=["tok2vec", "tagger", "parser", "ner", "attribute_ruler", "lemmatizer", "senter"]
    ).tokenizer


@pytest.fixture(scope="module")
def tokeniser() -> Tokeniser:
    return SpacyFolder.of_package(MODELS[0]).tokeniser


def assert_cut_alike(tokeniser: Tokeniser, theirs: Any, text: str) -> None:
    cleaned = clean(text)
    wanted = [(token.text, token.norm_, bool(token.whitespace_)) for token in theirs(cleaned)]
    assert [tuple(token) for token in tokeniser(cleaned)] == wanted, cleaned


def test_sentences_are_cut_as_spacy_cuts_them(tokeniser: Tokeniser, spacy_tokeniser: Any) -> None:
    for post in read_posts(sample() / "Posts.xml", Report()):
        for sentence in passage(post).sentences:
            assert_cut_alike(tokeniser, spacy_tokeniser, sentence.text)


def test_special_cases_and_marks_in_any_order_are_cut_alike(
    tokeniser: Tokeniser, spacy_tokeniser: Any
) -> None:
    draw = random.Random(5)
    words = [*spacy_tokeniser.rules, *ODD]
    for _ in range(600):
        text = "".join(draw.choice(words) + draw.choice([" ", "", " "]) for _ in range(draw.randint(1, 5)))
        assert_cut_alike(tokeniser, spacy_tokeniser, text)


@given(st.text(max_size=40))
@example("irrational? Why, FORMULA_0; (done).")
@settings(max_examples=50, deadline=None)
def test_any_text_is_cut_alike(tokeniser: Tokeniser, spacy_tokeniser: Any, text: str) -> None:
    assert_cut_alike(tokeniser, spacy_tokeniser, text)


def test_texts_have_spacys_numbers_norms_and_shapes(spacy_tokeniser: Any) -> None:
    from spacy.lang.lex_attrs import word_shape
    from spacy.lang.norm_exceptions import BASE_NORMS
    from spacy.strings import StringStore
    from spacy.symbols import IDS

    store = StringStore()
    for text in [*ODD, "", "a" * 8, "b" * 33, "∑", "i" * 120, "aaaaAAAA11111"]:
        assert number_of(text) == store.add(text)
        assert shape(text) == word_shape(text)
    assert symbols() == {name: number for name, number in IDS.items() if name}
    assert _NORMS == BASE_NORMS


def test_numbers_lead_to_thincs_rows() -> None:
    thinc = pytest.importorskip("thinc.api")
    numbers = np.random.default_rng(1).integers(0, 2**64 - 1, 300, dtype=np.uint64)
    for seed, size in ((8, 5000), (13, 50)):
        wanted = thinc.NumpyOps().hash(numbers, seed) % size
        np.testing.assert_array_equal(table_rows(numbers, seed, size), wanted)


def test_a_sentence_is_parsed_without_spacy() -> None:
    code = (
        "import sys; from mathamr.amr.builtin.parser import BuiltinParser;"
        "print(len(BuiltinParser().parse(['Why is FORMULA_0 irrational?'])), 'spacy' in sys.modules, 'thinc' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "False", "False"]

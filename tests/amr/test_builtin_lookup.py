"""Features as numbers give what features as strings give."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mathamr.amr.builtin import lookup
from mathamr.amr.builtin.columns import TextHashes, WordColumns
from mathamr.amr.builtin.featuresums import FeatureSums
from mathamr.amr.builtin.frames import load_frames
from mathamr.amr.builtin.lexicon import NAME
from mathamr.amr.builtin.lookup import ABSENT, Form, NumberTable, StringNumbers
from mathamr.amr.builtin.network import Weights
from mathamr.amr.builtin.parser import WEIGHTS, BuiltinParser
from mathamr.amr.builtin.relations import LEAST
from mathamr.amr.builtin.syntax import SyntaxAnalyser, SyntaxSentence
from tests.amr.string_models import StringModels

TEXTS = [
    "Let FORMULA_0 be a sequence such that FORMULA_1 converges to FORMULA_2 .",
    "Why does Euler's proof give up on 3 of the 7 unproven cases, and who found them ?",
    "She told him that the fox, which was not seen by anyone, wanted to run away from it quickly.",
    "Show that there are infinitely many primes p|q with p = q ; I can't .",
    "MEK and ERK inhibitors decreased the proliferation of 20 cell lines in vitro.",
    "?", "", "FORMULA_7", "Teachers teach.",
    " ".join(f"the {n} dogs chase a cat and" for n in range(40)),
]  # fmt: skip


@pytest.fixture(scope="module")
def sentences() -> list[SyntaxSentence]:
    return list(SyntaxAnalyser().analyse(TEXTS))


@pytest.fixture(scope="module")
def parser() -> BuiltinParser:
    return BuiltinParser()


@pytest.fixture(scope="module")
def oracle(parser: BuiltinParser) -> StringModels:
    _, concepts, _ = parser._models
    return StringModels(Weights.load(WEIGHTS), concepts.lexicon, load_frames())


def test_cores_and_templates_are_the_best_by_strings(
    sentences: list[SyntaxSentence], parser: BuiltinParser, oracle: StringModels
) -> None:
    parser._models[1]._forget()
    strings, concepts, _ = parser._models
    words = WordColumns(sentences, strings)
    known = [word for sentence in sentences for word in concepts._recall(sentence)]
    described = concepts._describe(words, known)
    chosen = concepts._choose_cores(sentences, words, known, described)
    tokens = [(sentence, token) for sentence in sentences for token in range(len(sentence))]
    flat = [core for cores in chosen for core in cores]
    checked = 0
    for number, ((sentence, token), core) in enumerate(zip(tokens, flat, strict=True)):
        if len(known[number].candidates) > 1 and core != NAME:
            expected = oracle.cores(sentence, token)
            best = known[number].candidates[int(expected.argmax())].core
            assert best == core or best == "<inside>"
            scores = oracle.templates(sentence, token, core)
            made = concepts._choose_templates(words, described, [core], np.array([number]), [0])
            assert made == [int((scores + concepts._unfit[0]).argmax())]
            checked += 1
    assert checked > 80


def test_pairs_probabilities_and_roots_are_those_of_strings(
    sentences: list[SyntaxSentence], parser: BuiltinParser, oracle: StringModels
) -> None:
    strings, concepts, relations = parser._models
    words = WordColumns(sentences, strings)
    drafts = concepts.identify(sentences, words)
    found = relations.score(drafts, words)
    assert max(len(draft.nodes) for draft in drafts) > 78, "a sentence with too many nodes for all pairs"
    likely = unlikely = 0
    for draft, scores in zip(drafts, found, strict=True):
        made = dict(zip(map(tuple, scores.pairs.tolist()), scores.probabilities, strict=True))
        pairs = oracle.pairs(draft)[:400]
        for pair, wanted in zip(pairs, oracle.relations(draft, pairs), strict=True):
            best = wanted[1:].max()
            if best > LEAST + 1e-4:
                assert np.allclose(made[pair], wanted, atol=2e-5)
                likely += 1
            elif best < LEAST * wanted[0] - 1e-4:
                assert pair not in made
                unlikely += 1
        assert set(made) <= set(oracle.pairs(draft))
        assert np.allclose(scores.roots, oracle.roots(draft), atol=2e-4)
    assert min(likely, unlikely) > 50


def test_where_a_path_is_no_feature_nothing_on_it_is_one() -> None:
    vocabulary = Weights.load(WEIGHTS).bag("pair/pair").vocabulary
    for feature in vocabulary:
        if feature[0] == "^" and "|" in feature:
            assert feature.partition("|")[0] in vocabulary
        elif feature[0] in "^v" and "#" in feature:
            assert feature.partition("#")[0] in vocabulary


def test_a_parser_that_met_too_many_strings_begins_anew(
    parser: BuiltinParser, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = parser.parse(TEXTS[:3])
    monkeypatch.setattr(lookup, "MOST_STRINGS", 10)
    models = parser._models
    assert parser.parse(TEXTS[:3]) == before
    assert parser._models is not models


@settings(max_examples=30, deadline=None)
@given(
    st.dictionaries(st.integers(0, 2**62), st.integers(0, 1000), max_size=300),
    st.lists(st.integers(0, 2**62)),
)
def test_a_table_finds_what_a_dictionary_finds(entries: dict[int, int], others: list[int]) -> None:
    table = NumberTable()
    for start in range(0, len(entries), 100):
        part = list(entries.items())[start : start + 100]
        table.put(
            np.array([key for key, _ in part], dtype=np.int64), np.array([v for _, v in part], dtype=np.int64)
        )
    keys = [*entries, *others]
    assert table.find(np.array(keys, dtype=np.int64)).tolist() == [entries.get(key, -1) for key in keys]
    assert len(table) == len(entries)


def test_keys_that_share_their_slot_are_told_apart() -> None:
    table = NumberTable()
    keys = np.arange(3000, dtype=np.int64) << 50
    for part in np.array_split(keys, 7):
        table.put(part, part >> 50)
    assert table.find(keys).tolist() == list(range(3000))
    assert table.find(keys + 1).tolist() == [-1] * 3000


PARTS = st.sampled_from(["a", "a|b", "b", "", "|", "b|", "c"])


@settings(max_examples=30, deadline=None)
@given(
    st.sampled_from(["x={one}|{two}", "x={one}{two}", "x={one}", "{one}|>{two}", "{one}#{two}{three}"]),
    st.lists(st.tuples(PARTS, PARTS, PARTS), min_size=1, max_size=12),
    st.lists(st.tuples(PARTS, PARTS, PARTS), max_size=6),
)
def test_a_form_finds_what_its_text_is(
    form: str, asked: list[tuple[str, str, str]], kept: list[tuple[str, str, str]]
) -> None:
    names = ("one", "two", "three")
    vocabulary = {form.format(**dict(zip(names, parts, strict=True))): n for n, parts in enumerate(kept)}
    strings = StringNumbers()
    made = Form(form, vocabulary, strings, unknown=99)
    columns = [strings.numbers(parts[names.index(name)] for parts in asked) for name in made.parts]
    expected = [vocabulary.get(form.format(**dict(zip(names, parts, strict=True))), 99) for parts in asked]
    for _ in range(2):
        assert made(*columns).tolist() == expected
    absent = [np.full(1, ABSENT) if n == 0 else column[:1] for n, column in enumerate(columns)]
    assert made(*absent).tolist() == [99]


def test_sums_are_sums_of_vectors() -> None:
    weights = np.random.default_rng(0).normal(size=(7, 3)).astype(np.float32)
    sums = FeatureSums({str(n): n for n in range(7)}, weights, StringNumbers())
    columns = [np.array([0, 7, 3]), np.array([1, 7, 3])]
    made = sums.sums(columns)
    assert np.allclose(made, [weights[0] + weights[1], np.zeros(3), 2 * weights[3]])
    sums.add_ragged(made, np.array([0, 2, 2, 2]), np.array([7, 4, 5, 7]))
    assert np.allclose(made[2], 2 * weights[3] + weights[4] + weights[5])
    assert sums.numbers(["3", "nothing"]) == [3, 7]


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.text(max_size=6), st.text(max_size=6)), min_size=1, max_size=4))
def test_hashes_of_parts_join_to_the_hash_of_the_whole(texts: list[tuple[str, str]]) -> None:
    joined = TextHashes.of([a for a, _ in texts]).joined(TextHashes.of([b for _, b in texts]))
    assert joined.keys.tolist() == TextHashes.of([a + b for a, b in texts]).keys.tolist()


def test_texts_that_differ_in_one_letter_have_keys_of_their_own() -> None:
    texts = [f"path{letter}{end}" for letter in "abcdefgh" for end in "0123456789abc"]
    assert len(set(TextHashes.of(texts).keys.tolist())) == len(texts)

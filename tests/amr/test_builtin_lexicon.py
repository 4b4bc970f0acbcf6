"""Frames, candidates and templates."""

from __future__ import annotations

import pytest

from mathamr.amr.builtin.frames import is_frame, load_frames
from mathamr.amr.builtin.lexicon import INSIDE, NAME, NONE, NUMBER, Lexicon
from mathamr.amr.builtin.nodes import PLAIN, Template
from mathamr.amr.builtin.vocabulary import number_value
from mathamr.amr.builtin.words import WordSentence
from tests.cases import cases


def sentence(*tagged: str) -> WordSentence:
    """Words with lemmas and tags, written word/lemma/tag."""
    words, lemmas, tags = zip(*(part.split("/") for part in tagged), strict=True)
    places = [(0, 0)] * len(words)
    return WordSentence(" ".join(words), list(words), places, [True] * len(words), list(tags), list(lemmas))


def cores(lexicon: Lexicon, given: WordSentence, token: int) -> list[str]:
    return [candidate.core for candidate in lexicon.candidates(given, token)]


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    counts = {"but": {"contrast-01": 5, NONE: 2}, "the": {NONE: 1000}, "happy": {"happy-01": 3}}
    return Lexicon(load_frames(), counts)


def test_frames_know_senses_roles_and_derivations() -> None:
    frames = load_frames()
    assert "converge-01" in frames
    assert frames.senses("fear", "n") == ["fear-01"]
    assert "0" not in frames.roles("fall-01")
    assert frames.derived("teacher") == "person :ARG0-of teach-01"
    assert frames.derived("helicopter") is None


def test_a_sense_number_makes_a_frame() -> None:
    assert is_frame("give-up-07")
    assert is_frame("have-degree-91")
    assert not is_frame("wild-type")
    assert not is_frame("FORMULA_10")


@cases(
    ("words", "wanted"),
    [
        ("but/but/CC", {"contrast-01"}),  # seen in training
        ("prove/prove/VB", {"prove-01", "prove", NONE}),
        ("give/give/VB up/up/RP", {"give-up-07"}),
        ("zorgles/zorgle/NNS", {"zorgle"}),  # unknown words are copied
        ("happily/happily/RB", {"happy-01"}),  # and adverbs stripped
        ("quirkishly/quirkishly/RB", {"quirkish"}),
        ("limit/limit/NN fox/fox/NN", {"limit-01"}),
        ("limit/limit/VB FORMULA_0/FORMULA_0/NN", {"limit-01"}),
        ("7/7/CD", {NUMBER}),
    ],
)
def test_the_first_word_may_mean(lexicon: Lexicon, words: str, wanted: set[str]) -> None:
    assert wanted <= set(cores(lexicon, sentence(*words.split()), 0))


@pytest.mark.parametrize(
    ("words", "core"),
    [
        ("FORMULA_7/FORMULA_7/NN", "FORMULA_7"),
        (
            "limit/limit/NN FORMULA_0/FORMULA_0/NN",
            "limit",
        ),  # nouns of mathematics stay nouns in its sentences
        ("the/the/DT", NONE),  # words that never mean anything need no decision
    ],
)
def test_the_first_word_has_one_meaning(lexicon: Lexicon, words: str, core: str) -> None:
    assert cores(lexicon, sentence(*words.split()), 0) == [core]


def test_a_name_may_begin_or_go_on(lexicon: Lexicon) -> None:
    assert {NAME, INSIDE} <= set(cores(lexicon, sentence("saw/see/VBD", "Euler/euler/NNP"), 1))


def test_training_takes_the_sentences_own_counts_out(lexicon: Lexicon) -> None:
    given = sentence("happy/happy/JJ")
    counts = {c.core: c.times for c in lexicon.candidates(given, 0, {("happy", "happy-01"): 3})}
    assert counts["happy-01"] == 0


@cases(
    ("word", "value"),
    [
        ("twelve", "12"),
        ("3.14", "3.14"),
        ("1,024", "1024"),
        ("21st", "21"),
        ("March", "3"),
        ("march", None),
        ("x", None),
        (".", None),
        ("", None),
        ("-", None),
        ("²", None),
        ("th", None),
        ("1.2.3", None),
    ],
)
def test_numbers_are_read(word: str, value: str | None) -> None:
    assert number_value(word) == value


def test_templates_round_trip() -> None:
    template = Template(("*", "person", "=-"), ((0, ":ARG0", 1), (0, ":polarity", 2)))
    assert Template.from_text(template.text) == template
    assert Template.from_text(PLAIN) == Template(("*",), ())

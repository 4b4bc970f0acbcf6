"""Frames, candidates and templates."""

from __future__ import annotations

import pytest

from mathamr.amr.builtin.frames import is_frame, load_frames
from mathamr.amr.builtin.lexicon import INSIDE, NAME, NONE, NUMBER, Lexicon
from mathamr.amr.builtin.nodes import PLAIN, Template
from mathamr.amr.builtin.vocabulary import number_value
from mathamr.amr.builtin.words import WordSentence


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


def test_seen_cores_and_senses_are_candidates(lexicon: Lexicon) -> None:
    assert "contrast-01" in cores(lexicon, sentence("but/but/CC"), 0)
    assert {"prove-01", "prove", NONE} <= set(cores(lexicon, sentence("prove/prove/VB"), 0))


def test_a_particle_makes_a_phrasal_sense_a_candidate(lexicon: Lexicon) -> None:
    given = sentence("give/give/VB", "up/up/RP")
    assert "give-up-07" in cores(lexicon, given, 0)


def test_unknown_words_are_copied_and_adverbs_stripped(lexicon: Lexicon) -> None:
    assert "zorgle" in cores(lexicon, sentence("zorgles/zorgle/NNS"), 0)
    assert "happy-01" in cores(lexicon, sentence("happily/happily/RB"), 0)
    assert "quirkish" in cores(lexicon, sentence("quirkishly/quirkishly/RB"), 0)


def test_a_formula_is_its_own_only_core(lexicon: Lexicon) -> None:
    assert cores(lexicon, sentence("FORMULA_7/FORMULA_7/NN"), 0) == ["FORMULA_7"]


def test_nouns_of_mathematics_stay_nouns_in_mathematical_sentences_only(lexicon: Lexicon) -> None:
    assert cores(lexicon, sentence("limit/limit/NN", "FORMULA_0/FORMULA_0/NN"), 0) == ["limit"]
    assert "limit-01" in cores(lexicon, sentence("limit/limit/NN", "fox/fox/NN"), 0)
    assert "limit-01" in cores(lexicon, sentence("limit/limit/VB", "FORMULA_0/FORMULA_0/NN"), 0)


def test_words_that_never_mean_anything_need_no_decision(lexicon: Lexicon) -> None:
    assert cores(lexicon, sentence("the/the/DT"), 0) == [NONE]


def test_training_takes_the_sentences_own_counts_out(lexicon: Lexicon) -> None:
    given = sentence("happy/happy/JJ")
    counts = {c.core: c.times for c in lexicon.candidates(given, 0, {("happy", "happy-01"): 3})}
    assert counts["happy-01"] == 0


def test_names_and_numbers_are_candidates(lexicon: Lexicon) -> None:
    given = sentence("saw/see/VBD", "Euler/euler/NNP", "7/7/CD")
    assert {NAME, INSIDE} <= set(cores(lexicon, given, 1))
    assert NUMBER in cores(lexicon, given, 2)


@pytest.mark.parametrize(
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

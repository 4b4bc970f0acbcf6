"""The analysis of sentences: lemmas, formulas as single words, and whatever characters come."""

from __future__ import annotations

import subprocess
import sys

import pytest

from mathamr.amr.builtin.mathematics import is_mathematical, merge_phrases
from mathamr.amr.builtin.syntax import SyntaxAnalyser, SyntaxSentence, clean


@pytest.fixture(scope="module")
def analyser() -> SyntaxAnalyser:
    return SyntaxAnalyser()


def analysed(analyser: SyntaxAnalyser, text: str) -> SyntaxSentence:
    return next(analyser.analyse([text]))


@pytest.mark.parametrize(
    ("word", "tag", "lemma"),
    [
        ("converges", "VBZ", "converge"),
        ("matrices", "NNS", "matrix"),
        ("was", "VBD", "be"),
        ("n't", "RB", "not"),
        ("better", "JJR", "good"),
        ("Proving", "VBG", "prove"),
        ("FORMULA_3", "NN", "FORMULA_3"),
        ("limit", "NN", "limit"),
    ],
)
def test_lemmas_are_lower_case_dictionary_forms(
    analyser: SyntaxAnalyser, word: str, tag: str, lemma: str
) -> None:
    assert analyser.lemma(word, tag) == lemma


def test_a_formula_is_one_noun_even_inside_a_compound(analyser: SyntaxAnalyser) -> None:
    sentence = analysed(analyser, "A FORMULA_12-dimensional space (FORMULA_0).")
    assert [word for word in sentence.words if word.startswith("FORMULA")] == ["FORMULA_12", "FORMULA_0"]
    assert sentence.tags[sentence.words.index("FORMULA_12")] == "NN"


def test_a_formula_stands_where_a_name_could_stand(analyser: SyntaxAnalyser) -> None:
    sentence = analysed(analyser, "FORMULA_0 converges to FORMULA_1.")
    verb = sentence.words.index("converges")
    assert sentence.tags[verb] == "VBZ"
    assert sentence.heads[0] == verb
    assert sentence.deps[0] == "nsubj"


def test_phrases_of_mathematics_are_one_word(analyser: SyntaxAnalyser) -> None:
    sentence = analysed(
        analyser, "FORMULA_0 is closed if and only if it has a least upper bound such that FORMULA_1."
    )
    assert {"if-and-only-if", "least-upper-bound", "such-that"} <= set(sentence.words)
    assert sentence.lemmas[sentence.words.index("if-and-only-if")] == "if-and-only-if"


def test_the_longest_phrase_is_taken() -> None:
    words, shown, spaces = merge_phrases(["the", "least", "upper", "bound"], [True, True, True, False])
    assert words == ["the", "least-upper-bound"]
    assert shown == ["the", "bound"]
    assert spaces == [True, False]


def test_a_sentence_is_mathematical_by_a_formula_or_an_unmistakable_word() -> None:
    assert is_mathematical(["FORMULA_0", "holds"], ["FORMULA_0", "hold"])
    assert is_mathematical(["Polynomials", "factor"], ["polynomial", "factor"])
    assert not is_mathematical(["The", "fox", "sleeps"], ["the", "fox", "sleep"])


def test_depths_count_steps_to_the_root() -> None:
    sentence = SyntaxSentence(
        words=list("abcd"), lemmas=list("abcd"), tags=["NN"] * 4, deps=["dep"] * 4, heads=[1, 1, 3, 1],
        spaces=[True] * 4, vectors=None,  # type: ignore[arg-type]
    )  # fmt: skip
    assert sentence.depths == [1, 0, 2, 1]
    assert sentence.children == [[], [0, 3], [], [2]]


def test_markup_and_control_characters_are_taken_out() -> None:
    assert clean("<i>KRAS</i>\x00 and\u200b FORMULA_1x  y\ud800") == "KRAS and FORMULA_1 x y"
    assert clean("a < b and c > d") == "a < b and c > d"


def test_analysis_neither_loads_torch_nor_keeps_it_from_others() -> None:
    program = (
        "import sys; from mathamr.amr.builtin.syntax import SyntaxAnalyser; next(SyntaxAnalyser().analyse(['One.'])); "
        "assert 'torch' not in sys.modules; import importlib.util; importlib.util.find_spec('torch')"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("text", ["", "   ", "\x00\x01", "🙂🙂", "你好，世界", "((((", "a" * 3000])
def test_any_text_is_analysed(analyser: SyntaxAnalyser, text: str) -> None:
    sentence = analysed(analyser, text)
    assert len(sentence.words) == len(sentence.tags) == len(sentence.heads) == len(sentence.vectors)

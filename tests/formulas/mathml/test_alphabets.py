from __future__ import annotations

import unicodedata

from mathamr.formulas.mathml.alphabets import styled
from tests.cases import cases


@cases(
    ("text", "variant", "expected"),
    [
        ("xA1", "bold", "𝐱𝐀𝟏"),
        ("h", "italic", "ℎ"),
        ("BCRg", "script", "ℬ𝒞ℛℊ"),
        ("CgZ", "fraktur", "ℭ𝔤ℨ"),
        ("NZk1", "double-struck", "ℕℤ𝕜𝟙"),
        ("αΩ", "bold", "𝛂𝛀"),
        ("x+é", "sans-serif", "𝗑+é"),
        ("x", "normal", "x"),
        ("x", "nonsense", "x"),
    ],
)
def test_letters_take_the_form_of_their_alphabet(text: str, variant: str, expected: str) -> None:
    assert styled(text, variant) == expected


def test_styled_letters_fold_back_to_what_they_were() -> None:
    for variant in (
        "bold",
        "bold-italic",
        "bold-script",
        "bold-fraktur",
        "sans-serif-bold-italic",
        "monospace",
    ):
        letters = "abcxyzABCXYZ"
        assert unicodedata.normalize("NFKC", styled(letters, variant)) == letters

from __future__ import annotations

from mathamr.formulas.label import TYPES, clean, node_type, value
from tests.cases import cases


@cases(
    ("label", "kind", "text"),
    [
        ("+!F!sin", "+", "sin"),
        ("+!", "+", ""),
        ("-!a", "-", "a"),
        ("$!bvar", "$", "bvar"),
        ("!!", "", "!!"),
        ("−", "", "−"),
        ("", "", ""),
    ],
)
def test_a_label_is_a_type_and_a_value(label: str, kind: str, text: str) -> None:
    assert node_type(label) == kind
    assert value(label) == text
    assert kind in TYPES


@cases(
    ("text", "expected"),
    [
        (" x ", "x"),
        ("a\nb", "a\\nb"),
        ("?", "&quest;"),
        ("[,]", "&lsqb;&comma;&rsqb;"),
        ("\u2062", ""),
        (" \u2061 ", ""),
        ("𝑥", "𝑥"),
    ],
)
def test_the_text_of_a_token_is_cleaned_for_the_notation(text: str, expected: str) -> None:
    assert clean(text) == expected

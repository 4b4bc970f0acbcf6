from __future__ import annotations

import pytest

from mathamr.formulas.label import TYPES, node_type, value


@pytest.mark.parametrize(
    ("label", "kind", "text"),
    [
        ("V!x", "V", "x"),
        ("+!F!sin", "+", "sin"),
        ("+!", "+", ""),
        ("-!a", "-", "a"),
        ("$!bvar", "$", "bvar"),
        ("?x", "?", "x"),
        ("!", "", "!"),
        ("!!", "", "!!"),
        ("−", "", "−"),
        ("M!R!", "M", "R!"),
        ("", "", ""),
    ],
)
def test_a_label_is_a_type_and_a_value(label: str, kind: str, text: str) -> None:
    assert node_type(label) == kind
    assert value(label) == text
    assert kind in TYPES

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mathamr.formulas.latex.lexer import tokenize, unescaped
from tests.cases import cases


@cases(
    ("latex", "tokens"),
    [
        (r"\alpha1\,x", [r"\alpha", "1", r"\,", "x"]),
        ("a% b\nc\\%d", ["a", "c", r"\%", "d"]),  # comments are dropped, but not escaped percent signs
        ("a\\", ["a", "\\"]),
        (r"\verb|a", [r"\verb", "|", "a"]),
    ],
)
def test_tokens(latex: str, tokens: list[str]) -> None:
    assert tokenize(latex)[0] == tokens


@given(st.text(alphabet=st.characters(exclude_characters="%")))
def test_tokens_are_the_text_in_order(text: str) -> None:
    tokens, offsets = tokenize(text)
    assert "".join(tokens) == text
    assert all(text.startswith(token, offset) for token, offset in zip(tokens, offsets, strict=True))


@given(st.text(alphabet="a\\%\n {}"))
def test_offsets_point_at_the_tokens_also_with_comments(text: str) -> None:
    tokens, offsets = tokenize(text)
    assert all(text.startswith(token, offset) for token, offset in zip(tokens, offsets, strict=True))


@cases(
    ("escaped", "meant"),
    [
        ("a&amp;=b", "a&=b"),
        (r"a&\displaystyle amp;=b", r"a&\displaystyle =b"),
        (r"a&$\displaystyle amp;=b$", r"a&$\displaystyle =b$"),
        (r"\displaystyle amp;=b", r"\displaystyle =b"),
        (r"a&amp;b&\displaystyle lt;c", "a&b<c"),
        ("a &amp;lt; b &amp;amp; c", "a < b & c"),
        (r"\qvar@construct{&}amp;P", "&P"),
    ],
)
def test_what_was_escaped_twice_is_read_as_it_was_meant(escaped: str, meant: str) -> None:
    def tokens(text: str) -> list[str]:
        return [token for token in tokenize(text)[0] if not token.isspace()]

    assert tokens(escaped) == tokens(meant)
    mended, places = unescaped(escaped)
    assert len(mended) == len(escaped)
    assert places


@cases("text", ["a &lt; b", "a&b;", "amp;b", "a&b", r"\text{R&D;}"])
def test_text_that_was_not_escaped_twice_stays(text: str) -> None:
    assert unescaped(text) == (text, [])


def test_verbatim_text_keeps_every_character() -> None:
    assert tokenize(r"a\verb|%{\x|b") == (
        ["a", r"\texttt", "{", r"\%", r"\{", r"\textbackslash", "x", "}", "b"],
        [0, 1, 1, 1, 1, 1, 1, 1, 12],
    )
    assert tokenize(r"\verbatim|a|")[0][0] == r"\verbatim"

"""LaTeX as normalised tokens (Wang, Zheng and Kani, appendix A.1): one spelling per meaning, complete braces, numbers by digit."""

from __future__ import annotations

from collections.abc import Iterator

from mathamr.formulas.latex.lexer import tokenize

MOST_CHARACTERS = 4_000
"""A longer formula is cut before it is tokenised: the encoder reads only some hundred tokens of it anyway."""
DEEPEST = 40
"""The depth of nested arguments to which braces are completed; deeper ones are taken as they are."""

_SAME = {
    r"\frac": r"\dfrac \tfrac \cfrac \nicefrac \sfrac",
    r"\binom": r"\dbinom \tbinom",
    r"\leq": r"\le \leqslant \leqq",
    r"\geq": r"\ge \geqslant \geqq",
    r"\neq": r"\ne",
    r"\rightarrow": r"\to \longrightarrow",
    r"\leftarrow": r"\gets \longleftarrow",
    r"\Rightarrow": r"\implies \Longrightarrow",
    r"\Leftarrow": r"\impliedby \Longleftarrow",
    r"\Leftrightarrow": r"\iff \Longleftrightarrow",
    r"\leftrightarrow": r"\longleftrightarrow",
    r"\mapsto": r"\longmapsto",
    r"\ldots": r"\dots \cdots \dotsc \dotsb \dotsm \dotsi \dotso",
    r"\emptyset": r"\varnothing",
    r"\wedge": r"\land",
    r"\vee": r"\lor",
    r"\neg": r"\lnot",
    r"\ni": r"\owns",
    r"\setminus": r"\smallsetminus \backslash",
    r"\epsilon": r"\varepsilon",
    r"\phi": r"\varphi",
    r"\theta": r"\vartheta",
    "|": r"\mid \vert \lvert \rvert",
    r"\|": r"\Vert \lVert \rVert \parallel",
    r"\{": r"\lbrace",
    r"\}": r"\rbrace",
    "[": r"\lbrack",
    "]": r"\rbrack",
    "<": r"\lt",
    ">": r"\gt",
    "*": r"\ast",
    ":": r"\colon",
    r"\mathrm": r"\text \textrm \textnormal \mbox \operatorname \mathop \rm \mathit \textit \textsf \mathsf",
    r"\mathbf": r"\boldsymbol \bm \textbf \bf \pmb",
    r"\mathbb": r"\Bbb \mathds",
    r"\mathcal": r"\mathscr \cal",
    r"\hat": r"\widehat",
    r"\tilde": r"\widetilde",
    r"\bar": r"\overline",
    r"\vec": r"\overrightarrow",
    r"\pmod": r"\mod \pod",
    r"\prime": "'",
}
_MEANT = {other: name for name, others in _SAME.items() for other in others.split()}
_WITHOUT_MEANING = r"""\left \right \middle \big \Big \bigg \Bigg \bigl \bigr \Bigl \Bigr \biggl \biggr \Biggl \Biggr \bigm
    \Bigm \displaystyle \textstyle \scriptstyle \scriptscriptstyle \limits \nolimits \, \; \: \! \> \quad \qquad ~
    \hfill \strut \nonumber \notag \mathstrut \hspace \hskip \kern \phantom \hphantom \vphantom"""
_SILENT = frozenset({*_WITHOUT_MEANING.split(), "\\ "})
_OF_ONE = r"""^ _ \sqrt \mathrm \mathbf \mathbb \mathcal \mathfrak \hat \tilde \bar \vec \dot \ddot \underline \overbrace
    \underbrace \pmod"""
_ARGUMENTS = {
    **dict.fromkeys((r"\frac", r"\binom", r"\overset", r"\underset", r"\stackrel"), 2),
    **dict.fromkeys(_OF_ONE.split(), 1),
}
"""The number of arguments of each command; arguments without braces get them."""


def latex_tokens(latex: str) -> list[str]:
    r"""Return the normalised tokens of a formula; broken LaTeX is read as far as possible and its braces are closed.

    >>> " ".join(latex_tokens(r"\dfrac12 \le x^{30}"))
    '\\frac { 1 } { 2 } \\leq x ^ { 3 10e 1 }'
    >>> " ".join(latex_tokens("3.14"))
    '3 10e 0 . 1 10e -1 4 10e -2'
    """
    raw, _ = tokenize(latex[:MOST_CHARACTERS])
    meant = [_MEANT.get(token, token) for token in raw if token not in _SILENT]
    return list(_numbers(_Completion(meant).all()))


class _Completion:
    """Reads tokens once and completes arguments and braces."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens, self._at = tokens, 0

    def all(self) -> list[str]:
        found: list[str] = []
        while self._at < len(self._tokens):
            if self._tokens[self._at] == "}":
                self._at += 1  # a closing brace without an opening one
            else:
                self._item(found, 0)
        return found

    def _item(self, found: list[str], depth: int) -> None:
        """Read one token with its arguments, or one group."""
        token = self._tokens[self._at]
        self._at += 1
        if token == "{":
            found.append("{")
            self._rest_of_group(found, depth)
            found.append("}")
            return
        found.append(token)
        if token == r"\sqrt" and self._next_is("["):
            self._until_bracket(found)
        if depth < DEEPEST:
            for _ in range(_ARGUMENTS.get(token, 0)):
                self._argument(found, depth + 1)

    def _rest_of_group(self, found: list[str], depth: int) -> None:
        """Read up to the closing brace or the end; it does not recurse, so any nesting can be read."""
        opened = 1
        while self._at < len(self._tokens):
            token = self._tokens[self._at]
            if token in "{}":
                self._at += 1
                opened += 1 if token == "{" else -1
                if not opened:
                    return
                found.append(token)
            else:
                self._item(found, depth)
        found.extend("}" * (opened - 1))

    def _until_bracket(self, found: list[str]) -> None:
        while self._at < len(self._tokens):
            token = self._tokens[self._at]
            self._at += 1
            if token not in "{}":
                found.append(token)
            if token == "]":
                return

    def _argument(self, found: list[str], depth: int) -> None:
        while self._next_is(" ") or (self._at < len(self._tokens) and self._tokens[self._at].isspace()):
            self._at += 1
        if self._at >= len(self._tokens) or self._tokens[self._at] == "}":
            found.extend("{}")
        elif self._tokens[self._at] == "{":
            self._item(found, depth)
        else:
            found.append("{")
            self._item(found, depth)
            found.append("}")

    def _next_is(self, token: str) -> bool:
        return self._at < len(self._tokens) and self._tokens[self._at] == token


def _numbers(tokens: list[str]) -> Iterator[str]:
    """Yield tokens without white space; numbers of several digits become digits and powers of ten, without zeros."""
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if not (token.isascii() and token.isdigit()):
            if not token.isspace():
                yield token
            at += 1
            continue
        end = at
        while end < len(tokens) and tokens[end].isascii() and tokens[end].isdigit():
            end += 1
        whole, part = tokens[at:end], list[str]()
        if (
            end + 1 < len(tokens)
            and tokens[end] == "."
            and tokens[end + 1].isascii()
            and tokens[end + 1].isdigit()
        ):
            at = end = end + 1
            while end < len(tokens) and tokens[end].isascii() and tokens[end].isdigit():
                end += 1
            part = tokens[at:end]
        at = end
        yield from _by_place(whole, part)


def _by_place(whole: list[str], part: list[str]) -> Iterator[str]:
    """Yield a number as its digits with their powers of ten, without zeros."""
    if len(whole) == 1 and not part:
        yield from whole
        return
    placed = [(digit, len(whole) - 1 - place) for place, digit in enumerate(whole)]
    kept = [each for each in placed if each[0] != "0"] or [("0", 0)]
    for digit, power in kept:
        yield from (digit, "10e", str(power))
    if part:
        yield "."
        for place, digit in enumerate(part, 1):
            if digit != "0":
                yield from (digit, "10e", str(-place))

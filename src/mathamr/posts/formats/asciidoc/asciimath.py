"""AsciiMath to LaTeX: the grammar of asciimath.org, whose every text is a formula.

I ::= S | S_S | S^S | S_S^S          S ::= symbol | (E) | unary S | binary S S          E ::= I E | I/I E
"""

from __future__ import annotations

import re

from mathamr.posts.listing import names

DEEPEST = 60
"""Brackets and operators in each other; what is nested deeper is read as single symbols."""


def _table(listing: str) -> dict[str, str]:
    return dict(pair.split(maxsplit=1) for pair in listing.strip().split("\n"))


_SYMBOLS = {
    **{
        name: f"\\{name}"
        for name in names(
            "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi pi rho sigma"
            " tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega sin cos tan sec"
            " csc cot sinh cosh tanh log ln exp arcsin arccos arctan lim det dim gcd min max sum prod int oint partial"
            " nabla pm cdot times div circ oplus otimes wedge vee cap cup le ge lt gt ne equiv cong approx prop in notin"
            " sub sup sube supe forall exists bot top vdash models rarr to larr harr infty aleph cdots vdots ddots ldots"
            " quad qquad setminus ast star prec succ subset supset subseteq supseteq Leftrightarrow Rightarrow propto"
            " rightarrow leftarrow leftrightarrow emptyset angle triangle square neg land lor lfloor rfloor lceil rceil"
            " sech csch coth ell hbar mod lcm"
        )
    },
    **_table(
        r"""
+- \pm
-+ \mp
*** \star
** \ast
* \cdot
// /
xx \times
-: \div
|>< \ltimes
o+ \oplus
ox \otimes
o. \odot
@ \circ
^^ \wedge
vv \vee
nn \cap
uu \cup
!= \neq
<= \le
>= \ge
-< \prec
>- \succ
-<= \preceq
>-= \succeq
!in \notin
sub \subset
sup \supset
sube \subseteq
supe \supseteq
-= \equiv
~= \cong
~~ \approx
prop \propto
=> \Rightarrow
<=> \Leftrightarrow
<< \ll
>> \gg
AA \forall
EE \exists
_|_ \bot
TT \top
|-- \vdash
|== \models
uarr \uparrow
darr \downarrow
rarr \rightarrow
-> \to
|-> \mapsto
larr \leftarrow
<- \leftarrow
harr \leftrightarrow
rArr \Rightarrow
lArr \Leftarrow
hArr \Leftrightarrow
iff \Leftrightarrow
if \text{ if }
and \text{ and }
or \text{ or }
del \partial
grad \nabla
oo \infty
O/ \emptyset
:. \therefore
:' \because
... \ldots
/_ \angle
diamond \diamond
CC \mathbb{C}
NN \mathbb{N}
QQ \mathbb{Q}
RR \mathbb{R}
ZZ \mathbb{Z}
lt <
gt >
ne \neq
dx dx
dy dy
dz dz
dt dt
not \neg
implies \Rightarrow
lcm \operatorname{lcm}
mod \bmod
sech \operatorname{sech}
csch \operatorname{csch}
% \%
# \#
& \&
$ \$
"""
    ),
}
_UNARY = {
    "sqrt": "\\sqrt{%s}", "hat": "\\hat{%s}", "bar": "\\overline{%s}", "overline": "\\overline{%s}", "ul": "\\underline{%s}",
    "vec": "\\vec{%s}", "dot": "\\dot{%s}", "ddot": "\\ddot{%s}", "tilde": "\\tilde{%s}", "abs": "\\left|%s\\right|",
    "norm": "\\left\\|%s\\right\\|", "floor": "\\lfloor %s\\rfloor", "ceil": "\\lceil %s\\rceil", "bb": "\\mathbf{%s}",
    "bbb": "\\mathbb{%s}", "cc": "\\mathcal{%s}", "tt": "\\mathtt{%s}", "fr": "\\mathfrak{%s}", "sf": "\\mathsf{%s}",
    "mathbf": "\\mathbf{%s}", "mathbb": "\\mathbb{%s}", "mathcal": "\\mathcal{%s}", "mathfrak": "\\mathfrak{%s}",
    "ubrace": "\\underbrace{%s}", "obrace": "\\overbrace{%s}", "cancel": "\\cancel{%s}",
}  # fmt: skip
_BINARY = {
    "frac": "\\frac{%s}{%s}", "root": "\\sqrt[%s]{%s}", "stackrel": "\\stackrel{%s}{%s}",
    "overset": "\\overset{%s}{%s}", "underset": "\\underset{%s}{%s}", "binom": "\\binom{%s}{%s}",
}  # fmt: skip
_OPEN = {"(": "(", "[": "[", "{": "\\{", "(:": "\\langle ", "{:": ".", "<<": "\\langle ", "|:": "|"}
_CLOSE = {")": ")", "]": "]", "}": "\\}", ":)": "\\rangle ", ":}": ".", ">>": "\\rangle ", ":|": "|"}
_ENDS_IN_COMMAND = re.compile(r"\\[A-Za-z]+\Z")
_TEXT = re.compile(r'"([^"]*)"|(?:text|mbox)\(([^()]*)\)|(?:text|mbox)\{([^{}]*)\}')
_NAMES = sorted(
    {*_SYMBOLS, *_UNARY, *_BINARY, *_OPEN, *_CLOSE, "_", "^", "/", "|", ","}, key=len, reverse=True
)
_TOKEN = re.compile(
    r"\s*(?:(?P<text>" + _TEXT.pattern + r")|(?P<name>" + "|".join(map(re.escape, _NAMES)) + r")"
    r"|(?P<number>\d+(?:\.\d+)?)|(?P<command>\\[A-Za-z]+)|(?P<character>\S))"
)


def latex_of(asciimath: str) -> str:
    """Return a formula in AsciiMath as LaTeX.

    >>> latex_of("sum_(i=1)^n i^3=((n(n+1))/2)^2")
    '\\\\sum_{i=1}^n i^3=\\\\left(\\\\frac{n(n+1)}{2}\\\\right)^2'
    >>> latex_of("[[a,b],[c,d]] x in RR"), latex_of("sqrt x / 2")
    ('\\\\begin{bmatrix}a & b \\\\\\\\ c & d\\\\end{bmatrix} x \\\\in \\\\mathbb{R}', '\\\\frac{\\\\sqrt{x}}{2}')
    """
    return _Parser(asciimath).expression(0)[0].strip()


class _Parser:
    """Reads a formula token by token; nothing is an error."""

    def __init__(self, source: str) -> None:
        self._tokens = list(_TOKEN.finditer(source))
        self._at = 0

    def _peek(self) -> str:
        return self._tokens[self._at].group().strip() if self._at < len(self._tokens) else ""

    def expression(self, depth: int) -> tuple[str, list[str]]:
        """Return the expression up to a closing bracket, and its parts between commas."""
        written: list[str] = []
        parts: list[str] = []
        begun = 0
        while (token := self._peek()) and not (token in _CLOSE and depth):
            if token == ",":
                parts.append(_space_out(written[begun:]))
                begun = len(written) + 1
            piece = self._intermediate(depth)
            if self._peek() == "/":
                self._at += 1
                below = self._intermediate(depth)
                piece = f"\\frac{{{_bare(piece)}}}{{{_bare(below)}}}"
            written.append(piece)
        parts.append(_space_out(written[begun:]))
        return _space_out(written), parts

    def _intermediate(self, depth: int) -> str:
        base = self._simple(depth)
        for mark in ("_", "^"):
            if self._peek() == mark:
                self._at += 1
                script = _bare(self._simple(depth))
                base += f"{mark}{script}" if len(script) == 1 else f"{mark}{{{script}}}"
        return base

    def _simple(self, depth: int) -> str:
        if self._at >= len(self._tokens):
            return ""
        match = self._tokens[self._at]
        token = match.group().strip()
        self._at += 1
        if match["text"]:
            return f"\\text{{{next(filter(None, _TEXT.match(match['text']).groups()), '')}}}"  # type: ignore[union-attr]
        if depth < DEEPEST:
            if token in _OPEN:
                return self._group(token, depth + 1)
            if token in _UNARY:
                return _UNARY[token].replace("%s", _bare(self._simple(depth + 1)))
            if token in _BINARY:
                first, second = _bare(self._simple(depth + 1)), _bare(self._simple(depth + 1))
                return _BINARY[token].replace("%s", "\0", 1).replace("%s", second, 1).replace("\0", first)
        return _SYMBOLS.get(token, "\\" + token if token in "{}_^" else token)

    def _group(self, opening: str, depth: int) -> str:
        start = self._at
        inside, parts = self.expression(depth)
        closing = self._peek()
        if closing in _CLOSE:
            self._at += 1
        if opening in "[(" and len(parts) > 1 and self._tokens[start].group().strip() == opening:
            rows = [_row(part) for part in parts]
            if all(row is not None and len(row) == len(rows[0] or []) for row in rows):
                name = "bmatrix" if opening == "[" else "pmatrix"
                cells = " \\\\ ".join(" & ".join(row or []) for row in rows)
                return f"\\begin{{{name}}}{cells}\\end{{{name}}}"
        left, right = _OPEN[opening], _CLOSE.get(closing, ".")
        if left == right == ".":
            return f"{{{inside}}}"
        is_tall = "\\frac" in inside or "\\sum" in inside or "\\begin" in inside or "." in (left, right)
        return f"\\left{left}{inside}\\right{right}" if is_tall else f"{left}{inside}{right}"


def _row(part: str) -> list[str] | None:
    """Return the cells of a row of a matrix, `[a,b]`; `None` where it is none."""
    if part[:1] + part[-1:] not in ("[]", "()"):
        return None
    cells, depth, begun = [], 0, 1
    for place, character in enumerate(part[1:-1], 1):
        depth += (character in "([{") - (character in ")]}")
        if character == "," and not depth:
            cells.append(part[begun:place].strip())
            begun = place + 1
    return [*cells, part[begun:-1].strip()] if not depth else None


def _bare(piece: str) -> str:
    """Return an argument without the brackets that only held it together."""
    for left, right in (
        ("\\left(", "\\right)"),
        ("\\left[", "\\right]"),
        ("(", ")"),
        ("[", "]"),
        ("\\{", "\\}"),
        ("{", "}"),
    ):
        if piece.startswith(left) and piece.endswith(right) and _is_one(piece[len(left) : -len(right)]):
            return piece[len(left) : -len(right)].strip()
    return piece.strip()


def _is_one(inside: str) -> bool:
    depth = 0
    for character in inside:
        depth += (character in "([{") - (character in ")]}")
        if depth < 0:
            return False
    return True


def _space_out(pieces: list[str]) -> str:
    """Return pieces side by side, with a blank where one would run into the next: a command, or two names."""
    written: list[str] = []
    last = ""
    for piece in pieces:
        if last and piece and not last.endswith(" "):
            runs_on = _ENDS_IN_COMMAND.search(last, max(0, len(last) - 30)) and (
                piece[0].isalnum() or piece[0] == "\\"
            )
            if runs_on or (
                (last[-1].isalnum() or last[-1] in "})") and (piece[0].isalpha() or piece[0] == "\\")
            ):
                written.append(" ")
        written.append(piece)
        last = piece or last
    return "".join(written)

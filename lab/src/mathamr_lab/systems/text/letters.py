"""The same question in other letters: one consistent map of a post's variables, nothing else changed.

A variable is a single Latin or Greek letter of a formula. Words inside formulas (`\\text{if}`, `\\operatorname{rank}`, `sin`), blackboard
letters, π, the d of differentials, Euler's number and the imaginary unit keep their names, and so does every word outside formulas.
"""

from __future__ import annotations

import html
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from mathamr.posts.markup import formulas_of, pieces, title_pieces
from mathamr.posts.markup.piece import Piece
from mathamr.posts.post import Post

LOWER = "abcfghjkmnpqrstuvwxyz"
UPPER = "ABCDEFGHIJKLMNPQRSTUVWXYZ"
_GREEK_NAMES = (
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu",
    "nu", "xi", "rho", "sigma", "tau", "phi", "chi", "psi", "omega",
)  # fmt: skip
GREEK = tuple(f"\\{name}" for name in _GREEK_NAMES)
CAPITALS = tuple(f"\\{name}" for name in ("Gamma", "Theta", "Lambda", "Xi", "Phi", "Psi", "Omega"))
ALPHABETS: tuple[tuple[str, ...], ...] = (tuple(LOWER), tuple(UPPER), GREEK, CAPITALS)
"""A letter is renamed to one of its own alphabet. The letters that may be constants are nobody's new name."""
FAMILIES = tuple(tuple(family) for family in ("abc", "fgh", "jkmn", "pqr", "stuvw", "xyz", "uvwxyz"))
"""Letters that are used for the same kinds of things; a renaming inside them is one that an author might choose."""
VARIANTS = {"\\varepsilon": "\\epsilon", "\\vartheta": "\\theta", "\\varphi": "\\phi", "\\varrho": "\\rho"}

_TOKEN = re.compile(r"\\(?:[a-zA-Z@]+|[\s\S])|&(?:amp|lt|gt);|[a-zA-Z]+|[\s\S]")
_WORDS = re.compile(
    r"\\(?:text\w*|mbox|hbox|fbox|operatorname\*?|mathrm|mathsf|mathtt|textit|textbf|rm|label|ref|eqref|cite|tag\*?|begin|end|"
    r"mathbb|Bbb|color|textcolor|hspace\*?|vspace\*?|href|url|include|input|operatornamewithlimits|mathop|lx@\w+|qvar@\w+|emph|it)\Z"
)
"""Commands whose argument is no variable."""
_NAMES = frozenset([
    "id", "Id", "in", "is", "if", "or", "on", "to", "of", "as", "at", "by", "an", "no", "so", "we", "GL", "SL",
    "SO", "SU", "Sp", "PGL", "PSL", "Re", "Im", "tr", "Tr", "ad", "Ad", "ev", "pr", "op", "ker", "det", "dim",
    "deg", "gcd", "lcm", "max", "min", "sup", "inf", "lim", "log", "exp", "sin", "cos", "tan", "cot", "sec",
    "csc", "arg", "mod", "ord", "Hom", "End", "Aut", "Ext", "Tor", "Gal", "and", "for", "all", "the", "Ob",
    "Ar", "ab", "et", "ex",
])  # fmt: skip
"""Short runs of letters that are one name or word."""
_GROUP = re.compile(r"\s*\*?\s*\{")
_ARROW = re.compile(r"\s*(?:@[^\[\s]*\s*)?\[[^\]]*\]")
_DIFFERENTIAL = re.compile(r"\\int|\\oint|\\iint|\\frac\s*\{\s*(?:\\mathrm\s*\{)?\s*d|\bd[a-z]\b|\\,\s*d")
_EXPONENTIAL = re.compile(r"(?<![a-zA-Z\\_])e\s*\^")
_INDEX = re.compile(
    r"_\{[^{}]*\bi\b|(?<![a-zA-Z\\])i\s*(?:=|\\in|\\le|\\ge|<|>|,)|_i|\^i\b|i\s*\+\s*1|i\s*-\s*1"
)


@dataclass(frozen=True, slots=True)
class Letters:
    """A renaming: what each variable is called instead."""

    names: Mapping[str, str]

    def __call__(self, latex: str) -> str:
        """Return LaTeX with its variables renamed.

        >>> Letters({"x": "t", "n": "k"})(r"\\sin x^n+\\text{x}+dx+\\mathbb{x}+xn")
        '\\\\sin t^k+\\\\text{x}+dt+\\\\mathbb{x}+tk'
        """
        found = []
        for token, is_math in tokens(latex):
            if is_math:
                token = "".join(self._letter(letter) for letter in variables_in(token, self.names))
            found.append(token)
        return "".join(found)

    def _letter(self, letter: str) -> str:
        return self.names.get(VARIANTS.get(letter, letter), letter)


def tokens(latex: str) -> Iterator[tuple[str, bool]]:
    """Yield the tokens of LaTeX that join to it again, and whether each is a run of letters, or a Greek one, of a formula."""
    at = 0
    while at < len(latex):
        match = _TOKEN.match(latex, at)
        assert match is not None
        token, at = match.group(), match.end()
        yield token, token.isascii() and (token.isalpha() or VARIANTS.get(token, token) in _KNOWN)
        if token[0] == "\\" and _WORDS.match(token) and (group := _GROUP.match(latex, at)):
            end = _closing(latex, group.end())
            yield latex[at:end], False
            at = end
        elif token == "\\ar" and (direction := _ARROW.match(latex, at)):
            yield direction.group(), False
            at = direction.end()


_KNOWN = frozenset((*GREEK, *CAPITALS))


def _closing(latex: str, start: int) -> int:
    """Return the end of the group whose contents start here."""
    depth = 1
    for place in range(start, len(latex)):
        if latex[place] in "{}" and (place == 0 or latex[place - 1] != "\\"):
            depth += 1 if latex[place] == "{" else -1
            if not depth:
                return place + 1
    return len(latex)


def variables_in(token: str, known: Iterable[str]) -> Iterator[str]:
    """Yield the letters of a run.

    A run of several is a product of known variables, a differential (`dx`), or one word.
    """
    if token[0] == "\\" or len(token) == 1 or token in _NAMES:
        yield token
    elif (len(token) <= 3 and all(letter in known for letter in token[token[0] in "RL" :])) or (
        len(token) == 2 and token[0] == "d" and token[1] in known
    ):
        yield from token
    else:
        yield token


def variables_of(formulas: Iterable[str]) -> list[str]:
    """Return the variables of a post's formulas in the order of their appearance, those known by a differential last.

    >>> variables_of([r"\\int e^{ix} dx", r"\\sum_{n} \\alpha_n \\pi"])
    ['n', '\\\\alpha', 'x']
    """
    given = list(formulas)
    whole = " ".join(given)
    fixed = {
        letter
        for letter, is_constant in (
            ("d", _DIFFERENTIAL.search(whole) is not None),
            ("e", _EXPONENTIAL.search(whole) is not None),
            ("i", _INDEX.search(whole) is None),
        )
        if is_constant
    }
    found: dict[str, None] = {}
    runs = []
    for latex in given:
        for token, is_math in tokens(latex):
            if is_math and (len(token) == 1 or token[0] == "\\"):
                found[VARIANTS.get(token, token)] = None
            elif is_math:
                runs.append(token)
    for token in runs:
        if len(token) == 2 and token[0] == "d" and token[1].islower():
            found[token[1]] = None
    return [letter for letter in found if letter not in fixed]


def drawn(variables: Iterable[str], generator: np.random.Generator, *, usual: bool = False) -> Letters:
    """Draw a new name for every variable, different variables differently, none its own.

    `usual` prefers letters of the same family, as another author would.
    """
    given = list(variables)
    names: dict[str, str] = {}
    for alphabet in ALPHABETS:
        own = [letter for letter in given if letter in alphabet or (alphabet[0] == "a" and letter in "deiol")]
        free = [alphabet[place] for place in generator.permutation(len(alphabet))]
        for letter in own:
            kin = {kin for family in FAMILIES if letter in family for kin in family} if usual else set()
            choices = [name for name in free if name != letter]
            if not choices:
                break
            names[letter] = next((name for name in choices if name in kin), choices[0])
            free.remove(names[letter])
    return Letters(names)


def letters_for(post: Post, salt: str, *, usual: bool = False) -> Letters:
    """Return a renaming of a post's variables that depends only on its id and the salt."""
    generator = np.random.default_rng([zlib.crc32(post.id.encode()), zlib.crc32(salt.encode())])
    return drawn(variables_of(formula.latex for formula in post.formulas), generator, usual=usual)


def renamed(post: Post, letters: Letters) -> Post:
    """Return a post with its variables renamed in its source, and its formulas read again."""
    title = _renamed_source(post.title, title_pieces(post.title, post.markup), letters)
    body = _renamed_source(post.body, pieces(post.body, post.markup), letters)
    return replace(post, title=title, body=body, formulas=formulas_of(post.id, title, body, post.markup))


_TAGS = re.compile(r"(<[a-zA-Z/][^<>]*>)")


def _renamed_source(source: str, found: Iterable[Piece], letters: Letters) -> str:
    parts, done = [], 0
    for piece in found:
        start, end = piece.start, piece.end
        if piece.kind != "formula" or start < done:
            continue
        parts += [source[done:start], _renamed_segment(source[start:end], letters)]
        done = end
    return "".join([*parts, source[done:]])


def _renamed_segment(source: str, letters: Letters) -> str:
    """Rename a formula as it stands in its source, in an element of its own or between delimiters, escaped or not."""
    if "<span" not in source and "&" not in source:
        return letters(source)
    parts = _TAGS.split(source)
    for place in range(0, len(parts), 2):
        if "&" in parts[place] and html.unescape(parts[place]) != parts[place]:
            parts[place] = html.escape(letters(html.unescape(parts[place])), quote=False)
        else:
            parts[place] = letters(parts[place])
    return "".join(parts)

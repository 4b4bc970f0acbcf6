r"""Terms: what lexical search counts of a post or a formula, by field.

| field    | terms                                                                                                    |
|----------|----------------------------------------------------------------------------------------------------------|
| `words`  | words in lower case                                                                                      |
| `stems`  | their Porter stems                                                                                       |
| `latex`  | runs of 1 to 3 LaTeX tokens; spacing and synonyms (`\le`, `\leq`) make no difference                      |
| `paths`  | pairs of symbols in the layout tree and of operators in the operator tree with the path between them      |
| `shapes` | paths of the layout tree in which every variable is just a variable: they survive a change of names       |

Paths are the tuples of Tangent-S (Davila and Zanibbi, SIGIR 2017) without their place in the formula, so that a part of
a formula is found wherever it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from mathamr.formulas.label import node_type
from mathamr.formulas.tree import Tree
from mathamr.formulas.tuples import tuples
from mathamr.graphs.maker import trees_of
from mathamr.posts.markup import formulas_of, pieces, title_pieces
from mathamr.posts.markup.piece import Piece
from mathamr.posts.post import Formula, Post

if TYPE_CHECKING:
    from Stemmer import Stemmer

Terms = Mapping[str, Sequence[str]]
"""Terms by field, a term as often as it occurs."""

FIELDS = ("words", "stems", "latex", "paths", "shapes")
LONGEST_NGRAM = 3
LAYOUT_WINDOW = 2
OPERATOR_WINDOW = 1
SMALL_TREE = 3
"""Trees of fewer nodes also have terms that say where they end: a lone symbol has no path."""

_WORD = re.compile(r"[^\W_]+(?:'[^\W\d_]+)?")
_LATEX = re.compile(r"\\[a-zA-Z]+|\\.|\d+(?:\.\d+)?|[^\W\d_]|[^\s{}&]")
_UNSEEN = re.compile(r"\\(?:left|right|displaystyle|textstyle|limits|nolimits|q?quad|[bB]igg?[lr]?|[,;:!\s])")
_SAME = {
    r"\le": r"\leq",
    r"\ge": r"\geq",
    r"\ne": r"\neq",
    r"\to": r"\rightarrow",
    r"\dfrac": r"\frac",
    r"\tfrac": r"\frac",
    r"\dots": r"\ldots",
    r"\lbrace": r"\{",
    r"\rbrace": r"\}",
    r"\land": r"\wedge",
    r"\lor": r"\vee",
}
"""Commands that mean the same, so that authors' habits do not hide a match."""


def post_terms(post: Post) -> dict[str, list[str]]:
    """The terms of a post; a title counts unless the post is an answer, whose title is its question's.

    A formula that cannot be parsed has no paths or shapes and is found by its LaTeX alone.
    """
    text = post_text(post)
    lists = [
        formula_terms(formula, post.macros)
        for formula in post.formulas or formulas_of(post.id, post.title, post.body, post.markup)
    ]
    found: dict[str, list[str]] = {"words": words(text), "stems": word_tokens(text)}
    for field in ("latex", "paths", "shapes"):
        found[field] = [term for terms in lists for term in terms[field]]
    return found


def formula_terms(formula: Formula, macros: tuple[str, ...] = ()) -> dict[str, list[str]]:
    """The terms of a formula."""
    (opt, slt), _ = trees_of(formula, macros)
    paths = path_tokens("s", slt, LAYOUT_WINDOW) if slt is not None else []
    if opt is not None:
        paths += path_tokens("o", opt, OPERATOR_WINDOW)
    return {
        "latex": list(ngrams(latex_tokens(formula.latex), LONGEST_NGRAM)),
        "paths": paths,
        "shapes": path_tokens("s", _nameless(slt), LAYOUT_WINDOW) if slt is not None else [],
    }


def post_text(post: Post) -> str:
    """The text of a post without its formulas."""
    title: Iterable[Piece] = () if post.kind == "answer" else title_pieces(post.title, post.markup)
    found = [*title, Piece("break", 0, 0, "paragraph"), *pieces(post.body, post.markup)]
    return "".join(piece.text if piece.kind in ("text", "code") else " " for piece in found)


def words(text: str) -> list[str]:
    """The words of a text in lower case.

    >>> words("Euler's formula, proved in 1748")
    ["euler's", 'formula', 'proved', 'in', '1748']
    """
    return _WORD.findall(text.lower())


def word_tokens(text: str) -> list[str]:
    """The Porter stems of the words in a text, in lower case.

    >>> word_tokens("Proving that groups have cyclic quotients")
    ['prove', 'that', 'group', 'have', 'cyclic', 'quotient']
    """
    stems: list[str] = _stemmer().stemWords(words(text))
    return stems


def latex_tokens(latex: str) -> list[str]:
    """The tokens of a formula: commands, letters, numbers and signs; braces and what only spaces are left out.

    >>> latex_tokens(r"\\left( \\dfrac{1}{2n} \\right)")
    ['(', '\\\\frac', '1', '2', 'n', ')']
    """
    return [_SAME.get(token, token) for token in _LATEX.findall(latex) if not _UNSEEN.fullmatch(token)]


def ngrams(tokens: Sequence[str], longest: int) -> Iterator[str]:
    """All runs of 1 to `longest` tokens, marked as of a formula.

    >>> list(ngrams(["a", "+", "b"], 2))
    ['$a', '$+', '$b', '$a +', '$+ b']
    """
    for length in range(1, longest + 1):
        for start in range(len(tokens) - length + 1):
            yield "$" + " ".join(tokens[start : start + length])


def path_tokens(mark: str, tree: Tree, window: int) -> list[str]:
    """The paths of a tree of at most `window` edges, each with the symbols at its ends, marked by the kind of tree.

    >>> from mathamr.formulas.parse import parse
    >>> path_tokens("s", parse("x^2").slt, 2)
    ['s V!x a N!2', 's V!x n 0!', 's N!2 n 0!']
    """
    return [
        f"{mark} {ancestor} {path} {descendant}"
        for ancestor, descendant, path, _ in tuples(tree, window, end_of_baseline=len(tree) < SMALL_TREE)
    ]


def _nameless(tree: Tree) -> Tree:
    labels = tuple("V!" if node_type(label) == "V" else label for label in tree.labels)
    return type(tree)(labels, tree.parents, tree.edges)


@lru_cache(maxsize=1)
def _stemmer() -> Stemmer:
    from Stemmer import Stemmer

    return Stemmer("porter")

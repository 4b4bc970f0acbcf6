"""The keys of visual classes: formulas with the same key look the same, whatever their source."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b

from mathamr.formulas.trees import LONGEST_REMEMBERED, trees_of
from mathamr.formulas.visualkey import visual_key
from mathamr.posts.post import Formula, Post


def visual_keys(post: Post) -> list[str]:
    """Return the visual classes of a post's formulas, in order."""
    return [_visual_key(formula, post.macros) for formula in post.formulas]


def _visual_key(formula: Formula, macros: tuple[str, ...]) -> str:
    if formula.latex.strip() and len(formula.latex) <= LONGEST_REMEMBERED:
        return _key_of_latex(formula.latex, macros)
    return _made_key(formula, macros)


@lru_cache(maxsize=10_000)
def _key_of_latex(latex: str, macros: tuple[str, ...]) -> str:
    """Remember the last ones, since posts repeat the same short formulas under different ids."""
    return _made_key(Formula("", latex), macros)


def _made_key(formula: Formula, macros: tuple[str, ...]) -> str:
    (_, slt), _ = trees_of(formula, macros)
    if slt is not None:
        return visual_key(slt)
    # A formula that cannot be parsed looks like formulas with the same source only.
    source = formula.latex or formula.presentation_mathml or formula.content_mathml or ""
    return "source-" + blake2b(source.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()

"""The share of mathematics in a post: formula tokens among all its tokens (Wang, Zheng and Kani, section 4.3)."""

from __future__ import annotations

import re

from mathamr.posts.passage import PLACEHOLDER, passage
from mathamr.posts.post import Post
from mathamr.systems.marf.latextokens import latex_tokens

_WORD = re.compile(r"\w+|[^\w\s]")


def math_share(post: Post) -> float:
    """From 0, no formula, to 1, nothing else; a post without tokens has 0.

    >>> from mathamr.posts.post import Formula
    >>> math_share(Post("7", "answer", "We have $a+b$", markup="text", formulas=(Formula("7:0", "a+b"),)))
    0.6
    """
    formulas = sum(len(latex_tokens(formula.latex)) for formula in post.formulas)
    words = sum(
        len(_WORD.findall(PLACEHOLDER.sub(" ", sentence.text))) for sentence in passage(post).sentences
    )
    return formulas / (formulas + words) if formulas else 0.0

"""`AnalysedPost`: everything that is stored of a post or derived from it without a model.

It is computed once, in the process that read the post, and handed on: the row of the catalogue with the sentences, the visual classes
of formulas, and the terms. What the reader parsed of the text is shared (`mathamr.posts.markup.pieces`), and a formula is parsed
once for its terms and its visual class.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b

from mathamr.core.errors import MathAMRError
from mathamr.core.pickling import pickle_by_fields
from mathamr.formulas.trees import trees_of
from mathamr.formulas.visualkey import UNREAD, visual_key
from mathamr.index.catalogue.journal import LARGEST_POST
from mathamr.index.catalogue.postrow import PostRow, row_of
from mathamr.index.catalogue.storedpassages import stored_passage
from mathamr.index.entryids import check_entry_id
from mathamr.index.lexical.bags import PostBags
from mathamr.posts.budget import OverBudgetError, within_budget
from mathamr.posts.passage import passage
from mathamr.posts.post import Formula, Post

HIGHEST_SCORE = 2**53 - 1
SLOWEST = 60.0
"""Processor time for the analysis of a post of up to a megabyte."""


@pickle_by_fields
@dataclass(frozen=True, slots=True)
class AnalysedPost:
    """A post as it is stored, and the terms of its text and of its formulas."""

    row: PostRow
    bags: PostBags


@dataclass(frozen=True, slots=True)
class Unusable:
    """Replaces a post that cannot be stored or analysed; it is counted and reported."""

    cause: str
    message: str


def analyse(post: Post) -> AnalysedPost:
    """Return the analysis of a post; raise an error for a post that no engine could store."""
    check_usable(post)
    bags = PostBags.of(post)  # first: its parse of a formula also gives the layout tree of the visual class
    row = row_of(post, visual_keys(post), stored_passage(post, passage(post)))
    return AnalysedPost(row, bags)


def analyse_all(posts: Iterable[Post]) -> Iterator[AnalysedPost | Unusable]:
    """Yield the analysis of every post; one that cannot be analysed does not end the work."""
    for post in posts:
        try:
            yield within_budget(partial(analyse, post), SLOWEST * (1 + len(post.body) / 1e6))
        except OverBudgetError:
            yield Unusable(
                "too slow",
                f"the post {post.id[:100]!r} is left out: analysing it took more than {SLOWEST:g} s",
            )
        except MathAMRError as error:
            yield Unusable("not usable", str(error))
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            yield Unusable(
                "cannot be analysed", f"the post {post.id[:100]!r} is left out ({why}); please report it"
            )


def check_usable(post: Post) -> None:
    """Raise an error for a post that no engine could store."""
    check_entry_id(post.id)
    letters = len(post.body) + len(post.title) + sum(map(len, post.macros))
    if letters > LARGEST_POST // 64 and len(post.to_json().encode("utf-8", "replace")) > LARGEST_POST:
        raise MathAMRError(
            f"the post {post.id[:100]!r} is larger than {LARGEST_POST >> 20} MB; cut it into several posts"
        )
    if post.score is not None and abs(post.score) > HIGHEST_SCORE:
        raise MathAMRError(f"the score of {post.id[:100]!r} is out of range: {str(post.score)[:40]}")


def visual_keys(post: Post) -> list[str]:
    """Return the visual classes of a post's formulas, in order."""
    known: dict[tuple[str | None, ...], str] = {}  # a post repeats its formulas
    for formula in post.formulas:
        if (written := _written(formula)) not in known:
            known[written] = formula_key(formula, post.macros)
    return [known[_written(formula)] for formula in post.formulas]


def _written(formula: Formula) -> tuple[str | None, ...]:
    return formula.latex, formula.presentation_mathml, formula.content_mathml


def formula_key(formula: Formula, macros: tuple[str, ...]) -> str:
    """Return the visual class of a formula."""
    (_, slt), _ = trees_of(formula, macros)
    if slt is not None:
        return visual_key(slt)
    # A formula that cannot be parsed looks like formulas with the same source only.
    source = formula.latex or formula.presentation_mathml or formula.content_mathml or ""
    return UNREAD + blake2b(source.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()

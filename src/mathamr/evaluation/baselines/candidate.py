"""`Candidate`: a post or formula that a baseline ranks, with words and formulas separate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.topics import Topic
from mathamr.posts.identifiers import SeenIds
from mathamr.posts.markup import pieces, title_pieces
from mathamr.posts.markup.piece import Piece
from mathamr.posts.post import Post
from mathamr.systems.ranking import Task


@dataclass(frozen=True, slots=True)
class Candidate:
    """A post or a formula: its id, its text without formulas, and the LaTeX of its formulas."""

    id: str
    text: str
    formulas: tuple[str, ...]


def candidates(posts: Iterable[Post], task: Task) -> Iterator[Candidate]:
    """Yield the candidates of a task, one at a time: the answers of a collection, or one formula for each visual id.

    An answer has no title: that of its question would leak the query if the question is a topic.
    """
    is_empty = True
    for found in _answers(posts) if task == "answers" else _formulas(posts):
        is_empty = False
        yield found
    if is_empty:
        what = "answers" if task == "answers" else "formulas with a visual id (a table of formulas has them)"
        raise MathAMRError(f"the posts have no {what}, so there is nothing to rank")


def query(topic: Topic, task: Task) -> Candidate:
    """Return the query of a topic: its whole post, or its formula."""
    if task == "answers":
        return _of_post(topic.post)
    formula = topic.formula
    if formula is None:
        raise MathAMRError(f"topic {topic.id!r} names no formula; a topic of Task 2 has a <Formula_Id>")
    return _of_formula(topic.id, formula.latex)


def _answers(posts: Iterable[Post]) -> Iterator[Candidate]:
    return (_of_post(post) for post in posts if post.role == "answer")


def _formulas(posts: Iterable[Post]) -> Iterator[Candidate]:
    seen = SeenIds()
    for post in posts:
        for formula in post.formulas:
            if formula.visual_id and seen.add(formula.visual_id):
                yield _of_formula(formula.visual_id, formula.latex)


def _of_formula(identifier: str, latex: str) -> Candidate:
    return Candidate(identifier, "", (latex,))


def _of_post(post: Post) -> Candidate:
    title = title_pieces(post.title, post.markup) if post.role == "question" else iter(())
    found = [*title, Piece("break", 0, 0, "paragraph"), *pieces(post.body, post.markup)]
    formulas = tuple(piece.text for piece in found if piece.kind == "formula")
    text = "".join(
        piece.text if piece.kind in ("text", "code") else " "
        for piece in found
        if piece.kind not in ("open", "close")
    )
    return Candidate(post.id, text, formulas)

"""A collection of a handful of posts, and topics for it, to try whole evaluations on."""

from __future__ import annotations

from mathamr.evaluation.topics import Topic
from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Formula, Post, PostKind


def post(number: str, kind: PostKind, body: str, title: str = "", visuals: tuple[str, ...] = ()) -> Post:
    found = formulas_of(number, title, body, "text")
    if visuals:
        found = tuple(
            Formula(formula.id, formula.latex, formula.display, visual)
            for formula, visual in zip(found, visuals, strict=True)
        )
    return Post(number, kind, body, title, "text", formulas=found)


POSTS = [
    post("1", "question", "How do I integrate $e^{-x^2}$?", "The Gaussian integral", ("v1",)),
    post(
        "11",
        "answer",
        "Square it and use polar coordinates: $\\int e^{-x^2}dx=\\sqrt{\\pi}$.",
        visuals=("v2",),
    ),
    post("12", "answer", "The eigenvalues of a symmetric matrix $A=A^T$ are real.", visuals=("v3",)),
    post("13", "answer", "Every cyclic group is abelian, since $a b = b a$.", visuals=("v4",)),
    post(
        "14", "answer", "Squares of integrals: $\\int e^{-x^2}dx$ is finite, $A=A^T$.", visuals=("v5", "v3")
    ),
]


def topic(number: str, body: str, formula_id: str | None = None) -> Topic:
    return Topic(number, post(number, "question", body), formula_id)


ANSWER_TOPICS = [
    topic("A.1", "polar coordinates for the integral $\\int e^{-x^2}dx$"),
    topic("A.2", "Is a cyclic group abelian?"),
]
FORMULA_TOPICS = [topic("B.1", "Find $A=A^T$ and $q$", "B.1:0")]

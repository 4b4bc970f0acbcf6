"""The context of a formula as one line of text: its sentence as MathAMR, or one of the alternatives of Table 1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, get_args

from mathamr.core.errors import UnknownNameError
from mathamr.formulas.tree import Opt
from mathamr.graphs.mathamr import linearise, linearised_tree, mathamr
from mathamr.graphs.mathgraph import MathGraph, sentence_graph
from mathamr.posts.passage import PLACEHOLDER
from mathamr.posts.post import Post

ContextName = Literal["amr-opt", "amr-latex", "text-opt", "text-latex", "opt"]
"""Table 1 of the paper: AMR or the sentence as it is, with formulas as linearised OPTs or as LaTeX; or the OPT alone."""
CONTEXTS: tuple[ContextName, ...] = get_args(ContextName)


def check_context(name: str) -> None:
    """Refuse an unknown context."""
    if name not in CONTEXTS:
        raise UnknownNameError("context", name, list(CONTEXTS))


def contexts(graph: MathGraph, post: Post, kind: ContextName) -> Iterator[tuple[str, str]]:
    """Yield (formula id, context) of every formula of a post; those of one sentence share it, except with the OPT alone.

    Sentences are those of the post's passage, which moves a full stop at a formula's end behind the formula before it splits. A
    formula without an operator tree is written as LaTeX; in the paper's own context it stays the placeholder ``EQ:ID``.
    """
    latex = {formula.id: " ".join(formula.latex.split()) for formula in post.formulas}
    if kind == "opt":
        for part in graph.formulas:
            yield part.formula_id, _tree(part.opt, latex.get(part.formula_id, ""))
        return
    lines: dict[int, str] = {}
    for part in graph.formulas:
        if part.sentence not in lines:
            lines[part.sentence] = _sentence(graph, part.sentence, kind, latex)
        yield part.formula_id, lines[part.sentence]


def _sentence(graph: MathGraph, number: int, kind: ContextName, latex: Mapping[str, str]) -> str:
    written = {part.placeholder: latex.get(part.formula_id, "") for part in graph.formulas}
    if kind == "amr-opt":
        line = linearise(mathamr(sentence_graph(graph, number)).to_penman(one_line=True))
        written = {name: f"EQ:{name.rpartition('_')[2]}" for name in written}
    elif kind == "amr-latex":
        line = linearise(sentence_graph(graph, number).amr.to_penman(one_line=True))
    else:
        line = graph.texts[number]
        if kind == "text-opt":
            trees = {part.placeholder: part.opt for part in graph.formulas if part.sentence == number}
            written |= {name: _tree(opt, written[name]) for name, opt in trees.items()}
    return PLACEHOLDER.sub(lambda match: written.get(match[0], match[0]), line)


def _tree(opt: Opt | None, otherwise: str) -> str:
    return otherwise if opt is None else linearised_tree(opt)

"""What notebooks show of mathamr's values: trees, graphs and heat maps as pictures, hits and evaluations as tables.

`import mathamr` inside IPython calls `register`. Formulas are drawn by the page's own renderer and everything else is
escaped, so that an entry of somebody else's collection can run nothing in your notebook.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mathamr.amr.graph import Amr
    from mathamr.evaluation.runevaluation import RunEvaluation
    from mathamr.formulas.parse import ParsedFormula
    from mathamr.graphs.mathgraph import MathGraph
    from mathamr.search.alignment import Alignment
    from mathamr.search.fragment import Fragment
    from mathamr.search.hits import Hit, Hits
    from mathamr.search.query import Query

_CELL = '<td style="text-align:left;vertical-align:top">'


def register(shell: Any) -> None:
    """Tell an IPython shell how to show our values; nothing of mathamr is imported before one is shown."""
    for kind, shown in (("image/svg+xml", PICTURES), ("text/html", TABLES)):
        formatter = shell.display_formatter.formatters[kind]
        for place, show in shown.items():
            formatter.for_type_by_name(*place.split(":"), show)


def formula_svg(formula: ParsedFormula) -> str:
    """Return both trees of a formula as a picture."""
    from mathamr.formulas.picture import svg

    return svg(formula.slt, formula.opt, formula.latex)


def amr_svg(amr: Amr) -> str:
    """Return a meaning graph as a picture."""
    from mathamr.amr.picture import svg

    return svg(amr)


def graph_svg(graph: MathGraph) -> str:
    """Return the MathAMR+ graph of a post as a picture."""
    from mathamr.graphs.picture import picture

    return picture(graph)


def alignment_svg(alignment: Alignment) -> str:
    """Return an explanation as a heat map."""
    from mathamr.search.heatmap import heatmap_svg

    return heatmap_svg(alignment)


def hits_html(hits: Hits) -> str:
    """Return a table of hits: rank, match, title and snippet with drawn formulas, and where the entry is."""
    notes = "".join(f"<p>{escape(note)}</p>" for note in hits.notes)
    head = f"<p><b>{query_html(hits.query)}</b>: {len(hits)} hits ({escape(hits.strategy)})</p>"
    return f"{head}{notes}<table>{''.join(map(_row, hits))}</table>"


def query_html(query: Query) -> str:
    """Return a query with its formulas drawn."""
    from mathamr.posts.passage import passage
    from mathamr.search.fragment import formulas_by_id, fragments

    post = query.post
    formulas = formulas_by_id(post)
    said = [fragments_html(fragments(each, formulas, post)) for each in passage(post).sentences]
    return " ".join(said) or escape(query.text)


def evaluation_html(evaluation: RunEvaluation) -> str:
    """Return the means of all runs, the tests against the baseline, and remarks."""
    from mathamr.evaluation.table import means_rows, significance_rows

    tables = [means_rows(evaluation.comparison, evaluation.floors)]
    if evaluation.comparison.differences:
        tables.append(significance_rows(evaluation.comparison))
    remarks = (f"<p>{escape(remark)}</p>" for remark in evaluation.remarks)
    return "".join((*map(_table, tables), *remarks))


def fragments_html(fragments: Iterable[Fragment]) -> str:
    """Return text and formulas as HTML, with the parts that also occur in the query marked.

    >>> from mathamr.search.fragment import Fragment
    >>> fragments_html([Fragment("text", "a<b "), Fragment("text", "sum", matched=True)])
    'a&lt;b <mark>sum</mark>'
    """
    return "".join(_fragment(each) for each in fragments)


def _table(rows: Iterable[Iterable[str]]) -> str:
    lines = ("".join(f"{_CELL}{escape(cell)}</td>" for cell in row) for row in rows)
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def _row(hit: Hit) -> str:
    formula = f"<div>{_drawn(hit.formula.latex)}</div>" if hit.formula is not None else ""
    return (
        f"<tr>{_CELL}{hit.rank}</td>{_CELL}{escape(hit.match)}<br><small>{escape(hit.reason)}</small></td>"
        f"{_CELL}<b>{fragments_html(hit.title)}</b>{formula}<div>{fragments_html(hit.snippet)}</div>"
        f"<small>{escape(hit.location or hit.id)}</small></td></tr>"
    )


def _fragment(fragment: Fragment) -> str:
    inner = _drawn(fragment.text) if fragment.kind == "formula" else escape(fragment.text)
    return f"<mark>{inner}</mark>" if fragment.matched else inner


def _drawn(latex: str) -> str:
    """Return a formula as MathML, or as LaTeX if it cannot be drawn."""
    from mathamr.posts.rendering.drawing import draw

    return draw(latex).mathml or f"<code>${escape(latex)}$</code>"


PICTURES: Mapping[str, Callable[[Any], str]] = {
    "mathamr.formulas.parse:ParsedFormula": formula_svg,
    "mathamr.amr.graph:Amr": amr_svg,
    "mathamr.graphs.mathgraph:MathGraph": graph_svg,
    "mathamr.search.alignment:Alignment": alignment_svg,
}
TABLES: Mapping[str, Callable[[Any], str]] = {
    "mathamr.search.hits:Hits": hits_html,
    "mathamr.evaluation.runevaluation:RunEvaluation": evaluation_html,
}
"""What is shown, by module and class."""

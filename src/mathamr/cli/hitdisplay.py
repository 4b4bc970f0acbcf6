"""Prints hits, explanations and ranks on a terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mathamr.cli.safeconsole import SafeConsole
from mathamr.index.preview import EQUATION_LABEL, printed
from mathamr.search.alignment import AlignedPart, Alignment
from mathamr.search.editors import address_in
from mathamr.search.formulamatch import VIEWS, FormulaMatch
from mathamr.search.fragment import Fragment
from mathamr.search.hits import SIMILAR_FORMULA, SIMILAR_ONLY, FormulaHit, Hit, Hits
from mathamr.search.hubness import HUBNESS
from mathamr.search.results import PLACES, Placement

_LEVELS = {"document": "magenta", "sentence": "blue", "formula": "yellow"}
_SAID_ANYWAY = ("module:", "namespace:", "paper:", "author:")
"""The beginnings of tags that say what the location and the name of a declaration say, or what `--cite` says."""
LABEL = 58
DEEPEST = 12
"""The deepest indentation of a tree."""


def show_hits(
    hits: Hits, console: SafeConsole | None = None, editor: str | None = None, *, verbose: bool = False
) -> None:
    """Print hits: rank, title, metadata, and the snippet with matches in bold; `verbose` adds the scores.

    With an `editor`, the location of each hit is a link that opens it there.
    """
    console = console or SafeConsole()
    for note in hits.notes:
        console.print(Text(f"note: {note}", style="yellow"))
    if hits.absent:
        console.print(Text(hits.absence, style="yellow"))
    if not hits.hits:
        console.print("Nothing found." if not hits.offset else "No more hits.")
    similar = hits.similar_from
    for place, hit in enumerate(hits):
        if place == similar:
            console.print(Text(hits.heading or SIMILAR_ONLY, style="bold"))
        _show_hit(hit, console, editor, verbose=verbose)
        for other in hit.others:
            _show_other(other, console)
        if hit.others:
            console.print()
    total = sum(hits.seconds.values())
    stages = ", ".join(f"{stage} {1000 * seconds:.0f}" for stage, seconds in hits.seconds.items())
    more = "; there are more (--offset)" if hits.more else ""
    how = f" by {hits.strategy}{more}, {1000 * total:.0f} ms ({stages})" if verbose else more
    folded = sum(len(hit.others) for hit in hits)
    also = f" and {folded} folded under them" if folded else ""
    console.print(Text(f"{len(hits)} {'hit' if len(hits) == 1 else 'hits'}{also}{how}", style="dim"))
    if hits.collections:
        each = ", ".join(f"{name}: {found}" for name, found in hits.collections.items())
        console.print(Text(f"best match in each collection: {each}", style="dim"))
    if hits.found in ("similar", "nothing") and hits.checked is not None:
        console.print(Text(str(hits.checked), style="dim"))


def _show_hit(hit: Hit, console: SafeConsole, editor: str | None = None, *, verbose: bool = False) -> None:
    head = Text(f"{hit.rank:>3}  ", style="dim")
    head.append_text(_styled(hit.own_title, "bold") if hit.title else Text(hit.id, style="bold"))
    console.print(head)
    match = f"{hit.match} match" if hit.match != "similar" else "similar"
    because = f"{match}: {hit.reason}" if hit.reason and hit.formula is None else match
    facts = [hit.kind, hit.id, because]
    if hit.parent:
        facts.insert(2, f"to {hit.parent}")
    if hit.votes is not None:
        facts.append(f"{hit.votes} votes")
    if hit.date:
        facts.append(hit.date[:10])
    if hit.caution:
        facts.append(hit.caution)
    evidence = ", ".join(f"{name} {score:.3f}" for name, score in hit.evidence.items())
    line = Text(" · ".join(facts), style="dim")
    if verbose and len(hit.evidence) > 1:
        line.append(f" ({evidence})", style="dim")
    for tag in hit.tags:
        if not tag.startswith(_SAID_ANYWAY):
            line.append(f"  #{tag}", style="green")
    console.print(Padding.indent(line, 5))
    if hit.location or hit.collection:
        address = address_in(editor, hit.source, hit.place.line if hit.place else 1) if editor else None
        located = " · ".join(filter(None, (hit.collection, hit.location)))
        where = Text(located, style=f"dim link {address}" if address else "dim")
        where.append(f"  {address}" if address else "", style="dim")
        if hit.headings:
            where.append_text(_styled((Fragment("text", " · in "), *hit.headings), "dim"))
        console.print(Padding.indent(where, 5))
    shown = hit.snippet
    if hit.formula is not None:
        formula = _formula(hit.formula)
        kind = "" if hit.reason == SIMILAR_FORMULA else hit.reason
        places = f"{hit.formula.places} places" if hit.formula.places > 1 else ""
        formula.append("  " + ", ".join(filter(None, (f"id {hit.formula.id}", kind, places))), style="dim")
        console.print(Padding.indent(formula, 5))
        # The formula is printed above; an arrow stands for it in its sentence.
        shown = tuple(
            Fragment("gap", "[↑]") if each.formula == hit.formula.own_id else each for each in shown
        )
    console.print(Padding.indent(_styled(shown), 5))
    console.print()


def _show_other(hit: Hit, console: SafeConsole) -> None:
    """Print a hit that is folded under another one: rank, title, kind and place in one line."""
    line = Text(f"   + {hit.rank:>3}  ", style="dim")
    line.append_text(_styled(hit.own_title) if hit.title else Text(hit.id))
    match = f"{hit.match} match" if hit.match != "similar" else "similar"
    line.append(f"  {' · '.join(filter(None, (hit.kind, match, hit.location or hit.id)))}", style="dim")
    console.print(line)


def _formula(formula: FormulaHit) -> Text:
    """Return a found formula with the parts that match the query underlined."""
    text = Text(f"${formula.latex}$", style="bold cyan" if formula.exact else "cyan")
    for start, end in () if formula.exact else formula.matched:
        text.stylize("bold underline", start + 1, end + 1)
    for label in reversed(list(EQUATION_LABEL.finditer(text.plain))):
        text = text[: label.start()] + text[label.end() :]
    return text


def _styled(fragments: Iterable[Fragment], base: str = "") -> Text:
    text = Text(style=base)
    for fragment in fragments:
        style = "cyan" if fragment.kind == "formula" else "dim" if fragment.kind == "gap" else ""
        if fragment.matched:
            style = f"{style} bold underline".strip()
        text.append(str(fragment), style=style or None)
    return text


def show_alignment(alignment: Alignment, console: SafeConsole | None = None) -> None:
    """Print for each part of the query the part of the post that matches it best."""
    console = console or SafeConsole()
    console.print(
        Text(
            f"{alignment.post_id}: {alignment.title}" if alignment.title else alignment.post_id, style="bold"
        )
    )
    console.print(f"MaxSim {alignment.score:.3f}, the mean of the best similarities:\n")
    has_both = alignment.wording is not None
    table = Table(box=None, pad_edge=False)
    table.add_column("query", overflow="fold")
    table.add_column("", justify="right")
    for share in ("wording", "structure") if has_both else ():
        table.add_column(share, justify="right", style="dim")
    table.add_column("post", overflow="fold")
    for match in alignment.matches:
        shares = () if match.wording is None else (match.wording, match.similarity - match.wording)
        cosines = [f"{value:.3f}" for value in (match.similarity, *shares)]
        table.add_row(_part(match.query), *cosines, _part(match.post))
    console.print(table)


def show_place(placed: Placement | None, console: SafeConsole | None = None) -> None:
    """Print the rank of a post and the score of each component."""
    console = console or SafeConsole()
    if placed is None:
        console.print(f"\nnot among the first {PLACES} places")
        return
    scores = ", ".join(f"{name} {score:.3f}" for name, score in placed.evidence.items())
    console.print(Text(f"\nplace {placed.place} by {placed.strategy}: {scores}"))
    if HUBNESS in placed.evidence:
        console.print(
            Text(
                f"{HUBNESS} is its mean similarity to the other top results; a share of it was subtracted",
                "dim",
            )
        )


def _part(part: AlignedPart) -> Text:
    return Text(part.label(LABEL), style=_LEVELS[part.level])


def show_formula_match(match: FormulaMatch, console: SafeConsole | None = None) -> None:
    """Print both trees node by node: which nodes of the query matched which nodes of the found formula."""
    console = console or SafeConsole()
    console.print(Text(f"{match.formula_id} in {match.post_id}, by {match.by}", style="bold"))
    console.print(Text(f"query  ${printed(match.query.latex)}$"))
    console.print(Text(f"found  ${printed(match.found.latex)}$\n"))
    if match.sentences is not None:
        console.print(Text(f"sentences, {match.sentences.similarity:.3f}", style="bold"))
        console.print(Text(f"query  {printed(match.sentences.query)}"))
        console.print(Text(f"found  {printed(match.sentences.found)}\n"))
        console.print(Text("their trees, aligned:", style="dim"))
    for each in match.views:
        ours, theirs = match.pair(each.view)
        table = Table(box=None, pad_edge=False, title_justify="left")
        table.title = Text(f"{VIEWS[each.view]}, {each.score:.3f}", style="bold")
        for heading, justify in (("query", "left"), ("", "right"), ("found", "left")):
            table.add_column(heading, justify=justify, overflow="fold")  # type: ignore[arg-type]
        met = {pair.node: pair for pair in each.met}
        for node, (label, depth) in enumerate(zip(ours.labels, ours.depths(), strict=True)):
            pair = met.get(node)
            indent = "  " * min(depth, DEEPEST)
            worth = f"{pair.worth:.2f}" if pair else ""
            other = theirs.labels[pair.other] if pair else ""
            style = "dim" if pair is None else "yellow" if label != other else "green"
            table.add_row(Text(indent + label, style=style), worth, Text(other, style=style))
        console.print(table)
        alone = len(theirs) - len({pair.other for pair in each.met})
        console.print(
            Text(f"{alone} of {len(theirs)} nodes of the found formula did not match\n", style="dim")
        )

"""What a search found, as people read it on a terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mathamr.cli.console import Console
from mathamr.search.alignment import AlignedPart, Alignment
from mathamr.search.editors import address_in
from mathamr.search.fragment import Fragment
from mathamr.search.hits import Hit, Hits

_LEVELS = {"document": "magenta", "sentence": "blue", "formula": "yellow"}
LABEL = 58


def show_hits(hits: Hits, console: Console | None = None, editor: str | None = None) -> None:
    """Print hits: number, title, what is known, and the snippet with what matched in bold.

    With an `editor` the place of each is a link that opens it there.
    """
    console = console or Console()
    for note in hits.notes:
        console.print(Text(f"note: {note}", style="yellow"))
    if not hits.hits:
        console.print("Nothing found." if not hits.offset else "No more hits.")
    for hit in hits:
        _show_hit(hit, console, editor)
    total = sum(hits.seconds.values())
    stages = ", ".join(f"{stage} {1000 * seconds:.0f}" for stage, seconds in hits.seconds.items())
    more = "; there are more (--offset)" if hits.more else ""
    console.print(
        Text(f"{len(hits)} hits by {hits.strategy}{more}, {1000 * total:.0f} ms ({stages})", style="dim")
    )


def _show_hit(hit: Hit, console: Console, editor: str | None = None) -> None:
    head = Text(f"{hit.rank:>3}  ", style="dim")
    head.append_text(_styled(hit.title, "bold") if hit.title else Text(hit.id, style="bold"))
    console.print(head)
    facts = [hit.kind, hit.id, "best score" if hit.share == 1 else f"{hit.share:.0%} of the best score"]
    if hit.parent:
        facts.insert(2, f"to {hit.parent}")
    if hit.votes is not None:
        facts.append(f"{hit.votes} votes")
    if hit.date:
        facts.append(hit.date[:10])
    evidence = ", ".join(f"{name} {score:.3f}" for name, score in hit.evidence.items())
    line = Text(" · ".join(facts), style="dim")
    if len(hit.evidence) > 1:
        line.append(f" ({evidence})", style="dim")
    for tag in hit.tags:
        line.append(f"  #{tag}", style="green")
    console.print(Padding(line, (0, 0, 0, 5)))
    if hit.location:
        address = address_in(editor, hit.source, hit.place.line if hit.place else 1) if editor else None
        where = Text(hit.location, style=f"dim link {address}" if address else "dim")
        where.append(f"  {address}" if address else "", style="dim")
        console.print(Padding(where, (0, 0, 0, 5)))
    if hit.formula is not None:
        formula = Text(f"${hit.formula.latex}$", style="bold cyan" if hit.formula.exact else "cyan")
        places = hit.formula.places
        formula.append(f"  {hit.formula.id}", style="dim")
        formula.append(f", {places} places" if places > 1 else "", style="dim")
        console.print(Padding(formula, (0, 0, 0, 5)))
    console.print(Padding(_styled(hit.snippet), (0, 0, 1, 5)))


def _styled(fragments: Iterable[Fragment], base: str = "") -> Text:
    text = Text(style=base)
    for fragment in fragments:
        style = "cyan" if fragment.kind == "formula" else "dim" if fragment.kind == "gap" else ""
        if fragment.matched:
            style = f"{style} bold underline".strip()
        text.append(str(fragment), style=style or None)
    return text


def show_alignment(alignment: Alignment, console: Console | None = None) -> None:
    """Print for each part of the query the part of the post that met it best."""
    console = console or Console()
    console.print(
        Text(
            f"{alignment.post_id}: {alignment.title}" if alignment.title else alignment.post_id, style="bold"
        )
    )
    console.print(f"MaxSim {alignment.score:.3f}, the mean of the best similarities:\n")
    table = Table(box=None, pad_edge=False)
    table.add_column("query", overflow="fold")
    table.add_column("", justify="right")
    table.add_column("post", overflow="fold")
    for match in alignment.matches:
        table.add_row(_part(match.query), f"{match.similarity:.3f}", _part(match.post))
    console.print(table)


def _part(part: AlignedPart) -> Text:
    return Text(part.label(LABEL), style=_LEVELS[part.level])

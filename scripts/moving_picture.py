"""Draws the moving picture of the README from real searches: `python scripts/moving_picture.py` writes a light and a dark SVG.

Three notes are indexed in a temporary folder; what is typed, found, explained and refused is what mathamr answers.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mathamr import Index
from mathamr.core.drawing import document, escaped, save_png, shape, text, text_width
from mathamr.formulas.picture import TreePair, match_svg
from mathamr.index.indexing.builder import BuildOptions, build_index
from mathamr.search.fragment import Fragment
from mathamr.search.heatmap import set_in_line
from mathamr.search.hits import Hits

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "images"
WIDTH, HEIGHT, MARGIN = 880, 500, 28
SECONDS = 12.0
TYPED, ABSENT = "a²+b²≥2ab", "Zorn's lemma"
NOTES = {
    "inequalities.md": "# The square of a difference\n\nFor all real numbers we have $x^2+y^2\\ge 2xy$, because $(x-y)^2\\ge 0$."
    " Equality holds only for equal numbers.\n",
    "series.md": "# The Basel problem\n\nEuler found that $\\sum_{n=1}^\\infty \\frac{1}{n^2}=\\frac{\\pi^2}{6}$.\n",
    "integrals.md": "# A definite integral\n\nIn polar coordinates one sees $\\int_{-\\infty}^\\infty e^{-x^2}\\,dx=\\sqrt\\pi$.\n",
}


@dataclass(frozen=True)
class Theme:
    """The colours of a picture."""

    ground: str
    card: str
    line: str
    words: str
    pale: str
    strong: str
    none: str


THEMES = {
    "light": Theme("#ffffff", "#f6f8fa", "#d0d7de", "#1f2328", "#59636e", "#1a7f37", "#9a6700"),
    "dark": Theme("#0d1117", "#161b22", "#30363d", "#e6edf3", "#9198a1", "#3fb950", "#d29922"),
}


def scene(start: float, end: float, *content: str) -> str:
    """Return markup that is seen from one second to another of each round."""
    name = f"s{round(start * 10)}"
    visible, gone = (100 * each / SECONDS for each in (start, end))
    frames = f"0%,{visible:.2f}%{{opacity:0}}{visible + 0.6:.2f}%,{gone - 0.6:.2f}%{{opacity:1}}{gone:.2f}%,100%{{opacity:0}}"
    if start == 0:
        frames = f"0%,{gone - 0.6:.2f}%{{opacity:1}}{gone:.2f}%,100%{{opacity:0}}"
    style = f"@keyframes {name}{{{frames}}}.{name}{{animation:{name} {SECONDS}s linear infinite}}"
    return shape("style", style) + shape("g", *content, class_=name)


def typed(said: str, start: float, theme: Theme) -> str:
    """Return the search field with a text that is written letter by letter."""
    width = 12.0 * len(said)
    begin, end = (100 * each / SECONDS for each in (start + 0.3, start + 0.3 + 0.11 * len(said)))
    name = f"t{round(start * 10)}"
    style = (
        f"@keyframes {name}{{0%,{begin:.2f}%{{width:0px;animation-timing-function:steps({len(said)})}}"
        f"{end:.2f}%,100%{{width:{width:.0f}px}}}}.{name}{{animation:{name} {SECONDS}s linear infinite}}"
    )
    x, y = MARGIN + 48, MARGIN + 30
    clip = shape("rect", x=x, y=MARGIN, width=width, height=46, class_=name)
    return (
        shape("style", style)
        + shape("clipPath", clip, id=f"c{name}")
        + shape(
            "text", escaped(said), x=x, y=y, font_size=20, fill=theme.words, clip_path=f"url(#c{name})",
            textLength=width, font_family="ui-monospace, 'DejaVu Sans Mono', monospace",
        )
    )  # fmt: skip


def words_of(fragments: Sequence[Fragment], theme: Theme) -> Iterator[tuple[str, float]]:
    """Yield the words and formulas of a text as markup, what was asked for in another colour, each with its estimated width."""
    for fragment in fragments:
        marked: dict[str, float | str | None] = (
            {"fill": theme.strong, "font_weight": 600} if fragment.matched else {}
        )
        if fragment.kind == "formula":
            height, spans, width = 0.0, [], 0.0
            for run in set_in_line(fragment.text):
                size = 18 * (0.72 if run.level else 1.0)
                spans.append(
                    shape("tspan", escaped(run.text), dy=-6.0 * run.level - height, font_size=size, **marked)
                )
                height, width = -6.0 * run.level, width + text_width(run.text, size)
            yield "".join((*spans, shape("tspan", "\u200b", dy=-height))), width
        else:
            for word in re.findall(r"\S+\s*|\s+", fragment.text):
                yield shape("tspan", escaped(word), **marked), text_width(word, 18)


def paragraph(fragments: Sequence[Fragment], top: float, theme: Theme) -> str:
    """Return a text in lines."""
    lines: list[list[str]] = [[]]
    room = WIDTH - 2 * MARGIN - 44
    width = 0.0
    for markup, wide in words_of(fragments, theme):
        if width + wide > room:
            lines.append([])
            width = 0.0
        lines[-1].append(markup)
        width += wide
    return "".join(
        shape("text", *line, x=MARGIN + 22, y=top + 28 * number, font_size=18, fill=theme.words)
        for number, line in enumerate(lines)
    )


def card(hits: Hits, top: float, theme: Theme) -> str:
    """Return the first hit: title, place, label and snippet."""
    hit = hits[0]
    x = MARGIN + 22
    label = hit.match + (f" match: {hit.reason}" if hit.match != "similar" else "")
    return (
        shape(
            "rect", x=MARGIN, y=top, width=WIDTH - 2 * MARGIN, height=118, rx=8, fill=theme.card, stroke=theme.line
        )
        + text(x, top + 32, str(hit.title), 19, theme.words, bold=True)
        + text(x, top + 56, str(hit.location), 14, theme.pale)
        + text(WIDTH - x, top + 32, label, 14, theme.strong, "end", bold=True)
        + paragraph(hit.snippet, top + 90, theme)
    )  # fmt: skip


def picture(index: Index, theme: Theme) -> str:
    """Return the picture: a formula is found in other letters, the trees say why, and an absent name is refused."""
    found, refused = index.search(TYPED), index.search(ABSENT)
    formula = index.search(TYPED, "formulas")[0].formula
    assert formula is not None
    match = index.explain_formula(TYPED, formula.id)
    trees = match_svg(
        [
            TreePair("operators", *match.pair(each.view), each.met)
            for each in match.views
            if each.view == "opt"
        ]
    )
    wide, high = (float(each) for each in re.findall(r"(?:width|height)=\"([\d.]+)\"", trees)[:2])
    kept = min((WIDTH - 2 * MARGIN) / wide, 262 / high)
    why = re.sub(r"<svg [^>]*>", "", trees, count=1).removesuffix("</svg>")
    below = MARGIN + 62
    field = (
        shape("rect", width=WIDTH, height=HEIGHT, rx=10, fill=theme.ground, stroke=theme.line)
        + shape("rect", x=MARGIN, y=MARGIN, width=WIDTH - 2 * MARGIN, height=46, rx=8, fill=theme.card, stroke=theme.line)
        + shape("circle", cx=MARGIN + 22, cy=MARGIN + 21, r=7, fill="none", stroke=theme.pale, stroke_width=2)
        + shape("path", d=f"M{MARGIN + 27} {MARGIN + 26}l6 6", stroke=theme.pale, stroke_width=2)
    )  # fmt: skip
    absent = " or ".join(f"“{each}”" for each in refused.absent)
    return document(
        WIDTH, HEIGHT, f"Searching notes for {TYPED} and for {ABSENT}",
        field,
        scene(0, 8.2, typed(TYPED, 0, theme)),
        scene(1.9, 8.2, card(found, below, theme)),
        scene(
            4.2, 8.2,
            text(MARGIN + 22, below + 152, "Why", 18, theme.words, bold=True),
            shape("g", why, transform=f"translate({(WIDTH - kept * wide) / 2:.0f} {below + 138}) scale({kept:.3f})"),
        ),
        scene(8.4, SECONDS, typed(ABSENT, 8.4, theme)),
        scene(
            10.2, SECONDS,
            text(MARGIN + 4, below + 34, f"The collection does not mention {absent}.", 18, theme.words),
            text(MARGIN + 4, below + 64, "Nothing here seems to be what was asked.", 18, theme.none, bold=True),
            text(MARGIN + 4, below + 94, str(refused.checked), 14, theme.pale),
        ),
        font_family="system-ui, 'Segoe UI', 'Helvetica Neue', 'Noto Sans Math', 'DejaVu Sans', sans-serif",
    )  # fmt: skip


def stills(drawn: str) -> Iterator[str]:
    """Yield the picture at the ends of its two searches, without movement."""
    still = re.sub(r"<style>.*?</style>", "", drawn)
    scenes = re.findall(r'<g class="(s\d+)"', still)
    for hidden in (scenes[3:], scenes[:3]):
        yield re.sub(rf'<g class="(?:{"|".join(hidden)})"', '<g display="none"', still)


def main() -> None:
    """Write both pictures; with a folder as argument also stills, as PNG."""
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder, "notes")
        notes.mkdir()
        for name, body in NOTES.items():
            (notes / name).write_text(body, encoding="utf-8")
        build_index([notes], notes.with_suffix(".index"), BuildOptions())
        with Index.open(notes.with_suffix(".index")) as index:
            for name, theme in THEMES.items():
                drawn = picture(index, theme)
                (FOLDER / f"first-minute-{name}.svg").write_text(drawn, encoding="utf-8")
                for folder_of_stills in sys.argv[1:]:
                    for number, still in enumerate(stills(drawn)):
                        save_png(still, Path(folder_of_stills, f"{name}-{number}.png"))


if __name__ == "__main__":
    main()

"""`mathamr amr`: meaning graphs (AMR) of sentences."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from mathamr.amr.document import parse_document
from mathamr.amr.parser import PARSERS, AmrParser, load_parser
from mathamr.amr.picture import svg as draw
from mathamr.amr.stream import Tally, answer_lines, parse_sentences
from mathamr.amr.workers import ParallelParser
from mathamr.core.batches import arriving
from mathamr.core.errors import MathAMRError
from mathamr.core.terminal import visible

BATCH = 256


def command(
    sentences: Annotated[
        list[str] | None,
        typer.Argument(
            help="Sentences, with formulas as FORMULA_0, FORMULA_1…; without any, the lines of standard input.",
            show_default=False,
        ),
    ] = None,
    jsonl: Annotated[
        bool,
        typer.Option(
            "--jsonl", help='Read {"text": …} lines, write {"text", "amr", "error"} lines, in order.'
        ),
    ] = False,
    parser: Annotated[
        str, typer.Option(help=f"{', '.join(PARSERS)}, or module:Class for one of your own.")
    ] = "builtin",
    model: Annotated[
        str | None,
        typer.Option(help="The parser's model: a folder, a checkpoint or a name.", show_default=False),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Worker processes.")] = 1,
    alignments: Annotated[
        bool, typer.Option("--alignments", help="Mark the word that each node stands for, as in boy~e.3.")
    ] = False,
    svg: Annotated[
        Path | None,
        typer.Option(
            help="Draw the graph of all sentences into this file; - is standard output.", show_default=False
        ),
    ] = None,
) -> None:
    """Parse sentences into meaning graphs (AMR): Penman text, JSON lines or a picture."""
    if jsonl and (sentences or svg):
        raise typer.BadParameter("--jsonl reads standard input; it takes no sentences and no --svg")
    if alignments and (jsonl or svg):
        raise typer.BadParameter("--alignments marks words in Penman text, not in --jsonl or --svg")
    with ExitStack() as stack:
        loaded = _load(parser, model, workers, stack)
        if svg:
            _draw(loaded, sentences or [line for line in _lines() if line.strip()], svg)
            return
        if not sentences and sys.stdin.isatty():
            print("mathamr: reading from the terminal, one line a sentence; Ctrl-D ends", file=sys.stderr)
        tally = Tally()
        if jsonl:
            lines = (line for line in sys.stdin.buffer if line.strip())
            for batch in arriving(lines, BATCH * workers):
                print(
                    "\n".join(answer.to_json() for answer in answer_lines(loaded, batch, tally)), flush=True
                )
        else:
            for texts in [sentences] if sentences else arriving(_lines(), BATCH * workers):
                _print_graphs(loaded, [text for text in texts if text.strip()], tally, alignments=alignments)
    if not sentences or tally.fallbacks or tally.dropped:
        print(f"mathamr: {tally}", file=sys.stderr)


def _load(name: str, model: str | None, workers: int, stack: ExitStack) -> AmrParser:
    if workers > 1:
        return stack.enter_context(ParallelParser(name, model, workers=workers))
    return load_parser(name, model)


def _lines() -> Iterator[str]:
    return (line.decode("utf-8", "replace").strip() for line in sys.stdin.buffer)


def _print_graphs(parser: AmrParser, texts: list[str], tally: Tally, *, alignments: bool) -> None:
    for text, document in zip(texts, parse_sentences(parser, texts, tally), strict=True):
        amr = replace(document.amr, metadata=(("snt", text),))
        print(visible(amr.to_penman(alignments=alignments, metadata=True)), end="\n\n")
    sys.stdout.flush()


def _draw(parser: AmrParser, sentences: list[str], path: Path) -> None:
    picture = draw(parse_document(parser, sentences).amr, " ".join(sentences))
    if str(path) == "-":
        print(picture, end="")
        return
    try:
        path.write_text(picture, encoding="utf-8")
    except OSError as error:
        raise MathAMRError(f"cannot write the picture to {path}: {error.strerror}") from error
    print(f"mathamr: wrote {path}", file=sys.stderr)

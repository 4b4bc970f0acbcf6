"""`mathamr formula`: layout and operator trees of formulas."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from mathamr.core.errors import MathAMRError
from mathamr.core.terminal import visible


def command(
    latex: Annotated[
        list[str] | None, typer.Argument(help="Formulas; by default the lines of standard input.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON array: trees as Tangent strings, repairs.")
    ] = False,
    as_jsonl: Annotated[
        bool,
        typer.Option(
            "--jsonl",
            help='Answer JSON lines from standard input: {"latex": …} or {"pmml": …, "cmml": …} in, '
            '{"latex", "slt", "opt", "error"} out.',
        ),
    ] = False,
    mathml: Annotated[
        bool, typer.Option("--mathml", help="Print Presentation MathML instead of trees.")
    ] = False,
    svg: Annotated[
        Path | None, typer.Option("--svg", help="Draw both trees of one formula to this file.")
    ] = None,
    macros: Annotated[
        list[Path] | None,
        typer.Option("--macros", help=r"A file with \newcommand, \def, \DeclareMathOperator. Repeatable."),
    ] = None,
    wildcards: Annotated[
        bool, typer.Option("--wildcards", help="Read ?x as a wildcard, as in queries.")
    ] = False,
) -> None:
    """Parse LaTeX (or MathML, with --jsonl) and show the layout and operator trees."""
    if as_json + as_jsonl + mathml > 1:
        raise typer.BadParameter("--json, --jsonl and --mathml exclude each other")
    if as_jsonl and (latex or svg):
        raise typer.BadParameter("--jsonl reads standard input; it takes no formulas and no --svg")
    from mathamr.formulas.parse import FormulaParser

    parser = FormulaParser([_text(path) for path in macros or ()], wildcards=wildcards)
    if as_jsonl:
        from mathamr.formulas.jsonlines import answers

        for answer in answers(sys.stdin.buffer, parser):
            print(answer, flush=True)
        return
    formulas = latex or [line for line in sys.stdin.read().splitlines() if line.strip()]
    if not formulas:
        raise typer.BadParameter("no formula: name one, or write one per line to standard input")
    if svg is not None and len(formulas) != 1:
        raise typer.BadParameter("--svg draws one formula")
    failed = 0
    shown: list[dict[str, object]] = []
    for formula in formulas:
        try:
            parsed = parser.parse(formula)
        except MathAMRError as error:
            failed += 1
            print(f"mathamr: {visible(str(error))}", file=sys.stderr)
            continue
        if svg is not None:
            from mathamr.formulas.picture import svg as picture

            svg.write_text(picture(parsed.slt, parsed.opt, formula), encoding="utf-8")
        if mathml:
            print(visible(parsed.presentation_mathml(display=True)))
        elif as_json:
            shown.append(parsed.to_dict())
        elif svg is None:
            print(visible("\n".join(parsed.lines())))
    if as_json:
        print(json.dumps(shown, ensure_ascii=False, indent=2))
    if failed:
        raise MathAMRError(f"{failed} of {len(formulas)} formulas could not be read")


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise MathAMRError(f"cannot read the macros in {path}: {error}") from error

"""Formulas as JSON lines, for other programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from mathamr.core.errors import MathAMRError
from mathamr.formulas.mathml.markup import opt_from_mathml, slt_from_mathml
from mathamr.formulas.notation import to_string
from mathamr.formulas.parse import FormulaParser

Answer = dict[str, object]


def answers(lines: Iterable[bytes], parser: FormulaParser) -> Iterator[str]:
    """Yield one line per line, in order: `latex`, `slt` and `opt` as Tangent strings, `repairs`, `error`.

    A line is `{"latex": …}` or `{"pmml": …, "cmml": …}` (one of the two may be missing). Malformed LaTeX that was parsed
    anyway is among the `repairs`, with its offset. A line that
    fails has an `error` and nulls; the following lines are answered all the same.
    """
    for line in lines:
        answer: Answer = {"latex": None, "slt": None, "opt": None, "repairs": None, "error": None}
        try:
            answer |= _answer(line, parser, answer)
        except MathAMRError as error:
            answer |= {"slt": None, "opt": None, "error": str(error)}
        text = json.dumps(answer, ensure_ascii=False)
        yield text if _is_unicode(text) else json.dumps(answer)


def _is_unicode(text: str) -> bool:
    """Return True if the text can be written as UTF-8: JSON may contain half a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _answer(line: bytes, parser: FormulaParser, answer: Answer) -> Answer:
    try:
        request = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise MathAMRError(f"not a JSON line: {error}") from error
    if not isinstance(request, dict):
        raise MathAMRError('not a JSON object; expected {"latex": …} or {"pmml": …, "cmml": …}')
    latex, presentation, content = (_text(request, name) for name in ("latex", "pmml", "cmml"))
    answer["latex"] = latex
    if latex is not None:
        formula = parser.parse(latex).to_dict()
        return {name: formula[name] for name in ("slt", "opt", "repairs")}
    if presentation is None and content is None:
        raise MathAMRError("nothing to parse: the line has none of latex, pmml and cmml")
    return {
        "slt": None if presentation is None else to_string(slt_from_mathml(presentation)),
        "opt": None if content is None else to_string(opt_from_mathml(content)),
    }


def _text(request: dict[str, object], name: str) -> str | None:
    value = request.get(name)
    if value is not None and not isinstance(value, str):
        raise MathAMRError(f"{name} is not a string")
    return value

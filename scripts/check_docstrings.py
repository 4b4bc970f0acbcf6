"""Check how docstrings of functions begin: `python scripts/check_docstrings.py PATH...`.

A function begins with a verb of `verbs.txt` in the imperative, so that a new verb is a decision; a generator yields, and a
property is a noun. What a docstring says is a matter for readers.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

VERBS = frozenset(Path(__file__).with_name("verbs.txt").read_text().split())
_THIRD = re.compile(
    r"(?:[;,:]| and| or| then) (?:returns|raises|refuses|retries|yields|deletes|commits|releases|marks|compares|brings"
    r"|checks|replaces|spends|sends|ends the)\b"
)
"""A first sentence that goes on in the third person."""
_SENTENCE = re.compile(
    r"(?:Return|Yield) (?!True|whether|what|where|how|why|which|if )"
    r"(?:(?! (?:that|which|who|whose|where|what|how|by|if|as|it) )[^:;,(`])+ (?:is|are|may|belongs|lead|decides)\b"
)
"""A whole sentence behind the verb: "Return any address is one"."""
_NOUNS = {"Name", "Count"}
"""Verbs that are also nouns with which a property may begin."""
Function = ast.FunctionDef | ast.AsyncFunctionDef


def fault(function: Function, docstring: str) -> str | None:
    """Return what is wrong with the first sentence of a docstring, or None."""
    verb, sentence = docstring.split()[0].rstrip(",:;."), " ".join(docstring.split("\n\n")[0].split())
    if any("property" in ast.unparse(each) for each in function.decorator_list):
        return "a property is described by a noun" if verb in VERBS - _NOUNS else None
    if verb not in VERBS:
        return "it does not begin with an imperative of scripts/verbs.txt"
    yields = _is_generator(function)
    if verb == "Return" and yields:
        return "a generator yields"
    if (
        verb == "Yield"
        and not yields
        and (function.returns is None or "Iter" not in ast.unparse(function.returns))
    ):
        return "only a generator yields"
    if _THIRD.search(sentence):
        return "it changes to the third person"
    return "a sentence stands behind the verb" if _SENTENCE.match(sentence) else None


def _is_generator(function: Function) -> bool:
    nested = {
        id(part)
        for inner in ast.walk(function)
        if inner is not function and isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        for part in ast.walk(inner)
    }
    return any(
        isinstance(part, (ast.Yield, ast.YieldFrom)) and id(part) not in nested for part in ast.walk(function)
    )


def faults(path: Path) -> Iterator[str]:
    """Yield a line for every faulty docstring of a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        docstring = ast.get_docstring(node)
        if docstring and (reason := fault(node, docstring)):
            yield f"{path}:{node.lineno}: {reason}: {docstring.splitlines()[0]}"


if __name__ == "__main__":
    paths = [path for name in sys.argv[1:] for path in sorted(Path(name).rglob("*.py"))]
    sys.exit("\n".join(line for path in paths for line in faults(path)) or None)

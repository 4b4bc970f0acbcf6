"""Marks some nodes of a layout tree in the LaTeX source and in the drawn formula.

Neither the LaTeX nor the drawing refers to the nodes of the tree, but all three have the same symbols in nearly the same
order. So the symbols are aligned like two versions of a text, and unmatched ones stay unmarked.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from mathamr.formulas.budget import Budget, SpentError
from mathamr.formulas.errors import FormulaError
from mathamr.formulas.label import value
from mathamr.formulas.latex.lexer import tokenize, without_comment_signs
from mathamr.formulas.latex.macros import Macros, expanded
from mathamr.formulas.latex.symbols import DELIMITERS, SYMBOLS
from mathamr.formulas.mathml.element import Element, rebuilt
from mathamr.formulas.mathml.styles import STYLE
from mathamr.formulas.tree import Slt
from mathamr.formulas.visualkey import ALIKE

LONGEST = 600
"""The maximum number of symbols of a formula in which nodes are marked; in a longer one nobody looks for them."""
MATCHED, TAKEN = "matched", "taken"
"""Styles of marked nodes: what a query has as well, and what its wildcards stand for."""

_GROUP = re.compile(r"M!(&[a-z]+;|.)(&[a-z]+;|.)[0-9]+x[0-9]+", re.DOTALL)
_ESCAPES = {"&comma;": ",", "&lsqb;": "[", "&rsqb;": "]", "&quest;": "?"}
_LEAVES = frozenset(["mi", "mn", "mo", "mtext", "ms"])
_SIGNS = frozenset(["msqrt", "mroot", "menclose"])
"""Elements that draw a sign of their own around their content."""
_ROWS = frozenset(["mrow", "msqrt", "mstyle", "math", "mtd", "mpadded"])
_UNSEEN = frozenset(["{", "}", "^", "_", "\\left", "\\right", "&", "\\\\"])


class PrintedSymbol(NamedTuple):
    """The visible form of a node of a layout tree."""

    text: str
    node: int


def symbols(tree: Slt) -> list[PrintedSymbol]:
    """Returns the symbols of a layout tree in the order of markup; fences once before and once after.

    >>> from mathamr.formulas.parse import parse
    >>> "".join(symbol.text for symbol in symbols(parse(r"(a_i^2+1)=\\frac{x}{y}").slt))
    '(ai2+1)=xy'
    """
    below: list[dict[str, int]] = [{} for _ in tree.labels]
    for parent, edge, node in tree.triples():
        below[parent][edge] = node
    found: list[PrintedSymbol] = []
    stack: list[int | PrintedSymbol] = [0]
    while stack:
        item = stack.pop()
        if isinstance(item, PrintedSymbol):
            found.append(item)
            continue
        label, edges = tree.labels[item], below[item]
        group = _GROUP.fullmatch(label)
        parts: list[int | PrintedSymbol] = []
        if group is not None:
            parts.append(PrintedSymbol(_seen(group[1]), item))
        elif label[:2] not in ("M!", "O!"):
            parts.append(PrintedSymbol(_seen(value(label)), item))
        # A fraction lists first what is over its line, a script what is under it.
        order = "ou" if label == "O!divide" else "wcd"
        parts += [edges[edge] for edge in order if edge in edges]
        if group is not None:
            parts.append(PrintedSymbol(_seen(group[2]), item))
        parts += [edges[edge] for edge in "wbuaocden" if edge in edges and edge not in order]
        stack.extend(reversed(parts))
    return [symbol for symbol in found if symbol.text]


def stretches(latex: str, macros: Macros, tree: Slt, nodes: Collection[int]) -> list[tuple[int, int]]:
    """Returns the ranges [start, end) of the marked nodes in the LaTeX, in order.

    Braces and commands between two marked symbols are marked with them.

    >>> from mathamr.formulas.parse import parse
    >>> latex = r"c=\\sqrt{a^2+b^2}-1"
    >>> [latex[start:end] for start, end in stretches(latex, Macros(), parse(latex).slt, range(5, 10))]
    ['a^2+b^2']
    """
    try:
        tokens, offsets = tokenize(latex)
        if not tokens and (uncommented := without_comment_signs(latex)):
            tokens, offsets = tokenize(uncommented[0])
        lengths = {offset: len(token) for token, offset in zip(tokens, offsets, strict=True)}
        tokens, offsets, _ = expanded(tokens, offsets, latex, macros, Budget(len(latex)))
    except (FormulaError, SpentError):
        return []
    ends = [*offsets[1:], len(latex)] if offsets else []
    written: list[tuple[str, int, int, bool]] = []
    for token, start, end in zip(tokens, offsets, ends, strict=True):
        text = _written(token)
        last = written[-1] if written else None
        if last and text.isdigit() and last[0][-1:].isdigit() and last[2] == start:
            written[-1] = (last[0] + text, last[1], end, True)
        elif not token.isspace():
            # The symbols of a macro are at its call.
            written.append((text, start, start + lengths.get(start, len(token)), bool(text)))
    seen = [place for place, each in enumerate(written) if each[3]]
    marked = _marked([written[place][0] for place in seen], symbols(tree), nodes)
    chosen = {seen[place] for place in marked}
    found: list[tuple[int, int]] = []
    before = -1
    for place in sorted(chosen):
        if found and not any(each[3] for each in written[before + 1 : place]):
            found[-1] = (found[-1][0], written[place][2])
        else:
            found.append(written[place][1:3])
        before = place
    return [_balanced(latex, *stretch) for stretch in found]


def _balanced(latex: str, start: int, end: int) -> tuple[int, int]:
    """Extends a range by the braces directly before and after it, as far as they are unbalanced."""
    depth = low = 0
    for brace in re.findall(r"\\.|[{}]", latex[start:end]):
        depth += {"{": 1, "}": -1}.get(brace, 0)
        low = min(low, depth)
    while low < 0 and latex[start - 1 : start] == "{":
        start, low, depth = start - 1, low + 1, depth + 1
    while depth > 0 and latex[end : end + 1] == "}":
        end, depth = end + 1, depth - 1
    return start, end


def drawn_with_marks(element: Element, tree: Slt, nodes: Collection[int], style: str = MATCHED) -> Element:
    """Draws the formula with the marked nodes in a style of their own; adjacent marked nodes are one piece."""
    leaves = [each for each in element.iterate() if each.tag in _LEAVES]
    chosen = {
        id(leaves[place]) for place in _marked([_seen(each.text) for each in leaves], symbols(tree), nodes)
    }
    styled_ids: set[int] = set()

    def make(each: Element, children: list[Element]) -> Element:
        is_marked = (
            id(each) in chosen
            if each.tag in _LEAVES
            else bool(children)
            and each.tag not in _SIGNS
            and all(id(child) in styled_ids or child.tag == "mspace" for child in children)
            and any(id(child) in styled_ids for child in children)
        )
        if children and not is_marked:
            children = (
                _joined(children, styled_ids, style)
                if each.tag in _ROWS
                else [_styled(child, styled_ids, style) for child in children]
            )
        made = Element(each.tag, each.text, children, each.attributes)
        if is_marked:
            styled_ids.add(id(made))
            alive.append(made)
        return made

    alive: list[Element] = []
    """Elements that are kept alive because their ids are keys."""
    return _styled(rebuilt(element, make), styled_ids, style)


def _joined(children: Sequence[Element], styled_ids: Collection[int], style: str) -> list[Element]:
    """Joins marked neighbours to one row; signs at its ends stay outside, because their space depends on their position."""
    found: list[Element] = []
    run: list[Element] = []
    for child in [*children, None]:
        if child is not None and id(child) in styled_ids:
            run.append(child)
            continue
        before = next((place for place, each in enumerate(run) if each.tag != "mo"), len(run))
        after = next((place for place in range(len(run), before, -1) if run[place - 1].tag != "mo"), before)
        found += [_styled(each, styled_ids, style) for each in run[:before]]
        if after - before > 1:
            found.append(Element("mrow", "", run[before:after], {STYLE: style}))
        else:
            found += [_styled(each, styled_ids, style) for each in run[before:after]]
        found += [_styled(each, styled_ids, style) for each in run[after:]]
        run = []
        if child is not None:
            found.append(child)
    return found


def _styled(element: Element, styled_ids: Collection[int], style: str) -> Element:
    if id(element) not in styled_ids:
        return element
    names = f"{element.attributes[STYLE]} {style}" if STYLE in element.attributes else style
    return Element(element.tag, element.text, element.children, {**element.attributes, STYLE: names})


def _marked(texts: Sequence[str], seen: Sequence[PrintedSymbol], nodes: Collection[int]) -> Iterator[int]:
    """Returns the positions of texts that are symbols of marked nodes."""
    if not nodes or len(texts) > LONGEST or len(seen) > LONGEST:
        return
    matcher = SequenceMatcher(None, texts, [symbol.text for symbol in seen], autojunk=False)
    for start, other, size in matcher.get_matching_blocks():
        yield from (start + step for step in range(size) if seen[other + step].node in nodes)


def _seen(text: str) -> str:
    """Returns the form of a symbol that all spellings and alphabets share."""
    text = "".join(_ESCAPES.get(text, text).split())
    if text and text in "\u2061\u2062\u2063\u2064":
        return ""
    text = text.translate(ALIKE)
    plain = unicodedata.normalize("NFKC", text)
    return plain if len(plain) == len(text) else text


def _written(token: str) -> str:
    """Returns what a token of LaTeX shows; nothing if it is not a symbol."""
    if token in _UNSEEN or token.isspace():
        return ""
    if token in SYMBOLS:
        return _seen(SYMBOLS[token].text)
    if token in DELIMITERS:
        return _seen(DELIMITERS[token][0])
    return _seen(token) if not token.startswith("\\") else ""

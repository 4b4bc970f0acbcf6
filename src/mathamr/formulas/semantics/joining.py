"""Neighbours that are one symbol for a mathematician: thousands, and functions without their backslash."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from mathamr.formulas.latex.node import APPLY, HINT, SCRIPT, TOKEN, Node
from mathamr.formulas.latex.symbols import ACCENTS, SYMBOLS, UNDER_ACCENTS
from mathamr.formulas.semantics.decision import DecisionNotes
from mathamr.formulas.semantics.items import SIGNS
from mathamr.formulas.semantics.letters import is_plain, spelled
from mathamr.formulas.semantics.traits import EXTREMES

_GROUP = 3
_SIGNS = {
    symbol.text: symbol
    for symbol in SYMBOLS.values()
    if len(symbol.text) == 1
    and not symbol.text.isascii()
    and symbol.role in ("RELOP", "ADDOP", "MULOP", "ARROW", "METARELOP", "SUMOP", "INTOP", "BIGOP", "DIFFOP")
}
_SIGNS |= {typed: SYMBOLS[sign] for typed, sign in {"−": "-", "·": "\\cdot", "∗": "*", "‖": "\\|"}.items()}
"""Signs by their character."""
_PLACED = {"OVERACCENT": "POSTSUPERSCRIPT", "UNDERACCENT": "POSTSUBSCRIPT"}
_DRAWN = frozenset([*ACCENTS.values(), *UNDER_ACCENTS.values()])
_RELATIONS = frozenset(["RELOP", "METARELOP"])
_BIG = frozenset(["SUMOP", "INTOP", "LIMITOP", "OPERATOR"])
_BETWEEN = frozenset(["union", "intersection", "and", "or", "direct-sum", "square-union"])
_ALONE = frozenset(["sine", "cosine", "tangent", "logarithm"])
"""Functions that are recognised even after another letter: `xsinx`."""


def joined(nodes: Sequence[Node], notes: DecisionNotes) -> list[Node]:
    """Returns the list with such neighbours joined, without space."""
    shown: list[Node] = []
    for node in nodes:
        if node.kind == TOKEN:
            shown.append(_typed(node) if node.text in _SIGNS else node)
        elif node.kind == APPLY:
            shown += map(_typed, _with_scripts(node))
        elif node.kind != HINT or node.role:
            shown.append(node)
    return _functions(_thousands(_binary(shown), notes), notes)


def _with_scripts(node: Node) -> list[Node]:
    """Turns marks above or below a relation or a big operator into its scripts: `\\overset{!}{=}`, `\\underset{x\\to0}{\\lim}`."""
    scripts: list[Node] = []
    base = node
    while base.kind == APPLY and len(base.children) == 2 and base.children[0].role in _PLACED:
        label, base = base.children
        role = _PLACED[label.role]
        if label.kind == TOKEN and label.text in _DRAWN and base.role not in ("ARROW", *_RELATIONS):
            return [node]
        scripts.append(Node(SCRIPT, role, children=(label.with_role("ID"),)))
    if base.role == "ARROW" and scripts:  # as LaTeX's own arrows with something above
        return [node.with_role("ARROW")]
    big = base.role in _BIG or base.meaning in EXTREMES
    return [base, *scripts] if scripts and base.kind == TOKEN and (big or base.role in _RELATIONS) else [node]


def _binary(nodes: list[Node]) -> list[Node]:
    """Reads `A\\bigcap B` as `A\\cap B`: a big operator without scripts between two operands."""
    for position in range(1, len(nodes) - 1):
        node = nodes[position]
        if (
            node.role == "SUMOP"
            and node.meaning in _BETWEEN
            and nodes[position + 1].kind != SCRIPT
            and nodes[position - 1].role not in SIGNS
            and nodes[position - 1].role != "OPEN"
        ):
            nodes[position] = node.with_role("ADDOP")
    return nodes


def _typed(node: Node) -> Node:
    """Replaces a typed character by the sign of its command; LaTeXML takes it for a letter."""
    known = _SIGNS.get(node.text) if node.kind == TOKEN and node.role == "UNKNOWN" else None
    if known is None:
        return node
    return Node(TOKEN, known.role, known.text, known.meaning, key=known.meaning or known.name or known.text)


def _is_number(node: Node) -> bool:
    return node.kind == TOKEN and node.role == "NUMBER" and node.text.isdigit()


def _is_comma(node: Node) -> bool:
    return node.kind == TOKEN and node.text == ","


def _thousands(nodes: Sequence[Node], notes: DecisionNotes) -> list[Node]:
    """Joins `1,000,000` to a number outside of groups; inside them only if a part begins with a zero."""
    if not any(map(_is_comma, nodes)):
        return list(nodes)
    result: list[Node] = []
    depth = position = 0
    while position < len(nodes):
        node = nodes[position]
        depth += (node.role == "OPEN") - (node.role == "CLOSE")
        end = position
        if _is_number(node) and len(node.text) <= _GROUP and node.text[0] != "0":
            end = _run(nodes, position)
        parts = [part.text for part in nodes[position + 2 : end + 1 : 2]]
        if (
            parts
            and not _is_progression([node.text, *parts])
            and (depth == 0 or any(part[0] == "0" for part in parts))
            and _stands_alone(nodes, position, end)
        ):
            text = node.text + "".join(parts)
            notes.decide(",".join([node.text, *parts]), "one number", "its parts have three digits each")
            result.append(Node(TOKEN, "NUMBER", text, text, node.font))
            position = end + 1
            continue
        result.append(node)
        position += 1
    return result


def _run(nodes: Sequence[Node], start: int) -> int:
    """Returns the position of the last part of a number that begins at a place."""
    end = start
    while (
        end + 2 < len(nodes)
        and _is_comma(nodes[end + 1])
        and _is_number(nodes[end + 2])
        and len(nodes[end + 2].text) == _GROUP
    ):
        end += 2
    return end


def _is_progression(parts: Sequence[str]) -> bool:
    """True if the parts count up or down in equal steps: `99,100,101`."""
    numbers = list(map(int, parts))
    steps = {second - first for first, second in pairwise(numbers)}
    return len(numbers) > 2 and len(steps) == 1 and steps != {0}


def _stands_alone(nodes: Sequence[Node], start: int, end: int) -> bool:
    """True if there is no comma around the number: `99,100,101` is a list."""
    before = start > 0 and _is_comma(nodes[start - 1])
    behind = end + 2 < len(nodes) and _is_comma(nodes[end + 1])
    return not before and not behind


def _functions(nodes: Sequence[Node], notes: DecisionNotes) -> list[Node]:
    """Joins letters that spell a function: `sin x`."""
    plain = list(map(is_plain, nodes))
    if not any(one and two for one, two in pairwise(plain)):
        return list(nodes)
    result: list[Node] = []
    position = 0
    while position < len(nodes):
        made, length = _spelled(nodes, position) if plain[position] else (None, 0)
        if made is not None:
            notes.decide(made.text, "a name", "its letters spell one")
            result.append(made)
            position += length
            continue
        result.append(nodes[position])
        position += 1
    return result


def _spelled(nodes: Sequence[Node], start: int) -> tuple[Node | None, int]:
    end = start
    while end < len(nodes) and end - start < 7 and is_plain(nodes[end]):
        end += 1
    if end - start < 2:
        return None, 0
    text = "".join(node.text for node in nodes[start:end])
    if text.startswith("mod") and end - start >= _GROUP:
        return Node(TOKEN, "MODIFIEROP", "mod", "modulo"), _GROUP
    made = spelled(text)
    if made is None:
        return None, 0
    length = len(made.text.replace(" ", ""))
    behind_letter = start > 0 and is_plain(nodes[start - 1])
    following = nodes[start + length] if start + length < len(nodes) else None
    if following is None or (behind_letter and made.meaning not in _ALONE):
        return None, 0
    if not made.meaning and following.role not in ("OPEN", "POSTSUBSCRIPT"):
        return None, 0
    return made, length

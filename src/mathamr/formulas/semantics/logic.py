"""Statements about formulas: quantifiers, implications, lists, words between formulas."""

from __future__ import annotations

from collections.abc import Sequence

from mathamr.formulas.latex.assembly import formulae, listed, relation
from mathamr.formulas.latex.node import ABSENT, INVISIBLE_COMMA, Node, apply, operator
from mathamr.formulas.semantics.items import (
    Group,
    Item,
    is_group,
    is_middle,
    is_sign,
    is_words,
    place,
    role,
    scripts_end,
    split,
)
from mathamr.formulas.semantics.nodes import bound, named
from mathamr.formulas.semantics.protocol import MeaningGrammar
from mathamr.formulas.semantics.relations import is_relation, related
from mathamr.formulas.semantics.traits import (
    CONJUNCTION,
    IMPLICATION,
    IMPLICATIONS,
    IMPLYING_ARROWS,
    PUNCTUATION,
    QUANTIFIER,
    RELATION,
    SCRIPTS,
    WIDE,
    WORDS,
    item_traits,
    traits_of,
)

_LOGICAL = ("not", "and", "or", "exclusive-or", "↔", "⟷", "for-all", "exists")
_STATEMENTS = frozenset("pqrPQR")
_CONNECTIVES = {
    "and": "and", "or": "or", "iff": "iff", "if and only if": "iff", "implies": "implies", "then": "implies",
    "if": "implied-by", "when": "implied-by", "whenever": "implied-by", "so": "implies", "hence": "implies",
}  # fmt: skip
_SEPARATING = frozenset(
    ["where", "for", "with", "such that", "s.t.", "for all", "for every", "for each", "for some", "as"]
)
_ADMITTED = frozenset(["such that", "s.t.", "st", "we have", "so that", "with"])
_LOOSEST = QUANTIFIER | IMPLICATION | WORDS | CONJUNCTION
"""What binds looser than any list; without any of it, there is only a list of relations and sums."""


def formula(items: Sequence[Item], grammar: MeaningGrammar) -> Node:
    """Returns the meaning of a list, from the loosest binding inwards."""
    items = _trimmed(items)
    grammar.notes.budget.spend(1 + len(items))
    if not items:
        return ABSENT
    traits = traits_of(items)
    if len(items) == 1 and not traits & (RELATION | QUANTIFIER):
        return grammar.sum(items)
    if not traits & _LOOSEST:
        return _listed(items, grammar)
    if _is_quantifier(items[0]):
        return _quantified(items, grammar)
    if is_sign(items[0], "not", "¬") and len(items) > 1 and _is_quantifier(items[1]):
        return named("not", formula(items[1:], grammar))
    connected = _implied(items, grammar) or _connected(items, grammar) or _conjoined(items, grammar)
    if connected is not None:
        return connected
    at = place(items, _is_quantifier)
    if at > 0:
        if role(items[at - 1]) in ("ADDOP", "FUNCTION", "RELOP", "MULOP"):
            return formula([*items[:at], grammar.settled(_quantified(items[at:], grammar))], grammar)
        return _quantified(items[at:], grammar, body=_trimmed(items[:at]))
    return _listed(items, grammar)


def _trimmed(items: Sequence[Item]) -> Sequence[Item]:
    """Returns the list without punctuation at its ends."""
    start, end = 0, len(items)
    while end > start and item_traits(items[end - 1]) & PUNCTUATION:
        end -= 1
    while start < end and item_traits(items[start]) & PUNCTUATION:
        start += 1
    return items[start:end] if end - start < len(items) else items


def _connected(items: Sequence[Item], grammar: MeaningGrammar) -> Node | None:
    """Reads formulas with words between them: `x>0 \\text{ and } y>0`."""
    at = place(items, lambda item: is_words(item) and _phrase(item) in (_CONNECTIVES.keys() | _SEPARATING))
    if at <= 0 or at == len(items) - 1:
        return None
    left, right = formula(items[:at], grammar), formula(items[at + 1 :], grammar)
    meaning = _CONNECTIVES.get(_phrase(items[at]))
    if meaning is None:
        return formulae((left, INVISIBLE_COMMA, right))
    if meaning == "implied-by":
        return named("implies", right, left)
    return named(meaning, left, right)


def _phrase(item: Item) -> str:
    return " ".join(item.text.split()).strip(",;: ").lower() if isinstance(item, Node) else ""


def _implied(items: Sequence[Item], grammar: MeaningGrammar) -> Node | None:
    """Reads implications, which bind loosest; a chain of them is a chain of relations."""
    found = [
        IMPLICATIONS.get(item.text, "") if isinstance(item, Node) and item.text else "" for item in items
    ]
    if not any(found) and _is_logical(items):
        found = [
            IMPLYING_ARROWS.get(item.text, "") if isinstance(item, Node) and item.text else ""
            for item in items
        ]
        if any(found):
            grammar.notes.decide("→", "an implication", "it stands between statements")
    if not any(found):
        return None
    wanted = {"iff"} if "iff" in found else {"implies", "implied-by"}
    sides: list[Node] = []
    start = 0
    for position, meaning in enumerate(found):
        if meaning in wanted:
            end = position
            sides += (formula(items[start:end], grammar), operator(meaning))
            start = scripts_end(items, position + 1)
    sides.append(formula(items[start:], grammar))
    if len(sides) == 3 and sides[1].meaning == "implied-by":
        return named("implies", sides[2], sides[0])
    return relation(sides)


def _is_logical(items: Sequence[Item]) -> bool:
    """True if a list or its groups contain signs of logic, or only letters of statements and arrows."""
    if place(items, lambda item: is_sign(item, "colon", ":")) >= 0:
        return False
    letters = [item for item in items if isinstance(item, Node) and role(item) != "ARROW"]
    if len(items) > 1 and len(letters) < len(items) and all(each.text in _STATEMENTS for each in letters):
        return not any(isinstance(item, Group) for item in items)
    return any(
        is_sign(item, *_LOGICAL)
        for each in items
        for item in (each.items if isinstance(each, Group) and each.opening == "(" else [each])
    )


def _conjoined(items: Sequence[Item], grammar: MeaningGrammar) -> Node | None:
    """Reads relations with a logical sign between them: `a=b \\land b=c`; between terms it binds tighter than relations."""
    for meaning in ("or", "and"):
        pieces = split(items, lambda item, meaning=meaning: is_sign(item, meaning))  # type: ignore[misc]
        if len(pieces) > 1 and all(pieces) and sum(map(_is_statement, pieces)) > 1:
            return named(meaning, *(formula(piece, grammar) for piece in pieces))
    return None


def _is_statement(items: Sequence[Item]) -> bool:
    """True if a list, or its only group, contains a relation."""
    if len(items) == 1 and isinstance(items[0], Group):
        items = items[0].items
    return any(map(is_relation, items))


def _is_quantifier(item: Item) -> bool:
    return bool(item_traits(item) & QUANTIFIER)


def _quantified(items: Sequence[Item], grammar: MeaningGrammar, body: Sequence[Item] = ()) -> Node:
    """Reads a quantifier with its variables, their condition, and the formula it applies to.

    The formula follows a comma, a colon, words, or directly; or the quantifier comes after it.
    """
    head = items[0]
    meaning = head.meaning if isinstance(head, Node) else ""
    start = 1
    if start < len(items) and is_sign(items[start], "factorial"):
        meaning, start = "exists-unique", start + 1
    variables: list[Node] = []
    condition: Node | None = None
    if start < len(items) and role(items[start]) in SCRIPTS:
        script = items[start]
        if isinstance(script, Node):
            variables, condition = bound_by(grammar.items(script.children[0]), grammar)
        start += 1
    else:
        start, variables, condition = _declared(items, start, grammar)
    while start < len(items) and _separates(items[start]):
        start += 1
    operands = [bound(variable) for variable in variables]
    if condition is not None:
        operands.append(named("condition", condition))
    rest = [*body, *items[start:]] if not body or start == len(items) else []
    if rest:
        operands.append(formula(rest, grammar))
    elif body:
        operands.append(formula([grammar.settled(formula(body, grammar)), *items[start:]], grammar))
    return apply(operator(meaning), *operands)


def _separates(item: Item) -> bool:
    return (
        role(item) in ("PUNCT", "PERIOD")
        or is_middle(item)
        or is_sign(item, "colon", ":")
        or (is_words(item) and _phrase(item) in _ADMITTED)
    )


def _declared(
    items: Sequence[Item], start: int, grammar: MeaningGrammar
) -> tuple[int, list[Node], Node | None]:
    """Reads the variables that a quantifier declares, and their condition: `x,y \\in A`, `\\varepsilon>0`, `x`."""
    end = _variable_end(items, start)
    pieces = [items[start:end]]
    while end + 1 < len(items) and role(items[end]) == "PUNCT" and _declares_more(items, end + 1):
        after = _variable_end(items, end + 1)
        pieces.append(items[end + 1 : after])
        end = after
    variables = [grammar.sum(piece) for piece in pieces if piece]
    if end >= len(items) or not is_relation(items[end]) or _separates(items[end]):
        return end, variables, None
    stop = _condition_end(items, end + 1)
    declared = items[start:stop]
    condition = related(declared, grammar) if len(pieces) == 1 else _listed(declared, grammar)
    return stop, variables, condition


def _variable_end(items: Sequence[Item], start: int) -> int:
    """Returns the position after one variable with its scripts; a group may be a tuple of variables."""
    if start >= len(items) or role(items[start]) in ("RELOP", "PUNCT", "BIGOP"):
        return start
    return scripts_end(items, start + 1)


def _declares_more(items: Sequence[Item], start: int) -> bool:
    """True if another variable follows the comma: a letter before a comma or an `\\in`."""
    if role(items[start]) not in ("UNKNOWN", "ID"):
        return False
    end = _variable_end(items, start)
    if end >= len(items):
        return True
    return (
        is_sign(items[end], "element-of", "subset-of", "subset-of-or-equals", "colon")
        or (role(items[end]) == "PUNCT" and end + 1 < len(items) and _declares_more(items, end + 1))
        or (end == start + 1 and is_sign(items[end], "greater-than", "greater-than-or-equals"))
    )


def _condition_end(items: Sequence[Item], start: int) -> int:
    """Returns the position after the right side of a condition: at a separator, or after one factor if a second relation follows."""
    second = False
    for position in range(start, len(items)):
        item = items[position]
        if _separates(item) or _is_quantifier(item) or is_words(item):
            return position
        if is_relation(item):
            second = True
            break
    if not second:
        if len(items) - start > 1:
            end = scripts_end(items, start + 1)
            if end < len(items) and is_group(items[end]):
                return end
        return len(items)
    end = start + (role(items[start]) == "ADDOP")
    return scripts_end(items, end + 1)


def _listed(items: Sequence[Item], grammar: MeaningGrammar) -> Node:
    """Reads formulas or expressions with punctuation between them.

    Items before the first relation belong to it (`x,y\\in A`), items without a relation after one belong to
    its right side (`x=1,2,3`), as in the published trees.
    """
    traits = traits_of(items)
    if not traits & PUNCTUATION:
        return related(items, grammar)
    apart = [piece for piece in split(items, _is_wide) if _trimmed(piece)] if traits & WIDE else []
    if len(apart) > 1 and any(map(_is_statement, apart)):
        return _sequence([formula(piece, grammar) for piece in apart])
    pieces = [piece for piece in split(items, lambda item: bool(item_traits(item) & PUNCTUATION)) if piece]
    if len(pieces) == 1:
        return related(pieces[0], grammar)
    has_relation = [any(map(is_relation, piece)) for piece in pieces]
    if not any(has_relation):
        return _as_list([grammar.sum(piece) for piece in pieces])
    formulas: list[Node] = []
    first = has_relation.index(True)
    position = 0
    while position < len(pieces):
        left = pieces[position:first] if position < first else []
        position = first if position < first else position
        end = position + 1
        while end < len(pieces) and not has_relation[end]:
            end += 1
        formulas.append(related(pieces[position], grammar, left, pieces[position + 1 : end]))
        position = first = end
    if len(formulas) == 1:
        return formulas[0]
    return _sequence(formulas)


def _sequence(formulas: Sequence[Node]) -> Node:
    parts: list[Node] = [formulas[0]]
    for each in formulas[1:]:
        parts += (INVISIBLE_COMMA, each)
    return formulae(parts)


def _is_wide(item: Item) -> bool:
    """True if the item is space of at least a quad, which separates formulas more than a comma does."""
    return bool(item_traits(item) & WIDE)


def _as_list(nodes: Sequence[Node]) -> Node:
    parts: list[Node] = [nodes[0]]
    for node in nodes[1:]:
        parts += (INVISIBLE_COMMA, node)
    return listed(parts)


def bound_by(items: Sequence[Item], grammar: MeaningGrammar) -> tuple[list[Node], Node | None]:
    """Returns the variables that a condition binds, and the condition: `i\\in I`, `0\\le i<j`, `d\\mid n`, or just `k`."""
    pieces = [piece for piece in split(items, lambda item: role(item) == "PUNCT") if piece]
    variables: list[Node] = []
    relational = any(is_relation(item) for item in items)
    for piece in pieces:
        sides = split(piece, is_relation)
        wanted = sides[:1] if len(sides) < 3 else sides[1:-1]
        if len(sides) == 2 and not _is_variable(sides[0]) and _is_variable(sides[1]):
            wanted = sides[1:]
        variables += [grammar.sum(side) for side in wanted if _is_variable(side)]
    condition = formula(items, grammar) if relational or not variables else None
    return variables, condition


def _is_variable(items: Sequence[Item]) -> bool:
    return bool(items) and role(items[0]) in ("UNKNOWN", "ID") and scripts_end(items, 1) == len(items)

"""Is a letter before a group a function or a factor? The formula decides, then the post, then the usual names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mathamr.formulas.latex.node import APPLY, Node
from mathamr.formulas.semantics.bracketed import parts
from mathamr.formulas.semantics.items import Group, Item, is_middle, is_sign, role, scripts_end
from mathamr.formulas.semantics.letters import (
    ARGUMENTS,
    CAPITALS,
    CURVES,
    FUNCTIONS,
    SCALARS,
    is_letter,
    is_plain,
    is_structure,
    letter,
)
from mathamr.formulas.semantics.protocol import MeaningGrammar

_MARKED = frozenset(["derivative", "inverse", "prime", "upper-index"])
_OPERATORS_OF_CHANCE = frozenset(["P", "E", "ℙ", "𝔼"])


def is_applied(head: Node, meaning: Node, group: Group, grammar: MeaningGrammar) -> bool:
    """True if a letter (with its scripts: `meaning`) is applied to the group after it; the decision is recorded."""
    name = letter(head)
    choice, reason = _judged(head, meaning, group, grammar)
    notes = grammar.notes
    if choice:
        if not is_structure(head):
            notes.functions.add(name)
        notes.decide(f"{name}(…)", f"{name} applied", reason)
    else:
        notes.variables.add(name)
        notes.doubted.add(name)
        notes.decide(f"{name}(…)", "a product", reason)
    return choice


def _judged(head: Node, meaning: Node, group: Group, grammar: MeaningGrammar) -> tuple[bool, str]:
    name = letter(head)
    context = grammar.notes.context
    inside = list(_letters(group.items))
    if not group.items:
        return True, "the parentheses are empty"
    if _is_marked(meaning):
        return True, "it is a derivative or an inverse"
    if len(head.text) > 1 and head.role == "UNKNOWN" and not head.children:
        return True, f"{name} is a name"
    if any(is_middle(item) or role(item) == "RELOP" for item in group.items):
        return True, "a condition stands in the parentheses"
    if any(is_sign(item, "union", "intersection", "set-minus") for item in group.items):
        return True, "sets stand in the parentheses"
    several = len(parts(group.items)) > 1
    if several and not (name in SCALARS and name not in context.functions and _is_numeric(group)):
        return True, "several arguments stand in the parentheses"
    if name not in FUNCTIONS and _occurs_alone(name, group.items):
        return False, f"{name} occurs in the parentheses itself"
    if name in context.functions:
        return True, f"{name} is applied elsewhere in the post"
    if name in FUNCTIONS:
        return True, f"{name} is a usual name of a function"
    if name in grammar.notes.functions:
        return True, f"{name} is applied elsewhere in the formula"
    if name in context.variables:
        return False, f"{name} is a factor elsewhere in the post"
    return _by_visuals(head, meaning, group, inside)


def _by_visuals(head: Node, meaning: Node, group: Group, inside: Sequence[Node]) -> tuple[bool, str]:
    """Decides by the kind of letter and the content of the parentheses."""
    name = letter(head)
    first = group.items[0]
    if _is_one_thing(group.items):
        if role(first) == "NUMBER" and meaning is not head and name not in CAPITALS:
            return False, "a number stands in the parentheses"
        return True, "one letter or number stands in the parentheses"
    if (
        meaning is not head
        and meaning.kind == APPLY
        and meaning.children[0].role == "SUPERSCRIPTOP"
        and is_plain(head)
    ):
        if name in CAPITALS:
            return True, f"{name} with an exponent is a usual name of a space"
        return False, f"{name} is a power"
    if name in CAPITALS or (not is_plain(head) and head.text.isupper()):
        if any(letter(each).isupper() for each in inside) and name not in _OPERATORS_OF_CHANCE:
            return False, "capital letters stand in the parentheses"
        return True, "it is a capital letter"
    if name in CURVES and any(letter(each) in ARGUMENTS for each in inside) and name not in "yp":
        return True, f"{name} is often a function of such letters"
    if isinstance(first, Group) and len(group.items) == 1:
        return True, "a group stands in the parentheses"
    if name in "μπσνδ" and inside and all(letter(each).isupper() for each in inside):
        return True, "a set stands in the parentheses"
    return False, f"{name} is a usual name of a number"


def _occurs_alone(name: str, items: Sequence[Item]) -> bool:
    """True if a letter occurs in a list without being applied there itself: `n(n+1)`, but not `y(y(x))`."""
    for position, item in enumerate(items):
        if isinstance(item, Group):
            if _occurs_alone(name, item.items):
                return True
        elif name in map(letter, _letters([item])):
            after = scripts_end(items, position + 1)
            if after >= len(items) or not isinstance(items[after], Group):
                return True
    return False


def _is_marked(meaning: Node) -> bool:
    return meaning.kind == APPLY and meaning.children[0].meaning in _MARKED


def _is_one_thing(items: Sequence[Item]) -> bool:
    """True for one letter or number, perhaps with a sign, scripts or a factorial."""
    start = 1 if is_sign(items[0], "minus") and len(items) > 1 else 0
    if role(items[start]) not in ("UNKNOWN", "ID", "NUMBER") or is_sign(items[start], "infinity"):
        return False
    if start and role(items[start]) != "NUMBER":
        return False
    end = scripts_end(items, start + 1)
    return end == len(items) or (
        end == len(items) - 1 and isinstance(items[end], Group) and role(items[start]) != "NUMBER"
    )


def _is_numeric(group: Group) -> bool:
    return all(role(item) in ("NUMBER", "PUNCT", "ADDOP") for item in group.items)


def _letters(items: Sequence[Item]) -> Iterator[Node]:
    """Yields all letters of a list, including its groups."""
    stack: list[Item] = list(items)
    while stack:
        item = stack.pop()
        if isinstance(item, Group):
            stack.extend(item.items)
        elif is_letter(item):
            yield item
        elif item.kind == APPLY or item.source:
            stack.extend(item.source or item.children[1:])

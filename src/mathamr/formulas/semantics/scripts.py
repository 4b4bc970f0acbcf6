"""The meaning of scripts: powers, indices, derivatives, inverses, transposes, degrees."""

from __future__ import annotations

from collections.abc import Sequence

from mathamr.formulas.latex.node import SCRIPT, TEXT, Node
from mathamr.formulas.semantics.bracketed import parts
from mathamr.formulas.semantics.items import Group, Item, is_group, is_sign, role
from mathamr.formulas.semantics.letters import DIFFERENTIABLE, FUNCTIONS, WORDS, is_letter, is_plain, letter
from mathamr.formulas.semantics.nodes import indexed, named, power, whole, word
from mathamr.formulas.semantics.protocol import MeaningGrammar
from mathamr.formulas.semantics.sums import is_negative_one

_MARKS = {"*": "star", "∗": "star", "⋆": "star", "†": "dagger", "⟂": "perp", "⊥": "perp", "⊤": "transpose", "⊺": "transpose",
          "×": "units", "∁": "complement"}  # fmt: skip
_ANGLES = frozenset("αβγθφϕψxyn")
_LONGEST_INDEX = 4


def is_function(base: Item, grammar: MeaningGrammar) -> bool:
    """True if a letter is a function by its name, by the formula or by the post."""
    if not isinstance(base, Node) or not is_letter(base):
        return False
    name = letter(base)
    notes = grammar.notes
    return name in FUNCTIONS or name in notes.functions or name in notes.context.functions


def scripted(base: Item, meaning: Node, scripts: Sequence[Node], grammar: MeaningGrammar) -> Node:
    """Returns the base with its scripts, indices first: `x^2_i` is the square of `x_i`."""
    node = meaning
    for script in scripts:
        if script.role.endswith("SUBSCRIPT"):
            node = _below(base, node, script.children[0], grammar)
    for script in scripts:
        if script.role.endswith("SUPERSCRIPT"):
            node = _above(base, node, script.children[0], grammar)
    return node


def _below(base: Item, node: Node, index: Node, grammar: MeaningGrammar) -> Node:
    """Reads an index; adjacent letters are several, and a word is a word."""
    items = grammar.items(index)
    text = "".join(item.text for item in items if isinstance(item, Node))
    letters = [item for item in items if isinstance(item, Node) and is_plain(item)]
    if len(items) > 1 and len(letters) == len(items):
        if text.lower() in WORDS:
            grammar.notes.decide(f"index {text}", "a word", "its letters spell one")
            return indexed(node, word(text))
        if len(items) <= _LONGEST_INDEX:
            grammar.notes.decide(
                f"index {text}", "several indices", "letters side by side below a letter are no product"
            )
            return indexed(node, *letters)
    pieces = parts(items)
    if len(pieces) > 1 and not any(role(item) == "RELOP" for item in items):
        return indexed(node, *(grammar.sum(piece) for piece in pieces))
    return indexed(node, grammar.node(index))


def _above(base: Item, node: Node, exponent: Node, grammar: MeaningGrammar) -> Node:
    """Reads a superscript: a mark with a meaning, or a power."""
    items = grammar.items(exponent)
    if items and role(items[0]) == "SUPOP":
        return _primed(base, node, items, grammar)
    single = items[0] if len(items) == 1 else None
    if isinstance(single, Node):
        mark = _MARKS.get(single.text) if not single.children else None
        if mark is not None and single.kind not in (SCRIPT, TEXT):
            return named(mark, node)
        if is_sign(single, "compose", "∘", "°"):
            return _circled(base, node, grammar)
        if (
            is_letter(single)
            and letter(single) in ("T", "𝖳", "⊤", "𝑇")
            and role(base) != "NUMBER"
            and not is_sign(base, "e")
        ):
            grammar.notes.decide(
                "superscript T", "a transpose", "T above a letter or a matrix is usually no power"
            )
            return named("transpose", node)
    if isinstance(single, Group) and is_group(single) and len(parts(single.items)) == 1:
        if is_function(base, grammar) or (
            isinstance(base, Node) and is_letter(base) and letter(base) in DIFFERENTIABLE
        ):
            grammar.notes.decide(
                "superscript in parentheses", "the order of a derivative", "its base is a function"
            )
            return named("derivative", node, grammar.fence(single))
        if isinstance(base, Node) and is_letter(base) and len(single.items) == 1:
            return named("upper-index", node, grammar.fence(single))
    if is_negative_one(items) and is_function(base, grammar):
        grammar.notes.decide("superscript -1", "an inverse function", "its base is a function")
        return named("inverse", node)
    return power(node, grammar.node(exponent))


def _count(item: Item) -> int:
    """Counts the primes in one symbol: `′′` is two."""
    return len(item.text) if isinstance(item, Node) else 1


def _primed(base: Item, node: Node, items: Sequence[Item], grammar: MeaningGrammar) -> Node:
    """Reads primes, and perhaps a power after them."""
    count = 0
    position = 0
    while position < len(items) and role(items[position]) == "SUPOP":
        count += _count(items[position])
        position += 1
    made = _with_primes(base, node, count, grammar)
    rest = items[position:]
    return power(made, grammar.sum(rest)) if rest else made


def _with_primes(base: Item, node: Node, count: int, grammar: MeaningGrammar) -> Node:
    notes = grammar.notes
    orders = [whole(count)] if count > 1 else []
    name = letter(base) if isinstance(base, Node) and is_letter(base) else ""
    if isinstance(base, Group) and base.opening in "([":
        return named("derivative", node, *orders)
    known = notes.functions | notes.context.functions
    if name in DIFFERENTIABLE or name in known:
        notes.functions.add(name)
        reason = "is a function elsewhere" if name in known else "is a usual name of a function"
        notes.decide(f"{name}{'′' * count}", "a derivative", f"{name} {reason}")
        return named("derivative", node, *orders)
    notes.doubted.add(name)
    notes.decide(
        f"{name}{'′' * count}", "another thing of its kind", f"nothing says that {name or 'it'} is a function"
    )
    return named("prime", node, *orders)


def _circled(base: Item, node: Node, grammar: MeaningGrammar) -> Node:
    """Reads `90^\\circ` as an angle, `A^\\circ` as the interior of a set."""
    name = letter(base) if isinstance(base, Node) and is_letter(base) else ""
    if role(base) == "NUMBER" or name in _ANGLES or isinstance(base, Group):
        return named("degrees", node)
    grammar.notes.decide(f"{name}^\\circ", "an interior", "its base is no number")
    return named("interior", node)

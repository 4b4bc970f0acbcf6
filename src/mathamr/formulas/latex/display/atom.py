"""`Atom`: a piece of a line of mathematics with its class, and the space that TeX puts between classes.

The classes, the table of spaces and the rule by which a binary operator without operands becomes a sign are those of
The TeXbook, chapter 18 and appendix G.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from mathamr.formulas.latex.cursor import points_of
from mathamr.formulas.latex.fonts import STICKY, Font
from mathamr.formulas.latex.styles import DISPLAY, SCRIPT, TEXT
from mathamr.formulas.mathml.element import NO_ATTRIBUTES, Element
from mathamr.formulas.mathml.styles import STYLE

ORD, OP, BIN, REL, OPEN, CLOSE, PUNCT, INNER, SPACE, SWITCH = range(10)
"""The classes of TeX; then space, which has none, and a change of style or colour for the rest of the row."""

THIN, MEDIUM, THICK = 3 / 18, 4 / 18, 5 / 18
_SPACES = (
    # Lower-case letters do not apply in scripts.
    " Tmk   t",  # ORD
    "TT k   t",  # OP
    "mm  m  m",  # BIN
    "kk  k  k",  # REL
    "        ",  # OPEN
    " Tmk   t",  # CLOSE
    "tt ttttt",  # PUNCT
    "tTmkt tt",  # INNER
)
_EM = {"T": THIN, "t": THIN, "m": MEDIUM, "k": THICK, " ": 0.0}
_WIDTHS = tuple(
    [[_EM[" " if in_script and sign != "T" else sign] for sign in signs] for signs in _SPACES]
    for in_script in (False, True)
)
"""The space between two classes, outside of scripts and in them."""
_NOT_BEFORE_BINARY = frozenset([BIN, OP, REL, OPEN, PUNCT])
_NOT_AFTER_BINARY = frozenset([REL, CLOSE, PUNCT])

_OVERHANG = {
    "F": 0.13, "H": 0.08, "I": 0.08, "J": 0.1, "K": 0.07, "M": 0.1, "N": 0.1, "P": 0.14, "T": 0.15, "U": 0.1, "V": 0.2,
    "W": 0.13, "Y": 0.2, "Z": 0.07, "C": 0.07, "f": 0.09,
}  # fmt: skip
"""How far slanted letters lean over the upright fence after them (Latin Modern's italic corrections)."""

DEFAULT_SPACES = {
    **dict.fromkeys("=<>≤≥≠∈∉∼≈≡≅≃⊂⊆⊃⊇≪≫→←⇒⇔↦⟶⟹∝", (THICK, THICK)),
    **dict.fromkeys("+−±∓", (MEDIUM, MEDIUM)),
    **dict.fromkeys("()[]{}⟨⟩⌊⌋⌈⌉", (0.0, 0.0)),
    ",": (0.0, THIN),
}
"""The space that browsers put before and after operators between two operands (MathML Core's operator dictionary)."""
STRETCHED = frozenset("()[]{}⟨⟩⌊⌋⌈⌉|‖∥∣/\\↑↓↕⇑⇓⇕⟦⟧⎰⎱⌈⌉⌜⌝⌞⌟√⟮⟯")
"""Operators that some browser stretches with their row unless `stretchy` is false."""

_INTEGRALS = frozenset("∫∬∭⨌∮∯∰∱∲∳⨍")

MOVABLE, ALWAYS = "movable", "always"
"""Whether scripts are above and below only in display style, or everywhere."""


class Atom:
    """One piece: its element, its class, its scripts, and the style in which it was read."""

    __slots__ = ("core", "element", "font", "kind", "limits", "style", "sub", "sup", "switch")

    def __init__(
        self, element: Element, kind: int = ORD, style: int = TEXT, limits: str = "", font: Font | None = None
    ) -> None:
        self.element, self.kind, self.style = element, kind, style
        self.core = core_of(element) if element.children else element if element.tag == "mo" else None
        """The operator inside, whose space is that of the complete atom."""
        self.limits = limits
        self.font = font
        """The font of a letter or digit that may be part of a word or number."""
        self.sub: Element | None = None
        self.sup: Element | None = None
        self.switch: Mapping[str, str] = NO_ATTRIBUTES


_BACK = ((1.0, "back-em"), (THIN, "back-thin"), (1 / 18, "back-mu"))
"""Negative space by the styles that draw it: browsers do not accept a negative width."""


def space(width: float) -> Atom:
    """Return space of a width in em; negative space in steps of a math unit."""
    if width >= 0:
        return Atom(Element("mspace", "", (), {"width": length(width)}), SPACE)
    steps: list[Element] = []
    left = -width + 1 / 36
    for step, name in _BACK:
        count = int(left / step)
        steps += [Element("mspace", "", (), {STYLE: name}) for _ in range(count)]
        left -= count * step
    return Atom(in_row(steps), SPACE)


def switch(attributes: Mapping[str, str]) -> Atom:
    """Return a change of style or colour for the rest of the row."""
    atom = Atom(Element("mrow"), SWITCH)
    atom.switch = attributes
    return atom


@lru_cache(maxsize=1 << 10)
def length(width: float) -> str:
    """Return a width as MathML writes it.

    >>> length(1 / 6), length(2)
    ('0.1667em', '2em')
    """
    return f"{round(width, 4):g}em"


_NARROWEST, _WIDEST = -4.0, 50.0


def em_of(text: str) -> float:
    """Return a length of TeX in em; 0 if it is not a length, or more than a line.

    >>> em_of("18mu"), em_of("2pt"), em_of("9999cm")
    (1.0, 0.2, 0.0)
    """
    width = points_of(text.replace(" ", "")) / 10
    return round(width, 4) if _NARROWEST <= width <= _WIDEST else 0.0


def operator(text: str, **attributes: str) -> Element:
    """Make an operator, whose spaces are not known yet."""
    return Element("mo", text, (), attributes)


def core_of(element: Element) -> Element | None:
    """Return the operator at the core of an element that is drawn around one (MathML Core, embellished operators)."""
    while element.tag in ("msub", "msup", "msubsup", "munder", "mover", "munderover", "mmultiscripts") or (
        element.tag in ("mrow", "mstyle", "mphantom") and len(element.children) == 1
    ):
        element = element.children[0]
    return element if element.tag == "mo" else None


def in_row(elements: Sequence[Element]) -> Element:
    """Join elements to a row; a single one is returned unchanged."""
    return elements[0] if len(elements) == 1 else Element("mrow", "", elements)


def arranged(atoms: Sequence[Atom], before: int | None = None) -> list[Element]:
    """Arrange the atoms with their scripts in a row, with the space that TeX puts between them.

    `before` is the class of an invisible first atom, such as the empty group in a cell of an alignment.
    """
    if len(atoms) == 1 and before is None and atoms[0].kind < SPACE:
        return [_alone(atoms[0])]
    atoms = _joined(atoms)
    kinds = _classes(atoms, before)
    row: list[Element] = []
    tails: list[tuple[int, Mapping[str, str]]] = []
    previous: Atom | None = None
    spaces: list[tuple[int, Element, list[float]]] = []
    left = before
    for atom, kind in zip(atoms, kinds, strict=True):
        if kind == SWITCH:
            tails.append((len(row), atom.switch))
            continue
        if kind == SPACE:
            row.append(atom.element)
            continue
        width = 0.0 if left is None else _WIDTHS[atom.style >= SCRIPT][left][kind]
        lean = 0.0 if previous is None or atom.core is None else _overhang(previous, atom, atom.core)
        element = scripted(atom)
        if width and previous is not None and previous.core is not None:
            spaces[-1][2][1] = width
            width = 0.0
        if atom.core is not None:
            spaces.append((len(row), atom.core, [width + lean, 0.0]))
        elif width + lean:
            row.append(Element("mspace", "", (), {"width": length(width + lean)}))
        row.append(element)
        previous, left = atom, kind
    starts = {start for start, _ in tails}
    for place, core, (before_it, after_it) in spaces:
        between = 0 < place < len(row) - 1 and place not in starts and place + 1 not in starts
        _space_out(core, before_it, after_it, between=between)
    for start, attributes in reversed(tails):
        row[start:] = [Element("mstyle", "", row[start:], attributes)]
    return row


def _alone(atom: Atom) -> Element:
    """Return the element of the only atom of a row, which has no space around it."""
    element = scripted(atom)
    if atom.core is not None:
        _space_out(atom.core, 0.0, 0.0, between=False)
    return element


def _overhang(previous: Atom, atom: Atom, core: Element) -> float:
    """Return the space that a fence needs after a slanted letter."""
    if previous.sub is not None or previous.sup is not None:
        return 0.0
    if atom.kind not in (OPEN, CLOSE) and core.text not in "|∣‖∥":
        return 0.0
    return overhang(previous.element)


def overhang(element: Element) -> float:
    """Return how far a slanted letter leans over what follows it, in em."""
    return _OVERHANG.get(element.text, 0.0) if element.tag == "mi" and not element.attributes else 0.0


def scripted(atom: Atom) -> Element:
    """Return the element of an atom with its scripts beside it or above and below, and set the operator at its core."""
    is_bare = atom.sub is None and atom.sup is None
    element = atom.element if is_bare else _with_placed_scripts(atom)
    if element.children:
        atom.core = core_of(element)
    return element


def _with_placed_scripts(atom: Atom) -> Element:
    """Return the element of an atom that has scripts, beside it, above and below, or as high as those of a letter."""
    element, sub, sup = atom.element, atom.sub, atom.sup
    core = atom.core
    if not atom.limits and _ends_in_fence(element):
        # The scripts of a parenthesis are as high as those of a letter.
        if core is not None:
            core.attributes = {**core.attributes, "lspace": "0em", "rspace": "0em"}
        return Element("mrow", "", (element, _with_scripts(Element("mrow"), sub, sup, stacked=False)))
    stacked = atom.limits == ALWAYS or (
        atom.limits == MOVABLE and (core is not None or atom.style == DISPLAY)
    )
    if stacked and core is not None:
        core.attributes = {**core.attributes, "movablelimits": "true" if atom.limits == MOVABLE else "false"}
    made = _with_scripts(element, sub, sup, stacked=stacked)
    if (
        core is not None
        and core.text in _INTEGRALS
        and sub is not None
        and atom.style == DISPLAY
        and not stacked
    ):
        made.attributes = _tucked(sub, sup)
    return made


def _tucked(sub: Element, sup: Element | None) -> Mapping[str, str]:
    """Return the style for a lower limit that is wider than the upper one and must be moved under the slant of an integral."""
    below, above = (sum(len(part.text) for part in limit.iterate()) if limit else 0 for limit in (sub, sup))
    if below <= above:
        return {}
    return {STYLE: "tucked" if below > 1 or "A" <= sub.text <= "Z" else "tucked-little"}


def _ends_in_fence(element: Element) -> bool:
    """Return True if the last element of a row is a delimiter of ordinary size."""
    while element.tag == "mrow" and element.children:
        element = element.children[-1]
    return element.tag == "mo" and element.text in STRETCHED and element.attributes.get("stretchy") == "false"


def _with_scripts(base: Element, sub: Element | None, sup: Element | None, *, stacked: bool) -> Element:
    if sub is not None and sup is not None:
        return Element("munderover" if stacked else "msubsup", "", (base, sub, sup))
    if sub is not None:
        return Element("munder" if stacked else "msub", "", (base, sub))
    return Element("mover" if stacked else "msup", "", (base, Element("mrow") if sup is None else sup))


def _classes(atoms: Sequence[Atom], before: int | None) -> list[int]:
    """Return the classes after TeX's rules for binary operators: without two operands they are ordinary signs."""
    kinds = [atom.kind for atom in atoms]
    last: int | None = None
    left = before
    for place, kind in enumerate(kinds):
        if kind >= SPACE:
            continue
        if kind == BIN and (left is None or left in _NOT_BEFORE_BINARY):
            kind = kinds[place] = ORD
        elif kind in _NOT_AFTER_BINARY and left == BIN and last is not None:
            kinds[last] = ORD
        left, last = kind, place
    if left == BIN and last is not None:
        kinds[last] = ORD
    return kinds


def _space_out(core: Element, before: float, after: float, *, between: bool) -> None:
    """Write the space around an operator, unless browsers add it by default."""
    attributes = core.attributes
    if "lspace" in attributes or "rspace" in attributes:
        attributes = {name: value for name, value in attributes.items() if name not in ("lspace", "rspace")}
    if not between or DEFAULT_SPACES.get(core.text) != (before, after):
        around = _around(before, after)
        attributes = {**attributes, **around} if attributes else around
    core.attributes = attributes


@lru_cache(maxsize=1 << 8)
def _around(before: float, after: float) -> Mapping[str, str]:
    return {"lspace": length(before), "rspace": length(after)}


def _joined(atoms: Sequence[Atom]) -> list[Atom]:
    """Join digits of a number and upright letters of a word to one element; scripts belong to all of it."""
    runs: list[list[Atom]] = []
    for atom in atoms:
        if runs and _joins(runs[-1][-1], atom):
            runs[-1].append(atom)
        else:
            runs.append([atom])
    return [run[0] if len(run) == 1 else _whole(run) for run in runs]


def _whole(run: Sequence[Atom]) -> Atom:
    last = run[-1]
    text = "".join(atom.element.text for atom in run)
    whole = Atom(Element(last.element.tag, text), ORD, last.style, font=last.font)
    whole.element.origin = tuple([place for atom in run for place in atom.element.origin])
    whole.sub, whole.sup = last.sub, last.sup
    return whole


def _joins(last: Atom, atom: Atom) -> bool:
    if last.font is None or last.font != atom.font or last.sub is not None or last.sup is not None:
        return False
    if last.element.tag != atom.element.tag or last.style != atom.style:
        return False
    return atom.element.tag == "mn" or (atom.font.family in STICKY and atom.font.shape == "upright")

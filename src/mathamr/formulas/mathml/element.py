"""`Element`: a light MathML node, the one shape in which formulas reach the converters and leave for a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from mathamr.core.errors import MathAMRError

NO_ATTRIBUTES: Mapping[str, str] = MappingProxyType({})
"""The shared attributes of elements without any."""

TEXT = "#text"
"""The tag of a child that is only text: what follows a child element inside a token (`<mtext>if <b>x</b> is</mtext>`)."""


class Element:
    """One MathML element: local tag name, text before the first child, children, attributes.

    The LaTeX parser makes thousands per second, so it has few fields; children
    and attributes may be replaced or, if they are a list or dict, changed in place.

    >>> Element("msup", "", [Element("mi", "x"), Element("mn", "2")])
    <msup><mi>x</mi><mn>2</mn></msup>
    """

    __slots__ = ("attributes", "children", "origin", "tag", "text")

    def __init__(
        self,
        tag: str,
        text: str = "",
        children: Sequence[Element] = (),
        attributes: Mapping[str, str] = NO_ATTRIBUTES,
    ) -> None:
        self.tag = tag
        self.text = text
        self.children = children
        self.attributes = attributes
        self.origin: tuple[int, ...] = ()
        """The tokens of LaTeX that a symbol was written as, where they are known."""

    def __eq__(self, other: object) -> bool:
        """Compare tags, texts, attributes and shape; iterative, so that depth needs no recursion."""
        if not isinstance(other, Element):
            return NotImplemented
        pairs = [(self, other)]
        while pairs:
            left, right = pairs.pop()
            if left.tag != right.tag or left.text != right.text or len(left.children) != len(right.children):
                return False
            if left.attributes != right.attributes:
                return False
            pairs.extend(zip(left.children, right.children, strict=True))
        return True

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Return raw markup for debugging, unescaped: use `mathml.writing` to write MathML."""
        parts: list[str] = []
        stack: list[Element | str] = [self]
        while stack:
            item = stack.pop()
            if isinstance(item, str):
                parts.append(item)
                continue
            attributes = "".join(f' {name}="{value}"' for name, value in item.attributes.items())
            parts.append(f"<{item.tag}{attributes}>{item.text}")
            stack.append(f"</{item.tag}>")
            stack.extend(reversed(item.children))
        return "".join(parts)

    def iterate(self) -> Iterator[Element]:
        """Yield this element and all below it, in document order."""
        stack = [self]
        while stack:
            element = stack.pop()
            yield element
            stack.extend(reversed(element.children))


def rebuilt(
    root: Element,
    make: Callable[[Element, list[Element]], Element],
    parts: Callable[[Element], Sequence[Element]] = lambda element: element.children,
) -> Element:
    """Rebuild the tree bottom-up: `make` gets each element and its rebuilt children.

    Elements are listed breadth first; backwards through the list, the children of each element are rebuilt
    before it and are adjacent, so depth needs no recursion.
    """
    elements = [root]
    counts: list[int] = []
    for element in elements:
        chosen = parts(element)
        elements.extend(chosen)
        counts.append(len(chosen))
    made: list[Element] = []
    taken = 0
    for element, count in zip(reversed(elements), reversed(counts), strict=True):
        remade = made[taken : taken + count]
        remade.reverse()
        taken += count
        made.append(make(element, remade))
    return made[-1]


class MathMLError(MathAMRError):
    """MathML that cannot be parsed or has no tree; the message names the element and the reason."""

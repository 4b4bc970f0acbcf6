"""Generated trees and elements for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from mathamr.formulas.mathml.element import Element
from mathamr.formulas.tree import OPT_EDGES, SLT_EDGES, Opt, Slt, Tree

LABELS = st.one_of(
    st.sampled_from(
        [
            "V!x",
            "N!2",
            "+",
            "=",
            "M!()1x1",
            "O!divide",
            "U!plus",
            "U!times",
            "E!",
            "W!",
            "?q",
            "F!sin",
            "&comma;",
        ]
    ),
    st.text(st.characters(exclude_characters="[],", exclude_categories=["Cs"]), max_size=6),
)


@st.composite
def _trees(draw: st.DrawFn, edges: str) -> tuple[tuple[str, ...], tuple[int, ...], str]:
    """A random tree in depth-first order with the children of each node in the order of their edges."""
    labels: list[str] = []
    parents: list[int] = []
    letters: list[str] = []
    stack = [(-1, "-")]
    size = draw(st.integers(1, 25))
    while stack:
        parent, edge = stack.pop()
        node = len(labels)
        labels.append(draw(LABELS))
        parents.append(parent)
        letters.append(edge)
        room = min(4, size - len(labels) - len(stack))
        if room > 0:
            every = st.integers(0, 2 ** len(edges) - 1)
            chosen = draw(every) & draw(every)
            letters_of = [edge for place, edge in enumerate(edges) if chosen >> place & 1][:room]
            stack.extend((node, edge) for edge in reversed(letters_of))
    return tuple(labels), tuple(parents), "".join(letters)


SLTS = _trees(SLT_EDGES).map(lambda parts: Slt(*parts))
OPTS = _trees(OPT_EDGES[:6]).map(lambda parts: Opt(*parts))


def is_tree(tree: Tree) -> bool:
    """Whether the nodes are in depth-first order, each on an edge of its own that the kind of tree has."""
    path, used = [0], set()
    for parent, edge, node in tree.triples():
        while path and path[-1] != parent:
            path.pop()
        if (
            not path
            or (parent, edge) in used
            or edge not in (SLT_EDGES if isinstance(tree, Slt) else OPT_EDGES)
        ):
            return False
        used.add((parent, edge))
        path.append(node)
    return tree.parents[0] == -1 and tree.edges[0] == "-"


_PRESENTATION = [
    "math", "semantics", "mrow", "mstyle", "mpadded", "mphantom", "msub", "msup", "msubsup", "munder", "mover",
    "munderover", "mmultiscripts", "mprescripts", "none", "mfrac", "msqrt", "mroot", "menclose", "mtable", "mtr", "mlabeledtr",
    "mtd", "mfenced", "merror", "maction", "mspace", "mglyph",
]  # fmt: skip
_CONTENT = [
    "math", "semantics", "apply", "plus", "times", "sin", "root", "int", "degree", "bvar", "lowlimit", "vector", "list", "set",
    "interval", "matrix", "matrixrow", "cerror", "csymbol", "share", "lambda", "piecewise", "mtext",
]  # fmt: skip
_TEXTS = st.sampled_from(
    [
        "",
        " ",
        "\u2062",
        *["x", "2", "(", ")", "[", "|", ",", "+", "−", "∑", "M!2x2", "delimited-⟨⟩", "3.5", "sin", "</mi>"],
    ]
)
_ATTRIBUTES = st.dictionaries(
    st.sampled_from(["id", "href", "cd", "open", "close", "separators", "notation", "mathvariant", "columnalign", "width", "name"]),
    st.sampled_from(["", "a", "#a", "#b", "unknown", "latexml", "ambiguous", "(", "3", "box", "bold", "left", "1em", "javascript:x"]),
    max_size=2,
)  # fmt: skip


def _elements(tokens: list[str], tags: list[str]) -> st.SearchStrategy[Element]:
    leaves = st.builds(Element, st.sampled_from(tokens), _TEXTS, st.just(()), _ATTRIBUTES)
    return st.recursive(
        leaves,
        lambda inner: st.builds(
            Element, st.sampled_from(tags), _TEXTS, st.lists(inner, max_size=5), _ATTRIBUTES
        ),
        max_leaves=20,
    )


PRESENTATION = _elements(["mi", "mo", "mn", "mtext", "ms"], _PRESENTATION)
CONTENT = _elements(["ci", "cn", "csymbol"], _CONTENT)

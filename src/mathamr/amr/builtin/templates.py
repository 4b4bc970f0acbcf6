"""`Template`: the nodes and edges around a core, like ``person :ARG0-of`` with `teach-01` for "teacher".

Node 0 is the core; constants are written with a leading ``=``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

PLAIN = '[["*"],[]]'


@dataclass(frozen=True)
class Template:
    """A small graph around the core; it need not be connected ("never": `ever` and the polarity ``-``)."""

    nodes: tuple[str, ...]
    edges: tuple[tuple[int, str, int], ...]

    @classmethod
    def from_text(cls, text: str) -> Template:
        """The inverse of `text`."""
        nodes, edges = json.loads(text)
        return cls(tuple(nodes), tuple((int(s), str(role), int(t)) for s, role, t in edges))

    @property
    def text(self) -> str:
        """One line of JSON, the name of the template.

        >>> Template(("*", "person"), ((0, ":ARG0", 1),)).text
        '[["*","person"],[[0,":ARG0",1]]]'
        """
        return json.dumps([self.nodes, self.edges], separators=(",", ":"))

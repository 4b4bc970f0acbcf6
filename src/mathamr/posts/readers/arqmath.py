"""The ARQMath collection: `Posts*.xml` whose formulas have ids, with its tables of formulas and links."""

from __future__ import annotations

import re
from typing import ClassVar

from mathamr.core.errors import MathAMRError
from mathamr.posts.inputs import STDIN, Head, head
from mathamr.posts.readers.stackexchange import StackExchangeReader
from mathamr.posts.tables import TableKind, table_kind

_FORMULA_SPAN = re.compile(r"math-container(?:&quot;|&apos;|&#39;|\"|')\s+id=")


class ArqmathReader(StackExchangeReader):
    """A Stack Exchange dump in which each formula is `<span class="math-container" id="…">`.

    The ids lead into tables that say how a formula looks (`visual_id`) and give its MathML. Tables are found in
    the folder of the posts, in folders of tables there, or named by the user; their columns are told by the
    header, so that the layouts of all years of ARQMath can be read.
    """

    description: ClassVar[str] = (
        "ARQMath collection: Posts*.xml, tables of formulas (LaTeX, MathML), PostLinks"
    )
    companions: ClassVar[frozenset[TableKind]] = frozenset({"links", "formulas", "mathml"})

    @classmethod
    def recognises(cls, head: Head) -> bool:
        """A dump whose formulas have ids, or beside which a table of formulas lies."""
        return super().recognises(head) and (
            _FORMULA_SPAN.search(head.text) is not None or _has_formula_table(head)
        )


def _has_formula_table(posts: Head) -> bool:
    if posts.path == STDIN:
        return False
    for path in sorted(posts.path.parent.glob("*.tsv*")):
        try:
            if path.is_file() and table_kind(head(path)) == "formulas":
                return True
        except MathAMRError:
            continue  # unreadable: not a table that could be used
    return False

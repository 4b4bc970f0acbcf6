"""The ARQMath collection: `Posts*.xml` whose formulas have ids, with its tables of formulas and links."""

from __future__ import annotations

import re
from typing import ClassVar

from mathamr.core.errors import MathAMRError
from mathamr.posts.formats.stackexchange.reader import StackExchangeReader
from mathamr.posts.formats.stackexchange.tables import TableKind, table_kind
from mathamr.posts.inputs import STDIN, Head, head

_FORMULA_SPAN = re.compile(r"math-container(?:&quot;|&apos;|&#39;|\"|')\s+id=")


class ArqmathReader(StackExchangeReader):
    """A Stack Exchange dump in which each formula is `<span class="math-container" id="…">`.

    Tables give the visual class of each formula (`visual_id`) and its MathML. They lie in the folder of the posts or in
    a folder of tables there, or the user names them. Columns are found by their headers, which differ between years.
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
            continue  # an unreadable file is not a table of formulas
    return False

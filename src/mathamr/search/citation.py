"""Citations of hits in BibTeX: the key of a bibliography's entry, an entry for a paper of arXiv, or one that leads to file and line."""

from __future__ import annotations

import re

from mathamr.search.fragment import plain
from mathamr.search.hits import Hit


def cite(hit: Hit) -> str:
    """Return the citation of a hit, with the line where it stands.

    An entry of a bibliography is cited by its key; anything else has an entry of its own, whose note says the place.
    """
    where = f"{hit.place.path}, line {hit.place.line}" if hit.place else hit.source or hit.id
    if hit.kind == "reference" and hit.place and hit.place.label:
        return f"\\cite{{{hit.place.label}}}  % {where}"
    tags = {name: [] for name in ("arxiv", "paper", "author")}  # type: dict[str, list[str]]
    for tag in hit.tags:
        name, _, value = tag.partition(":")
        if value and name in tags:
            tags[name].append(value)
    title = plain(hit.title)
    number = next(iter(tags["arxiv"]), "")
    fields = {
        "title": next(iter(tags["paper"]), title),
        "author": " and ".join(tags["author"]),
        "year": (hit.date or "")[:4],
        "eprint": number,
        "archiveprefix": "arXiv" if number else "",
        "note": ", ".join(filter(None, (title if tags["paper"] else "", where))),
    }
    key = f"arXiv:{number}" if number else re.sub(r"[^A-Za-z0-9:.-]+", "-", hit.id).strip("-")
    rows = "".join(f"  {name} = {{{_escaped(value)}}},\n" for name, value in fields.items() if value)
    return f"@misc{{{key},\n{rows}}}"


def _escaped(value: str) -> str:
    r"""Return a value with balanced braces and without characters that end a field.

    >>> _escaped("50 % of a_b & {x"), _escaped(r"the ring $R_{1}$")
    ('50 \\% of a\\_b \\& x', 'the ring $R_{1}$')
    """
    if value.count("{") != value.count("}"):
        value = re.sub(r"[{}]", "", value)
    parts = re.split(r"(\$[^$]*\$)", value)
    return "".join(
        part if part.startswith("$") else re.sub(r"(?<!\\)([%&#_])", r"\\\1", part) for part in parts
    )

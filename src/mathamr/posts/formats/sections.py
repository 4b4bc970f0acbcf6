"""How long documents are cut into sections: the limits that all readers share, and the anchors of headings."""

from __future__ import annotations

import re

WHOLE_BELOW = 400
"""A document of fewer words stays one post."""
SECTION_FROM = 40
"""A section of fewer words is joined to the next one."""
LONGEST = 2000
"""A section of a page with this many words or more is cut, though it has no headings."""

_NOT_IN_SLUG = re.compile(r"[^\w\- ]")


def slug(heading: str) -> str:
    """A heading as the anchor of a link, as on GitHub.

    >>> slug("The *Cauchy* inequality, again")
    'the-cauchy-inequality-again'
    """
    return _NOT_IN_SLUG.sub("", heading.strip().lower()).replace(" ", "-") or "section"

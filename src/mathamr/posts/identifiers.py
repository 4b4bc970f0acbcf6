"""Ids of posts: which texts can be one, names that stay while a document grows, and `SeenIds`, which finds duplicates while streaming."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from hashlib import blake2b

from mathamr.core.errors import MathAMRError
from mathamr.posts.post import Post

LONGEST_ID = 4000
"""Characters of the longest id of a post."""
_UNSEEN = frozenset(["Cc", "Cf", "Cs", "Zl", "Zp"])
"""Categories of Unicode whose characters are not seen, or change how the others are: controls, formats, separators of lines."""
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters, marks and signs without a shape, which Unicode counts among those that have one."""
_NOT_IN_SLUG = re.compile(r"[\W_]+")


def check_id(identifier: str) -> None:
    r"""Raise for a text that cannot be the id of a new post: one line of text without characters that cannot be seen.

    >>> check_id("notes/limits of a sum.md#key-lemma")
    >>> check_id("two\nlines")
    Traceback (most recent call last):
    mathamr.core.errors.MathAMRError: the id 'two\nlines' has the character U+000A, which cannot be seen
    """
    if not 0 < len(identifier) <= LONGEST_ID:
        raise MathAMRError(f"an id must have 1 to {LONGEST_ID:,} characters, got {len(identifier):,}")
    is_seen = identifier.isprintable() and _BLANK.isdisjoint(identifier)
    unseen = None if is_seen else next(filter(_is_unseen, identifier), None)
    if unseen is not None:
        raise MathAMRError(
            f"the id {identifier[:100]!r} has the character U+{ord(unseen):04X}, which cannot be seen"
        )
    if identifier != identifier.strip():
        raise MathAMRError(f"the id {identifier[:100]!r} begins or ends with a space")


def fitting_id(identifier: str) -> str:
    r"""Return a name from a file as an id: itself if it can be one, else what can be seen of it and a digest of all of it.

    >>> fitting_id("limits.md"), fitting_id("two\nlines").encode()
    ('limits.md', b'two\xef\xbf\xbdlines-27a54e')
    """
    try:
        check_id(identifier)
    except MathAMRError:
        digest = blake2b(identifier.encode("utf-8", "surrogatepass"), digest_size=3).hexdigest()
        seen = "".join("\ufffd" if _is_unseen(each) else each for each in identifier)
        return f"{seen.strip()[: LONGEST_ID - 7].strip()}-{digest}"
    return identifier


def _is_unseen(character: str) -> bool:
    category = "" if character.isprintable() else unicodedata.category(character)
    return category in _UNSEEN or character in _BLANK or _is_no_character(ord(character))


def _is_no_character(code: int) -> bool:
    """Return True for a code point that Unicode keeps free of characters for ever."""
    return code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF


def stable_name(name: str, *context: str) -> str:
    """Return a readable name with a digest of a part's context: its headings and its beginning.

    >>> stable_name("Key Lemma", "Limits", "Let $x$"), stable_name("Key Lemma", "Series", "Let $x$")
    ('key-lemma-aa79c4', 'key-lemma-12a414')
    """
    digest = blake2b("\0".join(context).encode("utf-8", "surrogatepass"), digest_size=3).hexdigest()
    return f"{_NOT_IN_SLUG.sub('-', name.lower()).strip('-')[:60] or 'part'}-{digest}"


def unique(name: str, taken: dict[str, int], first: int = 2) -> str:
    """Return a name with a number where it is taken; `taken` counts the uses of each name, `first` numbers the second one.

    >>> taken: dict[str, int] = {}
    >>> unique("a", taken), unique("a", taken), unique("b", taken)
    ('a', 'a-2', 'b')
    """
    taken[name] = taken.get(name, 0) + 1
    return name if taken[name] == 1 else f"{name}-{taken[name] - 2 + first}"


def rename(reference: str, old: str, new: str) -> str:
    """Return a reference to a post or to one of its formulas, under the post's new id; any other stays.

    >>> rename("a.md:3", "a.md", "b.md"), rename("a.md", "a.md", "b.md"), rename("17", "a.md", "b.md")
    ('b.md:3', 'b.md', '17')
    """
    return new + reference[len(old) :] if reference == old or reference.startswith(f"{old}:") else reference


def give_id(post: Post, identifier: str) -> Post:
    """Return the same post under another id, its formulas too."""
    formulas = tuple(replace(each, id=rename(each.id, post.id, identifier)) for each in post.formulas)
    return replace(post, id=identifier, formulas=formulas)


class SeenIds:
    """A set of strings that keeps only a 64-bit hash of each, about 70 bytes an id.

    Two different ids are taken for one with a probability of about n² / 2⁶⁵: 1 in 6 million for 2.4 million posts.

    >>> seen = SeenIds()
    >>> seen.add("1"), seen.add("2"), seen.add("1"), len(seen)
    (True, True, False, 2)
    >>> "2" in seen, "3" in seen
    (True, False)
    """

    def __init__(self) -> None:
        self._hashes: set[int] = set()

    def __len__(self) -> int:
        return len(self._hashes)

    def __contains__(self, identifier: str) -> bool:
        return hash(identifier) in self._hashes

    def add(self, identifier: str) -> bool:
        """Add an id; return whether it was new."""
        before = len(self._hashes)
        self._hashes.add(hash(identifier))
        return len(self._hashes) > before

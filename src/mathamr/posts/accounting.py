"""`WordAccount`: adds up the words that were read and those that posts hold, so that no reader loses text in silence."""

from __future__ import annotations

import re
from collections import Counter
from html import unescape
from itertools import islice

from mathamr.posts.post import Post

MOST_WORDS = 1_000_000
"""Different words of documents that are held at once; beyond these the account is closed early."""
SHOWN = 8
_WORD = re.compile(r"[^\W\d_]{3,}")


class WordAccount:
    """The words of the document that is read now and of its posts, and how many words were left out of those before.

    Words have three letters or more. What a reader drops on purpose counts as left out too: comments, preambles, navigation.

    >>> account = WordAccount()
    >>> account.took("Let every bounded sequence converge. // a remark", "a.typ")
    >>> account.gave(Post("a.typ", "note", "<p>Let every bounded sequence converge.</p>"))
    >>> account.close()
    >>> account.read, account.left_out, account.examples
    (6, 1, [('a.typ', ['remark'])])
    """

    MOST_EXAMPLES = 20

    def __init__(self) -> None:
        self.read = 0
        self.left_out = 0
        self.examples: list[tuple[str, list[str]]] = []
        """Documents with words that are in none of their posts."""
        self._waiting: Counter[str] = Counter()
        self._given: Counter[str] = Counter()
        self._file = ""
        self._has_posts = False

    def took(self, text: str, file: str) -> None:
        """Count the words of a text that was read: its markup is not among them, where that is known."""
        if (self._has_posts and file != self._file) or len(self._waiting) > MOST_WORDS:
            self.close()
        self._file = file
        words = _WORD.findall(text)
        self.read += len(words)
        self._waiting.update(words)

    def gave(self, post: Post) -> None:
        """Count the words of a post."""
        if not self._waiting:
            return
        place = post.place
        names = (
            post.title,
            *post.tags,
            *post.keywords,
            *post.aliases,
            *post.macros,
            *(place.labels if place else ()),
        )
        text = "\n".join((*names, *(f"{link.words} {link.label}" for link in post.links), post.body))
        self._given.update(_WORD.findall(unescape(text) if post.markup == "html" else text))
        self._has_posts = True

    def close(self) -> None:
        """Count what is in no post of the documents so far as left out."""
        given = self._given
        left = {word: count - given[word] for word, count in self._waiting.items() if count > given[word]}
        if left:
            self.left_out += sum(left.values())
            if len(self.examples) < self.MOST_EXAMPLES:
                self.examples.append((self._file, list(islice(left, SHOWN))))
        self._waiting.clear()
        self._given.clear()
        self._has_posts = False

"""Names that posts have: those that they are called by alone, and those that they define."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mathamr.core.listing import names as names_in
from mathamr.index.lexical.terms import called, title_text, words
from mathamr.posts.formats.declaration.namewords import name_words
from mathamr.posts.post import Markup, Post

MOST_WORDS = 5
"""A query with more words is more than a name."""
_HEADING = r"(?P<kind>[^\W\d_]+(?: [^\W\d_]+){0,3})(?: [\w.]*\d[\w.]*| [A-Z])?"
"""What stands before the name of a statement: `Axiom`, `Main theorem 2.10.3`."""
_INHERITED = re.compile(rf"{_HEADING}: ")
_NAMED = re.compile(rf"{_HEADING} ?\((?P<name>.+)\)")
_ARTICLES = names_in("the a an")
_UNNAMED_KINDS = names_in("section note page article question answer reference declaration")
"""Kinds that are no part of a name, as the axiom is in "univalence axiom"."""

_EMPHASISED_NAME = r"[^{}<>*\n]{1,120}"
_EMPHASIS: dict[Markup, re.Pattern[str]] = {
    "latex": re.compile(
        r"""
        \\(?:emph|textbf|textit|textsl|defn?|dfn|term|define)\s*\{        # \emph{name}
            (?:\\[a-zA-Z]+\s*\{)? ([^{}<>*]{1,120})\}                    # or \emph{\myindex{name}}
        | \{\s*\\(?:em|it|bf|sl|itshape|bfseries)\b\s*([^{}<>*]{1,120})\}  # {\em name}
        """,
        re.X,
    ),
    "html": re.compile(
        rf"<(?:em|strong|i|b|dfn)\b[^<>]{{0,100}}>({_EMPHASISED_NAME})</(?:em|strong|i|b|dfn)>", re.IGNORECASE
    ),
    "markdown": re.compile(
        rf"""
        (?<![\w*])\*{{1,3}}(?=\S)({_EMPHASISED_NAME}?)(?<=\S)\*{{1,3}}(?![\w*])      # *name*
        | (?<!\w)__?(?=\S)([^_\n]{{1,120}}?)(?<=\S)__?(?!\w)                         # _name_
        """,
        re.X,
    ),
}
"""What a definition emphasises is usually the name that it introduces."""


def emphasised_terms(body: str, markup: Markup) -> Iterator[str]:
    r"""Yield the emphasised parts of a text, as they are written.

    >>> list(emphasised_terms(r"A set is \emph{nowhere dense} or {\bf meagre}.", "latex"))
    ['nowhere dense', 'meagre']
    >>> list(emphasised_terms("A **prime number** is 2 * 3 * 5?", "markdown"))
    ['prime number']
    """
    return (text for text, _ in emphasised_places(body, markup))


def emphasised_places(body: str, markup: Markup) -> Iterator[tuple[str, int]]:
    """Yield the emphasised parts of a text, as they are written, and where each ends with its mark."""
    pattern = _EMPHASIS.get(markup)
    if pattern is None:
        return
    for match in pattern.finditer(body):
        yield next(group for group in match.groups() if group is not None), match.end()


def title_name(post: Post) -> str:
    """Return the name that a post's title gives it: what stands in parentheses, or the last heading; "" if it only has its section's.

    >>> title_name(Post("a", "axiom", "", title="Axiom 2.10.3 (Univalence)", markup="latex"))
    'Univalence'
    >>> title_name(Post("a", "remark", "", title="Remark 2.1: Compact spaces", markup="latex"))
    ''
    """
    if post.role == "answer" or has_inherited_title(post):
        return ""
    title = title_text(post)
    named = _NAMED.fullmatch(title) if post.kind not in _UNNAMED_KINDS else None
    return named["name"] if named else title.rsplit(": ", 1)[-1]


def own_names(post: Post) -> list[list[str]]:
    """Return the names that are a post's alone, as words: its title and what stands there in parentheses, its aliases.

    A statement has its name also together with its kind. A title that a statement has from its section is not its own.

    >>> own_names(Post("a", "axiom", "", title="Axiom 2.10.3 (Univalence)", markup="latex"))[1:]
    [['univalence'], ['univalence', 'axiom'], ['axiom', 'univalence']]
    >>> own_names(Post("a", "section", "", title="Logic: The axiom of choice", markup="latex"))[1:]
    [['axiom', 'of', 'choice']]
    """
    if post.role == "answer":
        return []
    if post.markup == "declaration":
        return called(post)
    found = [words(alias) for alias in post.aliases]
    if not has_inherited_title(post):
        title, name = words(title_text(post)), words(title_name(post))
        name = name[1:] if name[:1] and name[0] in _ARTICLES else name
        found += [title, name]
        if name and post.kind not in _UNNAMED_KINDS:
            heading = _NAMED.fullmatch(title_text(post))
            for kind in {post.kind: None} | ({heading["kind"]: None} if heading else {}):
                found += [[*name, *words(kind)], [*words(kind), *name]]
    return [list(name) for name in dict.fromkeys(map(tuple, found)) if name]


def last_parts(post: Post) -> Iterator[list[str]]:
    """Yield the last parts of a declaration's names as words, as many parts as a name can have words.

    >>> list(last_parts(Post("a", "theorem", "", title="Nat.add_comm", markup="declaration")))
    [['nat', 'add', 'comm'], ['nat', 'add', 'comm'], ['add', 'comm'], ['add', 'comm']]
    """
    for name in (post.title, *post.aliases):
        parts = name.split(".")
        for start in range(max(0, len(parts) - MOST_WORDS), len(parts)):
            tail = ".".join(parts[start:])
            yield from (words(tail), words(name_words(tail)))


def has_inherited_title(post: Post) -> bool:
    """Return True for `Remark 2.1: Compact spaces`, which only names the section that the remark stands in."""
    if post.markup == "latex" and post.kind not in ("section", "note"):
        return _INHERITED.match(post.title) is not None
    return post.title.lower().startswith(f"{post.kind}: ")

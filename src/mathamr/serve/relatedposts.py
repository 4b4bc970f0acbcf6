"""`related_posts`: the question, answers, duplicates and references of a post, each with its title or first words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice, takewhile
from typing import Any

from mathamr.index.catalogue.catalogue import Catalogue
from mathamr.posts.passage import passage
from mathamr.posts.post import Link, Post
from mathamr.posts.rendering.posthtml import Reference
from mathamr.search.fragment import Fragment, formulas_by_id, fragments, plain, shortened
from mathamr.search.snippet import title_of
from mathamr.serve.pieces import formulas_with_macros, fragment_pieces

LISTED = 50
"""Posts of one relation that are listed; their ids are all in the answer."""
AROUND = 200
"""Entries of one file that are looked at for the one before and the one after."""
SECTION = "section"
WIDTH = 140
"""About how many characters are shown of a post that has no title."""
LONGEST_TITLE = 1000
"""About how many characters are shown of a title."""
MOST_REFERENCES = 500
"""References of a text that become links."""
_SPACE = Fragment("text", " ")
_NAMED = re.compile(r"[^\W\d_]+(?: [\w.]+)? \((.+)\)")
"""A title such as `Theorem 2.1 (Chinese remainder theorem)`."""


def related_posts(catalogue: Catalogue, post: Post, answers: Sequence[Post]) -> list[dict[str, Any]]:
    """Return the question of a post, its answers in their order, its duplicates, related posts and references, and the
    entries around it in its file.
    """
    parents = [post.parent] if post.parent else []
    around = {*parents, *(answer.id for answer in answers), post.id}
    links: dict[str, list[str]] = {}
    for kind in ("duplicate", "related", "mention"):
        targets = (_target(catalogue, link) for link in post.links if link.type == kind)
        found = dict.fromkeys(id for id in targets if id and (kind != "mention" or id not in around))
        links[kind] = list(found)[:LISTED]
    known = catalogue.posts(list(dict.fromkeys([*parents, *(id for ids in links.values() for id in ids)])))
    return [
        *(_shown("question", id, known.get(id)) for id in parents),
        *(_shown("answer", answer.id, answer, post.accepted_answer) for answer in answers[:LISTED]),
        *(_shown(kind, id, known.get(id)) for kind, ids in links.items() for id in ids),
        *_around(catalogue, post),
    ]


def _around(catalogue: Catalogue, post: Post) -> list[dict[str, Any]]:
    """Return the entries before and after one in its file; of a section also those that follow up to the next one.

    An untitled theorem is named by its heading, so one of another heading ends the section too.
    """
    if post.place is None or post.parent is not None:
        return []
    found = catalogue.posts(catalogue.around(post.id, AROUND)).values()
    order = sorted(
        (each for each in found if each.place), key=lambda each: each.place.line if each.place else 0
    )
    here = next((place for place, each in enumerate(order) if each.id == post.id), None)
    if here is None:
        return []
    heading = post.title.rpartition(": ")[2]

    def is_inside(each: Post) -> bool:
        return each.kind != SECTION and each.title.partition(": ")[2] in ("", heading)

    inside = takewhile(is_inside, order[here + 1 :]) if post.kind == SECTION else ()
    return [
        *(_shown("contains", each.id, each) for each in islice(inside, LISTED)),
        *(_shown("previous", each.id, each) for each in order[max(0, here - 1) : here]),
        *(_shown("next", each.id, each) for each in order[here + 1 : here + 2]),
    ]


def _target(catalogue: Catalogue, link: Link) -> str:
    """Return the id of the post that a link leads to, found by its id or its label; empty if there is none."""
    return link.target or next(iter(catalogue.labelled(link.label, 1)), "")


def references(catalogue: Catalogue, post: Post) -> dict[str, Reference]:
    """Return the posts that a post refers to, by how its text names them: `#label`, or the address itself."""
    found: dict[str, tuple[str, Link]] = {}
    for link in post.links[:MOST_REFERENCES]:
        if target := _target(catalogue, link):
            found.setdefault(f"#{link.label}" if link.label else target, (target, link))
    known = catalogue.posts(list(dict.fromkeys(target for target, _ in found.values())))
    return {
        name: Reference(
            target,
            known[target].kind.capitalize(),
            _own_name(known[target]) if link.label in ("", *_own_labels(known[target])) else "",
            plain(title_of(known[target])),
            link.number,
            link.words,
        )
        for name, (target, link) in found.items()
        if target in known
    }


def _own_labels(post: Post) -> tuple[str, ...]:
    """Return the label of a post itself; those of equations and items in it have no name."""
    return (post.place.label,) if post.place is not None else ()


def _own_name(post: Post) -> str:
    """Return what a theorem or definition is called in its own brackets; empty if it has no name."""
    named = _NAMED.fullmatch(plain(title_of(post)))
    return named[1] if named else ""


def _shown(relation: str, id: str, post: Post | None, accepted: str | None = None) -> dict[str, Any]:
    """Return a related post; of one that the index lacks only the id is known."""
    return {
        "id": id,
        "relation": relation,
        "kind": post.kind if post else None,
        "indexed": post is not None,
        "accepted": relation == "answer" and id == accepted,
        "votes": post.score if post else None,
        "date": post.date if post else None,
        "text": _text(post) if post else [],
    }


def _text(post: Post) -> list[dict[str, Any]]:
    """Return the title of a post, or its first words."""
    words = shortened(title_of(post), LONGEST_TITLE) if post.title.strip() else _opening(post)
    return fragment_pieces(words, formulas_with_macros(post))


def _opening(post: Post) -> list[Fragment]:
    formulas = formulas_by_id(post)
    beginning = [
        fragment
        for sentence in islice(passage(post).sentences, WIDTH)
        for fragment in (*fragments(sentence, formulas, post), _SPACE)
    ]
    return shortened(beginning[:-1], WIDTH)

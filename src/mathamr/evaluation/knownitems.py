"""Known items: queries made of a collection's own titles, links, answers and formulas, each with the posts it asks for.

A collection without judgments can so be searched with questions whose answers are known. Every query is drawn with a seed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from zlib import crc32

import numpy as np

from mathamr.formulas.trees import trees_of
from mathamr.formulas.visualkey import form_key
from mathamr.index.lexical.terms import STOP_WORDS, words
from mathamr.posts.passage import PLACEHOLDER, passage
from mathamr.posts.post import Formula, Post

DEPTH = 10
"""Ranks up to which a right post counts as found."""
LEAST, MOST = 6, 40
"""The numbers of symbols between which a formula is asked for."""
LONGEST = 160
"""The greatest number of characters of such a formula."""

_TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|.", re.S)
_SPACING = re.compile(r"^(?:\\[,;:! ]|[\s,.;&])+|(?:\\[,;:! ]|[\s,.;&])+$")
_SIDES = re.compile(r"\\(?:leq?|geq?|neq?|equiv|to|in|subset(?:eq)?|cong|sim|approx)(?![a-zA-Z])|[=<>]")


@dataclass(frozen=True, slots=True)
class KnownItem:
    """A query, its right answers, its form, and (`made_of`) the post it was made from if finding that one does not count."""

    query: str | Post
    right: frozenset[str]
    form: str
    made_of: str = ""


def reciprocal_rank(right: Collection[str], ids: Sequence[str]) -> float:
    """Return one divided by the rank of the first right post; 0 if it is not among the first `DEPTH`.

    >>> reciprocal_rank({"b"}, ["a", "b"])
    0.5
    """
    return next((1 / rank for rank, each in enumerate(ids[:DEPTH], 1) if each in right), 0.0)


def draw_known_items(posts: Iterable[Post], count: int) -> list[KnownItem]:
    """Draw up to `count` queries of each form: title, link, question, formula, formula with a word.

    >>> posts = [Post("a", "note", "An even number is divisible by two.", title="Even numbers", markup="markdown")]
    >>> [(item.query, item.form) for item in draw_known_items(posts, 1)]
    [('Even numbers', 'title')]
    """
    drawn = sorted(posts, key=lambda post: crc32(f"asked:{post.id}".encode()))
    by_formula = [
        KnownItem(text, frozenset([post.id]), form)
        for post, formula in islice(unique_formulas(drawn), count)
        for text, form in _formula_queries(post, formula)
    ]
    by_text = (titles(drawn), links(drawn), questions(drawn))
    return [item for items in by_text for item in islice(items, count)] + by_formula


def titles(posts: Sequence[Post]) -> Iterator[KnownItem]:
    """Yield the titles of posts as queries; a question's title asks for its answers, which are worded differently."""
    answers = answers_by_question(posts)
    for post in posts:
        if post.title and post.role != "answer" and post.markup != "declaration" and "$" not in post.title:
            if post.id in answers:
                yield KnownItem(post.title, frozenset(answers[post.id]), "title", post.id)
            else:
                yield KnownItem(post.title, frozenset([post.id]), "title")


def links(posts: Sequence[Post]) -> Iterator[KnownItem]:
    """Yield as queries the words by which other posts link to a post, unless these are its title."""
    known = {post.id: post.title.casefold() for post in posts}
    asked: set[tuple[str, str]] = set()
    for post in posts:
        for link in post.links:
            said = link.words.strip()
            pair = (said.casefold(), link.target)
            if link.target in known and pair not in asked and known[link.target] != pair[0] and words(said):
                asked.add(pair)
                yield KnownItem(said, frozenset([link.target]), "link")


def questions(posts: Sequence[Post]) -> Iterator[KnownItem]:
    """Yield whole questions as queries for their answers."""
    answers = answers_by_question(posts)
    for post in posts:
        if post.role == "question" and post.id in answers:
            yield KnownItem(post, frozenset(answers[post.id]), "question", post.id)


def answers_by_question(posts: Iterable[Post]) -> dict[str, set[str]]:
    """Return the ids of the answers to every question that has some."""
    answers: dict[str, set[str]] = defaultdict(set)
    for post in posts:
        if post.parent:
            answers[post.parent].add(post.id)
    return dict(answers)


def unique_formulas(posts: Iterable[Post]) -> Iterator[tuple[Post, Formula]]:
    """Yield posts with one of their formulas whose form, whatever its letters, occurs in no other post."""
    by_id: dict[str, Post] = {}
    own: dict[str, dict[str, Formula]] = defaultdict(dict)
    holders: dict[str, set[str]] = defaultdict(set)
    for post in posts:
        if post.markup == "declaration":
            continue
        by_id[post.id] = post
        for formula in post.formulas:
            if len(formula.latex) > LONGEST:
                continue
            slt = trees_of(formula, post.macros)[0][1]
            if slt is not None and LEAST <= len(slt) <= MOST:
                key = form_key(slt)
                holders[key].add(post.id)
                own[post.id].setdefault(key, formula)
    for identifier, formulas in own.items():
        single = [
            formula
            for key, formula in formulas.items()
            if len(holders[key]) == 1
            and "\\begin" not in formula.latex
            and "\\text" not in formula.latex
            and not by_id[identifier].macros
        ]
        if single:
            generator = np.random.default_rng(crc32(f"typed:{identifier}".encode()))
            yield by_id[identifier], single[int(generator.integers(len(single)))]


def content_words(post: Post) -> list[str]:
    """Return the words of a post's body that say something, each once."""
    text = PLACEHOLDER.sub(
        " ", " ".join(each.text for each in passage(post).sentences if each.field == "body")
    )
    return [
        word
        for word in dict.fromkeys(words(text))
        if word.isalpha() and len(word) > 3 and word not in STOP_WORDS
    ]


def longest_side(latex: str) -> str | None:
    """Return the longest side of a relation, of a sum, or what stands under an integral, if it is large enough.

    >>> longest_side("f(x) = x^2 + 2x + 1"), longest_side("x^2 + 1")
    ('x^2 + 2x + 1', None)
    """
    depth, cuts = 0, [0]
    for match in _TOKEN.finditer(latex):
        token = match.group()
        depth += (token[-1] in "{([") - (token[-1] in "})]")
        if depth == 0 and _SIDES.fullmatch(token):
            cuts += [match.start(), match.end()]
    cuts.append(len(latex))
    sides = [_SPACING.sub("", latex[start:end]) for start, end in zip(cuts[::2], cuts[1::2], strict=True)]
    if len(sides) < 2:
        return None
    side = max(sides, key=len)
    slt = trees_of(Formula("", side), ())[0][1]
    return side if slt is not None and len(slt) >= LEAST else None


def _formula_queries(post: Post, formula: Formula) -> Iterator[tuple[str, str]]:
    """Yield queries for one side of a formula, or the whole if it has no sides, alone and with a word: a whole formula is
    always found first.
    """
    asked = longest_side(formula.latex) or formula.latex
    yield f"${asked}$", "formula"
    known = content_words(post)
    if known:
        yield f"{known[crc32(post.id.encode()) % len(known)]} ${asked}$", "formula, one word"

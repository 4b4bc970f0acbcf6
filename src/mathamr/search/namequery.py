"""`NameQuery`: a query that only names something, as "Zippel lemma" or "nowhere dense"; posts with that name rank first.

Vectors find similar meanings, but a name asks for the post that has it as a title or defines it: its words stand side
by side or are emphasised. The weights were tuned on names of an encyclopedia. A word that no post contains is corrected
to a similar word of a title.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain, islice, zip_longest
from typing import Protocol

import numpy as np
import numpy.typing as npt

from mathamr.formulas.latex.symbols import SYMBOLS
from mathamr.index.engines.entry import Payload
from mathamr.index.lexical.lexicalindex import LexicalPart
from mathamr.index.lexical.terms import (
    STOP_WORDS,
    Terms,
    called,
    entry_names,
    is_ideograph,
    misspellings,
    stems,
    tag_names,
    title_names,
    words,
)
from mathamr.index.payloads import is_tagged_by_question
from mathamr.index.preview import Preview, PreviewHead, SentenceNumbers, hash_term
from mathamr.index.scored import Scored, ScoredColumns
from mathamr.posts.passage import PLACEHOLDER
from mathamr.posts.post import Markup, Post
from mathamr.posts.postkind import kind_named
from mathamr.search.postnames import (
    emphasised_terms,
    has_inherited_title,
    last_parts,
    own_names,
)
from mathamr.search.query import Query
from mathamr.systems.models import boxed, boxed_folder

_IDENTIFIER = re.compile(r"\w[_.]\w|[a-z][A-Z]")
MOST_CALLED = 200
"""The largest number of posts with a word in their names, tags and keywords that are all looked at."""
RARE_WORD_POSTS = 3
"""A word in at most this many posts is nearly a name by itself; those posts rank first."""
CANDIDATES, READ = 100, 30
"""How many of the first results have their titles, and their texts, searched for the name."""
BEGINNING = 3_000
"""Characters of a text that are searched for the name."""
_SIMILAR_TITLES = 20
_WORDS, _TOGETHER, _DEFINED = 1.0, 1.0, 2.0
"""Weights of all words of the name, of the words side by side, and of the emphasised name, in standard deviations of the
scores."""
_RARE, _TITLED = 30.0, 100.0
"""Weights above any of these: a rare word, and the name in a title."""
MENTIONED = 0.006
"""The share of the greatest bonus from which a text has the name side by side, or a rare word of it."""
_LISTED = {"tag": 195.0, "indexed": 190.0, "question tag": 4.0}
"""Weights of the name as a tag, as an entry of an index, and as a tag of an answer's question: the first two are above most titles that
only contain it, the last is as much as a text can have by defining the name."""

Having = Callable[[Collection[str], Sequence[str]], Mapping[str, Collection[str]]]
"""Returns, for each of the posts, which of the stems it has."""


class NamedPosts(Protocol):
    """Reads posts by id; missing ones are left out."""

    def texts(self, ids: Sequence[str]) -> Mapping[str, tuple[str, Markup]]:
        """Return the bodies of posts and their markup."""
        ...

    def parents(self, ids: Sequence[str]) -> Mapping[str, str]:
        """Return the parents of those posts that have one."""
        ...

    def previews(self, ids: Sequence[str]) -> Mapping[str, Preview]:
        """Return the titles, names and sentences of posts."""
        ...

    def preview_heads(self, ids: Sequence[str]) -> Mapping[str, PreviewHead]:
        """Return the titles and names of posts."""
        ...


@dataclass(frozen=True)
class NameQuery:
    """The words of a name as the index spells them, their rarity, and the posts with the rarest words."""

    words: tuple[str, ...]
    rarity: Mapping[str, float]
    """The inverse document frequency of each stem."""
    rare: frozenset[str]
    """The posts with a rare word of the name."""
    corrected: Mapping[str, str]
    """Words that no post contains, and their corrections."""
    is_identifier: bool = False
    """True if it was typed like a name of a declaration, or a part of one: `add_comm`, `IsCompact`."""
    called: frozenset[str] = frozenset()
    """The posts that have all words in their names, tags and keywords, unless they are many."""

    @property
    def always(self) -> frozenset[str]:
        """The posts that are read whatever their rank is."""
        return self.rare | self.called

    @classmethod
    def of(cls, query: Query, lexicon: LexicalPart, posts: NamedPosts) -> NameQuery | None:
        """Return the name that a query consists of; `None` if it is more than a name, or no post contains its words."""
        typed = query.name
        if not typed:
            return None
        known = lexicon.frequencies("words", typed)
        corrected = {
            word: right
            for word in typed
            if not known[word] and (right := _corrected(word, lexicon, posts)) is not None
        }
        found = tuple(corrected.get(word, word) for word in typed)
        count = lexicon.count()
        rarity = {
            stem: math.log((count + 1) / often)
            for stem, often in lexicon.frequencies("stems", stems(found)).items()
            if often
        }
        if not any(rarity.values()) or all(word in STOP_WORDS for word in found):
            return None
        few = [
            word
            for word, often in lexicon.frequencies("words", found).items()
            if 0 < often <= RARE_WORD_POSTS and word not in STOP_WORDS and len(word) > 2
        ]
        rare = frozenset(each for ids in lexicon.holding("words", few).values() for each in ids)
        called = _called_by(found, lexicon)
        return cls(found, rarity, rare, corrected, _IDENTIFIER.search(query.text) is not None, called)

    @cached_property
    def stems(self) -> list[str]:
        """The stems of the words."""
        return stems(list(self.words))

    @cached_property
    def _kinds(self) -> set[str]:
        """The stems of words that say what kind of thing is named, unless all do."""
        found = {stem for word, stem in zip(self.words, self.stems, strict=True) if kind_named(word)}
        return set() if found.issuperset(self.stems) else found

    @property
    def terms(self) -> Terms:
        """The terms that the corrections add to a query."""
        right = list(self.corrected.values())
        return {"words": right, "stems": stems(right), "names": right}

    @property
    def notes(self) -> list[str]:
        """A note for the user on each correction."""
        return [
            f"no post contains {word!r}; searched for {right!r} too" for word, right in self.corrected.items()
        ]

    def first(
        self, hits: Sequence[Scored], posts: NamedPosts, having: Having, candidates: int = CANDIDATES
    ) -> tuple[Sequence[Scored], dict[str, dict[str, float]]]:
        """Return the hits with posts that have the name first, and by what: the evidence of posts by its name.

        `name` is the share of the greatest bonus that a post received, `tag` and `indexed` are 1 for a post whose author listed
        it under the name, `question tag` for an answer to a question with that tag. Whatever the scores say, posts that are called so come
        first, then those that define the name and are listed under it, then others that are listed, and sections with this heading. Others gain if
        their title contains it, the shorter that is the more, or a rare word of it, or if their text has its words, has them side by
        side, or emphasises them. Only posts that have all the words, as the lexical index knows, are read. The titles of the first
        `candidates` are searched.
        """
        columns = ScoredColumns.of(hits)
        first, spread = columns[:candidates].ids, deviation(columns.scores)
        places = zip(self.always, columns.find(self.always).tolist(), strict=True)
        read = {*columns[:READ].ids, *(each for each, place in places if place >= 0)}
        titled = [*first, *read.difference(first)]
        # A letter may stand in a formula, which has no words.
        wanted = {stem for word, stem in zip(self.words, self.stems, strict=True) if not _is_letter(word)}
        held = having(wanted, titled)
        # The kind of a post is part of its name, whether its text says it or not.
        needed = wanted - self._kinds
        whole = [each for each in titled if needed.issubset(held.get(each, ()))]
        bonus = {each: self._words_bonus(each, held.get(each, ())) for each in read.difference(whole)}
        together, own, headed = [], set[str](), set[str]()
        listed: dict[str, dict[str, float]] = {}
        near = [each for each in whole if each in read]
        far = [each for each in whole if each not in read]
        found: dict[str, Preview | PreviewHead] = {**posts.preview_heads(far), **posts.previews(near)}
        for each, seen in found.items():
            if is_module_note(seen.post):
                continue
            bonus[each] = self._title_bonus(seen.post)
            self._note_listing(seen.post, listed)
            if self._is_among(own_names(seen.post)):
                (headed if seen.post.kind == "section" else own).add(each)
            if isinstance(seen, Preview):
                worth, is_together = self._text_bonus(seen)
                bonus[each] += worth
                together += [each] if is_together else []
        texts = posts.texts(together).items()
        defining = {each for each, (body, markup) in texts if self._is_defined_in(body, markup)}
        for each in defining:
            bonus[each] += _DEFINED
        if "tag" in listed:
            listed["question tag"] = self._answers_to_tagged(
                [each for each in titled if each not in listed["tag"]], posts
            )
        bonus = {each: value for each, value in bonus.items() if value > 0}
        if not bonus and not listed:
            return hits, {}
        raised = columns.scores.copy()
        raised[columns.find(bonus)] += spread * np.array([*bonus.values()])
        for evidence, ids in listed.items():
            raised[columns.find(ids)] += spread * _LISTED[evidence]
        written = {*listed.get("tag", ()), *listed.get("indexed", ())}
        classes = np.zeros(len(raised))
        for rank, members in enumerate((written | headed, written & defining, own), 1):
            classes[columns.find(members)] = rank
        raised += classes * (1 + raised.max() - raised.min())
        most = 2 * _TITLED + 2 * _RARE + _WORDS + _TOGETHER + _DEFINED
        shown = {name: round(value / most, 3) for name, value in bonus.items()}
        return columns.with_scores(raised).best(), {"name": shown, **listed}

    def _words_bonus(self, post: str, held: Collection[str]) -> float:
        """Return the bonus for some words of the name in a text."""
        whole = math.fsum(self.rarity.values()) or 1.0
        share = math.fsum(value for stem, value in self.rarity.items() if stem in held) / whole
        return _WORDS * share + (_RARE if post in self.rare else 0.0)

    def _title_bonus(self, post: Post) -> float:
        """Return the bonus for the name in a title, alternative name or label: the shorter that is, the more.

        A remark that has only the title of its section comes behind what has the name as its own. The name of a declaration
        is a sentence about many things; it has the name if that is all of it, or all of its last parts.
        """
        name = self.stems
        if post.markup == "declaration" and not self.is_identifier:
            has_name = self._is_among(last_parts(post))
            shares = [len(name) / len(each) for each in called(post) if each] if has_name else []
        else:
            known = (each for each in called(post) if len(each) >= len(name))
            shares = [len(name) / len(each) for each in map(stems, known) if has_phrase(each, name)]
        shares += [1.0] if self._is_among(own_names(post)) else []
        own = 0 if has_inherited_title(post) else 1
        return max((_TITLED * (own + share) for share in shares), default=0.0)

    def _answers_to_tagged(self, ids: Sequence[str], posts: NamedPosts) -> dict[str, float]:
        """Return 1 for each post without tags that answers a question with the name as a tag."""
        parents = posts.parents(ids)
        questions = posts.preview_heads(sorted({*parents.values()}))
        tagged = {each for each, head in questions.items() if self._is_among(tag_names(head.post))}
        answers = posts.preview_heads([each for each, parent in parents.items() if parent in tagged])
        return {each: 1.0 for each, head in answers.items() if is_tagged_by_question(head.post)}

    def _note_listing(self, post: Post, listed: dict[str, dict[str, float]]) -> None:
        """Add a post to those that their authors listed under the name: as a tag, else as an entry of an index."""
        for evidence, names_of in (("tag", tag_names), ("indexed", entry_names)):
            if self._is_among(names_of(post)):
                listed.setdefault(evidence, {})[post.id] = 1.0
                return

    def _text_bonus(self, preview: Preview) -> tuple[float, bool]:
        """Return the bonus for the name in the beginning of a text, and whether its words stand there side by side."""
        post, name = preview.post, self.stems
        found = self._found_in(preview, name)
        if found is None:
            initials = {stem[0] for stem in name}
            # Stemming does not change the first letter, so that most words need not be stemmed.
            text = [word if word[0] in initials else "" for word in words(_beginning(preview))]
            known = dict(zip(few := list(set(text)), stems(few), strict=True))
            text = [known[word] for word in text]
            found = set(text), has_phrase(text, name)
        held, together = found
        worth = self._words_bonus(post.id, held) + _TOGETHER * together
        return worth + (_RARE * together if post.id in self.rare else 0.0), together

    def _found_in(self, preview: Preview, name: Sequence[str]) -> tuple[set[str], bool] | None:
        """Return which stems of the name the beginning of a text has, and whether side by side, by the stored stems.

        `None` if the stored stems cannot tell: for stop words, and for words and letters that may stand in a formula.
        """
        latex = preview.latex.lower()
        if any(word in STOP_WORDS or _is_letter(word) for word in self.words) or any(
            stem[:-1] in latex for stem in name
        ):
            return None
        rows = preview.numbers.sentences
        begins = np.where(rows[:, 2], rows[:, 4] < BEGINNING, preview.post.role != "answer")
        own = preview.numbers.stems[np.repeat(begins, rows[:, 6])]
        found = own == np.array([[hash_term(stem)] for stem in name], np.int32)
        many = max(0, len(own) - len(name) + 1)
        together = np.logical_and.reduce([row[step : step + many] for step, row in enumerate(found)]).any()
        return {stem for stem, has in zip(name, found.any(axis=1).tolist(), strict=True) if has}, bool(
            together
        )

    def _is_among(self, found: Iterable[Sequence[str]]) -> bool:
        """Return True if the name is one of some, which are written as words."""
        return any(len(each) == len(self.words) and stems(each) == self.stems for each in found)

    def _is_defined_in(self, body: str, markup: Markup) -> bool:
        """Return True if a text emphasises the name."""
        emphasised = emphasised_terms(body[:BEGINNING], markup)
        return any(stems(words(each)) == self.stems for each in emphasised)


def _beginning(preview: Preview) -> str:
    """Return the title of a post, unless it is an answer, and the beginning of its text, with formulas as LaTeX."""
    latex, numbers = preview.formula_latex, preview.numbers
    left = iter(numbers.places[:, 0].tolist())
    found = []
    for text, row in zip(preview.sentence_texts, numbers.sentences.tolist(), strict=True):
        own = SentenceNumbers(*row)
        places = [latex[place] for place in islice(left, own.places)]
        if own.start < BEGINNING if own.in_body else preview.post.role != "answer":
            between = PLACEHOLDER.split(text)[::2] if places else [text]
            found.append("".join(chain.from_iterable(zip_longest(between, places, fillvalue=""))))
    return "\n".join(found)


def _is_letter(word: str) -> bool:
    """Return True for a letter and for the name of a Greek one; a character of Chinese or Japanese is a word."""
    return (len(word) == 1 and not is_ideograph(word)) or f"\\{word}" in SYMBOLS


def is_module_note(post: Post | Payload) -> bool:
    """Return True for what a library says about one of its modules or their sections."""
    return post.kind == "note" and any(tag.startswith("module:") for tag in post.tags)


def is_declaration(payload: Payload) -> bool:
    """Return True for a declaration of a formal library."""
    return not is_module_note(payload) and any(tag.startswith("module:") for tag in payload.tags)


def deviation(scores: npt.ArrayLike) -> float:
    """Return the standard deviation of scores; 1 where they are all the same."""
    given = np.asarray(scores, np.float64)
    found = float(np.std(given)) if len(given) else 0.0
    return found if found > 1e-9 else 1.0


@cache
def general_words() -> frozenset[str]:
    """Return the words that are a single piece for a bundled text encoder; empty if none is installed.

    >>> "naples" in general_words(), "lemam" in general_words()
    (True, False)
    """
    for name in boxed():
        folder = boxed_folder(name)
        path = folder / "text" / "wordpieces.txt" if folder is not None else None
        if path is not None and path.is_file():
            pieces = path.read_text(encoding="utf-8").splitlines()
            return frozenset(piece for piece in pieces if piece.isalpha() and len(piece) > 2)
    return frozenset()


def _called_by(name: Sequence[str], lexicon: LexicalPart) -> frozenset[str]:
    """Return the posts that have all words of a name in their names, if at most `MOST_CALLED` have the rarest one."""
    often = lexicon.frequencies("names", name)
    rarest = min(often, key=lambda word: (often[word], word), default=None)
    if rarest is None or not 0 < often[rarest] <= MOST_CALLED:
        return frozenset()
    ids = lexicon.holding("names", [rarest])[rarest]
    held = lexicon.having("names", often, ids)
    return frozenset(each for each, own in held.items() if len(own) == len(often))


def _corrected(word: str, lexicon: LexicalPart, posts: NamedPosts) -> str | None:
    """Return the most frequent word of a title that differs from a word by one edit; `None` if there is none.

    A word of general English is not misspelt, even if no post has it, and nobody mistypes the first letter.
    """
    remnants = misspellings(word)
    if not remnants or word in general_words():
        return None
    near = [hit.id for hit in lexicon.search({"names": sorted(remnants)}, _SIMILAR_TITLES)]
    alike = {
        right
        for head in posts.preview_heads(near).values()
        for right in title_names(head.post)
        if right[0] == word[0] and is_one_edit(word, right)
    }
    used = lexicon.frequencies("words", sorted(alike))
    return max(used, key=lambda right: (used[right], right), default=None)


def is_one_edit(word: str, other: str) -> bool:
    """Return True if one letter was left out, added, replaced or exchanged with the next.

    >>> [is_one_edit("lemma", other) for other in ("lema", "lemmma", "lenma", "lemam", "emmas")]
    [True, True, True, True, False]
    """
    if word == other or abs(len(word) - len(other)) > 1:
        return False
    start = next(
        (n for n, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), min(len(word), len(other))
    )
    ours, theirs = word[start:], other[start:]
    exchanged = len(ours) > 1 and ours[1::-1] + ours[2:] == theirs
    return exchanged or ours[1:] == theirs[1:] or ours[1:] == theirs or ours == theirs[1:]


def has_phrase(text: Sequence[str], phrase: Sequence[str]) -> bool:
    """Return True if the words of a name stand side by side in a text.

    >>> has_phrase(["a", "nowhere", "dense", "set"], ["nowhere", "dense"]), has_phrase(["dense"], ["nowhere", "dense"])
    (True, False)
    """
    size, wanted, place = len(phrase), list(phrase), -1
    try:
        while True:
            place = text.index(wanted[0], place + 1)
            if list(text[place : place + size]) == wanted:
                return True
    except ValueError:
        return False

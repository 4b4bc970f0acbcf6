"""The training data of a text encoder: questions and answers, titles, formulas, names; and the held-out part.

Everything that belongs together is one group (a thread, an entry of an encyclopedia), and a group is entirely trained on,
validated on or left out: by lists of ids, or by the hash of its name, so that it is the same on every machine.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from mathamr.core.batches import batches
from mathamr.core.errors import MathAMRError
from mathamr.posts.level import Level
from mathamr.posts.markup import formulas_of
from mathamr.posts.passage import passage
from mathamr.posts.post import Formula, Post
from mathamr.text.configuration import WINDOW
from mathamr.text.wording import Span, Wording, wording_alone
from mathamr.text.wordpieces import Pieces, WordPieces
from mathamr_lab.systems.text.corpus import TextCorpus, Variants, vocabulary_checksum
from mathamr_lab.systems.text.foils import foils_of
from mathamr_lab.systems.text.letters import letters_for, variables_of
from mathamr_lab.systems.text.mathlib import MAPS, declarations, mapped, trained_on, ways_to_ask
from mathamr_lab.systems.text.shard import TextShard
from mathamr_lab.training.export import listed

ANSWER = "answer of"
"""The prefix of the kind of question-answer pairs, before the name of their collection."""
LEAST_FORMULA = 16
"""The least length of LaTeX, in characters, for a formula to be a query of its own."""
MOST_HELD, MOST_HELD_SHARE = 400, 0.12
"""The number of threads of a collection that are held out for validation, and the largest share of them."""
SENTENCES = 0.8
"""The share of answers of which a single sentence becomes a query."""
LEAST_SENTENCE, MOST_SENTENCE = 30, 300
"""The least and greatest length, in characters, of such sentences."""

NAMES = 0.2
"""The share of documented declarations whose names are queries too; of those without documentation, half of it."""
SAME = 0.2
"""The share of statements that are asked for in other letters, with foils as negatives."""
LONGEST_STATEMENT = 1500
DOCUMENTS = 0.4
"""The share of documents that are prepared in other letters too."""
DECLARED = "lean:"
"""The beginning of the ids of a library's texts."""

_PROOF = re.compile(r"(?:alternative |another |first |second )?proof (?:of|that) (?:the )?", re.IGNORECASE)


Spread = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]
"""Maps a function over parts, here or in other processes, in order."""


@dataclass(slots=True)
class TextMaterials:
    """The texts and pairs collected so far, before they are cut into pieces."""

    posts: list[Post] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    pairs: list[tuple[int, int, str]] = field(default_factory=list)
    held: set[str] = field(default_factory=set)
    """The groups that are held out for validation."""
    held_share: float = MOST_HELD_SHARE
    """The largest share of a collection's threads that is held out."""
    same_share: float = SAME
    """The share of statements that `same_texts` pairs with themselves."""

    def add(self, post: Post, group: str) -> int:
        """Add a text and return its number."""
        self.posts.append(post)
        self.groups.append(group)
        return len(self.posts) - 1

    def ask(self, text: str, of: Post, group: str, name: str) -> int:
        """Add a query text for something, with its formulas."""
        identifier = f"{of.id}#{name}"
        markup = of.markup if of.markup != "html" else "text"
        post = Post(identifier, "question", text, markup=markup)
        return self.add(replace(post, formulas=formulas_of(identifier, "", text, markup)), group)


def read_materials(path: Path, without: Iterable[Path], materials: TextMaterials) -> None:
    """Read all training data of a path: the threads of posts, or the entries of an encyclopedia except those of `held_names`."""
    unwanted = {line.strip() for file in without for line in file.read_text(encoding="utf-8").splitlines()}
    if _is_encyclopedia(path):
        entries(path, held_names(path) | unwanted, materials)
        return
    from mathamr.posts.reader import read_posts
    from mathamr.posts.report import Report

    if path.is_dir() and (path / f"{MAPS[0]}.yaml").is_file():
        library(path, materials)
        return
    threads(read_posts(path, Report()), unwanted - {""}, materials, path.name.split(".")[0])


def _is_encyclopedia(path: Path) -> bool:
    try:
        return {"title", "synonyms", "text"} <= next(encyclopedia(path), {}).keys()
    except MathAMRError:
        return False


def threads(
    posts: Iterable[Post], without: Collection[str], materials: TextMaterials, name: str = ""
) -> None:
    """Pair questions with answers; titles with bodies and answers; a single formula or sentence with its answer.

    `name` is that of the collection, to validate on each separately. Posts in `without`, those below such an id, and the answers of such questions are left out.
    """
    given = {post.id: post for post in posts}
    numbers: dict[str, int] = {}
    answers: dict[str, list[int]] = {}
    for post in given.values():
        if _left_out(post, without):
            continue
        question = given.get(post.parent or "") if post.role == "answer" else None
        group = post.id if question is None else question.id
        numbers[post.id] = materials.add(post, group)
        if question is not None:
            answers.setdefault(question.id, []).append(numbers[post.id])
    materials.held |= held_threads(answers, materials.held_share)
    for identifier, found in answers.items():
        question = given[identifier]
        for answer in found:
            materials.pairs.append((numbers[identifier], answer, f"{ANSWER} {name}"))
            if _share(materials.posts[answer].id, "sentence") < SENTENCES:
                _ask_sentence(materials.posts[answer], answer, identifier, materials)
        if _share(identifier, "formula") < 0.25:
            _ask_formula(question, found[0], materials)
    for identifier in list(numbers):
        question = given[identifier]
        if question.title.strip() and question.role == "question" and question.body.strip():
            asked = materials.ask(question.title, question, identifier, "title")
            materials.pairs += [(asked, answer, "title-answer") for answer in answers.get(identifier, [])[:1]]
            bare = replace(question, id=f"{identifier}#body", title="", formulas=())
            bare = replace(bare, formulas=formulas_of(bare.id, "", bare.body, bare.markup))
            materials.pairs.append((asked, materials.add(bare, identifier), "title"))


def held_threads(questions: Collection[str], most: float = MOST_HELD_SHARE) -> set[str]:
    """Return the answered questions that are held out for validation: at most this share of them."""
    share = min(most, MOST_HELD / max(1, len(questions)))
    return {each for each in questions if _share(each, "validation") < share}


def _left_out(post: Post, without: Collection[str]) -> bool:
    return listed(post.id, without) or (post.parent is not None and listed(post.parent, without))


def _ask_formula(question: Post, answer: int, materials: TextMaterials) -> None:
    """Add the longest formula of a question as a query, if it is long enough."""
    longest: Formula | None = max(question.formulas, key=lambda each: len(each.latex), default=None)
    if longest is not None and LEAST_FORMULA <= len(longest.latex) <= 400:
        asked = materials.ask(f"${longest.latex}$", question, question.id, f"formula-{answer}")
        materials.pairs.append((asked, answer, "formula"))


def _ask_sentence(post: Post, number: int, group: str, materials: TextMaterials) -> None:
    """Add a random sentence of a post as a query for the post: without a label, only to compare similarities."""
    found, parts = wording_alone(post)
    texts = [
        found.text[span.start : span.end]
        for (level, _), span in zip(parts, found.spans, strict=True)
        if level == Level.SENTENCE and LEAST_SENTENCE <= span.end - span.start <= MOST_SENTENCE
    ]
    if len(texts) > 1:
        chosen = texts[int(_share(post.id, "which") * len(texts))]
        bare = replace(post, markup="text")
        asked = materials.ask(chosen, bare, group, "sentence")
        materials.pairs.append((asked, number, "sentence"))


def entries(path: Path, without: Collection[str], materials: TextMaterials) -> None:
    """Pair names, synonyms and defined words of an encyclopedia with texts; statements with proofs; related entries."""
    rows = {str(row["id"]): row for row in encyclopedia(path) if str(row["id"]) not in without}
    posts = {identifier: entry_post(row) for identifier, row in rows.items()}
    numbers = {identifier: materials.add(post, identifier) for identifier, post in posts.items()}
    named = {name.lower(): identifier for identifier, row in rows.items() for name in names_of(row)}
    for identifier, row in rows.items():
        for place, name in enumerate(names_of(row)):
            for text, kind in _questions(name, f"{identifier}{place}"):
                asked = materials.ask(text, posts[identifier], identifier, f"{kind}-{place}")
                materials.pairs.append((asked, numbers[identifier], kind))
        of = named.get(_PROOF.sub("", row["title"]).lower()) if _PROOF.match(row["title"]) else None
        if of is not None and of != identifier:
            materials.pairs.append((numbers[of], numbers[identifier], "proof"))
        related = [each for each in row["related"] if each in numbers]
        if related:
            chosen = related[int(_share(identifier, "related") * len(related))]
            materials.pairs.append((numbers[identifier], numbers[chosen], "related"))


def library(folder: Path, materials: TextMaterials) -> None:
    """Pair documentation, names and statements of a library of formal mathematics with its declarations.

    The folder holds the library's sources, unpacked, and its maps; what these name is left out, and so is what is held out
    to ask for it in several ways. A document is written as an index reads it.
    """
    for found in trained_on(declarations(folder), mapped(folder)):
        group, documented = f"{DECLARED}{found.name}", found.documentation
        share = _share(found.name, "name")
        if len(documented) >= LEAST_SENTENCE:
            document = _asked(found.document, group, group, materials)
            asked = _asked(documented.replace("`", ""), f"{group}#doc", group, materials)
            materials.pairs.append((asked, document, f"{ANSWER} library"))
            if _share(found.name, "validation") < MOST_HELD / 60_000:
                materials.held.add(group)
        if share < (NAMES if documented else NAMES / 3) and "_" in found.name:
            name = _asked(found.words, f"{group}#name", group, materials)
            number = _asked(f"{documented} {found.statement}", f"{group}#unnamed", group, materials)
            materials.pairs.append((name, number, "declaration"))
        for style, query in ways_to_ask(found):
            if style != "words" and _share(found.name, style) < (NAMES if documented else NAMES / 4):
                whole = _asked(
                    f"{found.words}. {documented} {found.statement}", f"{group}#whole", group, materials
                )
                materials.pairs.append(
                    (_asked(query, f"{group}#{style}", group, materials), whole, f"declaration in {style}")
                )


def _asked(text: str, identifier: str, group: str, materials: TextMaterials) -> int:
    return materials.add(Post(identifier, "note", " ".join(text.split()), markup="text"), group)


def same_texts(materials: TextMaterials) -> None:
    """Pair some statements with themselves: the question is in other letters, and a foil is a negative."""
    documents = {answer for _, answer, _ in materials.pairs}
    questions = {question for question, _, kind in materials.pairs if kind.startswith(ANSWER)}
    for number in sorted(documents | questions):
        post = materials.posts[number]
        if materials.groups[number] in materials.held or post.id.startswith(DECLARED):
            continue
        if (
            _share(post.id, "same") < materials.same_share
            and len(post.body) < LONGEST_STATEMENT
            and variables_of(formula.latex for formula in post.formulas)
        ):
            materials.pairs.append((number, number, "same"))


def _questions(name: str, key: str) -> Iterator[tuple[str, str]]:
    yield name, "name"
    if _share(key, "what") < 0.3:
        yield f"What is {name}?", "what"


def encyclopedia(path: Path) -> Iterator[dict[str, Any]]:
    """Read the entries of a file of JSON lines with titles, synonyms and texts."""
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for line in file:
                row = json.loads(line)
                if row["text"].strip():
                    yield row
    except (OSError, ValueError, KeyError, TypeError, EOFError) as error:
        raise MathAMRError(f"{path} is not an encyclopedia in JSON lines: {error}") from error


def entry_post(row: dict[str, Any]) -> Post:
    """Return the text of an entry without its name."""
    identifier, text = str(row["id"]), str(row["text"])
    return Post(identifier, "note", text, markup="latex", formulas=formulas_of(identifier, "", text, "latex"))


def names_of(row: dict[str, Any]) -> list[str]:
    """Return the title, the synonyms and the defined words of an entry, each once."""
    names = [row["title"], *row["synonyms"], *row["defines"]]
    return list(dict.fromkeys(name.strip() for name in names if isinstance(name, str) and name.strip()))


def held_names(path: Path) -> set[str]:
    """Return the ids of the entries whose names are used in tests: a tenth of them by the hash of the id."""
    return {str(row["id"]) for row in encyclopedia(path) if zlib.crc32(str(row["id"]).encode()) % 10 == 0}


def gathered(
    materials: TextMaterials,
    pieces: WordPieces,
    letters: int = 0,
    spread: Spread = map,
    *,
    longest: int = WINDOW,
) -> TextCorpus:
    """Return the corpus: texts cut into pieces, at most the `longest` first ones. Texts without a piece are left out with their pairs.

    `letters` is the number of forms in other letters of every question; some documents have one; texts that are paired with
    themselves have foils. `spread` maps over parts of the texts, in several processes if it can.
    """
    wanted = _wanted(materials, letters)
    parts = batches(
        ((number, post, *wanted.get(number, (0, False))) for number, post in enumerate(materials.posts)), 1000
    )
    rows = [row for found in spread(partial(_cut, pieces, longest), parts) for row in found]
    place = {number: new for new, number in enumerate(number for number, text, *_ in rows if len(text.of))}
    rows = [row for row in rows if row[0] in place]
    names = {name: number for number, name in enumerate(dict.fromkeys(materials.groups))}
    pairs = [pair for pair in materials.pairs if pair[0] in place and pair[1] in place]
    held = [
        kind.startswith(ANSWER) and materials.groups[question] in materials.held
        for question, _, kind in pairs
    ]
    return TextCorpus(
        ids=tuple(materials.posts[number].id for number in place),
        texts=TextShard(tuple(text for _, text, *_ in rows)),
        groups=np.array([names[materials.groups[number]] for number in place], np.int64),
        pairs=np.array([(place[q], place[a]) for q, a, _ in pairs], np.int64).reshape(-1, 2),
        held=np.array(held, np.bool_),
        kinds=tuple(kind for *_, kind in pairs),
        vocabulary=vocabulary_checksum(pieces),
        forms=_variants([(place[number], forms) for number, _, forms, _ in rows]),
        foils=_variants([(place[number], foils) for number, *_, foils in rows]),
    )


def _wanted(materials: TextMaterials, letters: int) -> dict[int, tuple[int, bool]]:
    """Return, for each text, how many forms in other letters it gets, and whether it gets foils."""
    if not letters:
        return {}
    forms = {
        answer: 1
        for _, answer, kind in materials.pairs
        if kind != "sentence" and _share(materials.posts[answer].id, "letters") < DOCUMENTS
    }
    forms |= {question: letters for question, _, kind in materials.pairs if kind != "sentence"}
    same = {question for question, answer, _ in materials.pairs if question == answer}
    return {number: (count, number in same) for number, count in forms.items()}


def _cut(
    pieces: WordPieces, longest: int, given: Sequence[tuple[int, Post, int, bool]]
) -> list[tuple[int, Pieces, list[Pieces], list[Pieces]]]:
    """Cut texts, their forms in other letters and their foils into pieces."""
    wordings: list[Wording] = []
    counts = []
    for _, post, letters, is_same in given:
        if post.id.startswith(DECLARED):
            wordings.append(Wording(post.body, (Span(0, 0, len(post.body)),)))
            counts.append((0, 0))
            continue
        read = passage(post)
        forms = list(_in_other_letters(post, letters)) if letters else []
        foils = [foil.post for foil in foils_of(post)] if is_same else []
        wordings += [wording_alone(each, read)[0] for each in (post, *forms)]
        wordings += [wording_alone(foil)[0] for foil in foils]
        counts.append((len(forms), len(foils)))
    cut = iter([found.cut(longest) for found in pieces.cut(wordings)])
    return [
        (number, next(cut), list(islice(cut, forms)), list(islice(cut, foils)))
        for (number, *_), (forms, foils) in zip(given, counts, strict=True)
    ]


def _in_other_letters(post: Post, count: int) -> Iterator[Post]:
    """Yield a post in other letters; the first form draws among all letters, every second one among usual ones."""
    if not variables_of(formula.latex for formula in post.formulas):
        return
    for form in range(count):
        names = letters_for(post, f"form {form}", usual=form % 2 == 1)
        formulas = (replace(formula, latex=names(formula.latex)) for formula in post.formulas)
        yield replace(post, formulas=tuple(formulas))


def _variants(given: Iterable[tuple[int, list[Pieces]]]) -> Variants:
    found = [(place, variant) for place, variants in given for variant in variants if len(variant.of)]
    return Variants(
        TextShard(tuple(variant for _, variant in found)), np.array([place for place, _ in found], np.int64)
    )


def _share(name: str, salt: str) -> float:
    """Return a fixed number from 0 to 1 for a name."""
    return zlib.crc32(f"{salt}:{name}".encode()) / 2**32

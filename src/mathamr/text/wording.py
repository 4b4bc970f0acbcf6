"""`Wording`: a post as running text with its formulas as LaTeX in place, and the span of each representative."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from mathamr.core.arrays import AnyArray
from mathamr.posts.level import Level
from mathamr.posts.passage import PLACEHOLDER, Passage, Sentence, passage
from mathamr.posts.post import Post


@dataclass(frozen=True, slots=True)
class Span:
    """[start, end) of the text belongs to this representative of the post's graph."""

    representative: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Wording:
    """The text of a post, and the spans of its representatives: its formulas, its sentences, and the complete text."""

    text: str
    spans: tuple[Span, ...]


class Represented(Protocol):
    """Anything with the representatives of a post in order, such as a graph's tensor: each has a level and a reference."""

    @property
    def levels(self) -> Sequence[int] | AnyArray:
        """The level of each representative."""
        ...

    @property
    def references(self) -> Sequence[str]:
        """The formula id, sentence number or post id of each representative."""
        ...


def wording(post: Post, tensor: Represented, read: Passage | None = None) -> Wording:
    """Return the wording of a post whose graph has these representatives.

    >>> from mathamr.posts.post import Formula
    >>> post = Post("7", "answer", "Let $x>0$. Then $x^2>0$!", markup="text",
    ...             formulas=(Formula("7:0", "x>0"), Formula("7:1", "x^2>0")))
    >>> text, places = written(post, passage(post))
    >>> text
    'Let $x>0$. Then $x^2>0$!'
    >>> places[Level.FORMULA, "7:1"]
    (16, 23)
    >>> text[slice(*places[Level.SENTENCE, "1"])]
    'Then $x^2>0$!'
    """
    text, places = written(post, read or passage(post))
    spans = []
    for number, (level, reference) in enumerate(zip(tensor.levels, tensor.references, strict=True)):
        place = places.get((Level(level), reference))
        if level == Level.DOCUMENT:
            place = (0, len(text))
        if place is not None and place[0] < place[1]:
            spans.append(Span(number, *place))
    return Wording(text, tuple(spans))


def written_sentences(post: Post) -> list[str]:
    """Return the sentences of a post, title first, with formulas as LaTeX in place.

    >>> from mathamr.posts.post import Formula
    >>> written_sentences(Post("7", "answer", "Let $x>0$. So.", markup="text", formulas=(Formula("7:0", "x>0"),)))
    ['Let $x>0$.', 'So.']
    """
    latex = {formula.id: formula.latex for formula in post.formulas}
    return [_sentence(sentence, latex)[0] for sentence in passage(post).sentences]


def wording_alone(post: Post, read: Passage | None = None) -> tuple[Wording, tuple[tuple[Level, str], ...]]:
    """Return the wording of a post without a graph, and what its spans represent: formulas, sentences, the complete text last.

    >>> from mathamr.posts.post import Formula
    >>> post = Post("7", "answer", "Let $x>0$. Hm.", markup="text", formulas=(Formula("7:0", "x>0"),))
    >>> found, parts = wording_alone(post)
    >>> [(reference, found.text[span.start : span.end]) for (_, reference), span in zip(parts, found.spans)]
    [('7:0', '$x>0$'), ('0', 'Let $x>0$.'), ('1', 'Hm.'), ('7', 'Let $x>0$. Hm.')]
    """
    text, places = written(post, read or passage(post))
    parts = [(part, place) for part, place in places.items() if place[0] < place[1]]
    parts.sort(key=lambda part: part[0][0])
    parts.append(((Level.DOCUMENT, post.id), (0, len(text))))
    spans = tuple(Span(number, *place) for number, (_, place) in enumerate(parts))
    return Wording(text, spans), tuple(part for part, _ in parts)


def _declared(post: Post, sentence: Sentence, text: str) -> str:
    """Return the text of a sentence of a declaration, with its name and its code in words."""
    from mathamr.posts.formats.declaration.namewords import name_words
    from mathamr.posts.formats.declaration.pieces import statement_text

    if sentence.field == "title":
        return f"{name_words(post.title)}."
    return statement_text(post.body[sentence.start : sentence.end]) if sentence.kind == "code" else text


def written(post: Post, read: Passage) -> tuple[str, dict[tuple[Level, str], tuple[int, int]]]:
    """Return the text of a post with its formulas as LaTeX, and the positions of formulas and sentences in it."""
    latex = {formula.id: formula.latex for formula in post.formulas}
    parts: list[str] = []
    places: dict[tuple[Level, str], tuple[int, int]] = {}
    at = 0
    is_declaration = post.markup == "declaration"
    for number, sentence in enumerate(read.sentences):
        before = read.sentences[number - 1] if number else sentence
        is_statement = before.kind == "code" and sentence.start < before.end
        if is_declaration and sentence.placeholders and is_statement:
            # The formula of a statement is the statement in another notation: it is not written and encoded twice.
            places[Level.FORMULA, sentence.placeholders[0].formula] = places.pop(
                (Level.SENTENCE, str(number - 1))
            )
            continue
        if parts:
            parts.append(" ")
            at += 1
        text, formulas = _sentence(sentence, latex)
        if is_declaration:
            text = _declared(post, sentence, text)
        for formula, (start, end) in formulas.items():
            places[Level.FORMULA, formula] = (at + start, at + end)
        places[Level.SENTENCE, str(number)] = (at, at + len(text))
        parts.append(text)
        at += len(text)
    return "".join(parts), places


def _sentence(sentence: Sentence, latex: dict[str, str]) -> tuple[str, dict[str, tuple[int, int]]]:
    formula_of = {place.name: place.formula for place in sentence.placeholders}
    parts: list[str] = []
    formulas: dict[str, tuple[int, int]] = {}
    done = at = 0
    for match in PLACEHOLDER.finditer(sentence.text):
        formula = formula_of.get(match.group())
        if formula is None:
            continue
        before, written = sentence.text[done : match.start()], f"${' '.join(latex.get(formula, '').split())}$"
        parts += [before, written]
        formulas[formula] = (at + len(before), at + len(before) + len(written))
        at += len(before) + len(written)
        done = match.end()
    parts.append(sentence.text[done:])
    return "".join(parts), formulas

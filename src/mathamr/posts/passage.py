"""`Passage`: a post as sentences in which `FORMULA_n` stands for its n-th formula."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from types import MappingProxyType
from typing import Any, Literal

from mathamr.posts.markup import formula_id, pieces, title_pieces
from mathamr.posts.markup.piece import Note, Piece, PieceRun, ignore
from mathamr.posts.post import Markup, Post
from mathamr.posts.sentences import DISPLAY, INLINE, LINE, PARAGRAPH, STARTERS, sentences

Field = Literal["title", "body"]
SentenceKind = Literal["prose", "code"]

PLACEHOLDER = re.compile(r"(?<!\w)FORMULA_(\d+)(?!\w)")
"""A placeholder in a sentence; nothing that a post's author wrote ever matches."""

_LOOKALIKE = re.compile(r"FORMULA_(?=\d)")
_FORMULA = re.compile("[\0\1]")
_FORMULAS_ONLY = re.compile(r"[\s\0\1.,;:()]*\Z")
BEFORE_NEW_SENTENCE = re.compile(
    rf"\0(?=\s+(?:(?:{'|'.join(sorted(STARTERS - {'I', 'A'}))})[\s,]|[A-Z][a-z]+ing\s))"
)
_LOOSE_MARK = re.compile(r"(?<=\S) (?=[.,?](?:\s|\Z))")
_WORDLESS = re.compile(r"[\s\2.,;:?!()\[\]{}\"'`*_~|<>/\\=+-]*\Z")


@dataclass(frozen=True, slots=True)
class Placeholder:
    """The place of one formula: `FORMULA_n` in a sentence, [start, end) in the post's title or body."""

    name: str
    formula: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a post's title or body, read from [start, end) of it; a code block is one sentence."""

    text: str
    field: Field
    start: int
    end: int
    placeholders: tuple[Placeholder, ...] = ()
    kind: SentenceKind = "prose"

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Sentence:
        """Return a sentence from its row in `Passage.to_json`."""
        places = tuple(Placeholder(*place) for place in row.get("placeholders", ()))
        return cls(row["text"], row["field"], row["start"], row["end"], places, row.get("kind", "prose"))


@dataclass(frozen=True, slots=True)
class Passage:
    """The sentences of a post in order, title first."""

    post: str
    sentences: tuple[Sentence, ...]

    @property
    def formula_map(self) -> Mapping[str, str]:
        """Placeholder to formula id, in the order of the post."""
        return MappingProxyType({place.name: place.formula for place in self.placeholders})

    @property
    def placeholders(self) -> Iterator[Placeholder]:
        """All placeholders, `FORMULA_0` first."""
        return (place for sentence in self.sentences for place in sentence.placeholders)

    @property
    def text(self) -> str:
        """The sentences, one a line."""
        return "\n".join(sentence.text for sentence in self.sentences)

    def to_json(self) -> str:
        """Return one JSON line."""
        rows = []
        for sentence in self.sentences:
            row: dict[str, Any] = {
                "text": sentence.text,
                "field": sentence.field,
                "start": sentence.start,
                "end": sentence.end,
            }
            if sentence.placeholders:
                row["placeholders"] = [[p.name, p.formula, p.start, p.end] for p in sentence.placeholders]
            if sentence.kind != "prose":
                row["kind"] = sentence.kind
            rows.append(row)
        return json.dumps({"post": self.post, "sentences": rows}, ensure_ascii=False)

    @classmethod
    def from_json(cls, line: str) -> Passage:
        """Parse the JSON line of `to_json`."""
        row: dict[str, Any] = json.loads(line)
        return cls(
            row["post"],
            tuple(map(Sentence.from_row, row["sentences"])),
        )


def passage(post: Post, note: Note = ignore) -> Passage:
    """Return the passage of a post.

    Formula ids are those of `post.formulas`; where a post was made without them, those of `formulas_of`.

    >>> read = passage(Post("7", "answer", "Let $x>0.$ Then, e.g., $x^2>0$, which is clear!", markup="text"))
    >>> print(read.text)
    Let FORMULA_0.
    Then, e.g., FORMULA_1, which is clear!
    >>> dict(read.formula_map)
    {'FORMULA_0': '7:0', 'FORMULA_1': '7:1'}
    """
    return passage_of(
        post, list(title_pieces(post.title, post.markup, note)), list(pieces(post.body, post.markup, note))
    )


def passage_of(post: Post, title: list[Piece], body: list[Piece]) -> Passage:
    """Return the passage of a post whose title and body are these pieces."""
    names = iter(_formula_ids(post, [piece for piece in title + body if piece.kind == "formula"]))
    builder = _Builder(names)
    builder.read(title, "title")
    builder.read(body, "body")
    return Passage(post.id, tuple(builder.sentences))


def passage_fingerprints() -> dict[Markup, str]:
    """Return a fingerprint for every markup of how posts in it become sentences."""
    return {markup: passage_fingerprint(markup) for markup in _PROBES}


@lru_cache(maxsize=8)
def passage_fingerprint(markup: Markup) -> str:
    """Return a fingerprint of the rules that split posts of a markup into sentences: it changes when the sentences of an
    example change.
    """
    content = passage(Post("probe", "note", _PROBES[markup], title="On $x$", markup=markup)).to_json()
    return blake2b(content.encode(), digest_size=8).hexdigest()


_PROBES: dict[Markup, str] = {
    "html": "<p>Let <b>all</b> $x&gt;0$, e.g. <i>some</i>.<br>So:</p><ul><li>$$y$$</li><li>one</li></ul><pre><code>a</code></pre>By <code>b</code> so.",
    "markdown": "Let *all* $x>0$, e.g. [some](a.md).\n\n- $$y$$\n- one, by \\eqref{eq:a} or sinh y ∈ ℝ²\n\n```\na\n```\n\nBy `b`"
    " and @thm-a, {numref}`Figure %s <c>`, $x\n- y$.\n",
    "latex": "Let \\emph{all} $x>0$ by Lemma~\\ref{lemma-flat}, \\eqref{eq:a}, \\cref{thm:main} and"
    " \\cite[Theorem 2]{b} or sinh y ∈ ℝ².\n\n\\begin{itemize}\\item $$y$$ \\item one\\end{itemize}",
    "text": "Let all $x>0$, e.g. some sinh y ∈ ℝ².\n\nSo: $$y$$ by \\eqref{eq:a}. One.",
    "declaration": "Let *all* $x>0$.\n\n```lean\ntheorem A.b_c (x : ℕ) : ∑ i ∈ s, f i ≤ x / 2\n```\n",
}


def _formula_ids(post: Post, found: list[Piece]) -> list[str]:
    if len(post.formulas) == len(found):
        return [formula.id for formula in post.formulas]
    seen: set[str] = set()
    return [formula_id(piece, post.id, place, seen) for place, piece in enumerate(found)]


class _Builder:
    """Collects pieces into a block until something ends it for sure, then cuts the block into sentences."""

    def __init__(self, names: Iterator[str]) -> None:
        self.sentences: list[Sentence] = []
        self._names = names
        self._count = 0
        self._field: Field = "title"
        self._reset()

    def read(self, stream: list[Piece], field: Field) -> None:
        """Add the sentences of the title or of the body."""
        self._field = field
        in_code = False
        for piece in stream:
            kind = piece.kind
            if kind == "text":
                self._add(piece.text, piece)
            elif kind == "formula":
                self._formulas.append(piece)
                self._add(DISPLAY if piece.display else INLINE, piece)
            elif kind == "break":
                in_code = piece.text == "code" and not in_code  # one break before a block and one behind it
                if piece.text == "paragraph":
                    self._paragraph(piece)
                elif piece.text == "line":
                    self._add(LINE, piece)
                else:
                    self._flush()
            elif kind == "code":
                self._add(piece.text, piece)
                if in_code:
                    self._code()
            elif kind == "image" and piece.text:
                self._add(f" {piece.text} ", piece)
            elif kind == "drawing":
                self._add("  ", piece)
        self._flush()

    def _reset(self) -> None:
        self._texts: list[str] = []
        self._run = PieceRun()
        self._formulas: list[Piece] = []
        self._paragraph_start = 0

    def _add(self, text: str, piece: Piece) -> None:
        self._texts.append(text)
        self._run.add(text, piece.start, piece.end)

    def _paragraph(self, piece: Piece) -> None:
        """End a paragraph; one of formulas alone is read like a displayed formula."""
        self._show_lone_formulas()
        if self._texts and self._texts[-1] != PARAGRAPH:
            self._add(PARAGRAPH, piece)
            self._paragraph_start = len(self._texts)

    def _show_lone_formulas(self) -> None:
        last = self._texts[self._paragraph_start :]
        if self._field == "body" and INLINE in last and all(_FORMULAS_ONLY.match(text) for text in last):
            self._texts[self._paragraph_start :] = [DISPLAY if text == INLINE else text for text in last]

    def _flush(self) -> None:
        if not self._texts:
            return
        self._show_lone_formulas()
        text = "".join(self._texts)
        if self._field == "body":
            text = BEFORE_NEW_SENTENCE.sub(DISPLAY, text)
        formulas = iter(self._formulas)
        for start, end in sentences(text):
            if not _WORDLESS.match(text, start, end):
                self._sentence(text[start:end], *self._run.origin(start, end), formulas)
        self._reset()

    def _code(self) -> None:
        text = "".join(self._texts)
        self._sentence(text, *self._run.origin(0, len(text)), iter(self._formulas), "code")
        self._reset()

    def _sentence(
        self, text: str, start: int, end: int, formulas: Iterator[Piece], kind: SentenceKind = "prose"
    ) -> None:
        placeholders = []
        parts: list[str] = []
        for place, segment in enumerate(_FORMULA.split(_normalise(text))):
            if place:
                piece = next(formulas)
                name = f"FORMULA_{self._count}"
                self._count += 1
                placeholders.append(Placeholder(name, next(self._names), piece.start, piece.end))
                start, end = min(start, piece.start), max(end, piece.end)
                if parts[-1] and _is_word(parts[-1][-1]):
                    parts.append(" ")
                parts.append(name)
                if segment and _is_word(segment[0]):
                    parts.append(" ")
            if segment:
                parts.append(segment)
            elif not place:
                parts.append("")
        self.sentences.append(Sentence("".join(parts), self._field, start, end, tuple(placeholders), kind))


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _normalise(text: str) -> str:
    """Return the text with single blanks, none of them before a stop, with composed characters, and without look-alikes of a
    placeholder.
    """
    text = " ".join(text.replace(PARAGRAPH, " ").split())
    if " ." in text or " ," in text or " ?" in text:
        text = _LOOSE_MARK.sub("", text)
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    return _LOOKALIKE.sub("FORMULA-", text)

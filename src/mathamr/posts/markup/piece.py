"""`Piece`: a run of a post's source that means one thing; and `PieceRun`, the inline text between two breaks."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from typing import Literal, NamedTuple

PieceKind = Literal["text", "formula", "break", "code", "image", "drawing", "link", "open", "close"]
Note = Callable[[str, int], None]
"""Called with what was repaired (one of a few fixed phrases) and the offset in the source."""


def ignore(message: str, offset: int) -> None:
    """Do nothing with a note."""


class Piece(NamedTuple):
    """A part of a post's title or body, with the source offsets [start, end) it was read from.

    | kind    | `text` is                                                                                |
    |---------|------------------------------------------------------------------------------------------|
    | text    | readable text, entities and escapes decoded                                              |
    | formula | LaTeX without delimiters or closing punctuation; empty where only MathML is known        |
    | break   | what ends here: `paragraph`, `line`, `heading`, `item`, `cell`, `quote`, `code`, `rule`  |
    | code    | code as it was written                                                                   |
    | image   | what the picture shows, as its alternative text says                                     |
    | drawing | a picture as LaTeX                                                                       |
    | link    | the address a link leads to; its words follow, then the end of the element `a`           |
    | open    | the name of an element of HTML that begins here: `em`, `ul`, `td`                        |
    | close   | the name of an element that ends here                                                    |

    `attributes` are those of an element: `src` of an image, `start` of a list, of a link the command that refers to its
    target as `class`.

    A text piece either has as many characters as its source, one for one, or is read as a whole (`&lt;` is `<`).
    """

    kind: PieceKind
    start: int
    end: int
    text: str = ""
    display: bool = False
    id: str | None = None
    mathml: str | None = None
    attributes: tuple[tuple[str, str], ...] = ()


def linked(read: Sequence[Piece], place: int) -> list[Piece]:
    """Return the words of the link at a place: what follows it up to its end, to another link or to the end of its line."""
    end = place + 1
    while end < len(read):
        piece = read[end]
        if piece.kind in ("link", "break") or (piece.kind == "close" and piece.text == "a"):
            break
        end += 1
    return list(read[place + 1 : end])


_begin = itemgetter(0)


class PieceRun:
    """Inline text collected from atoms of source, so that math can be found across tags and entities.

    Pieces that are known already (a formula's own element, inline code) are held in their place in the text, where
    one NUL character stands for them.

    >>> run = PieceRun()
    >>> run.add("a ", 0, 2); run.add("<", 2, 6); run.add(" b", 6, 8)
    >>> run.text(), run.origin(2, 4)
    ('a < b', (2, 7))
    """

    def __init__(self) -> None:
        self._atoms: list[tuple[int, str, int, int]] = []  # where it begins in the text, its text, its source
        self._held: dict[int, tuple[list[Piece], str]] = {}
        self._places: list[int] = []
        self._marks: deque[tuple[int, Piece]] = deque()
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def __bool__(self) -> bool:
        """Return whether there is text or a mark."""
        return bool(self._atoms or self._marks)

    def add(self, text: str, start: int, end: int) -> None:
        """Append text that was read from [start, end) of the source."""
        self._atoms.append((self._length, text, start, end))
        self._length += len(text)

    def hold(self, pieces: list[Piece], start: int, end: int, latex: str = "") -> None:
        """Append finished pieces; inside a larger formula `latex` is what they stand for."""
        self._held[self._length] = pieces, latex
        self._places.append(self._length)
        self.add("\0", start, end)

    def mark(self, piece: Piece) -> None:
        """Append a piece of which nothing stands in the text: the beginning or the end of an element."""
        self._marks.append((self._length, piece))

    def text(self) -> str:
        """Return the whole text."""
        return "".join([atom[1] for atom in self._atoms])

    def origin(self, first: int, last: int) -> tuple[int, int]:
        """Return the source offsets of the characters [first, last) of the text."""
        begin, text, start, end = self._atoms[self._atom(first)]
        if len(text) == end - start:
            start += first - begin
        begin, text, left, end = self._atoms[self._atom(max(first, last - 1))]
        if len(text) == end - left:
            end = left + last - begin
        return start, end

    def pieces(self, first: int, last: int) -> Iterator[Piece]:
        """Yield the pieces of the characters [first, last), those that are held among them, and each mark up to there once."""
        for place in range(self._atom(first), len(self._atoms)) if first < last else ():
            begin, text, start, end = self._atoms[place]
            if begin >= last:
                break
            if self._marks:
                yield from self._marks_to(max(first, begin))
            if begin in self._held:
                yield from self._held[begin][0]
                continue
            if begin < first or begin + len(text) > last:
                low, high = max(first - begin, 0), min(last - begin, len(text))
                if len(text) == end - start:
                    start, end = start + low, start + high
                text = text[low:high]
            if text:
                yield Piece("text", start, end, text)
        yield from self._marks_to(last)

    def _marks_to(self, position: int) -> Iterator[Piece]:
        while self._marks and self._marks[0][0] <= position:
            yield self._marks.popleft()[1]

    def _atom(self, position: int) -> int:
        """Return the number of the atom that holds a character of the text."""
        return bisect_right(self._atoms, position, key=_begin) - 1

    def held(self, first: int, last: int) -> tuple[list[Piece], list[str]]:
        """Return the pieces held within [first, last), and what each holding stands for in a larger formula."""
        places = self._places[bisect_left(self._places, first) : bisect_left(self._places, last)]
        inside = [self._held[place] for place in places]
        return [piece for pieces, _ in inside for piece in pieces], [latex for _, latex in inside]

"""LaTeX as text: what a reader of the page would see, without typesetting it.

No macro is expanded. A command that is not known is dropped and what is in its braces is kept, which is right
for nearly all that authors define for themselves (`\\term{…}`). The known commands are listed in `commands`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cached_property

from mathamr.core.listing import names
from mathamr.formulas.latex.definitions import DEFINING, definition_places
from mathamr.posts.body.html import HEADINGS
from mathamr.posts.formats.latex import commands as known
from mathamr.posts.formats.latex.definitions import BraceGroups
from mathamr.posts.formats.latex.labels import label_words
from mathamr.posts.markup.delimiters import OPENING, MathScanner, strip_punctuation
from mathamr.posts.markup.piece import Note, Piece, PieceRun
from mathamr.posts.markup.plain import formula

_TOKEN = re.compile(
    r"""(?P<text>(?:[^\\$%{}~\n`'&\[-]|\n(?![ \t\r]*\n))++)
    |(?P<math>\$\$?|\\[(\[]|\\begin\s*\{\s*[A-Za-z]+\*?\s*\})
    |\\(?P<command>[A-Za-z@]+)\*?
    |\\(?P<symbol>.)
    |(?P<paragraph>\n[ \t\r]*\n\s*)
    |(?P<percent>(?<=\d)%(?=[ ,.;:)][^\n]))
    |(?P<comment>%[^\n]*(?:\n[ \t]*(?!\n))?)
    |(?P<sign>``|''|---?|[~`&])
    |(?P<drawing>\[asy\])
    |(?P<brace>[{}])
    |(?P<character>.)""",
    re.X | re.S,
)
_ENVIRONMENT = re.compile(r"\s*+\{\s*+([^{}\s]*+)\s*+\}")
_OPTION = re.compile(r"\s*\[([^\[\]]{0,300})\]")
_SHORT_GROUP = re.compile(r"\s*\{([^{}]*)\}")
_ACCENTED = re.compile(r"\s*\{\s*\\?([A-Za-z])\s*\}|\s*\\?([A-Za-z])")
_COMMENT = re.compile(r"\\.|(?<=\d)%(?=[ ,.;:)][^\n])|(?P<comment>%[^\n]*)", re.S)
_AUTHOR = _WORD = re.compile(r"[^\W\d_]{3,}")
_ELEMENTS = (
    known.LISTS
    | dict.fromkeys(known.TABLES, "table")
    | dict.fromkeys(names("quote quotation verse"), "blockquote")
)
"""Environments that are elements of HTML."""
_DOCUMENT = re.compile(r"\\(begin|end)\s*\{document\}")


def pieces(text: str, note: Note) -> Iterator[Piece]:
    """Yield the pieces of a LaTeX text: of a whole document what is between its begin and its end."""
    return _Reader(text, note).pieces()


class _Reader:
    """One pass over one text; `_at` holds what is due when a closing brace is reached."""

    def __init__(self, text: str, note: Note) -> None:
        self._text = text
        self._note = note
        self._run = PieceRun()
        self._run.add(text, 0, len(text))
        self._scanner = MathScanner(strip_comments(text) if "%" in text else text, money=False)
        self._position = 0
        self._end = len(text)
        self._at: dict[int, str] = {}
        self._tables = 0
        self._never: set[str] = set()
        self._groups = BraceGroups(text)

    def pieces(self) -> Iterator[Piece]:
        for bound in _DOCUMENT.finditer(self._text):
            if bound.group(1) == "end":
                self._end = bound.start()
                break
            self._position = bound.end()
        yield from self._theorem_name()
        while self._position < self._end and (match := _TOKEN.match(self._text, self._position, self._end)):
            self._position = match.end()
            yield from self._token(match)

    def _token(self, match: re.Match[str]) -> Iterator[Piece]:
        start, end = match.span()
        kind = match.lastgroup
        if kind in ("text", "character", "percent"):
            yield Piece("text", start, end, match.group())
        elif kind == "math":
            yield from self._math(start, end)
        elif kind == "command":
            yield from self._command(match["command"], start)
        elif kind == "symbol":
            yield from self._symbol(match["symbol"], start, end)
        elif kind == "paragraph":
            yield Piece("break", start, end, "paragraph")
        elif kind == "sign":
            sign = match.group()
            if sign == "&":
                yield Piece("break", start, end, "cell")
                if self._tables > 0:
                    yield Piece("open", start, end, "td")
            else:
                yield Piece("text", start, end, known.SIGNS[sign])
        elif kind == "brace" and start in self._at:
            what = self._at.pop(start)
            if what == "shown":
                self._skip_group()  # what a PDF's bookmarks show instead
            elif what == "footnote":
                yield Piece("text", start, end, ")")
            else:
                if what in HEADINGS:
                    yield Piece("break", start, end, "heading")
                yield Piece("close", start, end, what)
        elif kind == "drawing":
            self._skip_past("[/asy]")

    def _math(self, start: int, end: int) -> Iterator[Piece]:
        opening = OPENING.match(self._text, start)
        region = self._scanner.at(opening) if opening else None
        if region is None or region == "unclosed":
            if region:
                self._note(f"unclosed {self._text[start:end]}", start)
            if self._text.startswith("\\begin", start):
                self._position = start + len("\\begin")
                yield from self._begin(start)
            elif self._text[start] == "\\":
                yield Piece("text", start, end, self._text[start + 1])
            else:
                self._position = start + 1
                yield Piece("text", start, start + 1, "$")
            return
        self._position = region.end
        if "%" in self._text[region.start : region.end]:
            region = region._replace(latex=" ".join(region.latex.split()))
        yield from formula(self._run, region, self._note)

    def _command(self, name: str, start: int) -> Iterator[Piece]:
        if name == "begin":
            yield from self._begin(start)
        elif name == "end":
            yield from self._end_environment(start)
        elif name in known.CHARACTERS:
            yield Piece("text", start, self._position, known.CHARACTERS[name])
            if known.CHARACTERS[name] != " " and self._text.startswith(" ", self._position):
                self._position += 1
        elif name in known.ACCENTS and len(name) == 1:
            yield from self._accent(name, start)
        elif name in known.HEADINGS:
            yield from self._heading(known.HEADINGS[name], start)
        elif name in known.EMPHASIS:
            yield from self._emphasis(name, start)
        elif name in known.BREAKS:
            yield Piece("break", start, self._position, known.BREAKS[name])
            if known.BREAKS[name] == "item":
                yield Piece("open", start, self._position, "li")
            if name in ("item", "ii") and (option := _OPTION.match(self._text, self._position)):
                yield Piece("text", option.start(1), option.end(1), option.group(1))
                yield Piece("text", option.end() - 1, option.end(), " ")
                self._position = option.end()
        elif name in ("url", "href"):
            yield from self._link(name, start)
        elif name in ("hyperref", "hyperlink"):
            yield from self._words_with_link(name, start)
        elif name in known.REFERENCES or name.endswith("ref"):
            yield from self._reference(name, start)
        elif name in ("verb", "lstinline"):
            yield from self._verb()
        elif name == "ensuremath":
            yield from self._ensuremath(start)
        elif name == "footnote":
            if (close := self._group_end(self._position)) is not None:
                yield Piece("text", start, self._position + 1, " (")
                self._at[close] = "footnote"
        elif f"\\{name}" in DEFINING:
            self._position = self._definitions.get(start, self._position)
        elif name == "texorpdfstring":
            if (close := self._group_end(self._position)) is not None:
                self._at[close] = "shown"
        else:
            self._skip_options()
            for _ in range(known.SKIPPED_ARGUMENTS.get(name, name.startswith("index"))):
                self._skip_group()

    def _begin(self, start: int) -> Iterator[Piece]:
        environment = _ENVIRONMENT.match(self._text, self._position)
        if environment is None:
            return
        self._position = environment.end()
        name = environment.group(1).rstrip("*")
        if name in known.VERBATIM or name in known.PICTURES or name in known.HIDDEN:
            begin = self._position
            found = self._skip_past(f"\\end{{{environment.group(1)}}}")
            if found is not None and name in known.VERBATIM and self._text[begin:found].strip():
                yield Piece("break", start, start, "code")
                yield Piece("code", begin, found, self._text[begin:found])
                yield Piece("break", found, found, "code")
            elif found is not None and name in known.PICTURES:
                yield Piece("drawing", start, self._position, self._text[start : self._position])
            return
        yield Piece("break", start, self._position, known.ENVIRONMENTS.get(name, "paragraph"))
        if name in _ELEMENTS:
            yield Piece("open", start, self._position, _ELEMENTS[name])
        if name in known.TABLES:
            self._tables += 1
            yield Piece("open", start, self._position, "td")
        if name in known.ENVIRONMENTS:
            self._skip_options()
        else:
            yield from self._theorem_name()
        for _ in range(known.ENVIRONMENT_ARGUMENTS.get(name, 0)):
            self._skip_group()

    def _theorem_name(self) -> Iterator[Piece]:
        """Yield the name of a theorem, in brackets, as a heading of its own."""
        option = _OPTION.match(self._text, self._position, self._end)
        if option is None or option.group(1) == "asy" or not any(map(str.isalpha, option.group(1))):
            return
        self._position, stop = option.span(1)
        yield Piece("open", *option.span(1), "h2")
        while self._position < stop and (token := _TOKEN.match(self._text, self._position, stop)):
            self._position = token.end()
            yield from self._token(token)
        self._position = max(self._position, option.end())
        yield Piece("break", option.end(), option.end(), "heading")
        yield Piece("close", option.end(), option.end(), "h2")

    def _end_environment(self, start: int) -> Iterator[Piece]:
        environment = _ENVIRONMENT.match(self._text, self._position)
        if environment is not None:
            self._position = environment.end()
            name = environment.group(1).rstrip("*")
            self._tables -= name in known.TABLES
            yield Piece("break", start, self._position, known.ENVIRONMENTS.get(name, "paragraph"))
            if name in _ELEMENTS:
                yield Piece("close", start, self._position, _ELEMENTS[name])

    def _symbol(self, symbol: str, start: int, end: int) -> Iterator[Piece]:
        if symbol in known.ACCENTS:
            yield from self._accent(symbol, start)
        elif symbol == "\\":
            yield Piece("break", start, end, "cell" if self._tables > 0 else "line")
            if self._tables > 0:
                yield from (Piece("close", start, end, "tr"), Piece("open", start, end, "td"))
            self._skip_options()
        elif symbol not in "-/@()[]":
            yield Piece("text", start, end, " " if symbol in " ,;:!>\n\t" else symbol)

    def _accent(self, name: str, start: int) -> Iterator[Piece]:
        letter = _ACCENTED.match(self._text, self._position)
        if letter is not None and (
            name not in known.ACCENT_WORDS or not letter.group(2) or letter.group()[0] in " \\"
        ):
            self._position = letter.end()
            base = letter.group(1) or letter.group(2)
            combined = unicodedata.normalize("NFC", base + known.ACCENTS[name])
            yield Piece("text", start, self._position, combined)

    def _heading(self, element: str, start: int) -> Iterator[Piece]:
        self._skip_options()
        close = self._group_end(self._position)
        yield Piece("break", start, self._position, "heading")
        if close is not None:
            yield Piece("open", start, self._position, element)
            self._at[close] = element

    def _emphasis(self, name: str, start: int) -> Iterator[Piece]:
        """Yield the beginning of what a command sets apart: its argument, or what follows in its group."""
        self._skip_options()
        is_switch = name in known.SWITCHES
        if is_switch and self._text[start - 1 : start] != "{":
            return
        close = self._group_end(start - 1 if is_switch else self._position)
        if close is not None and close not in self._at:
            yield Piece("open", start, self._position, known.EMPHASIS[name])
            self._at[close] = known.EMPHASIS[name]

    def _reference(self, name: str, start: int) -> Iterator[Piece]:
        """Yield a link piece, `#` and the labels, that covers the whole reference; then what it is called.

        A page shows a number there. The words of its label say what the reference is to, where an author gave it such.
        """
        options = self._options()
        group = _SHORT_GROUP.match(self._text, self._position)
        if group is None:
            return
        self._position = group.end()
        label = f"#{group.group(1).strip()}"
        yield Piece("link", start, self._position, label, attributes=(("class", name),))
        word = known.REFERENCES.get(name, "?")
        if word == "?":
            prefix = re.split(r"[:\-_,]", group.group(1).strip().lower(), maxsplit=1)[0]
            own = "" if name in known.REFERENCES else name[:-3]
            word = known.REFERENCE_WORDS.get(prefix) or known.REFERENCE_WORDS.get(own, "reference")
        elif word == "author":
            author = _AUTHOR.match(group.group(1))
            word = author.group().capitalize() if author else ""
        elif word == "*" and not (
            self._text[start - 1 : start] == "(" and self._text[self._position : self._position + 1] == ")"
        ):
            word = ""
        if name not in known.CITATIONS and (called := label_words(group.group(1))):
            word = f"({called})" if word == "(*)" else " ".join((*_named(word), called))
        note = options[-1].replace("~", " ").strip() if options and name in known.CITATIONS else ""
        said = f"{word} ({note})".strip() if _WORD.search(note) else word
        if said:
            yield Piece("text", start, self._position, said)
        yield Piece("close", self._position, self._position, "a")

    def _words_with_link(self, name: str, start: int) -> Iterator[Piece]:
        """Yield `\\hyperref[label]{words}` and `\\hyperlink{label}{words}`: a link piece over the words, which are read on."""
        if name == "hyperref":
            options = self._options()
            label = options[-1] if options else ""
        elif group := _SHORT_GROUP.match(self._text, self._position):
            label, self._position = group.group(1), group.end()
        else:
            return
        close = self._group_end(self._position)
        if label.strip():
            yield Piece("link", start, self._position, f"#{label.strip()}", attributes=(("class", name),))
            if close is None:
                yield Piece("close", self._position, self._position, "a")
            else:
                self._at[close] = "a"

    def _verb(self) -> Iterator[Piece]:
        start = self._position
        delimiter = self._text[start : start + 1]
        close = (
            self._text.find(delimiter, start + 1, start + 1000)
            if delimiter and not delimiter.isspace()
            else -1
        )
        if close > 0:
            self._position = close + 1
            if close > start + 1:
                yield Piece("code", start + 1, close, self._text[start + 1 : close])

    def _link(self, name: str, start: int) -> Iterator[Piece]:
        self._skip_options()
        if group := _SHORT_GROUP.match(self._text, self._position):
            self._position = group.end()
            yield Piece("link", start, self._position, group.group(1).strip())
            if name == "url":
                yield Piece("text", group.start(1), group.end(1), group.group(1))
            elif (close := self._group_end(self._position)) is not None:
                self._at[close] = "a"
                return
            yield Piece("close", self._position, self._position, "a")

    def _ensuremath(self, start: int) -> Iterator[Piece]:
        close = self._group_end(self._position)
        if close is not None:
            latex, _ = strip_punctuation(self._text[self._text.index("{", self._position) + 1 : close])
            self._position = close + 1
            if latex:
                yield Piece("formula", start, self._position, latex)

    def _skip_options(self) -> None:
        self._options()

    def _options(self) -> list[str]:
        """Skip the options in brackets at the current position and return their texts."""
        found: list[str] = []
        while option := _OPTION.match(self._text, self._position):
            self._position = option.end()
            found.append(option.group(1))
        return found

    def _skip_group(self) -> None:
        close = self._group_end(self._position)
        if close is not None:
            self._position = close + 1

    @cached_property
    def _definitions(self) -> dict[int, int]:
        """Where each definition of the text begins and ends."""
        return {start: end for start, end, _ in definition_places(self._text)}

    def _skip_past(self, closing: str) -> int | None:
        """Step over everything to the end of `closing`; return where `closing` begins, or `None` if it is missing."""
        found = -1 if closing in self._never else self._text.find(closing, self._position, self._end)
        if found < 0:
            if closing not in self._never:
                self._note(f"no {closing}", self._position)
            self._never.add(closing)
            return None
        self._position = found + len(closing)
        return found

    def _group_end(self, position: int) -> int | None:
        """Return where the group that begins at `position`, blanks aside, is closed; `None` where there is none."""
        end = self._groups.end(position, len(self._text))
        return None if end is None else end - 1


def _named(word: str) -> tuple[str, ...]:
    """Return the kind of thing that a reference is to, where it is known."""
    return (word,) if word not in ("", "*", "reference") else ()


def strip_comments(text: str) -> str:
    """Return the text with blanks for its comments, so that offsets stay."""
    return _COMMENT.sub(lambda match: " " * len(match.group()) if match["comment"] else match.group(), text)

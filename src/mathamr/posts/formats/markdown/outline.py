"""Cuts a note into posts: the note or its sections, and the statements in it."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from markdown_it.common.utils import normalizeReference
from markdown_it.token import Token

from mathamr.posts.formats.markdown.directive import OPTION, Directive
from mathamr.posts.formats.markdown.frontmatter import FrontMatter
from mathamr.posts.formats.markdown.pieces import normalise_line_ends, parser, strip_options
from mathamr.posts.formats.outline import Headings, OutlinePart, slug, stands_alone
from mathamr.posts.identifiers import unique
from mathamr.posts.markup import pieces
from mathamr.posts.postkind import ANSWERING, ASKING, PostKind, kind_named

LABEL = re.compile(
    r"""^[ \t>]*\((?P<target>[^()\n]{1,200})\)=[ \t\r]*$  # MyST
    |^[ \t>]*:(?:label|name):[ \t]*(?P<option>\S{1,200})  # an option of a directive
    |\{[^{}\n]{0,100}?\#(?P<attribute>[\w:.-]{1,200})[^{}\n]{0,200}\}  # Pandoc and Quarto
    |\$\$[ \t]*\((?P<equation>[A-Za-z][\w:.-]{1,200})\)[ \t\r]*$
    |\\label\{(?P<latex>[^{}\n]{1,200})\}
    |(?:^|[ \t])\^(?P<block>[A-Za-z0-9-]{1,100})[ \t\r]*$  # a block of Obsidian""",
    re.M | re.X,
)
"""Labels in all dialects; the id of an Obsidian block keeps its `^`."""

_ATTRIBUTES = re.compile(r"(?<![ \t])[ \t]*+\{[^{}\n]{0,300}\}[ \t]*+\Z")
_IDENTIFIER = re.compile(r"#([\w:.-]+)")
_CALL_OUT = re.compile(r"[ \t]{0,3}>[ \t]*\[!([A-Za-z]{1,40})(?:\|[^\]\n]{0,300})?\][+-]?(.*)")
_BLOCK = re.compile(r"\^([A-Za-z0-9-]{1,100})")
_MARKED = re.compile(r"(\*{1,2}|_{1,2})((?:(?!\1).)+)\1")
_STATED = ASKING - {"question", "fact", "problem"} | {"definition", "axiom", "proof"}
"""Kinds of call-outs that are posts of their own; others, such as notes and examples, belong to the text around them."""
_TITLED = re.compile(r"[\W_]*+([^\W\d_]++)(?:[ ~][\dA-Z][\w.]{0,20})?[*_]*[ ]*(?:\Z|[:(.–—-])")
"""A title that says what a box holds: `Theorem 2.1 (Euler)`, `Definition: group`, `Proof.`"""
_UNTELLING = frozenset(["readme", "index", "_index"])
"""Names of files that say nothing about them: the only heading of level 1 says more, wherever it stands, as does one that
MyST refers to."""
LONGEST_DEFINITION = 500
"""Characters of a link's definition that is repeated in each part that uses it."""
_NAMED = re.compile(r"\[((?:[^\[\]\\]|\\.){1,300})\]")
_NAMED_WORDS = re.compile(r"\[(?P<words>[^\[\]]{1,300})\](?:\[(?P<label>[^\[\]]{0,300})\]|(?!\())")
_WORD = re.compile(r"\S+")
_LETTERS = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a note: its level, its text without attributes, its label, its lines [first, last).

    `targets` are what MyST calls it on the lines above, from `lead` on: `(name)=`.
    """

    level: int
    text: str
    first: int
    last: int
    label: str = ""
    targets: tuple[str, ...] = ()
    lead: int = 0


@dataclass(eq=False)
class NotePart(OutlinePart):
    """A part of a note: its id is its anchor, empty for the note itself; `spans` are the stretches of the text that are its body."""

    spans: list[tuple[int, int]] = field(default_factory=list)

    def take_body(self, text: str) -> str:
        """Return the text of the part, and keep it as its body."""
        self.body = "\n".join(text[start:end] for start, end in self.spans)
        return self.body


def labels_in(text: str) -> Iterator[str]:
    """Yield the labels that a text gives to itself and to what stands in it."""
    for match in LABEL.finditer(text):
        yield f"^{match['block']}" if match["block"] else next(filter(None, match.groups()))


def outline(text: str, front: FrontMatter, name: str) -> list[NotePart]:
    """Return the parts of a note: itself or its sections, and after each the statements that stand in it.

    The title is that of the front matter, or a first heading of level 1 with no words above it, or the file's name. A
    short note stays whole but for statements (`{prf:theorem}`, `::: {#thm-…}`, `> [!theorem]`), which are posts of their own. A long one
    is cut before headings, small sections joined to the next. A section's titles are the headings above it.
    """
    return _Outline(text, front, name).parts()


class _Outline:
    def __init__(self, text: str, front: FrontMatter, name: str) -> None:
        self._text, self._front = text, front
        body = normalise_line_ends(text[front.end :])
        self._starts = [front.end]
        for line in body.split("\n"):
            self._starts.append(min(self._starts[-1] + len(line) + 1, len(text)))
        self._first_line = text.count("\n", 0, front.end) + 1
        env: dict[str, Any] = {}
        tokens = parser().blocks(body, env)
        self._definitions: dict[str, dict[str, Any]] = env.get("references", {})
        found = [replace(each, text=self._named(each.text)) for each in headings(tokens)]
        lines = body.split("\n")
        stated = list(_statements(tokens, lines, found))
        self._statements = sorted([*stated, *_headed(found, stated, lines)], key=lambda each: each.line)
        self._stated_at = [each.line for each in self._statements]
        self._headings = [heading for heading in found if not self._is_stated(heading)]
        self._title(name)

    def _is_stated(self, heading: Heading) -> bool:
        """Return whether a heading stands in a statement."""
        before = bisect_right(self._stated_at, heading.first) - 1
        return before >= 0 and heading.first < self._statements[before].last

    def _title(self, name: str) -> None:
        """Find the title, and where the text below it begins."""
        found, self.title = self._headings, self._front.title
        self._start = self._front.end
        self._line = self._line_of(self._start)
        self._label = ""
        self._inside: list[str] = []
        if not found:
            self.title = self.title or name
            return
        above = self._text[self._front.end : self._starts[found[0].first]]
        plain = found[0].text
        if _is_no_prose(above) and ((found[0].level == 1 and not self.title) or self.title == plain):
            self.title = self.title or plain
            self._start = self._starts[found[0].last]
            self._line = self._first_line + found[0].first
            self._label, *self._inside = list(filter(None, [found[0].label, *labels_in(above)])) or [""]
            self._headings = found[1:]
        first = [each for each in found if each.level == 1 and each.text]
        if len(first) == 1 and (name.lower() in _UNTELLING or first[0].targets):
            name = first[0].text
        self.title = self.title or name

    def parts(self) -> list[NotePart]:
        """Return the note's parts in order, each section followed by its statements."""
        found: list[NotePart] = []
        sections = self._sections()
        taken: dict[str, int] = {part.id: 1 for part in sections}
        for section in sections:
            start, end = section.spans[0]
            lines = (bisect_left(self._starts, start), bisect_left(self._starts, end))
            first, last = (bisect_left(self._stated_at, line) for line in lines)
            stated = self._statements[first:last]
            section.spans = self._around(start, end, stated)
            body = section.take_body(self._text)
            section.inside += labels_in(body)
            following = list(self._make_statements(stated, section.headings, taken))
            if not body.strip() and following:  # nothing but statements: the first stands for them
                following[0].id = section.id
            else:
                found.append(section)
            found += following
        for part in found if len(found) > 1 and self._definitions else ():
            part.spans += self._find_definitions(part)
            part.take_body(self._text)
        return found

    def _find_definitions(self, part: NotePart) -> list[tuple[int, int]]:
        """Return the lines of other parts that define the links which a part names by a label: `[label]: address`."""
        found: dict[tuple[int, int], None] = {}
        for match in _NAMED.finditer(part.body):
            if definition := self._definitions.get(normalizeReference(match[1])):
                first, last = (self._starts[line] for line in definition["map"])
                is_own = any(start <= first < end for start, end in part.spans)
                if not is_own and last - first <= LONGEST_DEFINITION:
                    found[max(first - 1, 0), last] = (
                        None  # with the line end before it: a paragraph may end here
                    )
        return list(found)

    def _named(self, heading: str) -> str:
        """Return a heading with the words of its links alone, where these name their address by a label."""

        def words(match: re.Match[str]) -> str:
            label = normalizeReference(match["label"] or match["words"])
            return match["words"] if label in self._definitions else match.group()

        return _NAMED_WORDS.sub(words, heading) if self._definitions else heading

    def _sections(self) -> list[NotePart]:
        whole = [(self._start, len(self._text))]
        parts = [NotePart("note", (self.title,), self._line, self._label, inside=self._inside, spans=whole)]
        spans = [(self._starts[heading.lead], self._starts[heading.last]) for heading in self._headings]
        alone = stands_alone(self._start, spans, len(self._text), self._words)
        above = Headings()
        taken: dict[str, int] = {}
        for heading, (start, body), is_alone in zip(self._headings, spans, alone, strict=True):
            headings = above.enter(heading.level, heading.text)
            if is_alone:
                parts[-1].spans = [(parts[-1].spans[0][0], start)]
                titles = tuple(dict.fromkeys([self.title, *filter(None, headings)]))
                line = self._first_line + heading.first
                anchor = unique(heading.label or slug(heading.text), taken, 1)
                label, *inside = list(filter(None, [heading.label, *heading.targets])) or [""]
                span = (body, len(self._text))
                parts.append(NotePart("section", titles, line, label, anchor, inside=inside, spans=[span]))
        return parts

    def _make_statements(
        self, statements: list[_Statement], titles: tuple[str, ...], taken: dict[str, int]
    ) -> Iterator[NotePart]:
        """Yield the posts of statements; a proof belongs to the statement before it."""
        statement: NotePart | None = None
        for each in statements:
            span = (self._starts[each.begin], self._starts[each.end])
            body = self._text[slice(*span)]
            named = each.title or each.kind.capitalize()
            proves = statement if each.kind in ANSWERING else None
            anchor = each.label or (slug(each.title) if each.title else f"{each.kind}-{_digest(body)}")
            if proves is not None and not each.label:
                anchor = f"{proves.id}/{each.kind}"
            line, own = self._first_line + each.line, unique(anchor, taken, 1)
            label, *others = list(filter(None, [each.label, *each.targets])) or [""]
            part = NotePart(each.kind, (*titles, named), line, label, own, body, [*others, *labels_in(body)])
            part.spans = [span]
            if proves is not None:
                part.statement = proves
                proves.proofs.append(part)
            elif each.kind in ASKING:
                statement = part
            yield part

    def _around(self, start: int, end: int, statements: list[_Statement]) -> list[tuple[int, int]]:
        """Return the stretch [start, end) of the text without the statements in it."""
        spans, done = [], start
        for each in statements:
            spans.append((done, self._starts[each.lead]))
            done = self._starts[each.last]
        spans.append((done, end))
        return [(first, last) for first, last in spans if self._text[first:last].strip()] or [(start, start)]

    def _words(self, start: int, end: int) -> int:
        return sum(1 for _ in _WORD.finditer(self._text, start, end))

    def _line_of(self, offset: int) -> int:
        """Return the line at which the text from an offset says something."""
        line = bisect_right(self._starts, offset) - 1
        while (
            line < len(self._starts) - 2
            and not self._text[self._starts[line] : self._starts[line + 1]].strip()
        ):
            line += 1
        return self._first_line + line


@dataclass(frozen=True, slots=True)
class _Statement:
    """A theorem-like block: its lines [line, last) with its fences, [begin, end) without, and the targets above from `lead` on."""

    kind: PostKind
    title: str
    label: str
    line: int
    last: int
    begin: int
    end: int
    targets: tuple[str, ...]
    lead: int


class _Targets:
    """The lines `(name)=` of MyST directly above the block that is read."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._first = 0

    def above(self, token: Token) -> tuple[tuple[str, ...], int]:
        """Return the names that stand above a block, and the line from which on they and the block do."""
        return tuple(self._names), self._first if self._names else (token.map or [0])[0]

    def after(self, token: Token) -> None:
        """Go on behind a block."""
        if token.type == "target" and not token.level:
            self._first = self._first if self._names else (token.map or [0])[0]
            self._names.append(token.content)
        else:
            self._names.clear()


def headings(tokens: list[Token]) -> Iterator[Heading]:
    """Yield the headings that stand in no other block."""
    targets = _Targets()
    for place, token in enumerate(tokens):
        named = targets.above(token)
        targets.after(token)
        if token.type == "heading_open" and token.level == 0 and token.map:
            text = tokens[place + 1].content
            attributes = _ATTRIBUTES.search(text)
            label = _IDENTIFIER.search(attributes.group()) if attributes else None
            bare = text[: attributes.start()] if attributes and attributes.start() else text
            first, last = token.map
            yield Heading(
                int(token.tag[1]), " ".join(bare.split()), first, last, label[1] if label else "", *named
            )


def _statements(tokens: list[Token], lines: list[str], known: list[Heading]) -> Iterator[_Statement]:
    """Yield the theorem-like blocks that stand in no other block, in order."""
    divs: list[tuple[Directive, Token, tuple[tuple[str, ...], int]]] = []
    started: _Statement | None = None
    targets = _Targets()
    for token in tokens:
        named = targets.above(token)
        targets.after(token)
        if token.level or not token.map:
            continue
        if token.type == "fence" and not divs:
            directive = token.meta.get("directive") or Directive.of_fence(token.info, 0)
            boxed = _kind_titled(directive.title) if directive and directive.is_box else None
            if directive and directive.ends and started:
                yield replace(started, end=token.map[0], last=token.map[1])
                started = None
            elif directive and (kind := directive.statement or boxed):
                options, content = strip_options(token.content)
                begin = token.map[0] + 1 + options
                option = _options(lines[token.map[0] + 1 : begin])
                label = directive.label or option
                end = min(begin + content.count("\n"), token.map[1])
                first, last = token.map
                stated = _Statement(kind, directive.title, label, first, last, begin, end, *named)
                if directive.starts:
                    started = started or replace(stated, begin=last)
                elif not started:
                    yield stated
        elif token.type == "blockquote_open" and not divs and not started:
            if (called_out := _of_call_out(token, lines, named)) is not None:
                yield called_out
        elif token.type == "div":
            directive = token.meta["directive"]
            if directive is not None:
                divs.append((directive, token, named))
            elif divs:
                directive, opening, named = divs.pop()
                if divs:
                    continue
                in_div = _of_div(directive, opening, token, known, lines, named)
                if directive.ends and started:
                    yield replace(started, end=(opening.map or [0])[0], last=token.map[1])
                    started = None
                elif in_div and directive.starts:
                    started = started or replace(in_div, begin=token.map[1])
                elif in_div and not started:
                    yield in_div


def _headed(known: list[Heading], stated: list[_Statement], lines: list[str]) -> Iterator[_Statement]:
    """Yield what stands below headings in italics or bold that say what it is: `##### _theorem:_`.

    The next heading of that level, or that says so too, or another statement ends it.
    """
    kinds = [_kind_titled(each.text) if each.text[:1] in ("*", "_") else None for each in known]
    for place, (heading, kind) in enumerate(zip(known, kinds, strict=True)):
        if kind is None or any(each.lead <= heading.first < each.last for each in stated):
            continue
        behind = zip(known[place + 1 :], kinds[place + 1 :], strict=True)
        ends = [each.lead for each, said in behind if said or each.level <= heading.level][:1]
        ends += [each.lead for each in stated if each.lead > heading.first][:1]
        last = min([*ends, len(lines)])
        if "".join(lines[heading.last : last]).strip():
            named = _MARKED.sub(r"\2", heading.text).strip("*_:. ")
            title = "" if named.lower() == kind else named
            first, begin = heading.first, heading.last
            yield _Statement(
                kind, title, heading.label, first, last, begin, last, heading.targets, heading.lead
            )


def _of_call_out(opening: Token, lines: list[str], named: tuple[tuple[str, ...], int]) -> _Statement | None:
    """Return a statement in a call-out of Obsidian, `> [!theorem] Title`; `None` if it is another one, or has no text."""
    first, last = opening.map or [0, 0]
    marked = _CALL_OUT.match(lines[first]) if last - first > 1 else None
    kind = kind_named(marked[1]) if marked else None
    if marked is None or kind is None or kind not in _STATED:
        return None
    behind = [line.strip() for line in lines[last : last + 2] if line.strip()]
    label = _BLOCK.fullmatch(behind[0]) if behind else None
    own = f"^{label[1]}" if label else ""
    return _Statement(kind, marked[2].strip(), own, first, last, first + 1, last, *named)


def _of_div(
    directive: Directive,
    opening: Token,
    closing: Token,
    known: list[Heading],
    lines: list[str],
    named: tuple[tuple[str, ...], int],
) -> _Statement | None:
    """Return a statement between lines of colons; a heading at its head is its title. `None` if it is another block."""
    first, begin = opening.map or [0, 0]
    end, last = closing.map or [0, 0]
    label = directive.label or opening.meta["options"].get("label") or opening.meta["options"].get("name", "")
    title = directive.title
    inner = bisect_left(known, begin, key=lambda heading: heading.first)
    if not title and inner < len(known) and known[inner].last <= end:
        heading = known[inner]
        if not "".join(lines[begin : heading.first]).strip():
            title, begin = heading.text, heading.last
    kind = directive.statement or (_kind_titled(title) if directive.is_box else None)
    if kind is None:
        return None
    return _Statement(kind, title, label, first, last, begin, end, *named)


def _kind_titled(title: str) -> PostKind | None:
    """Return what the title of a box says that it states: a theorem where it is `Theorem 2.1 (Euler)`.

    >>> _kind_titled("Theorem 2.1 (Euler)"), _kind_titled("**Proof.**"), _kind_titled("Theorem proving")
    ('theorem', 'proof', None)
    """
    named = _TITLED.match(title)
    kind = kind_named(named[1]) if named else None
    return kind if kind in _STATED else None


def _options(lines: list[str]) -> str:
    """Return the label among the options of a directive."""
    found = {match.group(1): match.group(2) for line in lines if (match := OPTION.match(line))}
    return found.get("label") or found.get("name", "")


def _is_no_prose(text: str) -> bool:
    """Return whether a text above a title holds no prose, only badges, labels, tags or comments."""
    if not text.strip():
        return True
    in_link = False
    for piece in pieces(text, "markdown"):
        if piece.kind == "formula":
            return False
        if piece.kind == "link" or (piece.kind == "close" and piece.text == "a"):
            in_link = piece.kind == "link"
        if piece.kind == "text" and not in_link:
            words = [word for word in piece.text.split() if not word.startswith("#")]
            if _LETTERS.search(" ".join(words)):
                return False
    return True


def _digest(text: str) -> str:
    return hashlib.sha256(" ".join(text.split()).encode("utf-8", "replace")).hexdigest()[:8]

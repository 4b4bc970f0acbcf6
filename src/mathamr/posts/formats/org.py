"""Org files of Emacs: headlines, drawers, blocks, links and LaTeX fragments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from mathamr.posts.format import Collection
from mathamr.posts.formats.document import Document, anchor, code, element, math, plain, row, text
from mathamr.posts.formats.indexentries import distinct, entry_of
from mathamr.posts.formats.markdown.blocks import open_display
from mathamr.posts.inputs import stem
from mathamr.posts.markup.delimiters import OPENING, MathScanner
from mathamr.posts.post import Post
from mathamr.posts.postkind import kind_named
from mathamr.posts.report import Report

_HEADLINE = re.compile(r"(\*+)[ \t]++(?:(?:TODO|DONE|NEXT|WAITING)[ \t]++)?+(?:\[#[A-Z]\][ \t]++)?+(.*)")
_TAGS = re.compile(r"(?<![ \t])[ \t]++:([\w@#%:]+):[ \t]*+\Z")
_KEYWORD = re.compile(r"[ \t]*+#\+([\w-]++):[ \t]*+(.*)")
_BLOCK = re.compile(r"[ \t]*+#\+begin_([\w*]++)[ \t]*+(.*)", re.I)
_PROPERTY = re.compile(r"[ \t]*+:([\w-]++):[ \t]*+(.*)")
_ITEM = re.compile(r"[ \t]*+(?:[-+]|\d++[.)]|(?<=[ \t])\*)[ \t]++(?:\[[ X-]\][ \t]++)?+(.*)")
_ATTRIBUTE = re.compile(r":name[ \t]++(\S++)|:title[ \t]++([^:]++)", re.I)
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_LABEL = re.compile(r"\\label\{([^{}]{1,200})\}")
_OPENS = re.compile(r"[ \t]*+\\begin\{([A-Za-z]++\*?)\}")
_INLINE = re.compile(
    r"""\[\[(?P<target>[^\[\]\n]{1,1000})\](?:\[(?P<words>[^\[\]]{1,1000})\])?\]
    |<<(?P<anchor>[^<>\n]{1,200})>>
    |\\(?:eq|c|C|auto)?ref\{(?P<reference>[^{}\n]{1,200})\}
    |\[cite(?:/[\w/-]{0,30})?:(?P<cited>[^\[\]\n]{1,1000})\]  # a citation, with words around its keys
    |(?<![\w/-])(?P<command>cite[a-z]{0,12}|label|(?:[cC]|eq|page|name|auto)?ref):&?(?P<named>[A-Za-z][\w:.&;,-]{0,200}(?<![.:;,-]))
    |\[fn:[^\[\]:\n]{0,200}(?::(?P<note>[^\[\]]{0,2000}))?\]
    |(?<![\w\\/:.])(?P<scripted>(?:[A-Za-z]|\\(?:[a-z]{2,}|[A-Z][a-z]{1,}))(?:[_^](?:\{[^{}\n]{1,60}\}|-?[A-Za-z0-9]{1,3}(?![A-Za-z0-9_]))){1,2})
    |\\(?P<entity>[Aa]lpha|[Bb]eta|[Gg]amma|[Dd]elta|(?:var)?epsilon|[Zz]eta|[Ee]ta|(?:var)?[Tt]heta|iota|[Kk]appa|[Ll]ambda|[Mm]u|[Nn]u|[Xx]i|[Pp]i|[Rr]ho|[Ss]igma|[Tt]au|[Uu]psilon|(?:var)?[Pp]hi|[Cc]hi|[Pp]si|[Oo]mega|infty|infin|to|in|leq?|geq?|neq?|cdot|times|forall|exists|emptyset|partial|nabla|sum|prod|int|cup|cap|subset|subseteq|rarr|rightarrow|Rightarrow)(?:\{\}|(?![A-Za-z]))
    |(?<!\w)\*(?P<bold>\S(?:[^\n*]{0,300}\S)?)\*(?!\w)
    |(?<![\w/:])/(?P<italic>\S(?:[^\n/]{0,300}\S)?)/(?![\w/])""",
    re.X,
)
_CITED = re.compile(r"@([\w:.#$%&+?<>~/-]*\w)")
_COMMAND = re.compile(r"(cite[a-z]{0,12}|label|(?:[cC]|eq|page|name|auto)?ref):&?(?=[A-Za-z@])")
_VERBATIM = re.compile(r"(?<![\w$])[=~](\S(?:[^\n=~]{0,300}\S)?)[=~](?!\w)")
_ENTITIES = {"infin": "infty", "rarr": "to"}
_HIDDEN = frozenset(["comment", "export", "results"])
_CODE = frozenset(["src", "example", "ascii", "verse_code"])


def read_org(collection: Collection, report: Report) -> Iterator[Post]:
    """Read Org files: `CUSTOM_ID`, `#+NAME` and `<<targets>>` are labels, `[[links]]` become links."""
    for file, path, source in collection.texts(report):
        document = Document(path, stem(Path(path)))
        _Org(document, source, report).read()
        yield from document.posts(file, report, collection.paths)


class _Org:
    """One pass over the lines of one file; `_paragraph` holds the lines since the last block."""

    def __init__(self, document: Document, source: str, report: Report) -> None:
        self._document, self._report = document, report
        self._lines = source.split("\n")
        self._paragraph: list[str] = []
        self._tag = "p"
        self._name = ""
        self._at = 0
        self._missing: set[str] = set()
        """Ends of blocks that the rest of the file does not have."""
        self._closing = ""
        """What closes the displayed formula that is open at the end of the paragraph."""

    def read(self) -> None:
        while self._at < len(self._lines):
            line = self._lines[self._at]
            self._at += 1
            self._line(line)
        self._flush()

    def _line(self, line: str) -> None:
        headline = _HEADLINE.fullmatch(line)
        if self._closing and line.strip() and not headline:
            self._continue(line)
        elif headline:
            self._headline(headline)
        elif block := _BLOCK.fullmatch(line):
            self._flush()
            self._block(block[1].lower(), block[2])
        elif line.lstrip().lower().startswith("#+end_"):
            self._flush()
            self._document.end()
        elif keyword := _KEYWORD.fullmatch(line):
            self._keyword(keyword[1].lower(), keyword[2].strip())
        elif line.strip().lower() in (":properties:", ":logbook:"):
            self._drawer()
        elif line.strip().lower() == ":end:":
            self._flush()
        elif line.lstrip().startswith("# ") or line.strip() == "#":
            return
        elif (opens := _OPENS.match(line)) and not self._paragraph:
            self._environment(line, opens[1])
        elif not line.strip():
            self._flush()
        elif item := _ITEM.fullmatch(line):
            self._flush()
            self._tag = "li"
            self._continue(item[1])
        elif line.lstrip().startswith("|") and self._is_row(line):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if not set(line.strip()) <= set("|-+: "):
                self._document.write(row(self._inline(cell) for cell in cells))
        elif line.lstrip().startswith(": "):
            self._flush()
            self._document.write(code(line.strip()[2:], block=True))
        else:
            self._continue(line)

    def _continue(self, line: str) -> None:
        """Add a line to the paragraph."""
        self._paragraph.append(line.strip())
        _, closing, after = line.partition(self._closing) if self._closing else ("", "", line)
        if closing or not self._closing:
            self._closing = open_display(after)

    def _is_row(self, line: str) -> bool:
        """Return whether a line that begins with a bar is a row of a table, and not an equation such as `|G| = p`."""
        if line.rstrip().endswith("|"):
            return True
        around = (
            self._lines[self._at - 2] if self._at > 1 else "",
            "".join(self._lines[self._at : self._at + 1]),
        )
        return not self._paragraph and any(each.lstrip().startswith("|") for each in around)

    def _headline(self, headline: re.Match[str]) -> None:
        self._flush()
        line = self._at
        title = _TAGS.sub("", headline[2])
        tags = headline[2][len(title) :].strip().strip(":").split(":")
        label = ""
        if self._at < len(self._lines) and self._lines[self._at].strip().lower() == ":properties:":
            self._at += 1
            label = self._drawer()
        written = self._inline(title)
        self._document.heading(len(headline[1]), plain(written), line, label)
        self._document.index(filter(None, map(entry_of, tags)))

    def _drawer(self) -> str:
        """Skip the properties in a drawer; return the `CUSTOM_ID` or `ID` among them."""
        label = ""
        while self._at < len(self._lines):
            found = _PROPERTY.fullmatch(self._lines[self._at])
            if found is None:
                break
            self._at += 1
            if found[1].lower() == "end":
                break
            if found[1].lower() in ("custom_id", "id") and (not label or found[1].lower() == "custom_id"):
                label = found[2].strip()
        return label

    def _keyword(self, name: str, value: str) -> None:
        self._flush()
        if name == "title" and value:
            self._document.title = plain(self._inline(value))
        elif name == "filetags":
            self._document.tags = tuple(tag for tag in re.split(r"[:\s]+", value) if tag)
        elif name == "keywords":
            self._document.keywords = distinct(entry_of(each) for each in value.split(","))
        elif name in ("index", "cindex"):
            self._document.index([entry_of(*value.split("!"))])
        elif name == "date" and (date := _DATE.search(value)):
            self._document.date = date.group()
        elif name == "name":
            self._name = value
        elif name in ("caption", "subtitle", "description"):
            self._document.write(element("p", self._inline(value)))
        elif name == "include":
            self._report.skip("insertion not followed", f"an Org file includes {value[:100]!r}")

    def _block(self, name: str, rest: str) -> None:
        first = self._at
        if name in _CODE or name in _HIDDEN:
            self._document.label(self._name)
            self._name = ""
            lines = self._until(f"#+end_{name}")
            if name == "export" and lines:
                self._report.skip(
                    "insertion not followed", f"text for export alone: {' '.join(lines)[:100]!r}"
                )
            if name in _CODE and any(line.strip() for line in lines):
                self._document.write(code("\n".join(lines), block=True))
            return
        kind = kind_named(name)
        if kind is None:
            self._document.begin_plain()
            return
        names = dict.fromkeys(("name", "title"), "")
        for found in _ATTRIBUTE.finditer(rest):
            names["name" if found[1] else "title"] = (found[1] or found[2]).strip()
        title = kind.capitalize() + (f" ({names['title']})" if names["title"] else "")
        self._document.begin(kind, title, first, self._name or names["name"])
        self._name = ""

    def _until(self, end: str) -> list[str]:
        """Return the lines before a mark; none, with a report, if it is missing: they are read as text."""
        first = self._at
        if end in self._missing:
            return []
        while self._at < len(self._lines):
            self._at += 1
            if self._lines[self._at - 1].strip().lower() == end:
                return self._lines[first : self._at - 1]
        self._report.repair("unclosed block", f"no {end} after line {first}; what follows is read as text")
        self._missing.add(end)
        self._at = first
        return []

    def _environment(self, first: str, name: str) -> None:
        lines = [first]
        while (
            f"\\end{{{name}}}" not in lines[-1]
            and self._at < len(self._lines)
            and self._lines[self._at].strip()
        ):
            lines.append(self._lines[self._at])
            self._at += 1
        self._paragraph = lines
        self._flush()

    def _flush(self) -> None:
        lines, self._paragraph, self._closing = self._paragraph, [], ""
        tag, self._tag = self._tag, "p"
        if lines:
            self._document.label(self._name)
            self._name = ""
            self._document.write(element("li" if tag == "li" else "p", self._inline("\n".join(lines))))

    def _inline(self, source: str) -> str:
        """Return text with formulas and verbatim words, whichever comes first, and between them links and emphasis."""
        scanner = MathScanner(source)
        parts: list[str] = []
        done = position = 0
        verbatim = _VERBATIM.search(source)
        while match := OPENING.search(source, position):
            while verbatim and verbatim.start() < position:
                verbatim = _VERBATIM.search(source, position)
            if verbatim and verbatim.start() < match.start():
                parts += [self._marked(source[done : verbatim.start()]), code(verbatim[1])]
                done = position = verbatim.end()
                continue
            position = match.end()
            region = scanner.at(match)
            if region is None:
                continue
            if region == "unclosed":
                self._report.note(f"unclosed {match.group()}", match.start())
                continue
            parts.append(self._marked(source[done : region.start]))
            for label in _LABEL.findall(region.latex):
                self._document.label(label)
            parts.append(math(region.latex, display=region.display))
            if region.tail is not None:
                parts.append(text(source[region.tail]))
            done = position = region.end
        for verbatim in _VERBATIM.finditer(source, done):
            parts += [self._marked(source[done : verbatim.start()]), code(verbatim[1])]
            done = verbatim.end()
        parts.append(self._marked(source[done:]))
        return "".join(parts)

    def _marked(self, source: str) -> str:
        parts: list[str] = []
        done = 0
        for match in _INLINE.finditer(source):
            parts.append(text(source[done : match.start()]))
            done = match.end()
            if match["target"]:
                parts.append(self._link(match["target"], match["words"]))
            elif match["anchor"]:
                self._document.label(match["anchor"])
            elif match["reference"]:
                self._document.refer(f"#{match['reference']}", "(*)")
                parts.append(anchor(f"#{match['reference']}", "(*)"))
            elif match["cited"]:
                for key in _CITED.findall(match["cited"]):
                    self._document.refer(f"#{key}", "")
            elif match["command"]:
                parts.append(self._command(match["command"], re.split("[;,]", match["named"])))
            elif match["note"]:
                parts.append(f" ({text(match['note'].strip())})")
            elif match["scripted"]:
                parts.append(math(match["scripted"]))
            elif match["entity"]:
                parts.append(math("\\" + _ENTITIES.get(match["entity"], match["entity"])))
            elif match["bold"] or match["italic"]:
                name = "strong" if match["bold"] else "em"
                parts.append(f"<{name}>{text(match['bold'] or match['italic'])}</{name}>")
        parts.append(text(source[done:]))
        return "".join(parts)

    def _command(self, command: str, names: list[str]) -> str:
        """Return what a page shows of a link of org-ref: nothing of a label or a citation, a sign for a reference."""
        for name in names:
            if command == "label":
                self._document.label(name)
            else:
                self._document.refer(f"#{name.lstrip('&')}", "" if command.startswith("cite") else "(*)")
        return "" if command.startswith(("cite", "label")) else anchor(f"#{names[0]}", "(*)")

    def _link(self, target: str, words: str | None) -> str:
        if (command := _COMMAND.match(target)) and not words:
            return self._command(command[1], re.split("[;,]", target[command.end() :]))
        shown_words = text(words or target.removeprefix("file:").lstrip("#*"))
        if re.match(r"(?:https?|mailto|doi):", target):
            return anchor(target, shown_words)
        if re.search(r"\.(?:png|jpe?g|svg|gif)\Z", target) and not words:
            return ""
        if target.startswith("file:") or target.endswith(".org") or ".org::" in target:
            address = target.removeprefix("file:").replace("::", "#").replace("##", "#").replace("#*", "#")
        else:
            address = "#" + target.removeprefix("id:").lstrip("#*")
        self._document.refer(address, plain(shown_words))
        return anchor(address, shown_words)

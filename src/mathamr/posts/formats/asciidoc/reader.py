"""AsciiDoc: sections, blocks, cross references, and formulas in LaTeX (`latexmath`) or AsciiMath (`stem`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from mathamr.formulas.typed.asciimath import asciimath_to_latex
from mathamr.posts.format import ASCIIDOC_SUFFIXES, Collection
from mathamr.posts.formats.document import Document, anchor, code, element, math, plain, row, text
from mathamr.posts.formats.indexentries import entry_of
from mathamr.posts.inputs import stem
from mathamr.posts.post import Post
from mathamr.posts.postkind import kind_named
from mathamr.posts.report import Report

_HEADING = re.compile(r"(={1,6})[ \t]++(\S.*)")
_ENTRY = re.compile(r":(!?[\w-]++!?):[ \t]*+(.*)")
_LABEL = re.compile(r"\[\[([^\[\],]{1,200})(?:,[^\[\]]{0,200})?\]\]")
_ATTRIBUTES = re.compile(r"\[([^\[\]]{0,500})\]")
_IDENTIFIED = re.compile(r"#([\w:.-]{1,200})|\bid=\"?([\w:.-]{1,200})")
_FENCES = re.compile(r"(?:-{4,}|={4,}|\.{4,}|\*{4,}|_{4,}|\+{4,}|/{4,}|`{3}\w*|--|\|===)[ \t]*+")
_ITEM = re.compile(r"[ \t]*+(?:\*{1,5}|\.{1,5}|-|\d++\.)[ \t]++(\S.*)")
_TERM = re.compile(r"(\S.{0,200}?)::(?:[ \t]++(\S.*))?")
_DROPPED = re.compile(r"(?:toc|ifdef|ifndef|endif|ifeval)::?.*|(?:image|video|audio)::[^\[\]]*(?:\[(.*)\])?")
_INCLUDE = re.compile(r"include::(.*)\[[^\[]*\][ \t]*+")
_INLINE = re.compile(
    r"""(?P<math>stem|latexmath|asciimath):\[(?P<formula>(?:[^\[\]\\]|\\.|\[[^\[\]]{0,500}\]){0,5000}+)\]
    |\$\$(?P<old>[^$]{1,2000})\$\$
    |\[\[(?P<anchor>[^\[\],]{1,200})(?:,[^\[\]]{0,200})?\]\]
    |<<(?P<target>[^<>,\n]{1,300})(?:,(?P<words>[^<>]{1,500}))?>>
    |xref:(?P<xref>[^\[\]\s]{1,300})\[(?P<xwords>[^\[\]]{0,500})\]
    |(?:link:)?(?P<url>(?:https?://|(?<=link:))[^\[\]\s]{1,500})\[(?P<uwords>[^\[\]]{0,500})\]
    |(?P<macro>footnote|footnoteref|image|icon|kbd|btn):[^\[\]\s]{0,200}\[(?P<said>[^\[\]]{0,2000})\]
    |indexterm:\[(?P<entry>[^\[\]]{0,500})\]|indexterm2:\[(?P<seen>[^\[\]]{0,500})\]
    |\(\(\((?P<hidden>[^()]{1,200})\)\)\)|(?<!\()\(\((?P<shown>[^()\n]{1,200})\)\)(?!\))
    |(?<!\w)`(?P<code>\S(?:[^\n`]{0,300}\S)?)`(?!\w)
    |(?<!\w)\*(?P<bold>\S(?:[^\n*]{0,300}\S)?)\*(?!\w)
    |(?<!\w)_(?P<italic>\S(?:[^\n_]{0,300}\S)?)_(?!\w)""",
    re.X,
)
_UNDERLINES = "=-~^+"
_MATH = ("stem", "latexmath", "asciimath")


def read_asciidoc(collection: Collection, report: Report) -> Iterator[Post]:
    """Read AsciiDoc: `[[anchors]]` are labels, `<<references>>` and `xref:` become links.

    `stem` is LaTeX if the document sets `:stem: latexmath`, else AsciiMath, which is translated to LaTeX.
    """
    for file, path, source in collection.texts(report):
        document = Document(path, stem(Path(path)))
        _Asciidoc(document, source, report).read()
        yield from document.posts(file, report, collection.paths)


class _Asciidoc:
    """Reads the lines of one file; attributes and a title in front of a block are kept until the block begins."""

    def __init__(self, document: Document, source: str, report: Report) -> None:
        self._document, self._report = document, report
        self._lines = source.split("\n")
        self._at = 0
        self._paragraph: list[str] = []
        self._style = self._block_title = self._label = ""
        self._attributes: dict[str, str] = {"stem": "asciimath"}
        self._open: list[tuple[str, bool]] = []
        self._has_title = False
        self._missing: set[str] = set()
        """Ends of blocks that the rest of the file does not have."""
        self._item = False

    def read(self) -> None:
        while self._at < len(self._lines):
            line = self._lines[self._at].rstrip()
            self._at += 1
            self._line(line)
        self._flush()

    def _line(self, line: str) -> None:
        if not line.strip():
            self._flush()
        elif line.startswith("//") and not line.startswith("////"):
            return
        elif heading := _HEADING.fullmatch(line):
            self._section(len(heading[1]), heading[2], self._at)
        elif not self._paragraph and (entry := _ENTRY.fullmatch(line)):
            self._entry(entry[1], entry[2])
        elif (level := self._underlines(line)) is not None:
            title = self._paragraph.pop()
            self._section(level, title, self._at - 1)
        elif _FENCES.fullmatch(line):
            self._fence(line.strip())
        elif included := _INCLUDE.fullmatch(line):
            self._report.skip("insertion not followed", f"an AsciiDoc file includes {included[1][:100]!r}")
        elif dropped := _DROPPED.fullmatch(line):
            self._flush()
            self._write_title()
            self._document.write(element("p", text(_alternative(dropped[1] or ""))))
        elif not self._paragraph and (label := _LABEL.fullmatch(line)):
            self._label = label[1]
        elif not self._paragraph and (attributes := _ATTRIBUTES.fullmatch(line)):
            self._block_attributes(attributes[1])
        elif not self._paragraph and re.fullmatch(r"\.[^\s.].*", line):
            self._block_title = plain(self._inline(line[1:]))
        elif item := _ITEM.fullmatch(line):
            self._flush()
            self._item = True
            self._paragraph.append(item[1])
        elif not self._paragraph and (term := _TERM.fullmatch(line)):
            self._document.write(element("dt", self._inline(term[1])))
            if term[2]:
                self._paragraph.append(term[2])
        elif line.startswith("|") and self._open and self._open[-1][0] == "|===":
            self._document.write(row(self._inline(cell.strip()) for cell in line[1:].split("|")))
        elif line.strip() != "+":
            self._paragraph.append(line.strip())

    def _underlines(self, line: str) -> int | None:
        """Return the level of the one-line title that this line underlines, in the style of older documents."""
        if len(self._paragraph) != 1 or self._item or len(line) < 3 or line[0] not in _UNDERLINES:
            return None
        is_rule = not line.strip(line[0]) and abs(len(line) - len(self._paragraph[0])) <= 2
        return _UNDERLINES.index(line[0]) + 1 if is_rule else None

    def _section(self, level: int, written: str, line: int) -> None:
        self._flush()
        title = plain(self._inline(written))
        if level == 1 and not self._has_title and not self._document.current.html:
            self._document.title, self._has_title = title, True
            self._document.label(self._label)
            for _ in range(2):  # author and revision
                line_below = "".join(self._lines[self._at : self._at + 1])
                self._at += bool(line_below.strip()) and not line_below.startswith((":", "//"))
        else:
            self._document.heading(level, title, line, self._label)
        self._style = self._block_title = self._label = ""

    def _entry(self, name: str, value: str) -> None:
        if name == "stem":
            self._attributes["stem"] = value.strip() or "asciimath"
        elif name in ("tags", "keywords"):
            self._document.tags = tuple(tag.strip() for tag in value.split(",") if tag.strip())
        elif name == "revdate":
            self._document.date = value.strip() or None

    def _block_attributes(self, written: str) -> None:
        self._style = re.split(r"[,.#%]", written, maxsplit=1)[0].strip().strip('"') or self._style
        if self._style == "env" or written.startswith("env."):
            self._style = written.partition(".")[2].split(",")[0].split("#")[0]
        if found := _IDENTIFIED.search(written):
            self._label = found[1] or found[2]

    def _fence(self, fence: str) -> None:
        self._flush(keep=True)
        if self._open and self._open[-1][0] == fence:
            if self._open.pop()[1]:
                self._document.end()
            return
        style, title, label = self._style, self._block_title, self._label
        self._style = self._block_title = self._label = ""
        if fence[0] in "-.`/+" and fence != "--":
            self._block_title = title
            self._write_title()
            self._verbatim(fence, style, label)
            return
        kind = kind_named(style) or (kind_named(title) if fence[0] == "=" else None)
        if kind is not None and fence != "|===":
            note = "" if kind_named(title) == kind and len(title.split()) == 1 else title
            heading = kind.capitalize() + (f" ({note})" if note else "")
            self._document.begin(kind, heading, self._at, label)
        else:
            self._block_title = title
            self._write_title()
        if label and kind is None:
            self._document.label(label)
        self._open.append((fence, kind is not None and fence != "|==="))

    def _verbatim(self, fence: str, style: str, label: str) -> None:
        close = "```" if fence.startswith("```") else fence
        begun = self._at
        if label:
            self._document.label(label)
        while (
            close not in self._missing
            and self._at < len(self._lines)
            and self._lines[self._at].rstrip() != close
        ):
            self._at += 1
        if close in self._missing or self._at == len(self._lines):
            if close not in self._missing:
                self._report.repair(
                    "unclosed block", f"no {close} after line {begun}; what follows is read as text"
                )
            self._missing.add(close)
            self._at = begun
            return
        lines = self._lines[begun : self._at]
        self._at += 1
        if fence[0] == "/":
            return
        if style in _MATH:
            self._document.write(element("p", math(self._latex(style, "\n".join(lines)), display=True)))
        elif fence[0] == "+":
            self._report.skip("insertion not followed", f"text for other programs: {' '.join(lines)[:100]!r}")
        elif any(line.strip() for line in lines):
            self._document.write(code("\n".join(lines), block=True))

    def _write_title(self) -> None:
        """Write the title of the block that follows, where it does not become the title of a post."""
        title, self._block_title = self._block_title, ""
        if title:
            self._document.write(element("p", f"<strong>{text(title, dollars=True)}</strong>"))

    def _flush(self, *, keep: bool = False) -> None:
        """Write the paragraph."""
        lines, self._paragraph = self._paragraph, []
        is_item, self._item = self._item, False
        if not lines:
            return
        style, title, label = self._style, self._block_title, self._label
        if not keep or lines:
            self._style = self._block_title = self._label = ""
        joined = "\n".join(lines)
        kind = kind_named(style)
        if title and kind is None:
            self._block_title = title
            self._write_title()
        if style in _MATH:
            self._document.label(label)
            self._document.write(element("p", math(self._latex(style, joined), display=True)))
            return
        if kind is not None:
            self._document.begin(kind, kind.capitalize() + (f" ({title})" if title else ""), self._at, label)
        elif label:
            self._document.label(label)
        self._document.write(element("li" if is_item else "p", self._inline(joined)))
        if kind is not None:
            self._document.end()

    def _latex(self, style: str, formula: str) -> str:
        notation = self._attributes["stem"] if style == "stem" else style
        formula = formula.strip()
        for left, right in (("\\[", "\\]"), ("\\(", "\\)"), ("$$", "$$"), ("$", "$")):
            if formula.startswith(left) and formula.endswith(right) and len(formula) > len(left) + len(right):
                return formula[len(left) : -len(right)].strip()
        return formula if notation in ("latexmath", "tex", "latex") else asciimath_to_latex(formula)

    def _inline(self, source: str) -> str:
        parts: list[str] = []
        done = 0
        for match in _INLINE.finditer(source):
            parts.append(text(source[done : match.start()]))
            done = match.end()
            if match["math"]:
                parts.append(math(self._latex(match["math"], match["formula"].replace("\\]", "]"))))
            elif match["old"]:
                parts.append(code(match["old"]))
            elif entry := match["entry"] or match["hidden"]:
                self._document.index([entry_of(*(level.strip(' "') for level in entry.split(",")))])
            elif shown := match["shown"] or match["seen"]:
                self._document.index([entry_of(shown)])
                parts.append(text(shown))
            elif match["anchor"]:
                self._document.label(match["anchor"])
            elif target := match["target"] or match["xref"]:
                parts.append(self._reference(target.strip(), match["words"] or match["xwords"] or ""))
            elif match["url"]:
                parts.append(anchor(match["url"], text(match["uwords"] or match["url"])))
            elif said := match["said"]:
                parts.append(
                    f" ({text(said)})" if match["macro"].startswith("footnote") else text(_alternative(said))
                )
            elif match["code"]:
                parts.append(code(match["code"].strip("+")))
            elif match["bold"] or match["italic"]:
                name = "strong" if match["bold"] else "em"
                parts.append(f"<{name}>{text(match['bold'] or match['italic'])}</{name}>")
        parts.append(text(source[done:]))
        return "".join(parts)

    def _reference(self, target: str, words: str) -> str:
        shown_words = text(words.strip() or target.lstrip("#"))
        path, hash_mark, _ = target.partition("#")
        is_document = path.endswith(ASCIIDOC_SUFFIXES) or (hash_mark and path)
        address = target if is_document else "#" + target.lstrip("#")
        self._document.refer(address, plain(shown_words))
        return anchor(address, shown_words)


def _alternative(attributes: str) -> str:
    """Return the words for a picture or a key, which are the first of its attributes.

    >>> _alternative("A circle, 300, 200"), _alternative('"One, two", 300'), _alternative("width=300")
    ('A circle', 'One, two', '')
    """
    if attributes.startswith('"'):
        return attributes[1:].partition('"')[0]
    first = attributes.partition(",")[0].strip()
    return "" if "=" in first else first

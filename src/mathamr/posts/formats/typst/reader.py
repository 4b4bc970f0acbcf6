"""Typst documents: headings, statements of the common packages, formulas, labels and references.

Nothing of a document is executed: of code only its content in brackets and simple definitions of formulas are read.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

from mathamr.posts.format import Collection
from mathamr.posts.formats.document import Document, DocumentPart, anchor, code, element, math, plain, text
from mathamr.posts.formats.latex.labels import label_words
from mathamr.posts.formats.typst.mathematics import Effort, TypstMacro, typst_to_latex
from mathamr.posts.inputs import LARGEST_SOURCE, stem
from mathamr.posts.post import Post
from mathamr.posts.postkind import PostKind, kind_named
from mathamr.posts.report import Report

MOST_MACROS = 1000
MOST_IMPORTS = 100
"""Macros of a document, and files that it imports, those of the files that it imports included."""
LONGEST_MACRO = 4000
DEEPEST = 200
"""Content in each other that is followed."""
STEPS = 8
"""Characters of code that may be looked at for each character of a document, so that code never closed costs no more."""

_LET = re.compile(
    r"""^[ \t]*\#let[ \t]+([A-Za-z][\w-]*)(?:\(([^()\n]{0,300})\))?[ \t]*=[ \t]*  # name and parameters
    (?:math\.)?(\$|op\("([^"\n]{1,60})")  # a formula, or an operator by its name""",
    re.M | re.X,
)
_BOX = re.compile(
    r"""^[ \t]*\#let[ \t]+([A-Za-z][\w-]*)[ \t]*=[ \t]*
    ([\w.-]*+)\(([^\n]{0,300})  # by a function""",
    re.M | re.X,
)
_MAKES_STATEMENTS = re.compile("thm|theorem|block|frame|proof|lemma|box")
_STRING = re.compile(r'(?<!\\)"((?:[^"\\\n]|\\.)*+)"')
_IMPORT = re.compile(r'#(?:import|include)\s+"([^"\n]{1,300}\.typ)"')
_TITLE = re.compile(r"\btitle:\s*(?:\"((?:[^\"\\\n]|\\.){1,500})\"|\[([^\[\]\n]{1,500})\])")
_HEADING = re.compile(r"(={1,6})[ \t]+([^\n]*)")
_LABEL = re.compile(r"<([A-Za-z_][\w:.-]{0,200})>")
_ENDING_LABEL = re.compile(r"(?<![ \t])[ \t]*+<([A-Za-z_][\w:.-]{0,200})>[ \t]*+\Z")
_LABEL_BEHIND = re.compile(r"\s{0,20}<([A-Za-z_][\w:.-]{0,200})>")
_REFERENCE = re.compile(r"@([A-Za-z_][\w:-]*(?:\.[\w:-]+)*)(?:\[([^\[\]\n]{0,200})\])?")
_CALL = re.compile(r"#([A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*)")
_CONTROL = frozenset(
    ["if", "else", "for", "while", "context", "show", "let", "set", "import", "include", "return"]
)
_ELSE = re.compile(r"[ \t]*else[ \t]*(?:if[^\[\n]{0,200})?(?=\[)")
_NAMED_TITLE = re.compile(r"\b(?:title|name|info|caption)\s*:\s*(?:\"((?:[^\"\\]|\\.)*)\"|\[([^\[\]]*)\])")
_CAPTION = re.compile(r"\bcaption\s*:\s*\[([^\[\]]*)\]")
_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z))
    |(?P<raw>```[\s\S]*?(?:```|\Z)|`[^`]*`)
    |(?P<math>\$(?:[^$\\]|\\[\s\S])*+\$)
    |(?P<paragraph>\n[ \t]*\n\s*)
    |(?P<heading>(?:(?<=\n)|\A)[ \t]*(?=={1,6}[ \t]))
    |(?P<item>(?:(?<=\n)|\A)[ \t]*(?:[-+]|\d{1,4}\.|/)[ \t]+)
    |(?P<label><[A-Za-z_][\w:.-]{0,200}>)
    |(?P<reference>@[A-Za-z_])
    |(?P<call>\#(?=[A-Za-z_({\[$"]))
    |\\(?P<escape>[^\s\w])|(?P<line>\\(?=\s|\Z))
    |(?P<url>https?://[^\s\[\]<>()"]{1,1000})
    |(?P<open>\[)|(?P<close>\])
    |(?P<mark>[*_])
    |(?P<sign>---|--|\.\.\.|~)
    |(?P<text>(?:[A-Za-z0-9,;:!?()'" =+\u00a1-\U0010ffff]|(?<!\.)\.(?!\.))+)
    |(?P<other>[\s\S])""",
    re.X,
)
_CODE = re.compile(
    r"""\\.|"(?:[^"\\]|\\.?)*+(?:"|\Z)  # escapes, strings, comments, formulas and raw text, whose brackets do not count
    |//[^\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)|\$(?:[^$\\]|\\.?)*+(?:\$|\Z)|```.*?(?:```|\Z)
    |[()\[\]{}]""",
    re.S | re.X,
)
_SIGNS = {"---": "—", "--": "–", "...": "…", "~": " "}


def read_typst(collection: Collection, report: Report) -> Iterator[Post]:
    """Read Typst documents: `= headings`, `#theorem[…]` and its kin, `$formulas$`, `<labels>` and `@references`."""
    defined = {path: _Definitions(source) for _, path, source in collection.texts(Report(), LARGEST_SOURCE)}
    for file, path, source in collection.texts(report, LARGEST_SOURCE):
        definitions = defined[path].with_imports(path, defined)
        title = definitions.title or stem(Path(path))
        document = Document(path, title)
        effort = Effort(len(source))
        _Typst(document, source, definitions, report, effort).read()
        if effort.is_spent:
            report.skip(
                "too slow",
                "its macros expand to more than a document of its size may cost; the rest is left out",
            )
        yield from document.posts(file, report, collection.paths)


class _Definitions:
    """What a file defines: macros of formulas, its own names for statements, its title; and what it imports."""

    def __init__(self, source: str = "") -> None:
        self.macros: dict[str, TypstMacro] = {}
        self.kinds: dict[str, PostKind] = {}
        self.imports = _IMPORT.findall(source)[:100]
        title = _TITLE.search(source[:20_000])
        self.title = " ".join((title[1] or title[2]).split()) if title else ""
        for match in _LET.finditer(source):
            name, parameters, _, operator = match.groups()
            if len(self.macros) >= MOST_MACROS:
                break
            if operator is not None:
                self.macros[name] = TypstMacro((), f'op("{operator}")')
                continue
            end = source.find("$", match.end(), match.end() + LONGEST_MACRO)
            if end >= 0:
                named = tuple(
                    each.split(":")[0].strip() for each in (parameters or "").split(",") if each.strip()
                )
                self.macros[name] = TypstMacro(named, source[match.end() : end].strip())
        for match in _BOX.finditer(source):
            if len(self.kinds) >= MOST_MACROS:
                break
            if not _MAKES_STATEMENTS.search(match[2]):
                continue
            kinds = [kind_named(said) for said in (*reversed(_STRING.findall(match[3])), match[1])]
            kind = next((each for each in kinds if each is not None), None)
            if kind is not None:
                self.kinds[match[1]] = kind

    def with_imports(self, path: str, defined: dict[str, _Definitions]) -> _Definitions:
        """Return these definitions with those of the files that are imported, and of those that they import."""
        found, waiting, seen = _Definitions(), [path], {path}
        found.title = self.title
        while waiting and len(found.macros) < MOST_MACROS:
            here = waiting.pop()
            known = defined[here]
            found.macros = known.macros | found.macros
            found.kinds = known.kinds | found.kinds
            for name in known.imports:
                other = posixpath.normpath(posixpath.join(posixpath.dirname(here), name.lstrip("/")))
                if other in defined and other not in seen and len(seen) < MOST_IMPORTS:
                    seen.add(other)
                    waiting.append(other)
        return found


class _Typst:
    """One pass over one document; `_open` holds what the closing brackets end."""

    def __init__(
        self, document: Document, source: str, definitions: _Definitions, report: Report, effort: Effort
    ) -> None:
        self._document, self._source, self._report = document, source, report
        self._definitions, self._effort = definitions, effort
        self._inside: list[str] = []
        self._tag = "p"
        self._open: list[tuple[str, DocumentPart | None]] = []
        self._at = 0
        self._line = 1
        self._counted = 0
        self._steps = STEPS * len(source) + 1000

    def read(self) -> None:
        while self._at < len(self._source) and not self._effort.is_spent:
            match = _TOKEN.match(self._source, self._at)
            assert match is not None
            self._at = match.end()
            self._token(match.lastgroup or "other", match)
        self._flush()

    def _token(self, kind: str, match: re.Match[str]) -> None:
        found = match.group()
        if kind in ("text", "other", "url"):
            self._inside.append(text(found))
        elif kind == "math":
            self._math(found)
        elif kind == "paragraph":
            self._flush()
        elif kind == "heading":
            self._heading()
        elif kind == "item":
            self._flush()
            self._tag = "li"
        elif kind == "raw":
            self._raw(found)
        elif kind == "label":
            self._document.label(found[1:-1])
        elif kind == "reference":
            self._reference(match.start())
        elif kind == "call":
            self._call(match.start())
        elif kind == "escape":
            self._inside.append(text(match["escape"]))
        elif kind == "line":
            self._inside.append("<br>")
        elif kind == "sign":
            self._inside.append(_SIGNS[found])
        elif kind == "open":
            self._inside.append("[")
            if len(self._open) < DEEPEST:
                self._open.append(("bracket", None))
        elif kind == "close":
            self._close()
        elif kind == "comment" and found.startswith("/*") and not found.endswith("*/"):
            self._report.skip("unclosed comment", "a comment is never closed; the rest is not read")

    # -- blocks

    def _flush(self) -> None:
        html = "".join(self._inside).strip()
        self._inside.clear()
        if html:
            self._document.write(element("li" if self._tag == "li" else "p", html))
        self._tag = "p"

    def _here(self, offset: int) -> int:
        """Return the line of an offset; offsets only grow."""
        self._line += self._source.count("\n", self._counted, offset)
        self._counted = max(self._counted, offset)
        return self._line

    def _heading(self) -> None:
        self._flush()
        match = _HEADING.match(self._source, self._at)
        if match is None:
            return
        line, words, label = self._here(self._at), match[2], ""
        self._at = match.end()
        if ending := _ENDING_LABEL.search(words):
            words, label = words[: ending.start()], ending[1]
        self._open.clear()
        self._document.heading(len(match[1]), plain(self._inline(words)), line, label)

    def _inline(self, words: str) -> str:
        """Return words of a heading or a title as HTML."""
        document = Document("", "")
        _Typst(document, words[:2000], self._definitions, Report(), self._effort).read()
        return "".join(document.current.html)

    def _math(self, found: str) -> None:
        inside = found[1:-1]
        if not inside.strip():
            return
        display = inside[:1].isspace() and inside[-1:].isspace()
        self._inside.append(math(self._latex(inside.strip()), display=display))
        if display and (label := _LABEL_BEHIND.match(self._source, self._at)):
            self._document.label(label[1])
            self._at = label.end()

    def _latex(self, formula: str) -> str:
        return typst_to_latex(formula, self._definitions.macros, self._effort)

    def _raw(self, found: str) -> None:
        if not found.startswith("```"):
            self._inside.append(code(found[1:-1]))
            return
        self._flush()
        body = re.sub(r"\A```[\w-]*\n?", "", found).removesuffix("```")
        if body.strip():
            self._document.write(code(body, block=True))

    def _reference(self, start: int) -> None:
        match = _REFERENCE.match(self._source, start)
        if match is None:
            return
        self._at = match.end()
        label = match[1].rstrip(".:")
        self._at -= len(match[1]) - len(label) if not match[2] else 0
        words = match[2] or label_words(label) or "reference"
        self._document.refer(f"#{label}", words)
        self._inside.append(anchor(f"#{label}", text(words)))

    # -- code

    def _call(self, start: int) -> None:
        """Read code: its content in brackets is read on, the rest is left out."""
        match = _CALL.match(self._source, start)
        if match is None:
            opening = self._source[self._at : self._at + 1]
            if opening in ("{", "("):
                self._at = self._code_end(self._at)
            return
        name = match[1]
        self._at = match.end()
        if name.split(".")[0] in _CONTROL:
            self._control(name)
            return
        arguments = ""
        if self._source.startswith("(", self._at):
            end = self._code_end(self._at)
            arguments, self._at = self._source[self._at + 1 : end - 1], end
        kind = self._kind(name)
        if self._source.startswith("[", self._at):
            self._content(kind, name, arguments, match.start())
        elif name in self._definitions.macros:
            self._inside.append(math(self._latex(match.group() + (f"({arguments})" if arguments else ""))))
        elif name in ("figure", "quote", "link", "ref"):
            self._words_of(name, arguments)
        elif self._source.startswith(";", self._at):
            self._at += 1

    def _kind(self, name: str) -> PostKind | None:
        base = name.split(".")[-1]
        return self._definitions.kinds.get(base) or kind_named(re.sub(r"[-_](?:box|block|env)\Z", "", base))

    def _content(self, kind: PostKind | None, name: str, arguments: str, start: int) -> None:
        """Read `#name(…)[content]`: a statement, or content that is read where it is."""
        self._at += 1
        if len(self._open) >= DEEPEST:
            return
        if kind is None or name == "note":
            if name == "footnote":
                self._inside.append(" (")
            elif name == "link" and (address := _STRING.search(arguments)):
                self._document.refer(address[1], "")
            elif name in ("figure", "quote", "align", "block", "box"):
                self._flush()
            self._open.append((name, None))
            return
        self._flush()
        title = _statement_title(arguments)
        behind = self._title_content() if not title else ""
        shown = plain(self._inline(title or behind)) if title or behind else ""
        called = f"{kind.capitalize()} ({shown})" if shown else ""
        self._document.begin(kind, called, self._here(start))
        self._open.append(("statement", self._document.current))

    def _title_content(self) -> str:
        """Read the title of `#theorem[Title][content]`, the first of two contents; empty if there is only one."""
        end = self._code_end(self._at - 1)
        if end - self._at > 300 or not self._source.startswith("[", end):
            return ""
        title, self._at = self._source[self._at : end - 1], end + 1
        return title

    def _close(self) -> None:
        if not self._open:
            self._inside.append("]")
            return
        what, part = self._open.pop()
        if what == "bracket":
            self._inside.append("]")
        elif what == "footnote":
            self._inside.append(")")
        elif what in ("figure", "quote", "align", "block", "box"):
            self._flush()
        elif what == "if" and (otherwise := _ELSE.match(self._source, self._at)):
            self._at = self._code_end(otherwise.end())
        elif what == "statement":
            self._flush()
            self._document.end()
            if part is not None and (label := _LABEL_BEHIND.match(self._source, self._at)):
                part.label = part.label or label[1]
                self._at = label.end()

    def _words_of(self, name: str, arguments: str) -> None:
        """Write what a call without content shows: the caption of a figure, the address of a link."""
        if name == "figure" and (caption := _CAPTION.search(arguments)):
            self._flush()
            self._document.write(self._inline(caption[1]))
        if name == "figure" and (label := _LABEL_BEHIND.match(self._source, self._at)):
            self._document.label(label[1])
            self._at = label.end()
        elif name == "link" and (address := _STRING.search(arguments)):
            self._inside.append(text(address[1]))

    def _control(self, name: str) -> None:
        """Leave out a rule, a definition or a condition: to the end of its line, or of the blocks that it has."""
        if name.split(".")[0] in ("if", "for", "while", "else", "context"):
            # Their content is shown under conditions nobody knows here; it is read as it stands.
            brace = self._source.find("{", self._at, self._at + 300)
            bracket = self._source.find("[", self._at, self._at + 300)
            if bracket >= 0 and (brace < 0 or bracket < brace):
                self._at = bracket + 1
                if len(self._open) < DEEPEST:
                    self._open.append((name, None))
                return
            self._at = self._code_end(brace) if brace >= 0 else self._line_end()
            return
        while self._at < len(self._source):
            end = self._line_end()
            opening = next((match for match in _CODE.finditer(self._source, self._at, end)), None)
            if opening is None:
                self._at = end
                return
            if opening.group() in ("(", "[", "{"):
                self._at = self._code_end(opening.start())
            elif opening.group().startswith("//"):
                self._at = end
                return
            else:
                self._at = opening.end()

    def _line_end(self) -> int:
        end = self._source.find("\n", self._at)
        return len(self._source) if end < 0 else end

    def _code_end(self, start: int) -> int:
        """Return the offset behind the bracket that closes the one at `start`; `start + 1` if none does."""
        depth = 0
        for match in _CODE.finditer(self._source, start):
            self._steps -= match.end() - start if depth == 0 else 1
            sign = match.group()
            if sign in ("(", "[", "{"):
                depth += 1
            elif sign in (")", "]", "}"):
                depth -= 1
                if depth <= 0:
                    self._steps -= match.end() - start
                    return match.end()
            if self._steps < 0:
                break
        self._report.repair("unclosed code", "brackets of code are never closed")
        return start + 1


def _statement_title(arguments: str) -> str:
    """Return the title among the arguments of a statement: `title: "…"`, `name: […]`, or the first string."""
    if named := _NAMED_TITLE.search(arguments[:2000]):
        return named[1] or named[2] or ""
    first = re.match(r"\s*(?:\"((?:[^\"\\]|\\.)*)\"|\[([^\[\]]*)\])", arguments[:2000])
    return (first[1] or first[2] or "") if first else ""

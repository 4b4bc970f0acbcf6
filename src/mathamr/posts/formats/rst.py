"""reStructuredText, parsed by docutils, with the roles and directives of Sphinx; nothing is included or executed."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from mathamr.core.listing import names
from mathamr.posts.format import Collection
from mathamr.posts.formats.document import Document, anchor, code, element, math, plain, row, text
from mathamr.posts.formats.indexentries import sphinx_entries
from mathamr.posts.formats.role import words_and_target
from mathamr.posts.inputs import read_text, stem
from mathamr.posts.post import Post
from mathamr.posts.postkind import PostKind, kind_named
from mathamr.posts.report import Report

LARGEST = 4 << 20
"""Characters of a document: docutils is slow and works in memory."""
ERROR = 3
"""The level from which a message of docutils says that something could not be read."""
_LOCK = threading.Lock()
_COMMAND = re.compile(r"\\[A-Za-z]+(?:\{[A-Za-z ]+\})?")
_NAME = re.compile(r"[A-Za-z]{3,}|[A-Za-z]{2}_[a-z]|__|\(\)|::|\.[a-z]")
_FORMULA = re.compile(r"[\\^_=<>+*/|{}(]|\A\d+\Z|[A-Za-z0-9]\s*-\s*[A-Za-z0-9]")
_DOLLAR_EXTENSION = re.compile(r"[\"'](?:[\w.]*\.)?(?:sphinx_)?math_?dollar[\"']")
_DOLLARS = re.compile(
    r"""(?<![\0$])(?P<dollars>\$\$?)(?![\s$])
    (?P<latex>(?>[^$\0{]|\0.|\{[^{}]*\}|\{)++)  # a formula in braces may hold dollars of its own
    (?<!\s)(?P=dollars)(?![\d$])""",
    re.X | re.S,
)
_SPACES = re.compile(r"[ \t]{500,}")
_DROPPED = names(
    "toctree contents tabularcolumns currentmodule module meta raw include literalinclude plot sectnum"
    " default-domain highlight testsetup testcleanup automodule autoclass autofunction autosummary autodata"
    " automethod graphviz only-html program bibliography restructuredtext-test-directive title target-notes"
)
_CODE = names(
    "code code-block sourcecode doctest testcode testoutput ipython prompt productionlist parsed-literal"
    " highlight-block jupyter-execute code-cell"
)
_NAMES = names("term classifier field_name option_string label")
_BLOCKS = names("paragraph term field_name literal_block")
_UNSEEN = names("system_message footnote_reference comment")
_CODE_ROLES = names("code literal file samp kbd command option envvar program token")


def is_formula(words: str) -> bool:
    r"""Return whether words between single backticks are a formula: documents about mathematics often set that as their default role.

    >>> [is_formula(words) for words in ("n", r"\alpha_1 x^2", "a + b", "Title", "my_name", "f.open()", "")]
    [True, True, True, False, False, False, False]
    """
    bare = _COMMAND.sub(" ", words)
    return (
        bool(words.strip())
        and not _NAME.search(bare)
        and (len(words) == 1 or _FORMULA.search(words) is not None)
    )


def read_rst(collection: Collection, report: Report) -> Iterator[Post]:
    """Read documents of Sphinx and docutils: labels, `:ref:` and `:doc:` become links, formulas stay LaTeX."""
    reads_dollars = lru_cache(maxsize=1000)(_reads_dollars)
    for file, path, source in collection.texts(report):
        if len(source) > LARGEST or _SPACES.search(source):
            report.skip(
                "document not read", f"more than {LARGEST >> 20} MB of text, or more than 500 blanks in a row"
            )
            continue
        document = Document(path, stem(Path(path)))
        has_dollars = "$" in source and reads_dollars(file.parent)
        try:
            _Writer(document, report, has_dollars=has_dollars).write(_parse(source, report))
        except RecursionError:
            report.skip("nested too deeply", "its blocks are nested more deeply than docutils can read")
            continue
        yield from document.posts(file, report, collection.paths)


def _reads_dollars(folder: Path) -> bool:
    """Return whether the project of a folder uses the extension `sphinx_math_dollar`, by the nearest `conf.py` above."""
    for parent in (folder, *folder.resolve().parents):
        settings = parent / "conf.py"
        if settings.is_file():
            return _DOLLAR_EXTENSION.search(read_text(settings, Report()) or "") is not None
    return False


def _parse(source: str, report: Report) -> Any:
    from docutils import frontend, utils
    from docutils.parsers import rst
    from docutils.transforms.references import Substitutions

    settings = frontend.get_default_settings(rst.Parser)
    settings.file_insertion_enabled = False
    settings.raw_enabled = False
    settings.report_level = 5
    settings.halt_level = 5
    settings.warning_stream = False
    settings.line_length_limit = LARGEST
    document = utils.new_document("<post>", settings)
    with _LOCK, _sphinx_names(report):
        rst.Parser().parse(source, document)
        Substitutions(document).apply()
    for message in document.parse_messages:
        if message.get("level", 0) >= ERROR:
            report.repair("reStructuredText error", plain(message.astext())[:200])
    return document


@contextmanager
def _sphinx_names(report: Report) -> Iterator[None]:
    """Handle directives and roles that docutils does not know while a document is parsed."""
    from docutils.parsers.rst import directives, roles

    docutils_directive, docutils_role = directives.directive, roles.role
    table = _directives(report)

    def directive(name: str, language: Any, document: Any) -> Any:
        bare = name.lower().rpartition(":")[2]
        if ours := table.of(name.lower(), bare):
            return ours, []
        found, messages = docutils_directive(name, language, document)
        return (found, messages) if found is not None else (table.unknown, [])

    def role(name: str, language: Any, line: int, reporter: Any) -> Any:
        found, messages = docutils_role(name, language, line, reporter)
        if found is None or name in ("pep", "rfc", "raw", "index"):
            return _cross_reference, []
        return found, messages

    directives.directive, roles.role = directive, role
    try:
        yield
    finally:
        directives.directive, roles.role = docutils_directive, docutils_role


def _cross_reference(name: str, rawtext: str, words: str, *_rest: Any) -> tuple[list[Any], list[Any]]:
    """Return the nodes of a role that docutils does not know: `:ref:`words <label>``, `:doc:`, `:eq:`, `:py:func:` and so on."""
    from docutils import nodes, utils

    words = utils.unescape(words)
    bare = name.lower().rpartition(":")[2]
    if bare in _CODE_ROLES or name.lower().startswith(("py:", "c:", "cpp:", "js:")):
        return [nodes.literal(rawtext, words.lstrip("~!."))], []
    titled = words_and_target(words)
    shown_words, target = titled or (words, words)
    if bare in ("ref", "numref", "eq", "doc", "any") or name.lower() == "prf:ref":
        said = shown_words if titled else "(*)" if bare == "eq" else "" if bare == "doc" else shown_words
        return [nodes.reference(rawtext, said or target, label=target, is_document=bare == "doc")], []
    if bare == "index":
        return [
            nodes.inline(rawtext, titled[1] if titled else words, entries=[*sphinx_entries([target])])
        ], []
    return [nodes.inline(rawtext, shown_words.lstrip("~!"))], []


class _Directives:
    """The directives that this reader knows besides those of docutils, as classes docutils can call."""

    def __init__(self, base: Any, nodes: Any, report: Report) -> None:
        class Permissive(dict[str, Any]):
            """Allows every option; the options of extensions do not matter for the text."""

            def __bool__(self) -> bool:
                return True

            def __missing__(self, name: str) -> Any:
                return lambda argument: argument

        class Ours(base):  # type: ignore[misc]
            optional_arguments, final_argument_whitespace, has_content = 100, True, True
            option_spec: Mapping[str, Any] = Permissive()

            def inside(self, node: Any) -> list[Any]:
                self.state.nested_parse(self.content, self.content_offset, node)
                node.line = self.lineno
                return [node]

            def words(self) -> str:
                return " ".join(self.arguments)

        class Math(Ours):
            def run(self) -> list[Any]:
                latex = "\n".join([self.words(), *self.content]).strip()
                label = self.options.get("label") or self.options.get("name") or ""
                return [
                    nodes.math_block(part, part, label=label, line=self.lineno)
                    for part in latex.split("\n\n")
                    if part.strip()
                ]

        class Statement(Ours):
            def run(self) -> list[Any]:
                kind = kind_named(self.name.rpartition(":")[2])
                label = self.options.get("label") or self.options.get("name") or ""
                return self.inside(nodes.topic(kind=kind, note=self.words(), label=label))

        class Code(Ours):
            def run(self) -> list[Any]:
                return [nodes.literal_block("", "\n".join(self.content), line=self.lineno)]

        class Dropped(Ours):
            def run(self) -> list[Any]:
                if self.name in ("raw", "include", "literalinclude"):
                    report.skip("insertion not followed", f"a directive {self.name}: {self.words()[:100]!r}")
                return []

        class Index(Ours):
            def run(self) -> list[Any]:
                lines = "\n".join([*self.block_text.split("::", 1)[1:]]).splitlines()
                return [nodes.container(entries=[*sphinx_entries(line.strip() for line in lines)])]

        class Unknown(Ours):
            """A directive of an extension: its arguments become a line of text above its content."""

            def run(self) -> list[Any]:
                container = nodes.container()
                if words := self.words():
                    container += (
                        nodes.literal_block("", words) if ":" in self.name else nodes.paragraph("", words)
                    )
                return self.inside(container)

        self.math, self.statement, self.code = Math, Statement, Code
        self.dropped, self.index, self.unknown = Dropped, Index, Unknown

    def of(self, name: str, bare: str) -> Any:
        """Return the directive of a name, without the domain before it `bare`; `None` for docutils' own."""
        if name == "math":
            return self.math
        if bare in _DROPPED:
            return self.dropped
        if name == "index":
            return self.index
        if bare in _CODE:
            return self.code
        kind = kind_named(bare)
        if kind and (
            name.startswith("prf:") or (bare not in ("note", "warning", "caution", "hint", "admonition"))
        ):
            return self.statement
        return None


def _directives(report: Report) -> _Directives:
    from docutils import nodes
    from docutils.parsers.rst import Directive

    return _Directives(Directive, nodes, report)


class _Writer:
    """Writes the tree of docutils into a `Document`, node by node."""

    def __init__(self, document: Document, report: Report, *, has_dollars: bool = False) -> None:
        self._document, self._report, self._has_dollars = document, report, has_dollars
        self._labels: list[str] = []
        self._entries: list[str] = []
        """Entries of the index that stand before what they belong to."""

    def write(self, document: Any) -> None:
        children = list(document.children)
        self._title_first(children)
        for node in children:
            self._block(node, 1)

    def _title_first(self, children: list[Any]) -> None:
        """Take a single section around everything for the document, and its heading the document's title."""
        from docutils import nodes

        solid = [
            node
            for node in children
            if not isinstance(
                node, nodes.comment | nodes.target | nodes.substitution_definition | nodes.system_message
            )
        ]
        if len(solid) == 1 and isinstance(solid[0], nodes.section):
            section = solid[0]
            self._document.title = plain(self._inline(section[0]))
            for node in children[: children.index(section)]:
                if isinstance(node, nodes.target):
                    for name in node.get("names", []) or [node.get("refid", "")]:
                        self._document.label(name)
            children[:] = section.children[1:]

    def _block(self, node: Any, level: int) -> None:
        kind = type(node).__name__
        if kind == "section":
            title = plain(self._inline(node[0]))
            self._document.heading(level, title, self._line(node[0]), self._label())
            self._index()
            for child in node.children[1:]:
                self._block(child, level + 1)
        elif kind == "container" and node.get("entries"):
            self._entries += node["entries"]
        elif kind == "target":
            self._labels += [name for name in node.get("names", []) if name] or [node.get("refid", "")]
        elif kind == "topic" and node.get("kind"):
            self._statement(node, level)
        elif kind == "system_message":
            self._unread(node)
        elif kind in ("comment", "substitution_definition", "pending", "meta"):
            return
        else:
            for label in self._labels:
                self._document.label(label)
            self._labels.clear()
            self._index()
            self._flow(node, kind, level)

    def _flow(self, node: Any, kind: str, level: int) -> None:
        write = self._document.write
        if kind == "math_block":
            if node.get("label"):
                self._document.label(node["label"])
            write(element("p", math(node.astext(), display=True)))
        elif kind in ("literal_block", "doctest_block", "raw"):
            write(code(node.astext(), block=True))
        elif kind in ("transition", "footnote_reference") or (
            kind == "label" and type(node.parent).__name__ == "footnote"
        ):
            return
        elif kind == "image":
            write(element("p", self._word(node)))
        elif kind in ("list_item", "definition", "field_body") and self._is_simple(node):
            write(element("li" if kind == "list_item" else "dd", self._inline(node[0])))
        elif kind == "row":
            write(row(self._cell(entry) for entry in node.children))
        elif kind == "block_quote" and self._is_simple(node):
            write(element("blockquote", self._inline(node[0])))
        elif any(type(child).__name__ == "Text" for child in node.children) or kind in (
            "paragraph",
            "line_block",
        ):
            write(element("dt" if kind in _NAMES else "p", self._inline(node)))
        else:
            for child in node.children:
                self._block(child, level)

    def _unread(self, message: Any) -> None:
        """Write the source of what docutils could not read, which its message holds."""
        for child in message.children:
            if message["level"] >= ERROR and type(child).__name__ == "literal_block":
                self._document.write(code(child.astext(), block=True))

    def _cell(self, entry: Any) -> str:
        return "".join(map(self._word, entry.children)).strip()

    def _statement(self, node: Any, level: int) -> None:
        kind: PostKind = node["kind"]
        note = node.get("note", "")
        title = f"{kind.capitalize()} ({note})" if note else kind.capitalize()
        label = node.get("label", "") or self._label()
        self._document.begin(kind, title, node.line or 1, label)
        self._index()
        for child in node.children:
            self._block(child, level)
        self._document.end()

    def _index(self) -> None:
        """Add the entries of the index above this to it."""
        self._document.index(self._entries)
        self._entries = []

    def _label(self) -> str:
        """Return the label above this, if any; further ones lead here too."""
        labels, self._labels = self._labels, []
        return labels[-1] if labels else ""

    @staticmethod
    def _is_simple(node: Any) -> bool:
        return len(node.children) == 1 and type(node[0]).__name__ == "paragraph"

    @staticmethod
    def _line(node: Any) -> int:
        return max(int(node.line or 1), 1)

    def _inline(self, node: Any) -> str:
        return "".join(self._word(child) for child in node.children)

    def _word(self, node: Any) -> str:
        kind = type(node).__name__
        if kind == "Text":
            return self._add_dollars(node) if self._has_dollars else text(node.astext())
        if kind == "math":
            return math(node.astext())
        if kind == "literal":
            return code(node.astext())
        if kind == "title_reference" and is_formula(latex := node.rawsource.strip("`")):
            return math(latex)
        if kind == "reference":
            return self._reference(node)
        if kind in ("target", "problematic"):
            return text(node.astext())
        if kind == "image":
            return text(node.get("alt", ""))
        if kind == "citation_reference":
            return text(f"[{node.astext()}]")
        if kind in _UNSEEN:
            return ""
        if kind in ("line", "line_block"):
            return self._inline(node) + "<br>"
        if node.get("entries"):
            self._document.index(node["entries"])
        inside = self._inline(node) + " " * (kind in _BLOCKS)
        return {"emphasis": f"<em>{inside}</em>", "strong": f"<strong>{inside}</strong>"}.get(kind, inside)

    @staticmethod
    def _add_dollars(node: Any) -> str:
        """Return text with formulas between dollars; docutils writes NUL for a backslash until it shows the text."""
        source, parts, done = str(node), list[str](), 0
        for found in _DOLLARS.finditer(source):
            parts.append(text(type(node)(source[done : found.start()]).astext()))
            parts.append(math(found["latex"].replace("\0", "\\"), display=found["dollars"] == "$$"))
            done = found.end()
        return "".join([*parts, text(type(node)(source[done:]).astext())])

    def _reference(self, node: Any) -> str:
        inside = self._inline(node)
        label = node.get("label") or node.get("refname")
        if not label:
            return anchor(node.get("refuri", ""), inside)
        target = f"{label}.rst".lstrip("/") if node.get("is_document") else f"#{label}"
        self._document.refer(target, plain(inside))
        return anchor(target, inside)

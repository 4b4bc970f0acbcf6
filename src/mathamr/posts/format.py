"""`FORMATS`: the formats of input, each described once: how its files are recognised, what reads them, and the markup of its
posts.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from mathamr.core.errors import MathAMRError, UnknownNameError
from mathamr.core.listing import names
from mathamr.core.registry import Registry
from mathamr.posts.inputs import STDIN, Head, display_path, head, read_text
from mathamr.posts.post import Markup, Post
from mathamr.posts.report import Report

if TYPE_CHECKING:
    from mathamr.posts.macrotable import MacroTable


@dataclass(frozen=True)
class Collection:
    """What one reader is given: files of its format, in order.

    `root` is the folder from which ids and relative links are counted; `beside` are files that the user named as
    belonging to the posts (formula tables, link tables), besides those that a reader finds by itself. `known` are all
    files to which documents may link, if only some of them are to be read. `settings` are files without posts that may define
    macros, and `macros` are those of the whole input, if they are known.
    """

    root: Path
    files: tuple[Path, ...]
    beside: tuple[Path, ...] = ()
    known: tuple[Path, ...] = ()
    settings: tuple[Path, ...] = ()
    macros: MacroTable | None = field(default=None, compare=False, repr=False)

    def path_of(self, file: Path, unnamed: str = "note") -> str:
        """Return the path of a file in the folder, by which its posts are named; `unnamed` for standard input."""
        return unnamed if file == STDIN else file.relative_to(self.root).as_posix()

    @cached_property
    def paths(self) -> frozenset[str]:
        """The paths of all files."""
        return frozenset(map(self.path_of, self.known or self.files))

    def texts(
        self, report: Report, largest: int | None = None, *, accounted: bool = True
    ) -> Iterator[tuple[Path, str, str]]:
        """Yield the files that can be read as text: each with its path in the folder and its text, whose words must be in posts."""
        for file in self.files:
            report.at(display_path(file))
            text = read_text(file, report, largest)
            if text is not None:
                if accounted:
                    report.took(text, 0)
                yield file, self.path_of(file), text


class PostReader(Protocol):
    """A format of another package, as an entry point of the group `mathamr.readers` names it.

    A reader never fails on a damaged row: it skips or repairs it, reports it, and continues. Ids need not
    be unique: `read_posts` drops and reports the later ones. Memory must not grow with the input.
    """

    description: ClassVar[str]

    @classmethod
    def recognises(cls, head: Head) -> bool:
        """Return whether a file is of this format."""
        ...

    def read(self, collection: Collection, report: Report) -> Iterator[Post]:
        """Yield the posts of the files in order; set `report.at(file, row)` before each."""
        ...


ReadPosts = Callable[[Collection, Report], Iterator[Post]]


@dataclass(frozen=True)
class Format:
    """One format of input.

    A file is of the format if it has one of the `suffixes` and is text; `sniff` decides instead if it is given.
    `reader` is a function like `PostReader.read`, or the module and name of one, which is imported when it is needed.
    """

    description: str
    reader: str | ReadPosts
    markup: Markup = "html"
    suffixes: tuple[str, ...] = ()
    sniff: Callable[[Head], bool] | None = None
    seconds: float = 60.0
    """Processor time for a file of up to a megabyte; a larger one may take as much for each (see `posts/budget.py`)."""
    by_file: bool = False
    """True if files may be read one by one and in parallel, given the names of all of them (`Collection.known`)."""
    defines_macros: bool = False
    """True if its files may define macros, for their own formulas and those of others."""
    learner: str | None = None
    """A function from the text of a file to what reading the others needs to know of it, in JSON; `None` if it neither tells nor needs
    anything. The reader's third argument is then the list of these of all files, or `None` if it must find out itself.
    """
    post: str = ""
    """What one of its posts is, for the page of formats."""
    names: str = ""
    """What the id of a post is, for the page of formats."""

    def recognises(self, head: Head) -> bool:
        """Return whether a file is of this format."""
        return self.sniff(head) if self.sniff is not None else head.is_text(*self.suffixes)

    def read(
        self, collection: Collection, report: Report, learned: Sequence[Any] | None = None
    ) -> Iterator[Post]:
        """Yield the posts of the files in order; `learned` is what was learned of all files, if only some are read."""
        if not isinstance(self.reader, str):
            return self.reader(collection, report)
        more = () if learned is None else (learned,)
        posts: Iterator[Post] = _function(self.reader)(collection, report, *more)
        return posts

    @property
    def learns(self) -> bool:
        """True if something is learned of all files before they are read."""
        return self.defines_macros or self.learner is not None

    def learn(self, text: str) -> Any:
        """Return what reading other files needs to know of a file."""
        return None if self.learner is None else _function(self.learner)(text)


def _function(name: str) -> Callable[..., Any]:
    module, _, own = name.partition(":")
    found: Callable[..., Any] = getattr(import_module(f"mathamr.posts.formats.{module}"), own)
    return found


MARKDOWN_SUFFIXES = (".md", ".markdown", ".mdown", ".mkd", ".qmd", ".rmd", ".mdx", ".myst")
LATEX_SUFFIXES = (".tex", ".latex", ".ltx")
ASCIIDOC_SUFFIXES = (".adoc", ".asciidoc", ".asc")
NOTEBOOK_SUFFIXES = (".ipynb",)
_WORD_SUFFIXES = (".docx", ".docm", ".dotx")
_JSON_SUFFIXES = (".jsonl", ".ndjson", ".jl")
_HTML_SUFFIXES = (".html", ".htm", ".xhtml")
_RST_SUFFIXES = (".rst", ".rest")
_BIBTEX_SUFFIXES = (".bib", ".bibtex")
_BY_NAME = frozenset([
    *MARKDOWN_SUFFIXES, *LATEX_SUFFIXES, *ASCIIDOC_SUFFIXES, *NOTEBOOK_SUFFIXES, *_RST_SUFFIXES, *_BIBTEX_SUFFIXES,
    ".org", ".typ", ".lean", ".v", ".ptx",
])  # fmt: skip
"""Suffixes that say the format: such a file may show the marks of another format in its text."""
_NOT_HTML = _BY_NAME | {".xml", ".txt", ".json", ".jsonl", ".tsv", ".svg"}
_TEXT_SUFFIXES = (".txt", ".text")
_ZIP = b"PK\x03\x04"

_POST_ROW = re.compile(r"<row\s[^<]*\sPostTypeId\s*=")
_FORMULA_SPAN = re.compile(r"math-container(?:&quot;|&apos;|&#39;|\"|')\s+id=")
_OBJECT = re.compile(r"\s*\{\s*\"[^\"\n]*\"\s*:")
_POST_KEY = re.compile(r"\"(?:body|text|content|question|title)\"\s*:\s*\"")
_COQ = re.compile(r"\(\*|\bRequire\b|\bProof\b|\.\s*$")
_LETTERS = re.compile(r"[^\W\d_]{2}|[^\x00-\x7f]|\$")  # what a list of numbers beside a dump has none of
_FOR_PROGRAMS = re.compile(
    r"(?:requirements.*|constraints.*|robots|humans|cmakelists|top_level|entry_points|sources|manifest)"
)
_PAGE_ROOTS = names("html head body")
_PRETEXT_ROOTS = names("""
    macros pretext mathbook book article slideshow part chapter section subsection appendix exercises worksheet docinfo frontmatter
    backmatter preface introduction
    """)
_OTHER_ROOTS = _PAGE_ROOTS | _PRETEXT_ROOTS | {"mediawiki"}
"""What shows a row of a dump in its text, and is none."""
_PRETEXT_MARKS = re.compile(
    r"<(?:pretext|mathbook|macros)\b|xmlns:xi=|\bxml:id=|<(?:statement|mrow|me|men|md|xref)\b"
)


def _is_dump(head: Head) -> bool:
    if head.suffix in _BY_NAME or head.root in _OTHER_ROOTS:
        return False
    return _POST_ROW.search(head.text) is not None


def _is_arqmath(posts: Head) -> bool:
    """Return whether the formulas of a dump have ids, or a table of formulas lies beside it."""
    if not _is_dump(posts):
        return False
    return _FORMULA_SPAN.search(posts.text) is not None or _has_formula_table(posts)


def _has_formula_table(posts: Head) -> bool:
    if posts.path == STDIN:
        return False
    try:
        with os.scandir(posts.path.parent) as entries:
            beside = [(each, each.stat()) for each in entries if ".tsv" in each.name and each.is_file()]
    except OSError:
        return False  # the reader reports a folder or file that is gone
    return any(_is_formula_table(each.path, (found.st_mtime_ns, found.st_size)) for each, found in beside)


@lru_cache(maxsize=1 << 14)
def _is_formula_table(path: str, state: tuple[int, int]) -> bool:  # noqa: ARG001
    """Return whether a file in a state is a table of formulas; every dump of its folder asks that."""
    from mathamr.posts.formats.stackexchange.tables import table_kind

    try:
        return table_kind(head(Path(path))) == "formulas"
    except MathAMRError:
        return False  # an unreadable file is not a table of formulas


def _is_epub(head: Head) -> bool:
    return head.start[:4] == _ZIP and (
        head.suffix == ".epub" or b"mimetypeapplication/epub+zip" in head.start[:100]
    )


def _is_jsonl(head: Head) -> bool:
    first = head.text.lstrip().split("\n", 1)[0]
    return head.suffix in _JSON_SUFFIXES or (
        head.suffix not in _BY_NAME
        and _OBJECT.match(first) is not None
        and _POST_KEY.search(first) is not None
    )


def _is_pretext(head: Head) -> bool:
    if head.suffix == ".ptx":
        return "\0" not in head.text
    is_xml = head.suffix == ".xml"
    return is_xml and head.root in _PRETEXT_ROOTS and _PRETEXT_MARKS.search(head.text) is not None


def _is_html(head: Head) -> bool:
    return head.suffix in _HTML_SUFFIXES or (head.suffix not in _NOT_HTML and head.root in _PAGE_ROOTS)


def _is_latex_archive(head: Head) -> bool:
    """Return whether a file is a tar archive with a LaTeX file near its beginning, or a name like it."""
    names = (*LATEX_SUFFIXES, ".sty", ".bbl")
    return head.start[257:262] == b"ustar" and any(suffix.encode() in head.start for suffix in names)


def _is_coq(head: Head) -> bool:
    """Return whether a file looks like Coq; Verilog has the same suffix."""
    return head.is_text(".v") and "endmodule" not in head.text and _COQ.search(head.text) is not None


def _is_prose(head: Head) -> bool:
    """Return whether a text file has prose in it; requirements, robots.txt and other lists for programs do not."""
    has_letters = not head.start or _LETTERS.search(head.text) is not None
    return head.is_text(*_TEXT_SUFFIXES) and has_letters and not _FOR_PROGRAMS.fullmatch(Path(head.name).stem)


# Detection asks in this order: the most specific format first.
BUILT_IN = {
    "arqmath": Format(
        "the ARQMath collection: `Posts*.xml` in which every formula has an id, with its tables",
        "stackexchange.reader:read_arqmath",
        sniff=_is_arqmath,
        post="a question or an answer",
        names="`Id`",
    ),
    "stackexchange": Format(
        "`Posts.xml` of the data dump of any Stack Exchange site",
        "stackexchange.reader:read_stackexchange",
        sniff=_is_dump,
        post="a question or an answer",
        names="`Id`",
    ),
    "wikipedia": Format(
        "XML dumps of Wikipedia and other MediaWikis, compressed or not",
        "wikipedia.reader:read_wikipedia",
        sniff=lambda head: head.suffix not in _BY_NAME and head.root == "mediawiki",
        post="an article, or a section of a long one",
        names="the title, `#section`",
    ),
    "word": Format(
        "Word documents; formulas of Word's editor become MathML",
        "word.reader:read_word",
        sniff=lambda head: head.suffix in _WORD_SUFFIXES and head.start[:4] == _ZIP,
        by_file=True,
        post="a document, or a section of a long one; paragraphs with a style called Theorem by themselves",
        names="path in the folder, `#bookmark` or `#heading-3f9a12`",
    ),
    "epub": Format(
        "EPUB books",
        "epub:read_epub",
        sniff=_is_epub,
        by_file=True,
        post="what `html` makes of a page",
        names="`path/page`",
    ),
    "pdf": Format(
        "PDF files: the text; formulas only where the file carries their source",
        "pdf.reader:read_pdf",
        sniff=lambda head: head.suffix not in _BY_NAME and b"%PDF-" in head.start[:1024],
        by_file=True,
        post="a page",
        names="`path#page=3`",
    ),
    "jsonl": Format(
        "JSON lines",
        "jsonlines:read_jsonlines",
        sniff=_is_jsonl,
        by_file=True,
        post="a line, or half a line for a pair of question and answer",
        names="`id`; of a pair `ID/question`, `ID/answer`",
    ),
    "notebook": Format(
        "Jupyter notebooks",
        "notebook:read_notebook",
        "markdown",
        sniff=lambda head: head.suffix in NOTEBOOK_SUFFIXES and head.text.lstrip()[:1] == "{",
        by_file=True,
        defines_macros=True,
        post="the Markdown cells, or a section of a long one",
        names="path in the folder, `#anchor` for a section",
    ),
    "pretext": Format(
        "PreTeXt (`.ptx`, `.xml`) with the numbers of its publication file; XML that defines entities is not read",
        "pretext:read_pretext",
        sniff=_is_pretext,
        defines_macros=True,
        post="a document, or a section of a long one; theorems, definitions, exercises and their kin by themselves",
        names="path in the folder, `#label` or `#heading-3f9a12`; `xml:id` are labels",
    ),
    "html": Format(
        "web pages with MathML or MathJax",
        "html.reader:read_html",
        sniff=_is_html,
        defines_macros=True,
        post="the main content of a page, or a section of a long one; 2,000 words without a heading are cut between paragraphs",
        names="path in the folder, `#anchor` for a section",
    ),
    "arxiv": Format(
        "source archives as arXiv offers them: `.tar.gz`, `.tgz`, `.tar`; a number such as `2101.00123v2` gives a citation",
        "latex.archive:read_latex_archive",
        "latex",
        sniff=_is_latex_archive,
        post="as of `latex`",
        names="`ARCHIVE/` and the id in it",
    ),
    "latex": Format(
        "LaTeX documents",
        "latex.reader:read_latex",
        "latex",
        LATEX_SUFFIXES,
        defines_macros=True,
        post="a section, a theorem-like statement, a proof; `kind` says which",
        names="`path#label`, or `path#its-heading-3f9a12`",
    ),
    "markdown": Format(
        "Markdown notes of any dialect",
        "markdown.reader:read_markdown",
        "markdown",
        MARKDOWN_SUFFIXES,
        by_file=True,
        defines_macros=True,
        post="a note, a section of a long one, or a statement in it",
        names="path in the folder, `#anchor` for a section or statement",
    ),
    "rst": Format(
        "reStructuredText with Sphinx's roles and directives, by docutils; `$…$` where `conf.py` names `sphinx_math_dollar`; nothing is included, no raw text",
        "rst:read_rst",
        suffixes=_RST_SUFFIXES,
        seconds=4.0,
        by_file=True,
        defines_macros=True,
        post="a document, or a section of a long one; `prf:theorem` and its kin by themselves",
        names="path in the folder, `#label` or `#heading-3f9a12`",
    ),
    "org": Format(
        "Org files",
        "org:read_org",
        suffixes=(".org",),
        by_file=True,
        defines_macros=True,
        post="a document, or a section of a long one; `#+begin_theorem` and its kin by themselves",
        names="path in the folder, `#label` or `#heading-3f9a12`; `CUSTOM_ID`, `#+NAME` are labels",
    ),
    "asciidoc": Format(
        "AsciiDoc; `stem` in LaTeX or AsciiMath",
        "asciidoc.reader:read_asciidoc",
        sniff=lambda head: head.is_text(*ASCIIDOC_SUFFIXES) and not head.text.startswith("-----BEGIN"),
        by_file=True,
        defines_macros=True,
        post="a document, or a section of a long one; blocks `[theorem]` and their kin by themselves",
        names="path in the folder, `#label` or `#heading-3f9a12`; `[[anchors]]` are labels",
    ),
    "typst": Format(
        "Typst; formulas become LaTeX, `#let` macros of formulas are used, also imported ones; no code is run",
        "typst.reader:read_typst",
        suffixes=(".typ",),
        post="a document, or a section of a long one; `#theorem[…]` and its kin of the common packages and of the document by themselves",
        names="path in the folder, `#label` or `#heading-3f9a12`; `<labels>` are labels",
    ),
    "lean": Format(
        "Lean 4 files",
        "lean.reader:read_lean",
        "declaration",
        (".lean",),
        by_file=True,
        learner="lean.reader:learn_lean",
        post="a declaration under its full name; what a module says about itself",
        names="`path#Full.name`",
    ),
    "coq": Format(
        "Coq files",
        "coq:read_coq",
        "declaration",
        sniff=_is_coq,
        by_file=True,
        post="a declaration under its full name; what a module says about itself",
        names="`path#Full.name`",
    ),
    "bibtex": Format(
        "BibTeX and BibLaTeX bibliographies",
        "bibtex:read_bibtex",
        "latex",
        _BIBTEX_SUFFIXES,
        by_file=True,
        post="an entry: title, authors, place, abstract and notes",
        names="`path#key`; citations lead to it",
    ),
    "text": Format(
        "plain text with `$`-math",
        "plaintext:read_text",
        "text",
        sniff=_is_prose,
        by_file=True,
        post="a file, or some 400 words of a long one",
        names="path in the folder, `#its-first-words-3f9a12`",
    ),
}


class _Formats(Mapping[str, Format]):
    """The built-in formats, then those of installed packages (the entry points `mathamr.readers`)."""

    _plugins: Registry[type[PostReader]] = Registry("format", {}, group="mathamr.readers")

    def __iter__(self) -> Iterator[str]:
        yield from BUILT_IN
        yield from (name for name in self._plugins if name not in BUILT_IN)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return name in BUILT_IN or name in self._plugins

    def __getitem__(self, name: str) -> Format:
        if name in BUILT_IN:
            return BUILT_IN[name]
        if name not in self._plugins:
            raise UnknownNameError("format", name, list(self))
        plugin = self._plugins[name]
        return Format(plugin.description, plugin().read, sniff=plugin.recognises)


FORMATS = _Formats()


def detect(path: Path) -> str | None:
    """Return the name of the format of a file, by its content and name; `None` if it is not known."""
    return format_of(head(path), FORMATS)


def format_of(file_head: Head, names: Mapping[str, Format] | list[str]) -> str | None:
    """Return the first of these formats that recognises the file."""
    return next((name for name in names if FORMATS[name].recognises(file_head)), None)

"""The seam of reading: `PostReader`, the registry of formats, and `read_posts`, which chooses among them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Protocol

from mathamr.core.errors import MathAMRError
from mathamr.core.registry import Registry
from mathamr.posts.formats.stackexchange.tables import table_kind
from mathamr.posts.identifiers import SeenIds
from mathamr.posts.inputs import STDIN, Head, head, read_text, shown, walk
from mathamr.posts.post import Post
from mathamr.posts.report import Report
from mathamr.posts.unsupported import advice_for, file_type


@dataclass(frozen=True)
class Collection:
    """What one reader is given: files of its format, in order.

    `root` is the folder from which ids and relative links are counted; `beside` are files that the user named as
    belonging to the posts (formula tables, link tables), besides those that a reader finds by itself. `known` are all
    files to which documents may link, if only some of them are to be read.
    """

    root: Path
    files: tuple[Path, ...]
    beside: tuple[Path, ...] = ()
    known: tuple[Path, ...] = ()

    def path_of(self, file: Path, unnamed: str = "note") -> str:
        """The path of a file in the folder, by which its posts are named; `unnamed` for standard input."""
        return unnamed if file == STDIN else file.relative_to(self.root).as_posix()

    @cached_property
    def paths(self) -> frozenset[str]:
        """The paths of all files."""
        return frozenset(map(self.path_of, self.known or self.files))

    def texts(self, report: Report, largest: int | None = None) -> Iterator[tuple[Path, str, str]]:
        """The files that can be read as text: each with its path in the folder and its text."""
        for file in self.files:
            report.at(shown(file))
            text = read_text(file, report, largest)
            if text is not None:
                yield file, self.path_of(file), text


class PostReader(Protocol):
    """One input format: recognises its files by their first bytes, and streams their posts.

    A reader never fails on a damaged row: it skips or repairs it, reports it, and continues. Ids need not
    be unique: `read_posts` drops and reports the later ones. Memory must not grow with the input.
    """

    description: ClassVar[str]

    @classmethod
    def recognises(cls, head: Head) -> bool:
        """Whether a file is of this format."""
        ...

    def read(self, collection: Collection, report: Report) -> Iterator[Post]:
        """The posts of the files, in order; `report.at(file, row)` is set before each."""
        ...


_NO_TEXT = re.compile("[\ud800-\udfff]")

# Detection asks in this order: the most specific format first.
READERS: Registry[type[PostReader]] = Registry(
    "format",
    {
        "arqmath": "mathamr.posts.formats.stackexchange.arqmath:ArqmathReader",
        "stackexchange": "mathamr.posts.formats.stackexchange.reader:StackExchangeReader",
        "wikipedia": "mathamr.posts.formats.wikipedia.reader:WikipediaReader",
        "word": "mathamr.posts.formats.word.reader:WordReader",
        "epub": "mathamr.posts.formats.epub:EpubReader",
        "pdf": "mathamr.posts.formats.pdf.reader:PdfReader",
        "jsonl": "mathamr.posts.formats.jsonlines:JsonLinesReader",
        "notebook": "mathamr.posts.formats.notebook:NotebookReader",
        "pretext": "mathamr.posts.formats.pretext:PretextReader",
        "html": "mathamr.posts.formats.html.reader:HtmlReader",
        "arxiv": "mathamr.posts.formats.latex.archive:LatexArchiveReader",
        "latex": "mathamr.posts.formats.latex.reader:LatexReader",
        "markdown": "mathamr.posts.formats.markdown.reader:MarkdownReader",
        "rst": "mathamr.posts.formats.rst:RstReader",
        "org": "mathamr.posts.formats.org:OrgReader",
        "asciidoc": "mathamr.posts.formats.asciidoc.reader:AsciidocReader",
        "typst": "mathamr.posts.formats.typst.reader:TypstReader",
        "lean": "mathamr.posts.formats.lean.reader:LeanReader",
        "coq": "mathamr.posts.formats.coq:CoqReader",
        "bibtex": "mathamr.posts.formats.bibtex:BibtexReader",
        "text": "mathamr.posts.formats.plaintext:PlainTextReader",
    },
    group="mathamr.readers",
)


def detect(path: Path) -> str | None:
    """The name of the format of a file, recognised by its content and name; `None` if no reader knows it."""
    return _format_of(head(path), READERS)


def read_posts(
    path: Path | str,
    report: Report,
    format: str | None = None,
    beside: Iterable[Path] = (),
    exclude: Sequence[str] = (),
) -> Iterator[Post]:
    """Stream the posts of a file, of a folder, or of standard input (`-`).

    Without `format` each file of a folder is read by its own kind; `exclude` are patterns of files in it that are left
    out, besides those of its ignore files and the defaults (see `IgnoreRules`). Of posts with the same id the first counts.
    """
    path = Path(path)
    beside = tuple(beside)
    for table in beside:
        if not table.exists():
            raise MathAMRError(f"{table}: no such file or folder")
    if path.is_dir():
        parts = _folder(path, report, format, beside, exclude)
    elif path == STDIN or path.exists():
        parts = [_file(path, format, beside)]
    else:
        raise MathAMRError(f"{path}: no such file or folder")
    report.bytes_total = _size(parts)
    return _unique(parts, report)


def _format_of(file_head: Head, formats: Iterable[str]) -> str | None:
    return next((name for name in formats if READERS[name].recognises(file_head)), None)


def _file(path: Path, format: str | None, beside: tuple[Path, ...]) -> tuple[PostReader, Collection]:
    if format is None:
        file_head = head(path)
        format = _format_of(file_head, READERS)
        if format is None:
            raise MathAMRError(f"{shown(path)}: {_why_unknown(file_head)}")
    return READERS[format](), Collection(path.parent, (path,), beside)


def _why_unknown(file_head: Head) -> str:
    if not file_head.start:
        return "is empty"
    if kind := table_kind(file_head):
        return f"is a table of {kind}, not posts; name the posts, and the table with --beside if it lies elsewhere"
    return f"unknown format; name it with --format (known: {', '.join(READERS)})"


def _folder(
    root: Path, report: Report, format: str | None, beside: tuple[Path, ...], exclude: Sequence[str]
) -> list[tuple[PostReader, Collection]]:
    formats = list(READERS) if format is None else [format]
    groups: dict[str, list[Path]] = {name: [] for name in formats}
    for file in walk(root, report, exclude):
        try:
            file_head = head(file)
        except MathAMRError as error:
            report.skip("unreadable", str(error))
            continue
        if name := _format_of(file_head, formats):
            groups[name].append(file)
        elif table_kind(file_head) is None:
            report.ignore(
                f"not posts: {file_type(file)}",
                f"not a {format} file" if format else advice_for(file),
            )
    if not any(groups.values()):
        what = f"{format} posts" if format else "posts"
        rules = ", ".join(report.excluded)
        excluded = f"; files were left out by {rules}" if rules else ""
        raise MathAMRError(f"{root}: no {what} in this folder (formats: {', '.join(READERS)}){excluded}")
    return [
        (READERS[name](), Collection(root, tuple(files), beside)) for name, files in groups.items() if files
    ]


def _size(parts: list[tuple[PostReader, Collection]]) -> int | None:
    files = [file for _, collection in parts for file in collection.files]
    return None if STDIN in files else sum(file.stat().st_size for file in files)


def _in_unicode(post: Post, report: Report) -> Post:
    r"""The post with valid Unicode in its names: a byte of a file name that is not UTF-8 is written as `\xff`."""
    try:
        f"{post.id}{post.source}{post.title}".encode()
    except UnicodeEncodeError:
        report.repair("file name is no UTF-8", f"its invalid bytes are written as escapes, as in {post.id!r}")
        return Post.from_json(_NO_TEXT.sub(lambda byte: f"\\\\x{ord(byte[0]) & 0xFF:02x}", post.to_json()))
    return post


def _unique(parts: list[tuple[PostReader, Collection]], report: Report) -> Iterator[Post]:
    seen = SeenIds()
    for reader, collection in parts:
        for post in (_in_unicode(each, report) for each in _whatever_happens(reader, collection, report)):
            if seen.add(post.id):
                yield post
            else:
                report.skip("duplicate id", f"a second post with the id {post.id!r}")


def _whatever_happens(reader: PostReader, collection: Collection, report: Report) -> Iterator[Post]:
    """The posts of a collection; a document that makes its reader fail is counted, and the reader goes on after it."""
    begun = set()
    while True:
        try:
            for post in reader.read(collection, report):
                begun.add(report.file)
                yield post
            return
        except MathAMRError:
            raise  # it is about the whole input, and says what to do
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            report.skip("reader failed", f"this document ends its reader ({why}); please report it")
        begun.add(report.file)
        left = tuple(file for file in collection.files if shown(file) not in begun)
        if not left or len(left) == len(collection.files):  # it did not say where it was
            return
        collection = replace(collection, files=left, known=collection.known or collection.files)

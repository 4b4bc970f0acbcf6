"""`read_posts`: chooses a format for every file and streams what its reader finds."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from mathamr.core.errors import MathAMRError
from mathamr.core.settings import FOLDER_FILE
from mathamr.formulas.latex.definitions import without_definitions
from mathamr.posts.bounds import keep_bounds
from mathamr.posts.budget import OverBudgetError, keep_budget, within_budget
from mathamr.posts.format import FORMATS, Collection, Format, format_of
from mathamr.posts.formats.stackexchange.tables import table_kind
from mathamr.posts.identifiers import SeenIds, fitting_id, give_id
from mathamr.posts.inputs import STDIN, Head, bare_name, display_path, head, read_text, size_of, walk
from mathamr.posts.macrosources import LARGEST, MacroSource, learn_macros, may_define
from mathamr.posts.macrotable import MacroTable, count_unknown
from mathamr.posts.markup import pieces
from mathamr.posts.post import Post
from mathamr.posts.report import Report

_DETECTING = 5.0
"""Processor time for telling the format of a file by its first bytes."""
_LEARNING = 20.0
"""Processor time for finding the macros of a file."""
_POINTER = "its content is not here but with Git LFS: fetch it with git lfs pull"
_NO_TEXT = re.compile("[\ud800-\udfff]")
_DEFINES = re.compile(
    r"\\(?:(?:re)?newcommand|providecommand|[gex]?def|let|Declare|(?:New|Renew|Provide)[A-Z])"
)
_ADVICE = {
    "pictures are not read": ".png .jpg .jpeg .gif .svg .bmp .tif .tiff .webp .eps .ico .heic",
    "save it as .docx, or export it to PDF": ".doc .odt .rtf .pages .wpd .fodt",
    "export it to PDF with its text, or to LaTeX": ".djvu .dvi .ps .xps",
    "export it to LaTeX": ".lyx .tm .mw .nb .wxmx .tex~",
    "export it to Markdown or HTML": ".one .enex .textile .wiki .creole .typ .t2t .pod .texi .man",
    "unpack it, and name the folder": ".zip .tar .tgz .rar .7z .jar .whl .deb",
    "read with the documents that use it": ".sty .cls .bst .def .cfg .clo .ldf",
    "code and data are not read; text in comments is read of Lean and Coq": ".py .c .h .cpp .js .ts .css .java .hs"
    " .ml .agda .thy .r .jl .m .sh .csv .tsv .xlsx .xls .json .yaml .yml .toml .xml .sql .db .npy .npz .pkl .lock",
    "it is not an archive: save it without a password, and leave out what begins with ~$": ".docx .docm .dotx .epub",
    "slides: export them to PDF": ".ppt .pptx .odp .key",
    "sound and films are not read": ".mp3 .mp4 .avi .mov .wav .webm .ogg .mkv",
}
_ADVICE_BY_SUFFIX = {suffix: advice for advice, suffixes in _ADVICE.items() for suffix in suffixes.split()}


def read_posts(
    path: Path | str,
    report: Report | None = None,
    format: str | None = None,
    beside: Iterable[Path] = (),
    exclude: Sequence[str] = (),
) -> Iterator[Post]:
    """Stream the posts of a file, of a folder, or of standard input (`-`).

    `report` counts what is skipped; without one, a warning says what was skipped once all posts are read. Without `format` each file of a folder is read by its own kind; `exclude` are patterns of files in it that are left
    out, besides those of its ignore files and the defaults (see `IgnoreRules`). Of posts with the same id the first counts.
    """
    counted = Report() if report is None else report
    parts = find_collections(Path(path), counted, format, beside, exclude)
    macros = macros_of(parts)
    counted.conflicts.update(macros.conflicts)
    posts = _unique([(name, replace(collection, macros=macros)) for name, collection in parts], counted)
    return posts if report is not None else _warning(posts, counted, path)


def _warning(posts: Iterator[Post], report: Report, path: Path | str) -> Iterator[Post]:
    yield from posts
    if report.skipped:
        lines = "; ".join(line for line in report.lines() if line.startswith("skipped"))
        warnings.warn(f"{path}: {lines} (read_posts(path, Report()) counts it)", stacklevel=2)


def find_collections(
    path: Path,
    report: Report,
    format: str | None = None,
    beside: Iterable[Path] = (),
    exclude: Sequence[str] = (),
    known_format: Callable[[Path], str | None] = lambda _: None,
) -> list[tuple[str, Collection]]:
    """Return the files of an input by format, each format with its files, in the order in which `read_posts` reads them.

    `known_format` names the format of a file whose first bytes need not be looked at.
    """
    beside = tuple(beside)
    for table in beside:
        if not table.exists():
            raise MathAMRError(f"{table}: no such file or folder")
    if path.is_dir():
        parts = _folder(path, report, format, beside, exclude, known_format)
    elif path == STDIN or path.exists():
        parts = [_file(path, format, beside)]
    else:
        raise MathAMRError(f"{path}: no such file or folder")
    report.bytes_total = _size(parts)
    return parts


def read_collection(
    format: str, collection: Collection, report: Report, learned: Sequence[Any] | None = None
) -> Iterator[Post]:
    """Stream the posts of files of one format, with all posts of the same id.

    `learned` is what was learned of all files of the format, if only some are read.
    """
    if collection.macros is None:
        collection = replace(collection, macros=macros_of([(format, collection)]))
    for post in read_format(FORMATS[format], collection, report, learned):
        if is_macros_alone(post):
            report.ignore("macros alone", "it only defines macros, which other documents use")
        else:
            count_unknown(post, report)
            yield _with_fitting_ids(_escape_surrogates(post, report), report)


def is_macros_alone(post: Post) -> bool:
    r"""Return True for a post that defines macros and says nothing else.

    >>> is_macros_alone(Post("a.md", "note", r"$$\newcommand{\R}{\mathbb{R}}$$", markup="markdown"))
    True
    """
    if _DEFINES.search(post.body) is None:
        return False
    for piece in pieces(post.body, post.markup):
        text = "".join(without_definitions(piece.text)) if piece.kind == "formula" else piece.text
        if piece.kind in ("text", "code", "formula") and any(map(str.isalnum, text)):
            return False
    return True


def macros_of(parts: Sequence[tuple[str, Collection]]) -> MacroTable:
    """Return the macros that the files of an input define."""
    learned: dict[str, MacroSource] = {}
    for format, collection in parts:
        files = collection.files if FORMATS[format].defines_macros else ()
        learned |= {
            collection.path_of(file): learn_file(file)
            for file in (*files, *collection.settings)
            if file != STDIN
        }
    return MacroTable(learned)


def learn_file(file: Path, *, uses: bool = False) -> MacroSource:
    """Return what a file tells of macros; nothing of one that is too large, cannot be read or takes too long."""
    text = read_text(file, Report()) if size_of(file) <= LARGEST else None
    if text is None:
        return {}
    try:
        return within_budget(lambda: learn_macros(bare_name(file), text, uses=uses), _LEARNING)
    except OverBudgetError:
        return {}


def _file(path: Path, format: str | None, beside: tuple[Path, ...]) -> tuple[str, Collection]:
    if format is None:
        file_head = head(path)
        try:
            format = within_budget(lambda: format_of(file_head, FORMATS), _DETECTING)
        except OverBudgetError:
            why = f"telling its format took more than {_DETECTING:g} s; name it with --format"
            raise MathAMRError(f"{display_path(path)}: {why}") from None
        if format is None or file_head.is_pointer:
            raise MathAMRError(f"{display_path(path)}: {_why_unknown(file_head)}")
    _ = FORMATS[format]  # an unknown one raises an error
    return format, Collection(path.parent, (path,), beside, settings=_settings_beside(path))


def _settings_beside(path: Path) -> tuple[Path, ...]:
    """Return the files in the folder of a single file that may define its macros."""
    if path == STDIN:
        return ()
    return tuple(
        sorted(
            each
            for each in path.parent.iterdir()
            if may_define(each.name) and each.is_file() and each != path
        )
    )


def _why_unknown(file_head: Head) -> str:
    if file_head.is_pointer:
        return _POINTER
    if not file_head.start:
        return "is empty"
    if kind := table_kind(file_head):
        return f"is a table of {kind}, not posts; name the posts, and the table with --beside if it lies elsewhere"
    return f"unknown format; name it with --format (known: {', '.join(FORMATS)})"


def _folder(
    root: Path,
    report: Report,
    format: str | None,
    beside: tuple[Path, ...],
    exclude: Sequence[str],
    known_format: Callable[[Path], str | None],
) -> list[tuple[str, Collection]]:
    formats = list(FORMATS) if format is None else [format]
    groups: dict[str, list[Path]] = {name: [] for name in formats}
    settings: list[Path] = []
    for file in walk(root, report, exclude):
        if (name := known_format(file)) in groups:
            groups[name].append(file)
            continue
        try:
            file_head = head(file)
        except MathAMRError as error:
            report.skip("unreadable", str(error))
            continue
        try:
            name = within_budget(partial(format_of, file_head, formats), _DETECTING)
        except OverBudgetError:
            report.skip("too slow", f"telling its format took more than {_DETECTING:g} s of a processor")
            continue
        if name and file_head.is_pointer:
            report.skip("unreadable", f"{display_path(file)}: {_POINTER}")
            continue
        if name:
            groups[name].append(file)
            continue
        if may_define(file.name):
            settings.append(file)
        if file.name == FOLDER_FILE:
            continue
        if table_kind(file_head) is None:
            report.ignore(
                f"not posts: {file_type(file)}", f"not a {format} file" if format else advice_for(file)
            )
    if not any(groups.values()):
        what = f"{format} posts" if format else "posts"
        rules = ", ".join(report.excluded)
        excluded = f"; files were left out by {rules}" if rules else ""
        raise MathAMRError(f"{root}: no {what} in this folder (formats: {', '.join(FORMATS)}){excluded}")
    return [
        (name, Collection(root, tuple(files), beside, settings=tuple(settings)))
        for name, files in groups.items()
        if files
    ]


def _size(parts: list[tuple[str, Collection]]) -> int | None:
    files = [file for _, collection in parts for file in collection.files]
    return None if STDIN in files else sum(map(size_of, files))


def _with_fitting_ids(post: Post, report: Report) -> Post:
    """Return the post with an id that every door takes, and with the ids that others got in the same way where it names them."""
    identifier = fitting_id(post.id)
    if identifier != post.id:
        report.repair("id with unseen characters", f"{post.id[:60]!r} gets the id {identifier[:60]!r}")
        post = give_id(post, identifier)
    named = (post.parent, post.accepted_answer, *(link.target for link in post.links))
    if all(not name or fitting_id(name) == name for name in named):
        return post
    return replace(
        post,
        parent=post.parent and fitting_id(post.parent),
        accepted_answer=post.accepted_answer and fitting_id(post.accepted_answer),
        links=tuple(replace(link, target=link.target and fitting_id(link.target)) for link in post.links),
    )


def _escape_surrogates(post: Post, report: Report) -> Post:
    r"""Return the post with valid Unicode in its names: a byte of a file name that is not UTF-8 is written as `\xff`."""
    try:
        f"{post.id}{post.source}{post.title}".encode()
    except UnicodeEncodeError:
        report.repair("file name is no UTF-8", f"its invalid bytes are written as escapes, as in {post.id!r}")
        return Post.from_json(_NO_TEXT.sub(lambda byte: f"\\\\x{ord(byte[0]) & 0xFF:02x}", post.to_json()))
    return post


def _unique(parts: list[tuple[str, Collection]], report: Report) -> Iterator[Post]:
    seen = SeenIds()
    for format, collection in parts:
        for post in read_collection(format, collection, report):
            if seen.add(post.id):
                yield post
            else:
                report.skip("duplicate id", f"a second post with the id {post.id!r}")


def read_format(
    reader: Format, collection: Collection, report: Report, learned: Sequence[Any] | None = None
) -> Iterator[Post]:
    """Yield the posts of a collection; count a file that makes its reader fail or take too long, and go on after it."""
    try:
        yield from _read_on(reader, collection, report, learned)
    finally:
        report.account.close()


def _read_on(
    reader: Format, collection: Collection, report: Report, learned: Sequence[Any] | None
) -> Iterator[Post]:
    begun = set()
    while True:
        report.at("")
        size = sum(map(size_of, collection.files))
        try:
            found = keep_budget(reader.read(collection, report, learned), report, reader.seconds, size)
            completed = found if collection.macros is None else map(collection.macros.complete, found)
            for post in keep_bounds(completed, report):
                begun.add(report.file)
                report.account.gave(post)
                yield post
            return
        except MathAMRError:
            raise  # it is about the whole input, and says what to do
        except OverBudgetError:
            what = "reading it" if report.file else "looking through all files before reading them"
            report.skip("too slow", f"{what} took more than {reader.seconds:g} s of a processor for each MB")
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            report.skip("reader failed", f"this document ends its reader ({why}); please report it")
        begun.add(report.file)
        left = tuple(file for file in collection.files if display_path(file) not in begun)
        if not left or len(left) == len(collection.files):  # it did not say where it was
            return
        collection = replace(collection, files=left, known=collection.known or collection.files)


def file_type(path: Path) -> str:
    """Return the type of a file, for a summary: its suffix.

    >>> file_type(Path("a/Scan.PNG.gz")), file_type(Path("Makefile"))
    ('.png files', 'files without a suffix')
    """
    suffix = Path(bare_name(path)).suffix
    return f"{suffix[:20]} files" if suffix else "files without a suffix"


def advice_for(path: Path) -> str:
    """Return why a file is ignored, or how to make it readable."""
    return _ADVICE_BY_SUFFIX.get(
        Path(bare_name(path)).suffix, "no reader knows this type of file; name its format with --format"
    )

"""Source archives of LaTeX documents as arXiv offers them: `.tar.gz` files, each read as a folder of its own."""

from __future__ import annotations

import errno
import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import cast

from mathamr.core.boundedtar import BROKEN, BoundedTarFile
from mathamr.core.errors import MathAMRError
from mathamr.posts.compression import BREAKS
from mathamr.posts.format import LATEX_SUFFIXES, Collection
from mathamr.posts.formats.latex.papers import read_metadata
from mathamr.posts.formats.latex.reader import read_documents
from mathamr.posts.identifiers import give_id
from mathamr.posts.inputs import LARGEST_SOURCE, LARGEST_TEXT_FILE, MOST_MEMBERS, Input, display_path
from mathamr.posts.post import Post
from mathamr.posts.report import Report

_NEEDED = frozenset([*LATEX_SUFFIXES, ".sty", ".cls", ".def", ".bbl", ".bib"])
"""Files that say something about the text; pictures and data are not unpacked."""
_BAD_NAMES = {
    errno.ENAMETOOLONG,
    errno.ENOTDIR,
    errno.EISDIR,
    errno.EEXIST,
    errno.EINVAL,
    errno.EILSEQ,
    errno.ELOOP,
}


def read_latex_archive(collection: Collection, report: Report) -> Iterator[Post]:
    """Read archives of LaTeX sources: the main files are found, `\\input` is followed, macros are used.

    Ids begin with the name of the archive, `2101.01234.tar.gz/main.tex#thm:main`, and so do the places of hits.
    """
    known = read_metadata(collection.root, (file.name for file in collection.files))
    for file in collection.files:
        name = collection.path_of(file, "archive")
        with TemporaryDirectory(prefix="mathamr-") as folder:
            root = Path(folder)
            report.at(display_path(file))
            unpacked = tuple(sorted(_unpack(file, root, report)))
            inside = Collection(
                root, tuple(each for each in unpacked if each.suffix.lower() in LATEX_SUFFIXES)
            )
            if not inside.files:
                report.skip("archive without LaTeX", "it contains no LaTeX document")
                continue
            packed = report.bytes_read
            for post in read_documents(inside, file.name, known, report):
                report.at(display_path(file))
                report.bytes_read = packed  # what was unpacked does not count once more
                yield _named(post, name, file)
            report.bytes_read = packed


def _unpack(file: Path, root: Path, report: Report) -> Iterator[Path]:
    """Write the sources of an archive into a folder; what leads out of it or is too large is left out."""
    left, count = LARGEST_TEXT_FILE, 0
    try:
        with (
            io.BufferedReader(cast(io.RawIOBase, Input(file, report))) as stream,
            BoundedTarFile.open(fileobj=stream, mode="r|") as archive,
        ):
            for member in archive:
                count += 1
                path = PurePosixPath(member.name)
                if count > MOST_MEMBERS:
                    report.skip("archive too large", f"only the first {MOST_MEMBERS:,} files are read")
                    return
                if not member.isreg() or path.suffix.lower() not in _NEEDED:
                    continue
                if path.is_absolute() or ".." in path.parts:
                    report.skip("path out of the archive", f"{member.name[:100]!r} leads out of the archive")
                    continue
                if member.size > min(LARGEST_SOURCE, left):
                    report.skip("archive too large", f"{member.name[:100]!r} has {member.size:,} bytes")
                    continue
                content = archive.extractfile(member)
                source = content.read() if content is not None else b""
                left -= member.size
                target = root.joinpath(*path.parts)
                try:
                    target.parent.mkdir(parents=True, exist_ok=True)
                    is_again = target.exists()
                    target.write_bytes(source)
                except (OSError, ValueError) as error:
                    if isinstance(error, OSError) and error.errno not in _BAD_NAMES:
                        raise MathAMRError(f"{target}: cannot be written ({error.strerror})") from error
                    report.skip(
                        "unreadable input",
                        f"{member.name[:100]!r} is not a name of a file ({error.args[-1]})",
                    )
                    continue
                if is_again:
                    report.skip("file twice in the archive", f"of {member.name[:100]!r} the last one is read")
                else:
                    yield target
            while stream.read(1 << 20):  # what pads the archive
                pass
    except (*BROKEN, *BREAKS) as error:
        report.skip("damaged archive", f"the archive is damaged here, the rest is lost ({error})")


def _named(post: Post, archive: str, file: Path) -> Post:
    """Return a post under the name of its archive, wherever it was unpacked."""

    def of(name: str) -> str:
        return f"{archive}/{name}" if name else name

    moved = give_id(post, of(post.id))
    return replace(
        moved,
        parent=None if post.parent is None else of(post.parent),
        links=tuple(replace(link, target=of(link.target)) for link in post.links),
        source=display_path(file),
        place=None if post.place is None else replace(post.place, path=of(post.place.path)),
    )

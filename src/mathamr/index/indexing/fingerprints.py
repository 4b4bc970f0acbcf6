"""Fingerprints of what this version makes: each is a digest of what comes of probes, small inputs that are in the package.

An index stores with each derived part the fingerprint of the code that made it. Where it differs, that part is made again by the
next `mathamr index`, and a search says so until then. A digest of source files would miss tables and libraries, and would
change with every comment.
"""

from __future__ import annotations

import json
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from hashlib import blake2b
from importlib import metadata, resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mathamr.core.errors import MathAMRError
from mathamr.formulas.latex.symbols import SYMBOLS
from mathamr.formulas.notation import to_string
from mathamr.formulas.trees import trees_of
from mathamr.graphs import notation
from mathamr.graphs.corpus import MinimalParser
from mathamr.graphs.maker import GraphMaker
from mathamr.index.catalogue.catalogue import Catalogue
from mathamr.index.catalogue.storedpassages import MARKUPS
from mathamr.index.indexing.analysis import formula_key
from mathamr.index.lexical.terms import terms_fingerprint
from mathamr.index.sources import SOURCES, sources_digest
from mathamr.posts.format import FORMATS, Collection
from mathamr.posts.passage import passage
from mathamr.posts.post import Formula, Markup, Post
from mathamr.posts.reader import read_collection
from mathamr.posts.report import Report
from mathamr.systems.system import Need
from mathamr.text.configuration import WINDOW, WINDOWS
from mathamr.text.wording import written

FIRST: dict[str, str] = {
    "formulas": "eb645c26a7fb60178a3400f7",
    "graphs": "d4b2ca3930eb2fa1ccfb6ee0",
    "html": "706b7d9750ce7b5ee9f89664",
    "markdown": "76d72636b252fe3ecff0896f",
    "latex": "472f683486daee51966695c1",
    "text": "84a54a4e3fd0b2c6e48949f6",
    "declaration": "6e97893465e4c4912af9ada5",
}
"""The fingerprints of the last version that stored none: an index without them is taken to be of that version."""
READ_BY = "formats read by"
PIECES_READ = "word pieces read"
FIRST_PIECES_READ = 1016
"""The word pieces of a post that the text encoder read in versions that did not store how many."""
PACKED = {"arxiv": "tori.tar.gz", "epub": "tori.epub", "word": "tori.docx"}
"""Formats whose probes are folders with the members of an archive."""
_AT_A_TIME = 40


class Fingerprints:
    """The fingerprints of the parts of an index as this version would make them, and as they were made."""

    def __init__(self, catalogue: Catalogue, needs: frozenset[Need]) -> None:
        self._catalogue, self._needs = catalogue, needs

    @property
    def are_current(self) -> bool:
        """True if the installed sources were found before to make all parts as they are, so that no probe need be read."""
        return self._catalogue.meta(SOURCES) == sources_digest()

    def of_reading(self, format: str) -> str:
        """Return the fingerprint of how files of a format are read now."""
        known = self._read_by().get(format) if self.are_current else None
        return known or reading_fingerprint(format)

    @property
    def is_first(self) -> bool:
        """True if the index is of a version that stored no fingerprints."""
        return self._catalogue.meta("formulas made by") is None

    @property
    def has_graphs(self) -> bool:
        """True if the index has graphs."""
        return bool(self._needs & {"graph", "tensor"})

    @property
    def words(self) -> bool:
        """True if words are made as they are in the index."""
        return self._catalogue.meta("lexical by") == terms_fingerprint()

    @property
    def formulas(self) -> bool:
        """True if formulas are read as they are in the index."""
        return self._is_same("formulas", formulas_fingerprint())

    @property
    def graphs(self) -> bool:
        """True if graphs are made as they are in the index, or it has none."""
        return not self.has_graphs or self._is_same("graphs", graphs_fingerprint())

    @property
    def pieces_read(self) -> int:
        """How many word pieces of a post the text encoder read for the vectors in the index."""
        return int(self._catalogue.meta(PIECES_READ) or FIRST_PIECES_READ)

    def outdated_formats(self) -> list[str]:
        """Return the formats of which files are read otherwise than they were."""
        marks = self._read_by()
        return [each for each, mark in marks.items() if each in FORMATS and reading_fingerprint(each) != mark]

    def outdated_wordings(self) -> list[Markup]:
        """Return the markups of which posts are encoded from another text, or from other trees or graphs, than they were."""
        return [
            markup
            for markup in MARKUPS
            if self._made_by(f"{markup} vectors", self._of_vectors(markup, FIRST.__getitem__))
            != self._of_vectors(markup, self._now)
        ]

    def remember(self) -> None:
        """Store the fingerprints of all parts but the files: what is outdated was marked to be made again."""
        marks = {"formulas": formulas_fingerprint()}
        if self.has_graphs:
            marks["graphs"] = graphs_fingerprint()
        marks |= {f"{markup} vectors": self._of_vectors(markup, self._now) for markup in MARKUPS}
        if any(self._catalogue.meta(f"{part} made by") != mark for part, mark in marks.items()):
            with self._catalogue.transaction():
                for part, mark in marks.items():
                    self._catalogue.set_meta(f"{part} made by", mark)

    def remember_formats(self, inputs: Iterable[str]) -> None:
        """Store the fingerprints of the formats of these inputs, which were read; a format of another input keeps its own."""
        read = set(inputs)
        formats = self._catalogue.formats()
        if self.are_current and {format for _, format in formats} <= self._read_by().keys():
            return
        unread = {format for source, format in formats if source not in read}
        before = self._read_by()
        marks = {
            format: before.get(format, "") if format in unread else reading_fingerprint(format)
            for format in sorted({format for _, format in formats if format in FORMATS})
        }
        with self._catalogue.transaction():
            self._catalogue.set_meta(READ_BY, json.dumps(marks))
            self._catalogue.set_meta(SOURCES, "" if self._outdated_parts() else sources_digest())

    def outdated_parts(self) -> list[str]:
        """Return the names of the parts that this version would make otherwise, for people."""
        return [] if self.are_current else self._outdated_parts()

    def _read_by(self) -> dict[str, str]:
        with suppress(ValueError, AttributeError):
            return {
                str(name): str(mark)
                for name, mark in json.loads(self._catalogue.meta(READ_BY) or "{}").items()
            }
        return {}

    def _outdated_parts(self) -> list[str]:
        found = [f"entries from {format} files" for format in self.outdated_formats()]
        found += [] if self.formulas else ["formulas"]
        found += [] if self.words else ["words"]
        found += [] if self.graphs else ["graphs"]
        is_cut = "wording" in self._needs and self.pieces_read < WINDOW * WINDOWS
        found += ["vectors of long entries"] if is_cut else []
        return found + (["vectors"] if self.outdated_wordings() else [])

    def _is_same(self, part: str, now: str) -> bool:
        return self._made_by(part, FIRST[part]) == now

    def _made_by(self, part: str, first: str) -> str:
        return self._catalogue.meta(f"{part} made by") or first

    def _now(self, part: str) -> str:
        if part == "formulas":
            return formulas_fingerprint()
        return graphs_fingerprint() if part == "graphs" else wording_fingerprint(part)

    def _of_vectors(self, markup: Markup, of: Callable[[str], str]) -> str:
        """Return what vectors of a markup depend on, each part given by `of`."""
        parts = [of(markup)]
        parts += [of("formulas")] if "trees" in self._needs else []
        return " ".join(parts + ([of("graphs")] if self.has_graphs else []))


@cache
def reading_fingerprint(format: str) -> str:
    """Return a fingerprint of how files of a format become posts; of a format without probes, the version of its package."""
    with probe_collection(format) as collection:
        if collection is None:
            return _digest([_package_version(format)])
        report = Report()
        try:
            posts = [
                json.loads(replace(post, source="").to_json())
                for post in read_collection(format, collection, report)
            ]
        except MathAMRError as error:  # what it needs is not installed
            return _digest([type(error).__name__])
        counts = report.to_row()
    return _digest([posts, [counts.get(name) for name in ("skipped", "repaired", "missing", "ignored")]])


@cache
def formulas_fingerprint() -> str:
    """Return a fingerprint of how formulas become trees and keys."""
    rows = map(json.loads, (_probes() / "formulas.jsonl").read_text(encoding="utf-8").splitlines())
    probes = [(_formula(row), tuple(row.get("macros", ()))) for row in rows]
    commands = sorted(name for name in SYMBOLS if name.startswith("\\"))
    probes += (
        (Formula("", " , ".join(commands[start : start + _AT_A_TIME])), ())
        for start in range(0, len(commands), _AT_A_TIME)
    )
    return _digest(_made_of(*probe) for probe in probes)


@cache
def graphs_fingerprint() -> str:
    """Return a fingerprint of how posts become graphs; that of the AMR parser is another."""
    made = GraphMaker(MinimalParser()).make(probe_posts())
    return _digest([notation.write(each.graph), sorted(each.fallbacks.items())] for each in made)


@cache
def wording_fingerprint(markup: Markup | str) -> str:
    """Return a fingerprint of what systems are given of posts in a markup to encode."""
    found: list[Any] = []
    for post in probe_posts():
        if post.markup == markup:
            text, places = written(post, passage(post))
            found.append([text, sorted(map(repr, places.items()))])
    return _digest(found)


def probe_posts() -> list[Post]:
    """Return posts of every markup."""
    return [*map(Post.from_json, (_probes() / "posts.jsonl").read_text(encoding="utf-8").splitlines())]


def _probes() -> Path:
    return Path(str(resources.files("mathamr.index"))) / "probes"


def _formula(row: dict[str, Any]) -> Formula:
    return Formula(
        "",
        row.get("latex", ""),
        presentation_mathml=row.get("presentation_mathml"),
        content_mathml=row.get("content_mathml"),
    )


def _made_of(formula: Formula, macros: tuple[str, ...]) -> list[Any]:
    """Return what is made of a formula: its trees, its visual class, and whether it was repaired."""
    trees, repaired = trees_of(formula, macros)
    return [
        [None if tree is None else to_string(tree) for tree in trees],
        formula_key(formula, macros),
        repaired,
    ]


@contextmanager
def probe_collection(format: str) -> Iterator[Collection | None]:
    """Give the probes of a format as its reader wants them: archives are made of their members; `None` if there are none."""
    folder = _probes() / ("latex" if format == "arxiv" else format)
    members = sorted(each for each in folder.rglob("*") if each.is_file())
    if not members or format not in PACKED:
        yield Collection(folder, tuple(members)) if members else None
        return
    with TemporaryDirectory(prefix="mathamr-") as made:
        root = Path(made)
        packed = root / PACKED[format]
        if format == "arxiv":
            with tarfile.open(packed, "w:gz") as tar:
                for each in members:
                    tar.add(each, each.relative_to(folder).as_posix())
        else:
            with zipfile.ZipFile(packed, "w") as archive:
                for each in members:
                    archive.write(each, each.relative_to(folder).as_posix())
        yield Collection(root, (packed,))


def _package_version(format: str) -> str:
    """Return the name of the package that brings a format, with its version."""
    reader = FORMATS[format].reader
    module = "mathamr" if isinstance(reader, str) else reader.__module__
    found = metadata.packages_distributions().get(module.partition(".")[0], ())
    return " ".join([module, *(f"{name} {metadata.version(name)}" for name in found)])


def _digest(value: Iterable[Any]) -> str:
    content = json.dumps(list(value), sort_keys=True, ensure_ascii=False)
    return blake2b(content.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()

"""Each derived part of an index knows which code made it, and is made again when that changes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mathamr.formulas import visualkey
from mathamr.index.admin.check import check_index
from mathamr.index.indexing import analysis, fingerprints, intake
from mathamr.index.indexing.builder import build_index
from mathamr.index.storage import IndexStorage
from mathamr.posts.format import FORMATS
from mathamr.posts.report import Report
from mathamr.search.searcher import Index
from tests.folders import write_files
from tests.index.small import options

NOTES = {"a.md": "The sum $a+b$ is known.", "b.md": "A product $xy$ and $a+b$ again.", "c.md": "No formula."}


CACHED = (
    fingerprints.formulas_fingerprint,
    fingerprints.reading_fingerprint,
    fingerprints.wording_fingerprint,
)


def forget_fingerprints() -> None:
    for each in CACHED:
        each.cache_clear()


@pytest.fixture(autouse=True)
def sure(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Files that were written just now are trusted, too; what is computed of changed code is forgotten."""
    monkeypatch.setattr(intake, "RACY", 0)
    forget_fingerprints()
    yield
    monkeypatch.undo()
    forget_fingerprints()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_files(tmp_path / "notes", NOTES)


def change_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do what a new formula parser does: give every formula another key."""
    monkeypatch.setattr(analysis, "visual_key", lambda slt: "new-" + visualkey.visual_key(slt))
    monkeypatch.setattr("mathamr.index.sources.__version__", "another")
    monkeypatch.setattr("mathamr.search.indexstate.sources_digest", lambda: "another")
    monkeypatch.setattr(fingerprints, "sources_digest", lambda: "another")
    forget_fingerprints()


def keys(out: Path) -> tuple[set[str], set[str]]:
    """The keys of formulas in the catalogue and in the lexical index."""
    with IndexStorage.open(out) as archive:
        return set(archive.catalogue.visual_keys()), set(archive.lexical.formulas.ids())


def test_formulas_get_new_keys_by_the_next_index_when_their_code_changes(
    folder: Path, model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "index"
    build_index([folder], out, options(model_folder))
    with Index.open(out) as index:
        assert not any("another version" in note for note in index.search("$a+b$", strategy="lexical").notes)
    old, _ = keys(out)
    change_keys(monkeypatch)
    with Index.open(out) as index:
        notes = index.search("$a+b$", strategy="lexical").notes
        assert any(
            f"made the formulas of this index, so hits may be missing: mathamr index --out {out}" in note
            for note in notes
        )
    summary = build_index([folder], out, options(model_folder))
    assert (summary.intake.new, summary.intake.changed) == (0, 0)
    catalogue, words = keys(out)
    assert catalogue == words == {f"new-{key}" for key in old}
    with Index.open(out) as index:
        hits = index.search("$a+b$", "formulas", strategy="lexical")
        assert not any("another version" in note for note in hits.notes)
    assert check_index(out, repair=False).problems == []
    again = build_index([folder], out, options(model_folder))
    assert not again.log.posts["lexical"]
    assert keys(out) == (catalogue, words)


@pytest.mark.parametrize("by", ["check", "rebuild"])
def test_an_index_with_keys_of_another_version_is_reported_and_repaired(
    by: str, folder: Path, model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such indexes exist: an update once made terms under new keys while the catalogue kept the old ones."""
    out = tmp_path / "index"
    build_index([folder], out, options(model_folder))
    old, _ = keys(out)
    change_keys(monkeypatch)
    with IndexStorage.open(out) as archive:
        needs = archive.needs
    from mathamr.index.catalogue.catalogue import CATALOGUE, Catalogue

    with Catalogue(out / CATALOGUE) as catalogue:  # what is stored says that all is well
        fingerprints.Fingerprints(catalogue, needs).remember()
    found = check_index(out, repair=False)
    assert not found.sound
    assert any(
        "2 posts have formulas under keys that this version does not make" in str(each)
        for each in found.problems
    )
    if by == "check":
        assert check_index(out, options(model_folder)).sound
    else:
        build_index([folder], out, options(model_folder, rebuild=True))
    assert keys(out) == ({f"new-{key}" for key in old},) * 2
    assert check_index(out, repair=False).problems == []


def test_only_files_of_a_format_whose_reading_changed_are_read_again(
    folder: Path, model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(folder, {"d.txt": "A text on tori.", "e.txt": "Another text."})
    out = tmp_path / "index"
    build_index([folder], out, options(model_folder))
    now = fingerprints.reading_fingerprint
    monkeypatch.setattr(fingerprints, "sources_digest", lambda: "another")
    monkeypatch.setattr(
        fingerprints, "reading_fingerprint", lambda format: "another" if format == "text" else now(format)
    )
    opened: list[str] = []
    from mathamr.posts.inputs import observing

    with observing(lambda path: opened.append(path.name)):
        build_index([folder], out, options(model_folder))
    assert set(opened) >= {"d.txt", "e.txt"}
    assert not {*opened} & {"a.md", "b.md", "c.md"}
    opened.clear()
    with observing(lambda path: opened.append(path.name)):
        build_index([folder], out, options(model_folder))
    assert not opened


def test_posts_are_encoded_again_when_their_wording_changes(
    folder: Path, model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "index"
    build_index([folder], out, options(model_folder))
    now = fingerprints.wording_fingerprint
    monkeypatch.setattr(fingerprints, "sources_digest", lambda: "another")
    changed = lambda markup: "another" if markup == "markdown" else now(markup)  # noqa: E731
    monkeypatch.setattr(fingerprints, "wording_fingerprint", changed)
    assert build_index([folder], out, options(model_folder)).log.posts["vectors"] == len(NOTES)
    assert not build_index([folder], out, options(model_folder)).log.posts["vectors"]


@pytest.mark.parametrize("format", FORMATS)
def test_the_probes_of_a_format_are_read_whole(format: str) -> None:
    """A probe of which nothing is read would hide every change."""
    from mathamr.posts.reader import read_collection

    report = Report()
    with fingerprints.probe_collection(format) as collection:
        assert collection is not None
        posts = list(read_collection(format, collection, report))
    assert posts
    assert format == "bibtex" or any(post.formulas for post in posts) or format == "pdf"
    assert not report.incomplete
    assert fingerprints.reading_fingerprint(format) == fingerprints.reading_fingerprint.__wrapped__(format)


def test_no_probe_is_read_while_the_installed_sources_are_the_same(
    folder: Path, model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "index"
    build_index([folder], out, options(model_folder))

    def fail(*_: object) -> str:
        raise AssertionError("a probe was read")

    for name in ("formulas_fingerprint", "reading_fingerprint"):
        monkeypatch.setattr(fingerprints, name, fail)
    build_index([folder], out, options(model_folder))
    with Index.open(out) as index:
        assert index.search("$a+b$", strategy="lexical")

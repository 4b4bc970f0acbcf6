"""A file is read and parsed once, and not again while it is the same."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mathamr.core.workers import Lost
from mathamr.formulas import parse as parsing
from mathamr.index.catalogue.catalogue import Catalogue
from mathamr.index.catalogue.storedpassages import stored_passage
from mathamr.index.indexing import analysis, intake, knownfiles, reading
from mathamr.index.indexing.analysis import AnalysedPost, analyse, visual_keys
from mathamr.index.indexing.builder import BuildOptions, build_index
from mathamr.index.indexing.buildpool import FEW, BuildPool
from mathamr.index.indexing.fingerprints import Fingerprints
from mathamr.index.indexing.intake import IntakeCounts, input_record, take_in
from mathamr.index.indexing.reading import ReadingContext, analysed, read_by_file
from mathamr.index.indexing.writer import IndexWriter
from mathamr.index.lexical.bags import PostBags
from mathamr.index.storage import IndexStorage
from mathamr.posts import markup
from mathamr.posts.inputs import observing
from mathamr.posts.passage import passage
from mathamr.posts.post import Post
from mathamr.posts.reader import find_collections, read_posts
from mathamr.posts.report import Report
from tests.folders import write_files
from tests.models import sample_posts

NOTES = {
    "groups.md": "# Groups\n\nA group $G$ has a unit, see [[Rings]] and [the sum](sums.md#lemma).\n",
    "rings.md": "---\naliases: [Rings]\n---\n# On rings\n\nA ring has $ab + c$.\n",
    "sums.md": "# Sums\n\n## Lemma\n\nThe sum $\\sum_i a_i$ is finite.\n",
}
LEAN = {
    "One.lean": "/-- A type. -/\n@[to_additive Sum]\nstructure Prod (M : Type*) where\n  x : M\n",
    "Two.lean": "/-- It is one. -/\n@[to_additive]\ntheorem Prod.one_eq (M : Type*) : 1 = 1 := rfl\n",
    "Three.lean": "/-- Nothing to translate. -/\ntheorem plain (n : ℕ) : n = n := rfl\n",
}


@pytest.fixture(autouse=True)
def sure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that were written just now are trusted, too."""
    monkeypatch.setattr(intake, "RACY", 0)


@pytest.fixture
def catalogue(tmp_path: Path) -> Iterator[Catalogue]:
    with Catalogue(tmp_path / "catalogue.db", create=True) as made:
        yield made


def taken(catalogue: Catalogue, folder: Path, pool: BuildPool | None = None) -> tuple[IntakeCounts, set[str]]:
    """What reading a folder counted, and the names of the files that were opened."""
    counts, opened = IntakeCounts(), set[str]()
    with observing(lambda path: opened.add(path.name)):
        take_in(catalogue, folder, input_record(folder), counts, Report(), pool or BuildPool())
    return counts, opened


def posts_of(folder: Path) -> dict[str, Post]:
    return {post.id: post for post in read_posts(folder.resolve(), Report())}


def stored(catalogue: Catalogue) -> dict[str, Post]:
    return {post.id: post for post in catalogue.every_post()}


def test_a_note_is_parsed_once_while_it_is_indexed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bodies: Counter[str] = Counter()
    formulas: Counter[str] = Counter()
    read, both = markup.marked_pieces, parsing.both_readings

    def reading_text(text: str, kind: str, note: Any = markup.ignore) -> Any:
        bodies[text] += 1
        return read(text, kind, note)

    def reading_formula(latex: str, *more: Any, **options: Any) -> Any:
        formulas[latex] += 1
        return both(latex, *more, **options)

    markup._parse_once.cache_clear()
    monkeypatch.setattr(markup, "marked_pieces", reading_text)
    monkeypatch.setattr("mathamr.formulas.trees.both_readings", reading_formula)
    body = "It is known that $\\zeta_{41} + 41^{x}$ is odd, but nobody knows why.\n"
    source = write_files(tmp_path / "notes", {"a.md": f"# A note\n\n{body}"})
    build_index([source], tmp_path / "index", BuildOptions(model="mathamr-3", device="cpu"))
    assert {text: count for text, count in bodies.items() if "nobody knows" in text} == {
        text: 1 for text in bodies if "nobody knows" in text
    }
    assert any("nobody knows" in text for text in bodies)
    assert formulas[r"\zeta_{41} + 41^{x}"] == 1


def test_workers_give_what_is_analysed_here_in_the_same_order() -> None:
    posts = sample_posts(FEW + 10)
    with BuildPool(2) as pool:
        assert list(analysed(posts, pool)) == [analyse(post) for post in posts]
        assert list(analysed(posts[:3], pool)) == [analyse(post) for post in posts[:3]]
    with BuildPool(8) as pool:
        list(analysed(posts[:3], pool))
        assert "_readers" not in pool.__dict__, "a few posts start no worker"


def test_an_analysed_post_holds_what_each_part_makes_by_itself() -> None:
    for post in sample_posts(5):
        found = analyse(post)
        assert found.bags == PostBags.of(post)
        assert list(found.row.visuals) == visual_keys(post)
        assert found.row.passage == stored_passage(post, passage(post))


@pytest.mark.parametrize("files", [NOTES, LEAN])
def test_files_are_read_by_workers_as_by_one_process(
    files: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "FEW_BYTES", 0)
    monkeypatch.setattr(reading, "MOST_FILES", 1)
    folder = write_files(tmp_path / "files", files)
    with Catalogue(tmp_path / "catalogue.db", create=True) as catalogue, BuildPool(2) as pool:
        counts, _ = taken(catalogue, folder, pool)
        assert counts.new == len(posts_of(folder))
        assert stored(catalogue) == posts_of(folder)


def test_files_that_are_the_same_are_not_opened(catalogue: Catalogue, tmp_path: Path) -> None:
    folder = write_files(tmp_path / "notes", NOTES)
    first, opened = taken(catalogue, folder)
    assert opened == set(NOTES)
    again, opened = taken(catalogue, folder)
    assert opened == set()
    assert (again.new, again.unchanged) == (0, first.new)
    (folder / "sums.md").touch()  # another time and the same content: it is hashed, not parsed
    again, opened = taken(catalogue, folder)
    assert opened <= {"sums.md"}
    assert again.unchanged == first.new


def test_a_file_whose_name_is_not_utf8_ends_no_build(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "notes", {**NOTES, os.fsdecode(b"bad\xff.md"): "A zebra."})
    for _ in range(2):
        build_index([folder], tmp_path / "index", BuildOptions(workers=1), again=True)
    with IndexStorage.open(tmp_path / "index") as archive:
        assert len([id for id in archive.catalogue.ids() if id.startswith("bad")]) == 1


def test_a_change_that_keeps_size_and_time_is_found(catalogue: Catalogue, tmp_path: Path) -> None:
    folder = write_files(tmp_path / "notes", NOTES)
    taken(catalogue, folder)
    before = (folder / "sums.md").stat()
    text = NOTES["sums.md"].replace("finite", "finito")
    (folder / "sums.md").write_text(text, encoding="utf-8")
    os.utime(folder / "sums.md", ns=(before.st_atime_ns, before.st_mtime_ns))
    counts, _ = taken(catalogue, folder)
    assert counts.changed == 1
    assert stored(catalogue) == posts_of(folder)


CHANGES = {
    "another alias": ("rings.md", NOTES["rings.md"].replace("Rings", "Fields")),
    "a new file": ("fields.md", "# Fields\n\nA field.\n"),
    "a file less": ("rings.md", ""),
    "another heading": ("sums.md", NOTES["sums.md"].replace("Lemma", "Theorem")),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_depends_on_another_file_follows_it(change: str, catalogue: Catalogue, tmp_path: Path) -> None:
    folder = write_files(tmp_path / "notes", NOTES)
    taken(catalogue, folder)
    name, text = CHANGES[change]
    (folder / name).write_text(text, encoding="utf-8") if text else (folder / name).unlink()
    taken(catalogue, folder)
    assert stored(catalogue) == posts_of(folder)


def test_of_a_lean_library_only_what_a_change_concerns_is_read_again(
    catalogue: Catalogue, tmp_path: Path
) -> None:
    folder = write_files(tmp_path / "library", LEAN)
    taken(catalogue, folder)
    (folder / "Three.lean").write_text(LEAN["Three.lean"].replace("n = n", "0 = 0"), encoding="utf-8")
    counts, opened = taken(catalogue, folder)
    assert (counts.changed, opened) == (1, {"Three.lean"})
    # Another name of the counterpart of a type is a name in the other files that translate.
    (folder / "One.lean").write_text(LEAN["One.lean"].replace("Sum", "Total"), encoding="utf-8")
    counts, opened = taken(catalogue, folder)
    assert opened == {"One.lean", "Two.lean"}
    assert any(post.title.startswith("Total.") for post in stored(catalogue).values())
    assert stored(catalogue) == posts_of(folder)


MACROS = {
    "_config.yml": "macros:\n  K: '\\mathbb{K}'\n",
    "own.sty": "\\newcommand{\\Gal}{G}\n\\newcommand{\\Aut}{A}\n",
    "galois.md": "# Galois\n\nThe group $\\Gal$ of a field.\n",
    "forms.md": "# Forms\n\n$$\\newcommand{\\Sym}{S}$$\n\nA form $\\Sym$.\n",
    "plain.md": "# Plain\n\nThe sum $x+y$.\n",
    "paper.tex": "\\documentclass{a}\\begin{document}The group $\\Aut$.\\end{document}\n",
}
MACRO_CHANGES: dict[str, tuple[str, str, set[str]]] = {
    "a style": ("own.sty", MACROS["own.sty"].replace("{G}", "{H}"), {"galois.md"}),
    "a style less": ("own.sty", "", {"galois.md"}),
    "a setting of all": ("_config.yml", "macros:\n  K: k\n", {"galois.md", "forms.md", "plain.md"}),
    "a page": ("forms.md", MACROS["forms.md"].replace("{S}", "{T}"), {"forms.md"}),
    "a page that defines more": ("forms.md", "$\\newcommand{\\Gal}{P}$ Words.", {"forms.md", "galois.md"}),
    "a new style": ("more/new.sty", "\\newcommand{\\unused}{x}", set()),
}
LOOKED_AT = {"_config.yml", "own.sty", "new.sty", "paper.tex"}
"""Settings, styles and files of LaTeX, whose first bytes say what they are, are opened each time."""


@pytest.mark.parametrize("change", MACRO_CHANGES)
def test_documents_whose_macros_changed_are_read_again_and_no_others(
    change: str, catalogue: Catalogue, tmp_path: Path
) -> None:
    folder = write_files(tmp_path / "notes", MACROS)
    taken(catalogue, folder)
    assert stored(catalogue) == posts_of(folder)
    _, opened = taken(catalogue, folder)
    assert opened <= LOOKED_AT
    name, text, expected = MACRO_CHANGES[change]
    write_files(folder, {name: text}) if text else (folder / name).unlink()
    _, opened = taken(catalogue, folder)
    assert opened - LOOKED_AT == expected
    assert stored(catalogue) == posts_of(folder)


def test_what_another_version_learned_of_macros_is_learned_again(
    catalogue: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_files(tmp_path / "notes", MACROS)
    taken(catalogue, folder)
    for module in (reading, knownfiles):
        monkeypatch.setattr(module, "learning_fingerprint", lambda: "another")
    _, opened = taken(catalogue, folder)
    assert opened >= {"galois.md", "forms.md", "plain.md", "paper.tex"}


def test_files_are_read_again_by_other_readers(
    catalogue: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_files(tmp_path / "notes", NOTES)
    taken(catalogue, folder)
    monkeypatch.setattr(Fingerprints, "of_reading", lambda _self, _format: "another")
    counts, opened = taken(catalogue, folder)
    assert opened == set(NOTES)
    assert counts.unchanged == len(posts_of(folder))


def test_a_deleted_post_comes_back_although_its_file_is_the_same(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "notes", NOTES)
    chosen = BuildOptions(model="mathamr-3", device="cpu")
    build_index([folder], tmp_path / "index", chosen)
    with IndexWriter.open(tmp_path / "index") as writer:
        assert writer.delete(["sums.md"]) == ["sums.md"]
    summary = build_index([], tmp_path / "index", chosen, again=True)
    assert (summary.intake.new, summary.intake.unchanged) == (1, len(posts_of(folder)) - 1)
    with IndexStorage.open(tmp_path / "index") as archive:
        assert stored(archive.catalogue) == posts_of(folder)


def test_a_second_post_of_an_id_does_not_replace_one_of_a_file_that_was_not_read_again(
    catalogue: Catalogue, tmp_path: Path
) -> None:
    one, two = '{"id": "a", "body": "One."}\n', '{"id": "b", "body": "Two."}\n'
    folder = write_files(tmp_path / "rows", {"first.jsonl": two, "second.jsonl": one})
    taken(catalogue, folder)
    (folder / "first.jsonl").write_text(two + one.replace("One", "Another"), encoding="utf-8")
    counts, _ = taken(catalogue, folder)
    assert stored(catalogue) == posts_of(folder)
    assert counts.reports[str(folder.resolve())].skipped["duplicate id"] == 1


def test_a_post_that_cannot_be_analysed_is_counted_and_costs_no_other(
    catalogue: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_files(tmp_path / "notes", NOTES)

    def failing(post: Post) -> AnalysedPost:
        if post.id == "rings.md":
            raise ZeroDivisionError("no way")
        return analyse(post)

    with monkeypatch.context() as hard:
        hard.setattr(analysis, "analyse", failing)
        counts, _ = taken(catalogue, folder)
    report = counts.reports[str(folder.resolve())]
    assert report.skipped["cannot be analysed"] == 1
    assert "'rings.md' is left out (ZeroDivisionError: no way)" in str(
        report.examples["cannot be analysed"][0]
    )
    assert "rings.md" not in stored(catalogue)
    taken(catalogue, folder)
    assert stored(catalogue) == posts_of(folder)


def test_a_file_over_which_a_worker_is_lost_is_reported_and_costs_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_files(tmp_path / "notes", NOTES).resolve()
    monkeypatch.setattr(reading, "FEW_BYTES", 0)
    ((format, collection),) = find_collections(folder, Report())
    report = Report()
    with BuildPool(2) as pool:
        whole = pool.map

        def losing(requests: Any, **options: Any) -> Iterator[tuple[Any, Any]]:
            for request, answer in whole(requests, **options):
                is_hard = any(task.file.name == "rings.md" for task in request)
                yield request, Lost("worker died", "too heavy") if is_hard else answer

        monkeypatch.setattr(pool, "map", losing)
        found = list(read_by_file(ReadingContext(format, collection), collection.files, pool, report))
    assert [Path(each.name).name for each in found] == ["groups.md", "sums.md"]
    assert report.skipped == {"reader failed": 1}

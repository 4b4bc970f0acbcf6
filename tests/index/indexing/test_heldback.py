"""What is gone from a folder is deleted; a file that is there but cannot be read whole keeps its own posts, and no other's."""

from __future__ import annotations

import gzip
import io
import re
import shutil
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mathamr.index.catalogue.catalogue import Catalogue
from mathamr.index.freshness import compare_files
from mathamr.index.indexing import intake
from mathamr.index.indexing.builder import build_index
from mathamr.index.indexing.buildpool import BuildPool
from mathamr.index.indexing.intake import IntakeCounts, input_record, take_in
from mathamr.posts import inputs
from mathamr.posts.formats.markdown import reader as markdownreader
from mathamr.posts.report import INCOMPLETE, Report
from mathamr.search.hits import caution_of
from mathamr.search.searcher import Index
from tests.folders import write_files
from tests.index.small import note, options, write_posts

EXAMPLES = Path(__file__).parents[2] / "posts" / "examples"
Damage = Callable[[Path], None]


def cut(path: Path, share: float = 0.6) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def blank(path: Path) -> None:
    """Write zeros over the middle of a file, as a disk that fails does."""
    content = path.read_bytes()
    middle = len(content) // 2
    path.write_bytes(content[:middle] + bytes(200) + content[middle + 200 :])


def recode(path: Path) -> None:
    path.write_text(path.read_text(), encoding="utf-16")


def cut_declaration(path: Path) -> None:
    path.write_text("/-- On 0. -/\ntheor")


def point(path: Path) -> None:
    """Leave what Git LFS leaves of a file that it did not fetch."""
    path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")


def encrypt(path: Path) -> None:
    """Give a PDF the mark of an encrypted one, by a method that no reader knows."""
    content = path.read_bytes()
    assert b"trailer" in content
    path.write_bytes(content.replace(b"/Root", b"/Encrypt << /Filter /Standard /V 9 /R 9 >> /Root", 1))


def break_word(path: Path) -> None:
    """Replace the text of a Word document by bytes that are not XML."""
    with zipfile.ZipFile(path) as whole:
        members = {each: whole.read(each) for each in whole.namelist()}
    with zipfile.ZipFile(path, "w") as broken:
        for name, content in members.items():
            broken.writestr(name, b"\0\1\2" if name == "word/document.xml" else content)


def grow(path: Path) -> None:
    """Let a chapter of an archive of sources grow beyond what is read of one."""
    with tarfile.open(path) as whole:
        members = {
            each.name: (f.read() if (f := whole.extractfile(each)) else b"") for each in whole.getmembers()
        }
    with tarfile.open(path, "w:gz") as large:
        for name, content in members.items():
            content += b"%" * (inputs.LARGEST_SOURCE if name.startswith("sections") else 0)
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            large.addfile(entry, io.BytesIO(content))


def gzipped(folder: Path) -> Path:
    write_posts(
        folder / "posts.jsonl", [note(f"n{each}", f"note {each} on $x_{each}$") for each in range(40)]
    )
    path = folder / "posts.jsonl.gz"
    path.write_bytes(gzip.compress((folder / "posts.jsonl").read_bytes(), 0))
    (folder / "posts.jsonl").unlink()
    return path


def example(name: str) -> Callable[[Path], Path]:
    def copy(folder: Path) -> Path:
        return Path(shutil.copy(EXAMPLES / name, folder))

    return copy


def text(name: str, content: str) -> Callable[[Path], Path]:
    return lambda folder: write_files(folder, {name: content}) / name


def dump(folder: Path) -> Path:
    """A dump of a hundred rows."""
    rows = (
        f'<row Id="{n}" PostTypeId="1" Title="On {n}" Body="&lt;p&gt;Is ${n}$ odd?&lt;/p&gt;" />'
        for n in range(100)
    )
    path = folder / "Posts.xml"
    path.write_text('<?xml version="1.0"?>\n<posts>\n' + "\n".join(rows) + "\n</posts>\n", encoding="utf-8")
    return path


DAMAGES: dict[str, tuple[Callable[[Path], Path], Damage]] = {
    "cut dump": (dump, cut),
    "cut notebook": (example("notebook/newton.ipynb"), cut),
    "cut PDF": (example("pdf/limits.pdf"), lambda path: cut(path, 0.1)),
    "encrypted PDF": (example("pdf/limits.pdf"), encrypt),
    "Word document without XML": (example("word/limits.docx"), break_word),
    "cut Word document": (example("word/limits.docx"), cut),
    "cut book": (example("epub/limits.epub"), cut),
    "cut archive of a file": (gzipped, cut),
    "emptied PreTeXt": (example("pretext/main.ptx"), empty),
    "emptied LaTeX": (example("latex/paper.tex"), empty),
    "emptied note": (example("commonmark/limits.md"), empty),
    "cut LaTeX": (example("latex/paper.tex"), cut),
    "cut PreTeXt": (example("pretext/main.ptx"), cut),
    "cut bibliography": (
        text("a.bib", "".join(f"@book{{b{n}, title={{Book {n}}}}}\n" for n in range(9))),
        cut,
    ),
    "documentation of nothing": (
        text("a.lean", "".join(f"/-- On {n}. -/\ntheorem t{n} : 1 = 1 := rfl\n" for n in range(2))),
        cut_declaration,
    ),
    "emptied page": (text("a.html", "<p>A page about $x$."), empty),
    "zeros in a dump": (dump, blank),
    "dump in another encoding": (
        dump,
        recode,
    ),
    "note that Git LFS did not fetch": (example("commonmark/limits.md"), point),
    "archive with a large member": (example("arxiv/2101.01234.tar.gz"), grow),
}


@pytest.fixture(autouse=True)
def sure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that were written just now are trusted, too."""
    monkeypatch.setattr(intake, "RACY", 0)


@pytest.fixture
def catalogue(tmp_path: Path) -> Iterator[Catalogue]:
    with Catalogue(tmp_path / "catalogue.db", create=True) as made:
        yield made


def taken(catalogue: Catalogue, folder: Path) -> IntakeCounts:
    counts = IntakeCounts()
    take_in(catalogue, folder, input_record(folder), counts, Report(), BuildPool())
    return counts


def bodies(catalogue: Catalogue) -> dict[str, str]:
    return {post.id: post.body for post in catalogue.every_post()}


@pytest.mark.parametrize("what", DAMAGES)
def test_a_damaged_file_keeps_its_own_posts_and_no_others(
    what: str, catalogue: Catalogue, tmp_path: Path
) -> None:
    make, damage = DAMAGES[what]
    folder = write_files(
        tmp_path / "notes", {"gone.md": "# Gone\n\nA note on $y$.\n", "stays.md": "Here is $z$."}
    )
    path = make(folder)
    taken(catalogue, folder)
    before = bodies(catalogue)
    own = before.keys() - {"gone.md", "stays.md"}
    whole = path.read_bytes()
    assert own

    damage(path)
    (folder / "gone.md").unlink()
    for _ in range(2):  # whatever was remembered of the first time, the second gives the same
        counts = taken(catalogue, folder)
        after = bodies(catalogue)
        assert after == {name: body for name, body in before.items() if name != "gone.md"}
        kept = catalogue.kept_since(sorted(after))
        assert kept
        assert set(kept) <= own
        assert counts.held_back == len(kept) == catalogue.count_kept()
        assert counts.held_files == [str(path.resolve())]

    path.write_bytes(whole)
    assert taken(catalogue, folder).held_back == 0
    assert bodies(catalogue).keys() == own | {"stays.md"}
    assert not catalogue.count_kept()

    damage(path)
    taken(catalogue, folder)
    path.unlink()
    assert taken(catalogue, folder).deleted == len(own)
    assert bodies(catalogue).keys() == {"stays.md"}
    assert not catalogue.count_kept()


def test_an_oversized_note_keeps_its_post(
    catalogue: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_files(tmp_path / "notes", {"a.md": "Here is $x$.", "b.md": "There is $y$."})
    taken(catalogue, folder)
    monkeypatch.setattr(markdownreader, "LARGEST_SOURCE", 1000)
    write_files(folder, {"a.md": "Here is $x$. " * 100})
    (folder / "b.md").unlink()
    counts = taken(catalogue, folder)
    assert bodies(catalogue) == {"a.md": "Here is $x$."}
    assert (counts.deleted, counts.held_back) == (1, 1)


def test_a_file_that_was_never_whole_is_brought_up_to_date_and_keeps_what_it_loses(
    catalogue: Catalogue, tmp_path: Path
) -> None:
    folder = tmp_path / "notes"
    rows = [note("a", "first $x$").to_json(), "{", note("b", "second").to_json()]
    write_files(folder, {"posts.jsonl": "\n".join(rows)})
    taken(catalogue, folder)
    rows[0] = note("a", "changed $x$").to_json()
    write_files(folder, {"posts.jsonl": "\n".join(rows)})
    assert taken(catalogue, folder).changed == 1
    write_files(folder, {"posts.jsonl": "\n".join(rows[:2])})
    for _ in range(3):
        assert taken(catalogue, folder).held_back == 1
        assert bodies(catalogue) == {"a": "changed $x$", "b": "second"}


def test_a_damaged_row_is_no_reason_to_read_a_file_again(catalogue: Catalogue, tmp_path: Path) -> None:
    folder = write_files(tmp_path / "notes", {"posts.jsonl": note("a", "first").to_json() + "\n{\n"})
    taken(catalogue, folder)
    opened: list[Path] = []
    with inputs.observing(opened.append):
        assert taken(catalogue, folder).unchanged == 1
    assert not opened


def test_a_hit_says_that_its_file_can_no_longer_be_read(
    model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1772539200")  # 3 March 2026
    folder = write_files(
        tmp_path / "notes", {"a.md": "Chromatic polynomials $x$.", "b.md": "Another note $y$."}
    )
    build_index([folder], tmp_path / "index", options(model_folder))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1780000000")
    (folder / "a.md").write_bytes(b"")
    with Index.open(tmp_path / "index") as index:
        assert [hit.as_of for hit in index.search("chromatic polynomials", strategy="lexical")] == [None]
        summary = build_index([folder], tmp_path / "index", options(model_folder))
        assert summary.to_json()["posts"]["held_back"] == 1
        (hit,) = index.search("chromatic polynomials", strategy="lexical")  # the open reader sees it, too
    assert hit.as_of == hit.to_json()["as_of"] == "2026-03-03"
    assert hit.caution == caution_of("2026-03-03")


def test_the_causes_of_an_incomplete_file_are_documented() -> None:
    page = Path(__file__).parents[3] / "docs" / "formats.md"
    (named,) = re.findall(r"was not read whole,.*?:\n(.*?)\n\n", page.read_text(encoding="utf-8"), re.S)
    assert set(re.findall(r"`([^`]+)`", named)) == INCOMPLETE


def test_what_a_first_pass_wrote_is_counted(
    catalogue: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second pass is needed where a changed file has a post of the id that an unchanged one has."""
    monkeypatch.setattr(intake, "TAKEN", 1)
    monkeypatch.setattr(intake, "SECONDS", 0.0)
    folder = tmp_path / "notes"
    first, second = note("x", "the first $x$"), note("y", "the second")
    write_files(folder, {"a.jsonl": first.to_json(), "b.jsonl": second.to_json()})
    taken(catalogue, folder)
    rows = [note("new", "it is new"), note("y", "it was changed"), first]
    write_files(folder, {"b.jsonl": "\n".join(row.to_json() for row in rows)})
    counts = taken(catalogue, folder)
    assert (counts.new, counts.changed, counts.unchanged, counts.deleted) == (1, 1, 1, 0)


def test_a_file_that_cannot_be_read_is_not_said_to_have_changed_until_it_does(
    catalogue: Catalogue, tmp_path: Path
) -> None:
    folder = write_files(tmp_path / "notes", {"a.md": "Here is $x$.", "b.md": "There is $y$."})
    record = input_record(folder)
    taken(catalogue, folder)
    (folder / "a.md").write_bytes(b"")
    assert compare_files(catalogue, [record]).changed == 1
    taken(catalogue, folder)
    assert not compare_files(catalogue, [record])
    write_files(folder, {"a.md": "Here is $z$."})
    assert compare_files(catalogue, [record]).changed == 1

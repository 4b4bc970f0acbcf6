"""The contract of every reader, and the choice among them."""

from __future__ import annotations

import gzip
import inspect
import itertools
import json
import shutil
import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mathamr.core.errors import MathAMRError, UnknownNameError
from mathamr.posts.format import FORMATS, Collection, detect
from mathamr.posts.formats.markdown.frontmatter import FrontMatter
from mathamr.posts.inputs import Head, head
from mathamr.posts.passage import passage
from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from tests.folders import write_files
from tests.packages import install
from tests.posts.reading import read as read_by_id

EXAMPLES = Path(__file__).parent / "examples"
FILES = {
    "arqmath": "arqmath/Posts.xml", "stackexchange": "stackexchange/Posts.xml", "jsonl": "jsonl/posts.jsonl",
    "notebook": "notebook/newton.ipynb", "html": "html/gauss.html", "arxiv": "arxiv/2101.01234.tar.gz",
    "latex": "latex/paper.tex", "markdown": "commonmark/limits.md", "rst": "rst/limits.rst", "org": "org/limits.org",
    "asciidoc": "asciidoc/limits.adoc", "typst": "typst/a.typ", "pretext": "pretext/main.ptx", "lean": "lean/Squeeze.lean",
    "coq": "coq/squeeze.v", "bibtex": "bibtex/sources.bib", "text": "text/limits.txt", "wikipedia": "wikipedia/dump.xml",
    "word": "word/limits.docx", "epub": "epub/limits.epub", "pdf": "pdf/limits.pdf",
}  # fmt: skip
"""A file of every format; `test_formats.py` says what must be found in it."""


@pytest.fixture(params=FILES)
def sample(request, tmp_path) -> tuple[str, Path]:
    """The name of a format and a file of it, alone in a folder."""
    return request.param, Path(shutil.copy(EXAMPLES / FILES[request.param], tmp_path))


def read(path: Path, **options: Any) -> tuple[list[Post], Report]:
    posts, report = read_by_id(path, **options)
    return list(posts.values()), report


def test_every_reader_has_a_file_for_its_contract():
    assert set(FILES) == set(FORMATS)


def test_a_file_is_read_alike_by_the_name_of_its_format_by_detection_and_in_its_folder(sample):
    name, path = sample
    posts, report = read(path)
    assert posts
    assert read(path, format=name)[0] == read(path.parent)[0] == posts
    assert report.bytes_read == report.bytes_total == path.stat().st_size


def test_a_compressed_file_gives_the_same_posts(sample):
    name, path = sample
    if path.suffix == ".gz":
        pytest.skip("it comes compressed")
    plain = [(post.kind, post.body, len(post.formulas)) for post in read(path)[0]]
    packed = path.with_name(path.name + ".gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    assert detect(packed) == name
    assert [(post.kind, post.body, len(post.formulas)) for post in read(packed)[0]] == plain


def test_posts_stream_and_where_one_came_from_is_known_when_it_comes(sample):
    _, path = sample
    posts = read_posts(path, report := Report())
    assert inspect.isgenerator(posts)
    for post in posts:
        assert report.file == str(path)
        assert post.source


CHEAP = [name for name in FILES if name != "pdf"]  # which takes a process a file; test_pdf.py damages it


@pytest.mark.parametrize("name", CHEAP)
@given(data=st.binary(max_size=200))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_read_or_reported(tmp_path, name, data):
    path = tmp_path / Path(FILES[name]).name
    path.write_bytes(data)
    posts, _ = read(path, format=name)
    for post in posts:
        assert Post.from_json(post.to_json()) == post
        post.to_json().encode()


@pytest.mark.parametrize("name", CHEAP)
@given(data=st.data())
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.slow
def test_a_damaged_sample_is_read_or_reported(tmp_path, name, data):
    file = EXAMPLES / FILES[name]
    text = file.read_bytes()
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 30)))
    path = tmp_path / file.name
    path.write_bytes(
        text[:start]
        + data.draw(st.sampled_from([b"", b"\0", b"<", b'"', b"$", b"{", b"\\", b"\n"]))
        + text[end:]
    )
    posts, _ = read(path, format=name)
    for post in posts:
        passage(post)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("Posts.xml", '<posts><row Id="1" PostTypeId="1" Title="On $t$" Body="{} is $x$." /></posts>'),
        ("posts.jsonl", '{{"id": "1", "title": "On $t$", "body": "{} is $x$"}}\n'),
        ("page.html", "<html><title>T $t$</title><body><p>{} \\(x\\).</p></body></html>"),
    ],
)
@pytest.mark.slow
def test_a_post_of_10_mb_is_read_whole(tmp_path, file, text):
    (tmp_path / file).write_text(text.format("words of " * 1_200_000))
    (post,), report = read(tmp_path / file)
    assert len(post.body) > 10_000_000
    assert len(post.formulas) == 2
    assert not report.skipped


def test_a_mixed_folder_is_read_file_by_file_and_the_rest_is_named(tmp_path):
    alone = {}
    for name in FILES:
        if name != "arqmath":
            alone |= read_by_id(Path(shutil.copy(EXAMPLES / FILES[name], tmp_path)))[0]
    write_files(tmp_path, {"picture.png": b"\x89PNG\r\n\x1a\n\0\0", "empty.bin": b""})
    posts, report = read_by_id(tmp_path)
    assert posts.keys() == alone.keys()
    assert {"not posts: .png files": 1, "not posts: .bin files": 1}.items() <= report.ignored.items()
    (picture,) = report.examples["not posts: .png files"]
    assert str(picture) == f"{tmp_path / 'picture.png'}: pictures are not read"
    only, report = read(tmp_path, format="markdown")
    assert [post.id for post in only] == ["limits.md"]
    assert report.ignored.total() == len(FILES)


def test_wrong_names_are_clear_errors(tmp_path):
    (tmp_path / "a.md").write_text("x")
    with pytest.raises(UnknownNameError, match="unknown format 'words'; known: arqmath, stackexchange, wiki"):
        read(tmp_path / "a.md", format="words")
    with pytest.raises(MathAMRError, match="no such file or folder"):
        read(tmp_path / "b.md")
    with pytest.raises(MathAMRError, match="no html posts in this folder"):
        read(tmp_path, format="html")
    (tmp_path / "a.bin").write_bytes(b"\0\1\2")
    with pytest.raises(MathAMRError, match=r"a\.bin: unknown format; name it with --format \(known: arq"):
        read(tmp_path / "a.bin")
    (tmp_path / "formulas.tsv").write_text("id\tpost_id\tformula\n")
    with pytest.raises(
        MathAMRError, match=r"formulas\.tsv: is a table of formulas, not posts; name the posts"
    ):
        read(tmp_path / "formulas.tsv")
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(MathAMRError, match=r"empty: is empty"):
        read(tmp_path / "empty")


def test_the_first_of_two_posts_with_one_id_counts_across_files(tmp_path):
    for n in (1, 2):
        (tmp_path / f"{n}.jsonl").write_text(json.dumps({"id": "same", "body": f"file {n}"}) + "\n")
    posts, report = read(tmp_path)
    assert [post.body for post in posts] == ["file 1"]
    assert (
        str(report.examples["duplicate id"][0])
        == f"{tmp_path / '2.jsonl'}, row 1: a second post with the id 'same'"
    )


@pytest.mark.slow
def test_memory_does_not_grow_with_the_number_of_posts(tmp_path):
    body = "some words that make this row longer, " * 40
    path = tmp_path / "Posts.xml"
    peaks = []
    for count in (2000, 5000):  # both are more than one chunk of the file
        rows = "\n".join(f'<row Id="{n}" PostTypeId="1" Body="{n} {body}"/>' for n in range(count))
        path.write_text(f"<posts>{rows}</posts>")
        for _ in range(2):  # the first time fills caches
            tracemalloc.start()
            assert sum(1 for _ in read_posts(path, Report())) == count
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        peaks.append(peak)
    assert peaks[1] - peaks[0] < 300_000, peaks  # where 3,000 more bodies are 4,600,000 bytes


def test_a_collection_is_read_in_the_order_of_its_files(tmp_path):
    names = ["b.jsonl", "a.jsonl", "c.jsonl"]
    for name in names:
        (tmp_path / name).write_text(json.dumps({"id": name, "body": "x"}))
    collection = Collection(tmp_path, tuple(tmp_path / name for name in names))
    posts = FORMATS["jsonl"].read(collection, Report())
    assert [post.id for post in itertools.islice(posts, 3)] == names


@pytest.mark.parametrize("name", ["latex", "markdown", "html"])
def test_a_file_name_that_is_no_text_gives_a_post_that_every_answer_can_hold(tmp_path, name):
    file = EXAMPLES / FILES[name]
    try:
        shutil.copy(file, tmp_path / f"{file.stem}\udcff\udc80{file.suffix}")
    except OSError:
        pytest.skip("this file system has only names that are text")
    posts, report = read(tmp_path)
    assert posts
    for post in posts:
        post.to_json().encode()
        assert "\\xff\\x80" in post.id
        assert all(formula.id.startswith(post.id) for formula in post.formulas)
    assert report.repaired["file name is no UTF-8"] == len(posts)


def test_a_list_of_numbers_beside_a_dump_is_no_text(tmp_path):
    (tmp_path / "questions.txt").write_text("17\n208\n3194\n")
    (tmp_path / "short.txt").write_text("Is $2$ odd?\n")
    assert detect(tmp_path / "questions.txt") is None
    assert detect(tmp_path / "short.txt") == "text"


def test_a_package_can_add_a_format_behind_the_built_in_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    points = install(
        site,
        "quill-reader",
        "[mathamr.readers]\nquill = quill_reader:QuillReader\nmarkdown = quill_reader:QuillReader\n"
        "broken = no_such_module:Reader\n",
    )
    (site / "quill_reader.py").write_text(
        "from mathamr.posts.post import Post\n\n\n"
        "class QuillReader:\n    description = 'Quill documents'\n\n    @classmethod\n"
        "    def recognises(cls, head):\n        return head.suffix in ('.quill', '.md')\n\n"
        "    def read(self, collection, report):\n        for file in collection.files:\n"
        "            report.at(str(file))\n            yield Post(file.name, 'note', file.read_text(), markup='text')\n"
    )
    posts = tmp_path / "posts"
    posts.mkdir()
    (posts / "a.quill").write_text("Let $x$.")
    (posts / "b.md").write_text("Let $y$.")
    monkeypatch.syspath_prepend(str(site))
    assert list(FORMATS)[-2:] == ["broken", "quill"]
    assert FORMATS["markdown"].description.startswith("Markdown notes")
    with pytest.raises(MathAMRError, match="the format 'broken' of an installed package cannot be loaded"):
        FORMATS["broken"]
    points.write_text("[mathamr.readers]\nquill = quill_reader:QuillReader\n")
    monkeypatch.syspath_prepend(str(site / "."))
    assert detect(posts / "a.quill") == "quill"
    assert {post.id: post.markup for post in read_posts(posts, Report())} == {
        "b.md": "markdown",
        "a.quill": "text",
    }
    monkeypatch.undo()
    assert "quill" not in FORMATS


@pytest.mark.parametrize("mistake", [ValueError, RecursionError, AssertionError, MemoryError, KeyError])
def test_a_document_that_ends_its_reader_is_counted_and_the_others_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mistake: type[Exception]
) -> None:
    def read(cls: type[FrontMatter], text: str, report: Report) -> FrontMatter:
        if "poison" in text:
            raise mistake("a mistake of the reader")
        return FrontMatter()

    monkeypatch.setattr(FrontMatter, "read", classmethod(read))
    for number in range(6):
        text = "poison" if number in (1, 4) else f"Note {number} leads to [[note0]]."
        (tmp_path / f"note{number}.md").write_text(text, "utf-8")
    (tmp_path / "other.txt").write_text("A text of another format.", "utf-8")
    posts = list(read_posts(tmp_path, report := Report()))
    names = {post.id.partition("#")[0] for post in posts}
    assert names == {"note0.md", "note2.md", "note3.md", "note5.md", "other.txt"}
    assert all(post.links for post in posts if post.id.startswith("note5"))
    assert dict(report.skipped) == {"reader failed": 2}
    assert {Path(problem.file).name for problem in report.examples["reader failed"]} == {
        "note1.md",
        "note4.md",
    }


def test_an_interruption_is_not_taken_for_a_mistake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(cls: type[FrontMatter], text: str, report: Report) -> FrontMatter:
        raise KeyboardInterrupt

    monkeypatch.setattr(FrontMatter, "read", classmethod(read))
    (tmp_path / "note.md").write_text("text", "utf-8")
    with pytest.raises(KeyboardInterrupt):
        list(read_posts(tmp_path, Report()))


def test_without_a_report_a_warning_says_what_was_skipped(tmp_path: Path) -> None:
    path = tmp_path / "posts.jsonl"
    path.write_text('{"id": "a", "body": "Let $x$ be odd."}\n{"id": \n', encoding="utf-8")
    with pytest.warns(UserWarning, match=r"posts\.jsonl: skipped 1"):
        assert [post.id for post in read_posts(path)] == ["a"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [post.id for post in read_posts(path, Report())] == ["a"]
        path.write_text('{"id": "a", "body": "Let $x$ be odd."}\n', encoding="utf-8")
        assert len(list(read_posts(path))) == 1


def test_a_file_that_vanishes_after_it_was_recognised_is_reported_and_the_others_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_files(tmp_path / "notes", {"a.md": "# A\n\nA zebra.\n", "b.md": "# B\n\nA quagga.\n"})

    def recognised(path: Path) -> Head:
        found = head(path)
        if path.name == "b.md":
            path.unlink()
        return found

    monkeypatch.setattr("mathamr.posts.reader.head", recognised)
    report = Report()
    assert [post.id for post in read_posts(folder, report)] == ["a.md"]
    assert "b.md" in str(report.lines())


def test_a_file_that_git_lfs_did_not_fetch_is_an_error_that_says_how(tmp_path: Path) -> None:
    note = tmp_path / "a.md"
    note.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
    with pytest.raises(MathAMRError, match="git lfs pull"):
        list(read_posts(note, Report()))

"""PDF files: what is lost is said, what hangs is ended, what a file carries is found."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

from mathamr.posts.format import Collection
from mathamr.posts.formats.pdf.reader import read_pdf
from mathamr.posts.report import Report
from tests.folders import write_files
from tests.posts.documents import LIMITS_AS_PDF, page_text, pdf, stream
from tests.posts.hostile import read_bounded
from tests.posts.reading import read as read_file

CATALOGUE = "<< /Type /Catalog /Pages 2 0 R >>"
PAGE = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Resources << /Font << /F1 4 0 R >> >> /Contents 5 0 R >>"
FONT = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"


def read(folder: Path, data: bytes) -> tuple[list, Report]:
    posts, report = read_file(write_files(folder, {"a.pdf": data}) / "a.pdf")
    return list(posts.values()), report


def one_page(content: str, catalogue: str = CATALOGUE, *more: str) -> bytes:
    return pdf(catalogue, "<< /Type /Pages /Kids [3 0 R] /Count 1 >>", PAGE, FONT, content, *more, "<< >>")


def test_a_file_without_the_source_of_its_formulas_is_said_to_have_lost_them(tmp_path):
    posts, report = read(tmp_path, one_page(page_text("Only words.")))
    assert [post.body for post in posts] == ["<p>Only words.</p>"]
    assert report.skipped == {"formulas of a PDF": 1}


def test_mathml_beside_a_formula_is_found(tmp_path):
    data = one_page(
        page_text("Words."),
        "<< /Type /Catalog /Pages 2 0 R /StructTreeRoot << /K 6 0 R >> >>",
        "<< /S /Formula /Pg 3 0 R /AF [<< /F (f.mml) /EF << /F 7 0 R >> >>] >>",
        stream("<math><mi>y</mi></math>"),
    )
    posts, report = read(tmp_path, data)
    assert [(post.id, [(f.latex, f.presentation_mathml) for f in post.formulas]) for post in posts] == [
        ("a.pdf#page=1", [("", "<math><mi>y</mi></math>")])
    ]
    assert not report.skipped


def test_trees_that_lead_back_to_themselves_end(tmp_path):
    catalogue = "<< /Type /Catalog /Pages 2 0 R /StructTreeRoot 6 0 R >>"
    tree = "<< /K [6 0 R 6 0 R 7 0 R] >>"
    posts, _ = read(tmp_path, one_page(page_text("Words."), catalogue, tree, "<< /K [6 0 R 7 0 R] >>"))
    assert len(posts) == 1


def test_pages_that_lead_back_to_themselves_are_reported(tmp_path):
    data = pdf(CATALOGUE, "<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 >>", "<< >>")
    posts, report = read(tmp_path, data)
    assert posts == []
    assert report.skipped == {"PDF not read": 1}


@pytest.mark.slow
def test_a_stream_that_a_file_names_again_and_again_is_not_read_to_its_end(tmp_path):
    """20,000 formulas of 19 kB took 2.6 GB."""
    packed = zlib.compress(b"BT /F1 12 Tf (" + b"A zebra. " * 10_000 + b") Tj ET").decode("latin-1")
    pages = f"<< /Type /Pages /Kids [{'3 0 R ' * 30}] /Count 30 >>"
    data = pdf(CATALOGUE, pages, PAGE, FONT, stream(packed, "/Filter /FlateDecode"), "<< >>")
    posts, report = read(tmp_path, data)
    assert report.skipped["PDF not read"] == 1
    assert 0 < sum(len(post.body) for post in posts) < 2 << 20


@pytest.mark.slow
def test_a_file_that_takes_too_long_is_ended_and_said_so(tmp_path):
    packed = zlib.compress(b"BT /F1 12 Tf " + b"(x) Tj 0 -1 Td " * 400_000 + b"ET").decode("latin-1")
    content = stream(packed, "/Filter /FlateDecode")
    file, report = tmp_path / "a.pdf", Report()
    file.write_bytes(one_page(content))
    assert list(read_pdf(Collection(tmp_path, (file,)), report, seconds=1)) == []
    assert report.skipped == {"PDF not read": 1}
    assert "took more than" in str(report.examples["PDF not read"][0])


@pytest.mark.parametrize("cut", [0, 9, 100, 500, 900, len(LIMITS_AS_PDF) - 20])
@pytest.mark.slow
def test_a_damaged_file_is_read_or_reported(tmp_path, cut):
    posts, report = read(tmp_path, LIMITS_AS_PDF[:cut] + b"%PDF-" + LIMITS_AS_PDF[cut + 15 :])
    assert posts or report.skipped


def test_a_file_is_read_where_a_process_is_allowed_less_than_its_reader_would_be(tmp_path):
    """A limit of the shell, such as `ulimit -t 15`, which no process may raise."""
    (tmp_path / "limits.pdf").write_bytes(LIMITS_AS_PDF)
    posts, report = read_bounded(tmp_path / "limits.pdf", seconds=15, megabytes=2500)
    assert posts
    assert not report["skipped"]


def test_a_page_without_text_is_reported(tmp_path):
    posts, report = read(tmp_path, one_page(stream("")))
    assert posts == []
    assert report.skipped["page without text"] == 1

"""Archives that mean no good: bombs, entities, broken members; each is bounded while it is read."""

from __future__ import annotations

import io
import zipfile

import pytest

from mathamr.posts.formats.ziparchive import BrokenArchiveError, ZipArchive
from mathamr.posts.report import Report
from tests.posts.documents import LIMITS_AS_BOOK, zipped
from tests.posts.hostile import read_bounded

OFFICE = "http://schemas.openxmlformats.org"
NAMESPACES = {"w": "wordprocessingml/2006/main", "m": "officeDocument/2006/math"}
ENTITIES = (
    '<!DOCTYPE x [<!ENTITY a "lol lol lol">'
    + "".join(
        f'<!ENTITY {name} "{f"&{before};" * 20}">'
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    )
    + "]>"
)


def test_a_bomb_is_unpacked_up_to_the_bound(tmp_path):
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("word/document.xml", "w", force_zip64=True) as stream,
    ):
        for _ in range(24):
            stream.write(b" " * (1 << 24))  # 400 MB in all
    (tmp_path / "a.docx").write_bytes(buffer.getvalue())
    assert len(buffer.getvalue()) < 10_000_000
    posts, report = read_bounded(tmp_path / "a.docx", seconds=15, megabytes=600)
    assert posts == []
    assert report["skipped_by_cause"] == {"archive too large": 1, "no text": 1}


def test_all_members_together_are_bounded(tmp_path):
    file = tmp_path / "a.zip"
    file.write_bytes(zipped({"a": "x" * 500, "b": "x" * 500, "c": "x" * 10, "d": "x" * 700}))
    with ZipArchive(file, report := Report(), largest_member=600, largest_archive=1000) as archive:
        assert [len(archive.read(name) or b"") for name in "abcd"] == [500, 500, 0, 0]
    assert report.skipped == {"archive too large": 2}


def test_an_archive_unpacks_in_proportion_to_its_size(tmp_path):
    """A book of 60 pages of a megabyte each, which lies on the disk as a few kilobytes, took minutes."""
    file = tmp_path / "a.epub"
    file.write_bytes(zipped({f"p{number}": "<p>$x$</p>" * 100_000 for number in range(60)}))
    assert file.stat().st_size < 400_000
    with ZipArchive(file, report := Report()) as archive:
        read = sum(len(archive.read(f"p{number}") or b"") for number in range(60))
    assert read <= max(4 << 20, 50 * file.stat().st_size)
    assert report.skipped["archive too large"] >= 40
    packed = "".join(f"{number:x} " for number in range(1_200_000))
    file.write_bytes(zipped({"page": packed}))
    with ZipArchive(file, Report()) as archive:
        assert len(archive.read("page")) == len(packed), "a text as books are"


def test_what_a_member_says_of_its_size_is_not_believed(tmp_path):
    data = bytearray(zipped({"word/document.xml": b"<w>" + b"x" * 100_000 + b"</w>"}))
    place = data.rindex(b"PK\x01\x02")
    data[place + 24 : place + 28] = (10).to_bytes(4, "little")
    file = tmp_path / "a.docx"
    file.write_bytes(bytes(data))
    posts, report = read_bounded(file)
    assert posts == []
    assert report["skipped"] >= 1


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_are_refused(tmp_path, encoding):
    text = f'<?xml version="1.0" encoding="{encoding}"?>{ENTITIES}<w:document xmlns:w="x">&i;</w:document>'
    file = tmp_path / "a.docx"
    file.write_bytes(zipped({"word/document.xml": text.encode(encoding)}))
    posts, report = read_bounded(file, seconds=10, megabytes=800)
    assert posts == []
    assert report["skipped_by_cause"]["XML with entities"] == 1


def test_a_file_of_the_machine_is_not_read_through_an_entity(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("SECRET")
    text = f'<!DOCTYPE x [<!ENTITY a SYSTEM "file://{secret}">]><container><rootfile full-path="&a;"/></container>'
    (tmp_path / "a.epub").write_bytes(zipped({"META-INF/container.xml": text}))
    posts, report = read_bounded(tmp_path / "a.epub")
    assert posts == []
    assert "SECRET" not in str(report)


def test_xml_nested_without_end_is_read_or_reported(tmp_path):
    deep = "<m:e>" * 50_000 + "</m:e>" * 50_000
    file = tmp_path / "a.docx"
    spaces = " ".join(f'xmlns:{name}="{OFFICE}/{place}"' for name, place in NAMESPACES.items())
    body = f"<w:p><w:r><w:t>before</w:t></w:r></w:p><w:p><m:oMath>{deep}</m:oMath></w:p>"
    document = f"<w:document {spaces}><w:body>{body}</w:body></w:document>"
    file.write_bytes(zipped({"word/document.xml": document}))
    read_bounded(file)


def test_many_members_are_refused(tmp_path):
    file = tmp_path / "a.zip"
    file.write_bytes(zipped({str(n): "" for n in range(11)}))
    with pytest.raises(BrokenArchiveError, match="more than 10 files"):
        ZipArchive(file, Report(), most_members=10)


def test_what_is_no_archive_is_reported(tmp_path):
    (tmp_path / "a.docx").write_bytes(b"PK\x03\x04 and nothing more")
    (tmp_path / "b.epub").write_bytes(LIMITS_AS_BOOK[:200])
    posts, report = read_bounded(tmp_path)
    assert posts == []
    assert report["skipped_by_cause"] == {"damaged archive": 2}


def test_pages_that_lead_out_of_the_book_are_missing(tmp_path):
    package = '<package><manifest><item id="a" href="../../../etc/passwd" media-type="text/html"/></manifest><spine><itemref idref="a"/></spine></package>'
    container = '<container><rootfile full-path="b.opf"/></container>'
    (tmp_path / "a.epub").write_bytes(zipped({"META-INF/container.xml": container, "b.opf": package}))
    posts, report = read_bounded(tmp_path / "a.epub")
    assert posts == []
    assert report["missing_by_cause"] == {"page not in the book": 1}

"""All text of a Word document is read, wherever it stands, or counted as left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr.posts.passage import passage
from mathamr.posts.post import Post
from mathamr.posts.report import Report
from tests.cases import cases
from tests.posts.documents import zipped
from tests.posts.reading import read

OFFICE = "http://schemas.openxmlformats.org"
SPACES = " ".join(
    f'xmlns:{name}="{place}"'
    for name, place in {
        "w": f"{OFFICE}/wordprocessingml/2006/main",
        "m": f"{OFFICE}/officeDocument/2006/math",
        "a": f"{OFFICE}/drawingml/2006/main",
        "mc": f"{OFFICE}/markup-compatibility/2006",
        "v": "urn:schemas-microsoft-com:vml",
    }.items()
)
RUN = "<w:r><w:t>needle</w:t></w:r>"
PARAGRAPH = f"<w:p>{RUN}</w:p>"
BOX = f"<w:txbxContent>{PARAGRAPH}</w:txbxContent>"
PLACES = {
    "text box": f"<w:p><w:r><w:drawing>{BOX}</w:drawing></w:r></w:p>",
    "old text box": f"<w:p><w:r><w:pict><v:shape><v:textbox>{BOX}</v:textbox></v:shape></w:pict></w:r></w:p>",
    "text box of two programs": f"<w:p><w:r><mc:AlternateContent><mc:Choice>{BOX}</mc:Choice><mc:Fallback>{BOX}</mc:Fallback></mc:AlternateContent></w:r></w:p>",
    "text that only other programs show": f"<w:p><mc:AlternateContent><mc:Choice/><mc:Fallback>{RUN}</mc:Fallback></mc:AlternateContent></w:p>",
    "paragraphs of two programs": f"<mc:AlternateContent><mc:Choice>{PARAGRAPH}</mc:Choice></mc:AlternateContent>",
    "text box in a text box": f"<w:p><w:r><w:drawing><w:txbxContent><w:p><w:r><w:drawing>{BOX}</w:drawing></w:r></w:p></w:txbxContent></w:drawing></w:r></w:p>",
    "table in a text box": f"<w:p><w:r><w:drawing><w:txbxContent><w:tbl><w:tr><w:tc>{PARAGRAPH}</w:tc></w:tr></w:tbl></w:txbxContent></w:drawing></w:r></w:p>",
    "shape": "<w:p><w:r><w:drawing><a:p><a:r><a:t>needle</a:t></a:r></a:p></w:drawing></w:r></w:p>",
    "description of a picture": '<w:p><w:r><w:drawing><a:docPr descr="needle"/></w:drawing></w:r></w:p>',
    "content control": f"<w:sdt><w:sdtPr/><w:sdtContent>{PARAGRAPH}</w:sdtContent></w:sdt>",
    "content control in a paragraph": f"<w:p><w:sdt><w:sdtContent>{RUN}</w:sdtContent></w:sdt></w:p>",
    "content control around a row": f"<w:tbl><w:sdt><w:sdtContent><w:tr><w:tc>{PARAGRAPH}</w:tc></w:tr></w:sdtContent></w:sdt></w:tbl>",
    "content control around a cell": f"<w:tbl><w:tr><w:sdt><w:sdtContent><w:tc>{PARAGRAPH}</w:tc></w:sdtContent></w:sdt></w:tr></w:tbl>",
    "content control in a cell": f"<w:tbl><w:tr><w:tc><w:sdt><w:sdtContent>{PARAGRAPH}</w:sdtContent></w:sdt></w:tc></w:tr></w:tbl>",
    "table in a cell": f"<w:tbl><w:tr><w:tc><w:tbl><w:tr><w:tc>{PARAGRAPH}</w:tc></w:tr></w:tbl></w:tc></w:tr></w:tbl>",
    "inserted text": f"<w:p><w:ins>{RUN}</w:ins></w:p>",
    "inserted row": f"<w:tbl><w:ins><w:tr><w:tc>{PARAGRAPH}</w:tc></w:tr></w:ins></w:tbl>",
    "moved text": f"<w:p><w:moveTo>{RUN}</w:moveTo></w:p>",
    "moved paragraph": f"<w:moveTo>{PARAGRAPH}</w:moveTo>",
    "custom XML": f"<w:customXml>{PARAGRAPH}</w:customXml>",
    "custom XML in a paragraph": f"<w:p><w:customXml>{RUN}</w:customXml></w:p>",
    "direction": f"<w:p><w:dir><w:bdo>{RUN}</w:bdo></w:dir></w:p>",
    "base of ruby": f"<w:p><w:r><w:ruby><w:rubyPr/><w:rt><w:r><w:t>rt</w:t></w:r></w:rt><w:rubyBase>{RUN}</w:rubyBase></w:ruby></w:r></w:p>",
    "ruby": f"<w:p><w:r><w:ruby><w:rt>{RUN}</w:rt><w:rubyBase><w:r><w:t>base</w:t></w:r></w:rubyBase></w:ruby></w:r></w:p>",
    "words in a formula": f"<w:p><m:oMath><m:r><m:t>x</m:t></m:r>{RUN}</m:oMath></w:p>",
    "element that nobody knows": f"<w:p><w:new>{RUN}</w:new></w:p>",
    "block that nobody knows": f"<w:new>{PARAGRAPH}</w:new>",
    "second title": f'<w:p><w:pPr><w:pStyle w:val="Title"/></w:pPr><w:r><w:t>A</w:t></w:r></w:p><w:p><w:pPr><w:pStyle w:val="Title"/></w:pPr>{RUN}</w:p>',
}  # fmt: skip


def write(path: Path, body: str, **parts: str) -> tuple[dict[str, Post], Report]:
    document = f"<w:document {SPACES}><w:body><w:p><w:r><w:t>Before.</w:t></w:r></w:p>{body}<w:p><w:r><w:t>Behind.</w:t></w:r></w:p></w:body></w:document>"
    if "title" in body.lower():
        document = document.replace("<w:p><w:r><w:t>Before.</w:t></w:r></w:p>", "")
    members = {f"word/{name.replace('__', '/')}.xml": content for name, content in parts.items()}
    (path / "a.docx").write_bytes(zipped({"word/document.xml": document, **members}))
    return read(path / "a.docx")


@cases("place", PLACES)
def test_text_is_read_once_wherever_it_stands(tmp_path: Path, place: str) -> None:
    posts, report = write(tmp_path, PLACES[place])
    said = " ".join(f"{post.title} {post.body}" for post in posts.values())
    assert said.count("needle") == 1
    assert "Behind." in said
    assert not report.skipped


@pytest.mark.parametrize("kind", ["footnote", "endnote", "comment"])
def test_notes_are_read_behind_their_paragraph(tmp_path: Path, kind: str) -> None:
    notes = f'<w:{kind}s {SPACES}><w:{kind} w:type="separator" w:id="0"><w:p><w:r><w:t>line</w:t></w:r></w:p></w:{kind}>'
    for number, words in enumerate(("needle", "unused"), 1):
        again = f'<w:r><w:{kind}Reference w:id="{number}"/></w:r>'
        notes += f'<w:{kind} w:id="{number}"><w:p><w:r><w:t>{words}</w:t></w:r>{again}</w:p></w:{kind}>'
    body = f'<w:p><w:r><w:t>Referring.</w:t></w:r><w:r><w:{kind}Reference w:id="1"/></w:r></w:p>'
    posts, report = write(tmp_path, body, **{f"{kind}s": f"{notes}</w:{kind}s>"})
    assert passage(posts["a.docx"]).text.split() == [
        "a",
        "Before.",
        "Referring.",
        "needle",
        "Behind.",
        "unused",
    ]
    assert not report.skipped


@cases("part", ["header1", "footer2", "diagrams__data1", "charts__chart1", "glossary__document"])
def test_text_in_other_parts_is_counted(tmp_path: Path, part: str) -> None:
    _, report = write(tmp_path, "", **{part: f"<a:x {SPACES}><a:t>needle</a:t></a:x>"})
    assert report.skipped == {"part not read": 1}
    assert "needle" in str(report.examples["part not read"][0])


@pytest.mark.parametrize("depth", [300, 1500, 3000])
def test_a_deep_formula_takes_no_text_with_it_in_silence(tmp_path: Path, depth: int) -> None:
    deep = "<m:e>" * depth + "<m:r><m:t>x</m:t></m:r>" + "</m:e>" * depth
    posts, report = write(tmp_path, f"<w:p><w:r><w:t>Near.</w:t></w:r><m:oMath>{deep}</m:oMath></w:p>")
    said = passage(posts["a.docx"]).text
    assert "Near." in said
    assert "Behind." in said or report.skipped["damaged XML"]
    assert depth > 2000 or "Behind." in said
    assert set(report.skipped) <= {"nested too deeply", "damaged XML"}


def test_damaged_xml_is_read_and_counted(tmp_path: Path) -> None:
    posts, report = write(tmp_path, "<w:p><w:r><w:t>Near.</w:t></w:q></w:p>")
    assert "Near." in posts["a.docx"].body
    assert report.skipped == {"damaged XML": 1}


@cases("style", ["heading²", "heading 99999", "heading ٣", "heading"])
def test_a_strange_style_is_that_of_a_paragraph(tmp_path: Path, style: str) -> None:
    posts, report = write(tmp_path, f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr>{RUN}</w:p>')
    assert "<p>needle</p>" in posts["a.docx"].body
    assert not report.skipped


def test_letters_of_the_font_symbol_are_read_and_other_signs_counted(tmp_path: Path) -> None:
    signs = "".join(
        f'<w:sym w:font="{font}" w:char="{code}"/>' for font, code in (("Symbol", "F061"), ("Odd", "F0FE"))
    )
    posts, report = write(tmp_path, f"<w:p><w:r>{signs}</w:r></w:p>")
    assert "α" in posts["a.docx"].body
    assert report.skipped == {"sign of a font": 1}

from __future__ import annotations

import io
import random
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from mathamr.posts.formats.stackexchange.dumprows import DumpRows
from mathamr.posts.report import Report
from tests.bounded import bounded
from tests.cases import cases


def read(data: bytes | str, **bounds: int) -> tuple[list[dict[str, str]], Report]:
    report, data = Report(), data.encode() if isinstance(data, str) else data
    return list(DumpRows(io.BytesIO(data), "Posts.xml", report, **bounds)), report


def dump(*rows: str) -> str:
    return '<?xml version="1.0" encoding="utf-8"?>\n<posts>\n  ' + "\n  ".join(rows) + "\n</posts>\n"


XML_TEXT = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff"),
    max_size=60,
)
NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_.-]{0,8}", fullmatch=True)
LETTERS = "<>&\"'\n\t\r;#xlgtampquo A1/="


@given(
    st.lists(
        st.dictionaries(NAMES, st.one_of(XML_TEXT, st.text(LETTERS, max_size=30)), max_size=6), max_size=6
    )
)
@pytest.mark.slow
def test_rows_of_a_well_formed_file_are_those_that_lxml_reads(wanted):
    root = etree.Element("posts")
    for attributes in wanted:
        etree.SubElement(root, "row", attributes)
    data = etree.tostring(root, encoding="utf-8", xml_declaration=True, pretty_print=True)
    got, report = read(data)
    assert got == [dict(row.attrib) for row in etree.fromstring(data)]
    assert not report.skipped
    assert not report.repaired


@cases("chunk", [1, 3, 7, 64, 1000])
def test_rows_do_not_depend_on_where_the_blocks_of_the_file_end(chunk):
    text = dump(*(f"<row Id='{n}' Body=\"&lt;p&gt;é &amp;amp; {n}&lt;/p&gt;\" />" for n in range(20)))
    wanted, _ = read(text)
    got, report = read(text, chunk=chunk)
    assert got == wanted
    assert len(got) == 20
    assert got[3] == {"Id": "3", "Body": "<p>é &amp; 3</p>"}
    assert not report.skipped + report.repaired


@given(st.binary(max_size=300))
def test_any_bytes_are_read_without_an_error(data):
    read(data)


@given(st.integers(0, 10_000), st.integers(1, 4), st.data())
def test_damage_inside_a_row_loses_at_most_that_row_and_says_so(seed, length, data):
    rows = [f'<row Id="{n}" Body="{escape("<p>text & more</p>")} {n}" />' for n in range(1, 8)]
    text = bytearray(dump(*rows).encode())
    row_start = text.index(b'Id="4"')
    row_end = text.index(b"/>", row_start)
    place = data.draw(st.integers(row_start, row_end - length))
    text[place : place + length] = random.Random(seed).randbytes(length).replace(b"<", b"?")
    got, report = read(bytes(text))
    assert {"1", "2", "3", "5", "6", "7"} <= {row.get("Id") for row in got}
    assert len(got) + report.skipped.total() == 7


@cases("kept", range(0, 210, 7))
def test_a_truncated_file_gives_the_rows_before_the_break_and_one_problem(kept):
    text = dump(*(f'<row Id="{n}" Body="some text"/>' for n in range(5)))
    cut = text[:kept] if kept < len(text) - 12 else text[:-12]
    got, report = read(cut)
    assert [row["Id"] for row in got] == [str(n) for n in range(cut.count("/>"))]
    assert report.skipped.total() + report.repaired.total() == 1
    assert set(report.skipped + report.repaired) == {"truncated XML"}
    assert report.examples["truncated XML"][0].file == "Posts.xml"
    assert report.examples["truncated XML"][0].row == (cut.count("<row") or None)


def test_entities_of_a_document_type_are_never_expanded():
    laughs = "".join(f'<!ENTITY lol{n} "{f"&lol{n - 1};" * 10}">' for n in range(1, 10))
    text = (
        f'<?xml version="1.0"?><!DOCTYPE posts [<!ENTITY lol0 "lol">{laughs}'
        '<!ENTITY secret SYSTEM "file:///etc/passwd">]>'
        '<posts><row Id="1" Body="&lol9;"/><row Id="2" Body="&secret; &amp; on"/></posts>'
    )
    got, report = read(text)
    assert got == [{"Id": "1", "Body": ""}, {"Id": "2", "Body": " & on"}]
    assert dict(report.repaired) == {"damaged row": 2}
    assert not report.skipped


def test_rows_with_an_end_tag_and_roots_that_start_like_a_row_are_read():
    got, report = read("<rows>\n<row Id='1'></row>\n<row\nId='2'\n>\n</row><row/></rows>")
    assert got == [{"Id": "1"}, {"Id": "2"}, {}]
    assert not report.skipped + report.repaired


def test_bytes_that_are_not_utf8_are_replaced_and_counted_with_their_row():
    got, report = read(
        dump('<row Id="1"/>', '<row Id="2" Body="caf\udce9"/>').encode(errors="surrogateescape")
    )
    assert got[1]["Body"] == "caf\ufffd"
    assert dict(report.repaired) == {"invalid UTF-8": 1}
    assert report.examples["invalid UTF-8"][0].row == 2


@cases("reference", ["&#0;", "&#x1B;", "&#xD800;", "&#x110000;"])
def test_references_to_no_character_leave_the_row(reference):
    got, report = read(dump(f'<row Id="1" Body="a{reference}b"/>', '<row Id="2"/>'))
    assert got[-1] == {"Id": "2"}
    assert got[0].get("Body", "ab") in ("ab", "a\ufffdb")
    assert report.repaired["damaged row"] + report.skipped["damaged row"] == 1


@pytest.mark.parametrize("body", ["a\x00b", "a\x1bb"])
def test_control_characters_are_replaced_and_counted(body):
    got, report = read(dump(f'<row Id="1" Body="{body}"/>'))
    assert got[0]["Body"] == "a\ufffdb"
    assert dict(report.repaired) == {"control character": 1}


def test_a_row_larger_than_the_limit_is_skipped_and_the_next_is_read():
    rows = ('<row Id="1"/>', f'<row Id="2" Body="{"x" * 5000}"/>', '<row Id="3"/>', '<row Id="4"/>')
    got, report = read(dump(*rows), chunk=100, largest_row=1000)
    assert [row["Id"] for row in got] == ["1", "3", "4"]
    assert dict(report.skipped) == {"row too large": 1}
    assert report.examples["row too large"][0].row == 2


def test_an_attribute_given_twice_counts_once_and_is_reported():
    got, report = read(dump('<row Id="0"/>', '<row Id="1" Id="2"/>'))
    assert got == [{"Id": "0"}, {"Id": "1"}]
    assert dict(report.repaired) == {"damaged row": 1}


@pytest.mark.parametrize(
    "junk", ["'<1' * 400_000 + '>'", "'<' * 800_000", "'<row x=' * 100_000", "'<!DOCTYPE [' * 80_000"]
)
@pytest.mark.slow
def test_what_is_no_row_costs_no_more_than_its_length(junk: str) -> None:
    ended = bounded(
        "import io\nfrom mathamr.posts.report import Report\nfrom mathamr.posts.formats.stackexchange.dumprows import DumpRows\n"
        f"print(len(list(DumpRows(io.BytesIO(({junk}).encode()), 'x', Report()))))",
        seconds=10,
    )
    assert ended.returncode == 0, "it took longer than ten seconds of a processor"
    assert ended.stdout == "0\n"


def test_a_row_of_too_many_attributes_is_skipped_and_the_next_is_read():
    attributes = " ".join(f'a{n} = "x"' for n in range(100_000))
    got, report = read(dump(f'<row Id="1" {attributes}/>', '<row Id="2"/>'))
    assert got == [{"Id": "2"}]
    assert dict(report.skipped) == {"damaged row": 1}

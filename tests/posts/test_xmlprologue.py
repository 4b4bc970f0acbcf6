"""What may stand before the first element of XML or HTML hides it from no reader, and costs what its length costs."""

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr.posts.format import detect
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.posts.xmlprologue import root_name
from tests.slopes import slope

PAGES = {
    "a.xml": '<pretext><article xml:id="a"><title>T</title><p>A zebra <m>x</m>.</p></article></pretext>',
    "b.xml": "<mediawiki><page><title>A</title><revision><text>A zebra.</text></revision></page></mediawiki>",
    "c": "<html><body><p>A zebra.</p></body></html>",
}
PROLOGUES = {
    "a mark of byte order": "\ufeff",
    "an instruction with signs of tags": '<?xml version="1.0"?><?php echo a > b < c ?>\n',
    "a type with entities": '<?xml version="1.0"?>\n<!DOCTYPE a [\n<!ELEMENT b ANY>\n<!-- ]> "\' -->\n<?c ]> ?>\n]>\n',
    "a type at an address with signs": "<!DOCTYPE a SYSTEM 'a>b\"[.dtd'>",
    "a comment about other formats": '<!-- <html> <mediawiki> <row Id="1" PostTypeId="1" /> <pretext xml:id="a"> -->',
    "a licence": f"<!-- {'Words of a licence. ' * 1500} -->",
    "many comments": "<!-- a -->\n" * 3000,
}


@pytest.mark.parametrize("file", PAGES)
@pytest.mark.parametrize("prologue", PROLOGUES)
def test_a_document_is_read_behind_everything_that_may_stand_before_its_root(
    tmp_path: Path, prologue: str, file: str
) -> None:
    (tmp_path / file).write_text(PROLOGUES[prologue] + PAGES[file], encoding="utf-8")
    (post,) = read_posts(tmp_path, report := Report())
    assert "zebra" in post.body
    assert not report.skipped


def test_a_document_type_tells_a_page_whose_elements_are_not_written(tmp_path: Path) -> None:
    (tmp_path / "page").write_text("<!-- a --><!DOCTYPE html><title>A</title><p>A zebra.")
    assert detect(tmp_path / "page") == "html"


@pytest.mark.parametrize("begins", ["<!--", "<!-- -->", "<?a", "<?a?>", "<!DOCTYPE a [", "<!DOCTYPE a>", '<!DOCTYPE a "', "<!DOCTYPE a [<!--", "<!DOCTYPE a [<?"])  # fmt: skip
def test_the_root_is_found_in_time_linear_in_what_stands_before_it(begins: str) -> None:
    assert slope(lambda size: root_name(begins * (size // len(begins))), 1 << 18) < 1.4

"""Small documents in formats that are archives or objects, written from their parts; the same bytes every time."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

_W = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    ' xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
    ' xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
)


def zipped(members: Mapping[str, str | bytes], compressed: bool = True) -> bytes:
    """An archive of these files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            member = zipfile.ZipInfo(name, (2024, 1, 1, 0, 0, 0))
            member.compress_type = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
            archive.writestr(member, content)
    return buffer.getvalue()


def paragraph(*runs: str, style: str = "") -> str:
    """A paragraph of a Word document; a run that is not an element is text."""
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    written = (
        run if run.startswith("<") else f'<w:r><w:t xml:space="preserve">{run}</w:t></w:r>' for run in runs
    )
    return f"<w:p>{properties}{''.join(written)}</w:p>"


def word(*paragraphs: str, **members: str) -> bytes:
    """A Word document of these paragraphs."""
    styles = "".join(
        f'<w:style w:styleId="{identity}"><w:name w:val="{name}"/></w:style>'
        for identity, name in (("Titel", "Title"), ("berschrift1", "heading 1"), ("Satz", "Theorem"))
    )
    relations = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1"'
        ' Type="http://x/hyperlink" Target="https://example.org/"/></Relationships>'
    )
    return zipped(
        {
            "[Content_Types].xml": "<Types/>",
            "word/document.xml": f"<w:document {_W}><w:body>{''.join(paragraphs)}</w:body></w:document>",
            "word/styles.xml": f"<w:styles {_W}>{styles}</w:styles>",
            "word/_rels/document.xml.rels": relations,
            **members,
        }
    )


def _t(words: str) -> str:
    return f"<m:r><m:t>{words}</m:t></m:r>"


LIMITS_IN_WORD = word(
    paragraph("Limits of sequences", style="Titel"),
    paragraph(
        "A sequence ",
        f"<m:oMath><m:sSub><m:e>{_t('a')}</m:e><m:sub>{_t('n')}</m:sub></m:sSub></m:oMath>",
        " converges, see ",
        '<w:hyperlink w:anchor="squeeze"><w:r><w:t>the squeeze</w:t></w:r></w:hyperlink>',
        "; it costs $5 and $10. ",
        "<w:del><w:r><w:delText>Deleted.</w:delText></w:r></w:del>",
    ),
    paragraph(
        "<m:oMathPara><m:oMath><m:nary><m:naryPr><m:chr m:val='∑'/><m:limLoc m:val='undOvr'/></m:naryPr>"
        f"<m:sub>{_t('i=1')}</m:sub><m:sup>{_t('n')}</m:sup><m:e><m:f><m:num>{_t('1')}</m:num><m:den>{_t('i')}</m:den></m:f></m:e>"
        "</m:nary></m:oMath></m:oMathPara>"
    ),
    paragraph('<w:bookmarkStart w:name="squeeze"/>', "Squeeze theorem", style="berschrift1"),
    paragraph("All is well.", style="Satz"),
    paragraph("After it."),
)

LIMITS_AS_BOOK = zipped(
    {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
        "OEBPS/book.opf": '<package xmlns="http://www.idpf.org/2007/opf"><manifest>'
        '<item id="n" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
        '<item id="a" href="one%20a.xhtml" media-type="application/xhtml+xml"/>'
        '<item id="b" href="two.xhtml" media-type="application/xhtml+xml"/></manifest>'
        '<spine><itemref idref="n"/><itemref idref="a"/><itemref idref="b"/></spine></package>',
        "OEBPS/nav.xhtml": "<html><body>Contents</body></html>",
        "OEBPS/one a.xhtml": '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>Limits</title></head><body>'
        '<h1>Limits</h1><p>Let \\(a_n\\) converge, see <a href="two.xhtml">the next</a>.</p></body></html>',
        "OEBPS/two.xhtml": '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>Squeeze</title></head><body><p>'
        '<math xmlns="http://www.w3.org/1998/Math/MathML" alttext="x^2"><msup><mi>x</mi><mn>2</mn></msup></math></p></body></html>',
    }
)


def pdf(*objects: str) -> bytes:
    """A PDF file of these objects, of which the first is the catalogue."""
    written, offsets = b"%PDF-1.7\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(written))
        written += f"{number} 0 obj\n{content}\nendobj\n".encode("latin-1")
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    start = len(written)
    written += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}".encode()
    return (
        written
        + f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R /Info {len(objects)} 0 R >>\nstartxref\n{start}\n%%EOF\n".encode()
    )


def stream(content: str, dictionary: str = "") -> str:
    """An object that is a stream."""
    return f"<< /Length {len(content)} {dictionary} >>\nstream\n{content}\nendstream"


def page_text(*lines: str) -> str:
    """The content of a page with these lines."""
    shown = "".join(f"({line}) Tj 0 -20 Td " for line in lines)
    return stream(f"BT /F1 12 Tf 50 700 Td {shown}ET")


LIMITS_AS_PDF = pdf(
    "<< /Type /Catalog /Pages 2 0 R /StructTreeRoot 8 0 R >>",
    "<< /Type /Pages /Kids [3 0 R 4 0 R] /Count 2 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 5 0 R >> >> /Contents 6 0 R >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 5 0 R >> >> /Contents 7 0 R >>",
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    page_text("A sequence con-", "verges to a limit, for $5."),
    page_text("The squeeze theorem."),
    "<< /Type /StructTreeRoot /K 9 0 R >>",
    "<< /Type /StructElem /S /Document /K [<< /S /Formula /Pg 4 0 R /Alt (a_n \\\\le b_n) /K 0 >>] >>",
    "<< /Title (Limits of sequences) >>",
)
"""Two pages, with the source of one formula on the second."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mathamr.posts.format import detect
from mathamr.posts.formats.stackexchange.tableindex import TableIndex
from mathamr.posts.formats.stackexchange.tables import table, table_kind
from mathamr.posts.inputs import head
from mathamr.posts.post import Formula
from mathamr.posts.report import Report
from tests.posts.formats.stackexchange.test_reader import row, write
from tests.posts.reading import read

EARLY = ["id", "post_id", "thread_id", "type", "visual_id", "formula"]
LATE = ["id", "post_id", "thread_id", "type", "comment_id", "old_visual_id", "visual_id", "issue", "formula"]
SPAN = '<span class="math-container" id="{}">${}$</span>'
PRESENTATION = '<math alttext="{0}"><semantics><mi>{0}</mi></semantics></math>'
CONTENT = "<math><apply><plus/><ci>{0}</ci><cn>1</cn></apply></math>"


def posts_file(folder: Path) -> Path:
    return write(
        folder / "Posts.V1.3.xml",
        row(
            Id=1,
            PostTypeId=1,
            Title="What is " + SPAN.format(101, "x"),
            Body="<p>" + SPAN.format(102, "x+1") + "</p>",
        ),
        row(
            Id=2,
            PostTypeId=2,
            ParentId=1,
            Body=SPAN.format(103, "x") + " and $y$ and " + SPAN.format(104, "z"),
        ),
    )


def write_table(path: Path, columns: list[str], *rows: list[object]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t", lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    data = text.getvalue().encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def formula_rows(columns: list[str], formulas: dict[int, tuple[int, int, str]]) -> list[list[object]]:
    rows = []
    for identifier, (post, visual, formula) in formulas.items():
        values = {
            "id": identifier,
            "post_id": post,
            "thread_id": 1,
            "type": "answer",
            "visual_id": visual,
            "formula": formula,
        }
        rows.append([values.get(column, "") for column in columns])
    return rows


FORMULAS = {101: (1, 7, "x"), 102: (1, 8, "x+1"), 103: (2, 7, "x"), 104: (2, 9, "z")}


@pytest.mark.parametrize("columns", [EARLY, LATE], ids=["early layout", "late layout"])
def test_both_layouts_of_the_formula_table_are_read_by_their_header(tmp_path, columns):
    write_table(tmp_path / "formulas.tsv", columns, *formula_rows(columns, FORMULAS))
    path = posts_file(tmp_path)
    assert detect(path) == "arqmath"
    posts, report = read(path)
    assert [(f.id, f.visual_id, f.latex) for f in posts["1"].formulas] == [
        ("101", "7", "x"),
        ("102", "8", "x+1"),
    ]
    assert [(f.id, f.visual_id) for f in posts["2"].formulas] == [("103", "7"), ("2:1", None), ("104", "9")]
    assert report.companions == {"formulas_rows": 4, "formulas_listed": 4, "formulas_found": 4}
    assert not report.skipped + report.repaired + report.missing


def test_mathml_by_visual_id_reaches_every_formula_that_visuals_so(tmp_path):
    write_table(tmp_path / "formulas.tsv", EARLY, *formula_rows(EARLY, FORMULAS))
    columns = ["visual_id", "latex", "mathml"]
    write_table(
        tmp_path / "mathml.tsv", columns, [7, "x", PRESENTATION.format("x")], [9, "z", CONTENT.format("z")]
    )
    posts, _ = read(posts_file(tmp_path))
    assert posts["1"].formulas[0].presentation_mathml == PRESENTATION.format("x")
    assert posts["2"].formulas[0].presentation_mathml == PRESENTATION.format("x")
    assert posts["1"].formulas[1].presentation_mathml is None
    assert posts["2"].formulas[2].content_mathml == CONTENT.format("z")
    assert posts["2"].formulas[2].presentation_mathml is None


def test_folders_of_representations_as_arqmath_ships_them_are_found_and_distinguished(tmp_path):
    for name, template in (("latex", "{}"), ("slt", PRESENTATION), ("opt", CONTENT)):
        for part, ids in ((1, (101, 102)), (2, (103, 104))):
            formulas = {n: (*FORMULAS[n][:2], template.format(FORMULAS[n][2])) for n in ids}
            folder = tmp_path / f"{name}_representation_v3"
            write_table(folder / f"{part}.tsv.gz", LATE, *formula_rows(LATE, formulas))
    posts, report = read(posts_file(tmp_path))
    formula = posts["1"].formulas[1]
    assert formula.visual_id == "8"
    assert formula.latex == "x+1"
    assert formula.presentation_mathml == PRESENTATION.format("x+1")
    assert formula.content_mathml == CONTENT.format("x+1")
    assert report.companions["formulas_rows"] == 12
    assert report.companions["formulas_listed"] == report.companions["formulas_found"] == 4


def test_tables_named_by_the_user_are_used_wherever_they_lie(tmp_path):
    folder = tmp_path / "elsewhere"
    write_table(folder / "1.tsv", EARLY, *formula_rows(EARLY, FORMULAS))
    posts, _ = read(posts_file(tmp_path / "posts"), beside=[folder])
    assert posts["2"].formulas[2].visual_id == "9"


def test_formulas_that_the_table_lists_and_no_post_has_are_reported(tmp_path):
    listed = FORMULAS | {999: (2, 7, "x")}
    rows = formula_rows(LATE, listed)
    comment, issue = list(rows[0]), list(rows[0])
    comment[0], comment[3] = 500, "comment"
    issue[0], issue[7] = 501, "n"
    write_table(tmp_path / "formulas.tsv", LATE, *rows, comment, issue)
    _, report = read(posts_file(tmp_path))
    assert report.companions["formulas_listed"] == 5
    assert report.companions["formulas_found"] == 4
    assert dict(report.missing) == {"formula in no post": 1}
    assert "999" in report.examples["formula in no post"][0].message


def test_a_table_is_read_quoted_as_csv_does_or_not_at_all(tmp_path):
    formulas = ['say "x"', '"', "a\nb", "plain", '"quoted"', "tab\there"]
    quoted = write_table(
        tmp_path / "quoted.tsv", ["id", "formula"], *([n, text] for n, text in enumerate(formulas))
    )
    assert [line["formula"] for line in table(quoted, Report())] == formulas
    raw = tmp_path / "raw.tsv"
    bare = ['say "x"', '"', "plain", '""', '"a', 'b"', '<math alttext="x">']
    raw.write_text("id\tformula\n" + "".join(f"{n}\t{text}\n" for n, text in enumerate(bare)))
    got = [line["formula"] for line in table(raw, Report())]
    assert [text for text in bare if text != '""'] == [text for text in got if text]
    assert len(got) == len(bare)


def test_damaged_rows_of_a_table_are_skipped_with_their_line(tmp_path):
    path = tmp_path / "formulas.tsv"
    path.write_bytes(b"id\tpost_id\tformula\n1\t1\tx\nbroken\n2\t1\ty\xff\n")
    report = Report()
    assert [line["formula"] for line in table(path, report)] == ["x", "y\ufffd"]
    assert dict(report.skipped) == {"damaged table row": 1}
    assert report.examples["damaged table row"][0].row == 3
    assert report.examples["invalid UTF-8"][0].row == 4


CELLS = st.text('"\t\n\r<math> 0179ax', max_size=12)


@given(
    st.lists(st.lists(CELLS, min_size=1, max_size=7), max_size=5),
    st.sampled_from(["formula", "visual_id\tmathml", ""]),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_table_beside_the_posts_leaves_the_posts_whole(tmp_path, rows, columns):
    path = posts_file(tmp_path)
    lines = [f"id\tpost_id\t{columns}", *("\t".join(row) for row in rows)]
    (tmp_path / "formulas.tsv").write_text("\n".join(lines))
    posts, _ = read(path)
    assert [len(post.formulas) for post in posts.values()] == [2, 3]


def test_what_a_file_beside_posts_is_shows_in_its_header(tmp_path):
    kinds = {
        "id\tpost_id\tformula\n": "formulas",
        "visual_id\tlatex\tmathml\n": "mathml",
        "POST_ID\tRelated_Post_Id\n": "links",
        '<postlinks>\n<row Id="1" PostId="2" RelatedPostId="3" />': "links",
        "name\tage\n": None,
        "just text": None,
        "": None,
    }
    for text, kind in kinds.items():
        path = tmp_path / "file"
        path.write_text(text)
        assert table_kind(head(path)) == kind, text


def test_ids_that_are_not_plain_numbers_are_kept_as_they_are(tmp_path):
    ids = ["7", "007", "q_1", "٣", "9" * 30]
    path = write_table(tmp_path / "f.tsv", ["id", "visual_id", "formula"], *([n, f"v{n}", "x"] for n in ids))
    with TableIndex(Report()) as side:
        side.load([("formulas", path)])
        assert [f.visual_id for f in side.enriched(tuple(Formula(n, "x") for n in ids))] == [
            f"v{n}" for n in ids
        ]


@pytest.mark.slow
def test_arqmath_mini_is_read_whole_with_every_formula_of_its_table(data):
    posts, report = read(data / "arqmath-mini" / "Posts.xml")
    kinds = [post.kind for post in posts.values()]
    assert (len(posts), kinds.count("question"), kinds.count("answer")) == (6164, 2769, 3395)
    assert not report.skipped
    assert not report.missing
    with (data / "arqmath-mini" / "formulas.tsv").open() as lines:
        listed = {line.split("\t")[0]: line.split("\t")[4] for line in lines if not line.startswith("id\t")}
    found = {f.id: f for post in posts.values() for f in post.formulas}
    assert listed.keys() <= found.keys()
    assert all(found[identifier].visual_id == visual for identifier, visual in listed.items())
    assert all(found[identifier].presentation_mathml for identifier in listed)
    assert report.companions["formulas_listed"] == report.companions["formulas_found"] == len(listed) == 61992
    with (data / "arqmath-mini" / "PostLinks.tsv").open() as lines:
        links = {tuple(line.split()) for line in lines if not line.startswith("post_id")}
    codes = {"related": "1", "duplicate": "3"}
    assert {(p.id, link.target, codes[link.type]) for p in posts.values() for link in p.links} == links

"""What authors wrote so that a place is found becomes tags and keywords of that place."""

from pathlib import Path

from mathamr.posts.formats.indexentries import LONGEST_ENTRY, MOST_ENTRIES, hashtags, index_entries
from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from tests.cases import cases


def read(folder: Path, name: str, text: str) -> dict[str, Post]:
    (folder / name).write_text(text)
    report = Report()
    return {post.id: post for post in read_posts(folder / name, report)}


@cases(
    ("source", "entry"),
    [
        (r"\index{ring!commutative}", "ring, commutative"),
        (r"\index{set@\emph{set}}", "set"),
        (r"\index{ideal|textbf}", "ideal"),
        (r"\index{ideal|(}", "ideal"),
        (r"\index{Noether|see{ring, Noetherian}}", "Noether"),
        (r"\index[names]{Emmy Noether}", "Emmy Noether"),
        (r"\index{$p$-adic number}", "p-adic number"),
        (r"\index{Erd\H{o}s number}", "Erdős number"),
        (r"\index{H\"older}", "Hölder"),
        (r"\index{Hilbert~space}", "Hilbert space"),
        (r'\index{factorial (\emph{n}"!)}', "factorial (n!)"),
        (r"\index{left%" + "\n   coset}", "leftcoset"),
        (r"\keywords{tori; knots}", "tori"),
    ],
)
def test_an_entry_of_latex_is_read_as_makeindex_reads_it(source: str, entry: str) -> None:
    assert next(index_entries(f"A text. {source} More.", "latex")) == entry


@cases(
    ("macros", "text", "entries"),
    [
        (
            [r"\newcommand{\define}[1]{\emph{#1}\index{#1}}"],
            r"A \define{ring} and a \define {set}.",
            ["ring", "set"],
        ),
        ([r"\newcommand\term[2][]{\textbf{#2}\index{#1#2}}"], r"\term{a} \term[b!]{c}", ["a", "b, c"]),
        ([r"\newcommand\term[2][x]{\index{#2!#1}}"], r"\term{a}", ["a, x"]),
        ([r"\def\dfn#1#2{#1\index{#2@#1}}"], r"\dfn{sets}{set}", ["sets"]),
        (
            [r"\newcommand{\ind}[1]{\index{#1}}", r"\newcommand{\define}[1]{\emph{#1}\ind{#1!defined}}"],
            r"\define{ring}",
            ["ring, defined"],
        ),
        ([r"\newcommand{\group}{group\index{group}}"], r"A \group{} is", ["group"]),
        ([r"\newcommand{\define}[1]{\emph{#1}}"], r"A \define{ring}", []),
        ([r"\newcommand{\a}[1]{\index{#1}\a{#1}\a{#1}}"], r"\a{b}", ["b"]),
        ([r"\newcommand{\define}[1]{\index{#1}}"], r"A \define{ring without end", []),
    ],
)
def test_macros_of_the_author_write_entries(macros: list[str], text: str, entries: list[str]) -> None:
    assert list(dict.fromkeys(index_entries(text, "latex", macros))) == entries


def test_macros_that_write_entries_are_known_in_a_document(tmp_path: Path) -> None:
    text = r"""\documentclass{book}\newcommand{\define}[1]{\emph{#1}\index{#1}}
\begin{document}A \define{Dedekind domain} is an integral domain.\end{document}"""
    assert read(tmp_path, "a.tex", text)["a.tex"].keywords == ("Dedekind domain",)


def test_macros_that_call_each_other_end_soon() -> None:
    macros = [r"\newcommand{\a}[1]{\index{#1}" + r"\a{#1}" * 300 + "}"]
    assert len(list(index_entries(r"\a{b}" * 300, "latex", macros))) <= MOST_ENTRIES


def test_an_entry_that_does_not_end_is_none() -> None:
    assert list(index_entries(r"\index{" + "a" * (LONGEST_ENTRY + 1) + r"} \index{b", "latex")) == []


def test_a_post_has_at_most_so_many_entries(tmp_path: Path) -> None:
    entries = "".join(rf"\index{{e{n}}}" for n in range(2 * MOST_ENTRIES))
    posts = read(tmp_path, "a.tex", rf"\begin{{document}}Some text here.{entries}\end{{document}}")
    assert len(posts["a.tex"].keywords) == MOST_ENTRIES


@cases(
    ("name", "text", "tags", "keywords"),
    [
        (
            "a.md",
            "---\ntags: [x]\nkeywords: abelian group, ring\n---\n# T\nOn #limits and #algebra/groups, not #12.\n"
            "A {index}`ring <pair: ring; commutative>`.\n\n```{index} single: torsion; rank\n```\n",
            ("x", "abelian group", "ring", "limits", "algebra/groups"),
            ("ring, commutative", "torsion, rank"),
        ),
        (
            "a.rst",
            ".. index::\n   pair: loop; statement\n   torsion, rank\n\nText with :index:`Zorn's lemma` in it.\n",
            (),
            ("loop, statement", "torsion", "rank", "Zorn's lemma"),
        ),
        (
            "a.adoc",
            "A ((ring)) and (((group, abelian))) text.\nindexterm:[field, finite] An indexterm2:[order] more.\n",
            (),
            ("ring", "group, abelian", "field, finite", "order"),
        ),
        (
            "a.org",
            "#+KEYWORDS: tori, knots\n* Rings :algebra:\n#+INDEX: ring!commutative\nText of rings.\n",
            (),
            ("tori", "knots", "algebra", "ring, commutative"),
        ),
        (
            "a.ptx",
            "<article><title>B</title><p>A <idx><h>ring</h><h>commutative</h></idx>ring and <idx>field</idx> it.</p></article>",
            (),
            ("ring, commutative", "field"),
        ),
    ],
)
def test_every_format_keeps_the_entries_of_its_index(
    tmp_path: Path, name: str, text: str, tags: tuple[str, ...], keywords: tuple[str, ...]
) -> None:
    post = read(tmp_path, name, text)[name]
    assert (post.tags, post.keywords) == (tags, keywords)


def test_the_words_that_an_entry_shows_stay_in_the_text(tmp_path: Path) -> None:
    rst = read(tmp_path, "a.rst", "Text with :index:`Zorn's lemma` in it.\n")
    assert "Zorn's lemma" in rst["a.rst"].body
    asciidoc = read(tmp_path, "b.adoc", "A ((ring)) is it, (((hidden))) too.\n")
    assert "A ring is it,  too." in asciidoc["b.adoc"].body


def test_an_entry_belongs_to_the_part_it_stands_in(tmp_path: Path) -> None:
    source = r"\begin{document}Before \index{outside} it. \begin{theorem}\index{Fermat} $a^p=a$.\end{theorem}\end{document}"
    found = {post.kind: post.keywords for post in read(tmp_path, "a.tex", source).values()}
    assert found["theorem"] == ("Fermat",)
    assert "outside" not in found["theorem"]


def test_an_entry_above_a_heading_belongs_to_the_section_below_it(tmp_path: Path) -> None:
    words = "Some words that fill a section so that it is long enough. " * 120
    source = f"One\n===\n\n{words}\n\n.. index:: torsion\n\nTwo\n===\n\n{words}\n"
    found = {
        post.title.rpartition(": ")[2]: post.keywords for post in read(tmp_path, "a.rst", source).values()
    }
    assert found == {"a": (), "Two": ("torsion",)}


def test_a_hashtag_is_neither_code_nor_an_address_nor_a_heading() -> None:
    text = "# Heading\n#tag here, `#code`, https://a.b/#part [a](#b) $#A$ C# #5 ##x\n```c\n#include <x>\n```\n#späte-Folge"
    assert hashtags(text) == ["tag", "späte-Folge"]


def test_keywords_of_json_lines_are_kept(tmp_path: Path) -> None:
    row = '{"id": "1", "title": "T", "body": "Text.", "keywords": ["group, abelian"]}\n'
    assert read(tmp_path, "a.jsonl", row)["1"].keywords == ("group, abelian",)

from __future__ import annotations

from pathlib import Path

from mathamr.posts.format import detect
from mathamr.posts.markup import pieces
from mathamr.posts.passage import passage
from mathamr.posts.post import Link
from tests.cases import cases
from tests.folders import write_files
from tests.posts.reading import read, read_files

PAGE = """<!DOCTYPE html>
<html><head><title>Limits &amp; series</title><script>var price = "$5$";</script></head>
<body><nav><a href="index.html">home $n$</a></nav>
<main><h1>Limits</h1><p>Let \\(x&lt;1\\) and <math><mi>y</mi></math>, see
<a href="series/b.html#top">this</a>, <a href='https://example.org/series/b.html'>that</a>, <a href=../out.html>out</a>
and <a href="series/b.html">again</a>.</p></main><footer>$f$</footer></body></html>"""


def test_links_between_pages_of_a_folder_are_kept(tmp_path):
    back = "<html><body><p>Back <a href='../a.html'>up</a></p></body></html>"
    posts, report = read_files(tmp_path, a_html=PAGE, series__b_html=back)
    assert list(posts) == ["a.html", "series/b.html"]
    assert [(link.target, link.words) for link in posts["a.html"].links] == [
        ("series/b.html", "this"),
        ("series/b.html", "again"),
    ]
    assert posts["series/b.html"].links == (Link("a.html", "mention", "up", "../a.html"),)
    assert not report.skipped


@cases(
    ("page", "title"),
    [
        ("<html><title> A </title><body><h1>B</h1></body></html>", "B"),
        ("<html><title> A </title><body><nav><h1>B</h1></nav><h2>C</h2></body></html>", "A"),
        (
            "<title>Limits &#8212; Calculus 1.0 documentation</title><p>x</p>",
            "Limits &#8212; Calculus 1.0 documentation",
        ),
        ("<title>Limits \u2014 Calculus 1.0 documentation</title><p>x</p>", "Limits"),
        (
            '<meta property="og:site_name" content="My Notes"><title>Sine - My Notes</title><p>x</p>',
            "Sine",
        ),
        ("<html><title></title><body><h1 class='x'>B <i>c</i></h1></body></html>", "B <i>c</i>"),
        ("<html><body><p>no title</p></body></html>", ""),
        ("<html><title>never closed", ""),
    ],
)
def test_the_title_is_the_first_heading_or_that_of_the_page_without_the_site(tmp_path, page, title):
    assert read_files(tmp_path, a_html=page)[0]["a.html"].title == title


@cases(
    ("page", "body"),
    [
        ("<html><body>all</body></html>", "all"),
        ("<html><body><article>one</article><nav/></body></html>", "one"),
        (
            "<html><body><article>one</article><article>two</article></body></html>",
            "<article>one</article><article>two</article>",
        ),
        ("<html><body>cut off", "cut off"),
        ("<body><div role='main'><p>a</p><nav>n</nav> b</div><p>no</p></body>", "<p>a</p> b"),
        ("<main><div class='md-sidebar'>menu</div><article>one</article></main>", "one"),
        (
            "<body><header>site</header><p>text<a class='x headerlink' href='#a'>\u00b6</a></p><footer>f</footer>",
            "<p>text</p>",
        ),
        ("<main><h2>Sum<a href='#s'>#</a></h2>s</main>", "<h2>Sum</h2>s"),
        ("<body><div class='sphinxsidebar'><p>menu</div><div class='body'>b</div></body>", "b"),
        (
            "<main><header><p>by me</p></header>t<script>'</main>'</script>u</main>",
            "<header><p>by me</p></header>t<script>'</main>'</script>u",
        ),
        ("<p>a fragment</p>", "<p>a fragment</p>"),
    ],
)
def test_the_body_is_the_part_that_says_something(tmp_path, page, body):
    assert read_files(tmp_path, a_html=page)[0]["a.html"].body == body


def test_a_page_in_the_encoding_it_declares_is_read_and_others_are_repaired(tmp_path):
    text = '<html><meta charset="iso-8859-2"><body>Erdős</body></html>'
    named = {"a": "iso-8859-2", "b": "klingon", "c": "hex"}
    files = {
        f"{file}.html": text.replace("iso-8859-2", name).encode("iso-8859-2") for file, name in named.items()
    }
    posts, report = read(write_files(tmp_path, files))
    assert [post.body for post in posts.values()] == ["Erdős", "Erd\ufffds", "Erd\ufffds"]
    assert dict(report.repaired) == {"invalid UTF-8": 2}


def test_pages_are_recognised_without_their_suffix_but_not_for_it_in_other_files(tmp_path):
    page = tmp_path / "page"
    page.write_text("<!-- a --><!-- b --> <!doctype HTML><p>x")
    assert detect(page) == "html"
    hostile = tmp_path / "hostile"
    hostile.write_text("<!-- -->" * 5000 + "{")
    assert detect(hostile) is None


def test_a_long_page_is_a_post_a_section_and_links_lead_to_them(tmp_path):
    words = (
        "Some words about \\(x\\) that fill a section, one after the other, until it is long enough. " * 12
    )
    posts, _ = read_files(
        tmp_path,
        long_html=f"<html><body><nav>menu</nav><main>\n<h1>Book</h1>\n<p>{words}</p>\n<section id='one'><h2>One</h2><p>{words}"
        f"</p></section>\n<h2 id='two'>Two <em>b</em></h2><h3>Deep</h3><p>{words}</p>\n<h2>One</h2>{words}</main></body></html>",
        other_html="<p><a href='long.html#two'>there</a> <a href='long.html#no'>top</a></p>",
    )
    assert [(post.id, post.title, post.kind) for post in posts.values()] == [
        ("long.html", "Book", "page"),
        ("long.html#one", "Book: One", "section"),
        ("long.html#two", "Book: Two <em>b</em>", "section"),
        ("long.html#one-1", "Book: One", "section"),
        ("other.html", "", "page"),
    ]
    assert [post.place.line for post in posts.values() if post.place] == [2, 4, 5, 6, 1]
    assert sum(len(post.formulas) for post in posts.values()) == 48
    assert posts["other.html"].links == (
        Link("long.html#two", "mention", "there", "long.html#two"),
        Link("long.html", "mention", "top", "long.html#no"),
    )


def test_formulas_set_with_letters_of_html_keep_their_scripts(tmp_path):
    page = (
        "<p>Let <span class='math inline'><em>z</em><sub><em>i</em></sub> ∈ {0, 1}</span> and"
        " <span class='math display'><em>e</em><sup>−<em>x</em><sup>2</sup></sup>  ≤  log <strong>v</strong></span>.</p>"
    )
    posts, _ = read_files(tmp_path, a_html=page)
    assert [(formula.latex, formula.display) for formula in posts["a.html"].formulas] == [
        ("z_{i} ∈ \\{0, 1\\}", False),
        ("e^{−x^{2}} ≤ \\log \\mathbf{v}", True),
    ]


def test_formulas_of_gapdoc_and_doxygen_are_found() -> None:
    page = (
        '<p>Let <span class="SimpleMath">a &lt; S_8</span>, <img class="formulaInl" alt="$ x^2 $" src="f.png"/> or'
        ' <img class="formulaDsp" alt="\\[ y \\]" src="g.png"/></p>'
    )
    found = [(piece.text, piece.display) for piece in pieces(page, "html") if piece.kind == "formula"]
    assert found == [("a < S_8", False), ("x^2", False), ("y", True)]


def test_the_content_of_a_page_of_doxygen_is_read(tmp_path: Path) -> None:
    page = (
        '<html><head><title>Eigen: Maps</title></head><body><div id="top">Menu</div><div id="doc-content"><div class="header">'
        '<div class="title">Maps</div></div><div class="contents"><p>A map of <b>Householder</b>.</p><div class="ttc">tip</div>'
        "</div></div></body></html>"
    )
    post = read_files(tmp_path, a_html=page)[0]["a.html"]
    assert "Householder" in post.body
    assert "Menu" not in post.body
    assert "tip" not in passage(post).text


def test_a_long_page_without_headings_is_cut_between_its_blocks(tmp_path):
    paragraphs = [f"<p>Paragraph {n} with \\(x^{{{n}}}\\) and {'word ' * 95}.</p>" for n in range(60)]
    page = "<html><body><h1>A</h1>\n" + "\n".join(paragraphs) + "</body></html>"
    posts, _ = read_files(tmp_path, a_html=page)
    assert [len(post.formulas) for post in posts.values()] == [4] * 15
    assert {post.title for post in posts.values()} == {"A"}
    assert [post.place.line for post in posts.values()] == [1, *range(6, 62, 4)]


TEXT = "<h1>Limits</h1><p>" + "needle words " * 30 + "</p>"


@cases(
    "page",
    [
        f"<body><form action='default.aspx'>{TEXT}</form></body>",
        f"<body><div><form><form>{TEXT}</form></form></div></body>",
        f"<body><nav><a>Home</a>{TEXT}</body>",
        f"<body><nav><a>Home</a><div>{TEXT}</div>",
        f"<body><div class='sidebar'><a>Home</a>{TEXT}</body>",
        f"<body><header><a>Home</a>{TEXT}</body>",
        f"<body><nav>{TEXT}</nav></body>",
        f"<body><footer>{TEXT}</footer></body>",
        f"<main><dialog>{TEXT}</dialog></main>",
    ],
)  # fmt: skip
def test_the_text_of_a_page_is_not_taken_for_navigation(tmp_path, page):
    posts, _ = read_files(tmp_path, a_html=f"<html>{page}</html>")
    assert "needle" in posts["a.html"].body


def test_navigation_and_search_are_left_out_of_a_page_with_text(tmp_path):
    page = f"<body><nav>Home</nav><form>Find <select><option>one</option></select></form>{TEXT}<footer>Imprint</footer></body>"
    posts, _ = read_files(tmp_path, a_html=page)
    assert not {"Home", "Find", "one", "Imprint"} & set(
        posts["a.html"].body.replace("<", " ").replace(">", " ").split()
    )

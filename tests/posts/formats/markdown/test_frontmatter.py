"""Front matter: the common forms are read, the rest is reported, and no note is lost to it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr.posts.formats.markdown.frontmatter import FrontMatter
from mathamr.posts.report import Report
from tests.bounded import bounded
from tests.cases import cases


@cases(
    ("head", "title", "tags", "date"),
    [
        (
            "---\ntitle: On limits\ntags: [a, 'b c']\ndate: 2024-05-01 # then\n---\n",
            "On limits",
            ("a", "b c"),
            "2024-05-01",
        ),
        ("---\nTitle: 'It: works'\ntags:\n  - x\n  - '#y'\n---\n", "It: works", ("x", "y"), None),
        ("---\ntags: [[a, b], {c: d}, e]\n---\n", "", ("a", "b", "e"), None),
        ("---\ntags:\n  - 2024\n  - yes\n  - null\n---\n", "", ("2024", "yes"), None),
        ("---\ntitle: >-\n  Over\n  lines\ntags: |\n  a\n  b\n---\n", "Over lines", ("a", "b"), None),
        ('---\ntitle: "On $\\alpha$ and $\\nu$"\n---\n', "On $\\alpha$ and $\\nu$", (), None),
        ("% A title\n% An author\n% 2024-05-01\n\n", "A title", (), "2024-05-01"),
        ("---\ntags: one, two three\n...\n", "", ("one", "two", "three"), None),
        ("---\n# a comment\nkeywords: k\nnested:\n  deep: 1\n---\n", "", ("k",), None),
        ('+++\ntitle = "T"\ndate = 2024-05-01\n[taxonomies]\ntags = ["a"]\n+++\n', "T", ("a",), "2024-05-01"),
        ("---\r\ntitle: T\r\ntags: [a]\r\n---\r\n", "T", ("a",), None),
        ("---\n---\n", "", (), None),
    ],
)
def test_front_matter_is_read(head: str, title: str, tags: tuple[str, ...], date: str | None) -> None:
    report = Report()
    found = FrontMatter.read(head + "text", report)
    assert (found.title, found.tags, found.date) == (title, tags, date)
    assert (head + "text")[found.end :] == "text"
    assert not report.repaired


@cases("text", ["text", "---\nnever closed", "---\nJust a rule.\n---\nmore", "", "--- x"])
def test_what_is_no_front_matter_stays_text(text: str) -> None:
    assert FrontMatter.read(text, Report()) == FrontMatter()


@cases(
    ("head", "title", "tags"),
    [
        ("title: Zorn: a lemma\ntags: [sets]", "Zorn: a lemma", ("sets",)),
        ('title: "\\sigma-algebras"\ntags: a', "\\sigma-algebras", ("a",)),
        ("title: T\ntags:\n  - x\n- '#y'", "T", ("x", "y")),
        ("title: [never closed\ntags:\n  - x", "[never closed", ("x",)),
        ("title: t\n{odd", "t", ()),
        ("{{{", "", ()),
    ],
)
def test_what_is_not_quite_yaml_is_read_key_by_key_and_reported(
    head: str, title: str, tags: tuple[str, ...]
) -> None:
    found = FrontMatter.read(f"---\n{head}\n---\n", report := Report())
    assert (found.title, found.tags) == (title, tags)
    assert dict(report.repaired) == {"front matter": 1}


def test_what_is_not_toml_is_reported() -> None:
    assert FrontMatter.read("+++\nnot toml\n+++\n", report := Report()).title == ""
    assert dict(report.repaired) == {"front matter": 1}


def test_aliases_are_read_as_a_list_or_as_one() -> None:
    assert FrontMatter.read("---\naliases: [Zorn, 'Kuratowski, Zorn']\n---\n", Report()).aliases == (
        "Zorn",
        "Kuratowski, Zorn",
    )
    assert FrontMatter.read("---\nalias: Zorn\n---\n", Report()).aliases == ("Zorn",)


BOMBS = {
    "aliases": "a: &a [x,x,x,x,x,x,x,x,x]\n"
    + "".join(f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(18))
    + "tags: *s",
    "itself": "tags: &a [*a, x]",
    "brackets": "tags: " + "[" * 60_000,
    "keys": "a: &a {}\n" + "".join(f"? *a\n: {n}\n" for n in range(5_000)),
    "long": "tags: [" + "x, " * 300_000 + "]",
    "colons": "a" + ": " * 30_000,
    "quotes": "a: " + "'" * 60_000,
}
TOML_BOMBS = {
    "digits": "title = " + "9" * 5_000,
    "hexadecimal": "title = 0x" + "f" * 60_000,
    "dots": ".".join("a" * 30_000) + " = 1",
    "spaced dots": " . ".join("a" * 15_000) + " = 1",
    "quoted dots": ".".join(['"a"'] * 15_000) + " = 1",
    "dots in a table": "[" + ".".join("a" * 20_000) + "]\n" + "".join(f"k{n} = 1\n" for n in range(2_000)),
    "dots in braces": "a = {" + ".".join("a" * 30_000) + " = 1}",
    "brackets": "tags = " + "[" * 60_000,
    "braces": "a = " + "{a = " * 10_000,
    "one word": "a" * 60_000,
    "open quotes": "'a" * 30_000,
    "tables": "".join(f"[a{n}.b]\n" for n in range(6_000)),
    "long": "tags = [" + "'x', " * 300_000 + "]",
}


@pytest.mark.parametrize(
    ("fence", "bomb"),
    [
        pytest.param(fence, bomb, id=f"{fence} {name}")
        for fence, bombs in (("---", BOMBS), ("+++", TOML_BOMBS))
        for name, bomb in bombs.items()
    ],
)
@pytest.mark.slow
def test_a_bomb_is_bounded(tmp_path: Path, fence: str, bomb: str) -> None:
    source = (
        "import sys\nfrom pathlib import Path\n"
        "from mathamr.posts.formats.markdown.frontmatter import FrontMatter\n"
        "from mathamr.posts.report import Report\n"
        "fence = sys.argv[2] + '\\n'\n"
        "text = fence + Path(sys.argv[1]).read_text(encoding='utf-8') + '\\n' + fence + 'Text.'\n"
        "found = FrontMatter.read(text, Report())\n"
        "assert text[found.end:] == 'Text.' and len(found.tags) <= 500\n"
    )
    (tmp_path / "head").write_text(bomb, encoding="utf-8")
    run = bounded(source, str(tmp_path / "head"), fence, megabytes=1024)
    assert run.returncode == 0, run.stderr[-1000:]


SCALARS = st.one_of(
    st.sampled_from(["9" * 5_000, "0x" + "f" * 5_000, "", "!!int x", "&a b"]),
    st.sampled_from(["1e999", "-inf", "nan", "0o7", "1_0", "12:30", "~", "*a"]),
    st.datetimes().map(str),
    st.dates().map(str),
    st.floats().map(str),
    st.text(max_size=20),
    st.text(max_size=20).map(json.dumps),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map(lambda items: "[" + ", ".join(items) + "]"),
        st.tuples(inner, inner, st.sampled_from([" = ", ": "])).map(lambda of: f"{{{of[0]}{of[2]}{of[1]}}}"),
    ),
    max_leaves=6,
)
KEYS = st.one_of(
    st.sampled_from(["title", "tags", "date", "aliases", "taxonomies", "taxonomies.tags", "[taxonomies]"]),
    st.text(max_size=6),
)


@given(
    st.sampled_from(["---\n", "+++\n", "% "]),
    st.lists(st.tuples(KEYS, st.sampled_from([": ", " = ", ":\n  - ", "\n% "]), VALUES), max_size=5),
)
def test_front_matter_of_any_keys_and_values_is_read_or_reported(
    fence: str, lines: list[tuple[str, str, str]]
) -> None:
    text = fence + "".join(f"{key}{sign}{value}\n" for key, sign, value in lines) + fence + "\nText."
    found = FrontMatter.read(text, Report())
    assert 0 <= found.end <= len(text)
    assert all(isinstance(each, str) for each in (found.title, *found.tags, *found.aliases))

"""Every reader takes time linear in the size of a text, whatever its author wanted: a generator for each way to make it try again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mathamr.index.indexing.analysis import analyse_all
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from tests.slopes import slope

MOST = 1.4
"""Far from 2, which is quadratic, and far enough from 1 for a busy machine."""


def repeat(text: str, head: str = "", tail: str = "") -> Callable[[int], str]:
    return lambda size: head + text * (size // len(text)) + tail


def wiki(text: str, tail: str = "") -> Callable[[int], str]:
    before = "<mediawiki><page><title>A</title><revision><text>Words. "
    return repeat(text, before, f"{tail}</text></revision></page></mediawiki>")


def paper(preamble: str, body: str = "") -> str:
    return f"\\documentclass{{article}}\n{preamble}\\begin{{document}}\nWords $x$.\n{body}\\end{{document}}\n"


def letters(number: int) -> str:
    """The number in letters, as the name of a command has it."""
    return "".join(chr(97 + int(digit)) for digit in str(number))


GENERATORS: dict[str, tuple[str, Callable[[int], str]]] = {
    "signs of entries in a line": ("a.bib", repeat("@a{", "@book{a, title={A zebra}} ")),
    "keys of entries in a line": ("a.bib", repeat("@a{b", "@book{a, title={A zebra}} ")),
    "comments before no root": ("a.xml", repeat("<!--a--><!--b-->", "<?xml?>")),
    "declarations before no root": ("a.xml", repeat("<?xml a?> ")),
    "comments before no page": ("a", repeat("<!--a-->", "<p>")),
    "types before no root": ("a.xml", repeat("<!DOCTYPE a [<!ENTITY b \">\">]>")),
    "quoted values that hold tags": ("a.html", repeat('<a "< <a ')),
    "quoted values that are never followed by a tag's end": ("a.html", repeat('<a b="<" ')),
    "quotes in tags": ("a.html", repeat("<a \"<'")),
    "annotations that are no LaTeX": ("a.html", lambda size: f"<p>Words <math><annotation {'x-tex' * (size // 5)}</math>"),
    "blanks behind a style": ("a.html", lambda size: f'<p>Words <math alttext="{{\\displaystyle{" " * size}x">y</math>'),
    "spans of formulas in each other": ("a.html", repeat('<span class="math">', "<p>Words ")),
    "spans that are closed but no formulas": ("a.html", lambda size: f"<p>Words {'<span class=math>' * (size // 24)}{'</span>' * (size // 24)}"),
    "a heading's signs": ("a.xml", lambda size: wiki(" =", "x\n")(size).replace("Words. ", "\n=a")),
    "blanks in a heading": ("a.xml", lambda size: wiki(" \t", "x\n")(size).replace("Words. ", "\n=a")),
    "raised words never closed": ("a.xml", wiki("&lt;sup&gt;", "}}")),
    "raised words in a template": ("a.xml", lambda size: wiki("&lt;sup&gt;", "}}")(size).replace("Words. ", "{{math|")),
    "a macro of boxes in Typst": ("a.typ", repeat("box", "Words.\n#let a=")),
    "strings never closed in Typst": ("a.typ", repeat('\\"', '#link("')),
    "comments never closed in code of Typst": ("a.typ", repeat("/*", "Words #a(")),
    "macros that grow in Typst": ("a.typ", repeat("$aa$ ", "\n".join(f"#let {chr(97 + n) * 2} = ${f'{chr(98 + n) * 2} ' * 9}$" for n in range(20)) + "\nWords.\n")),
    "uses of many macros in Typst": ("a.typ", lambda size: "".join(f"#let m{n} = $x$\n" for n in range(1000)) + "Words. " + "$m1$ " * (size // 8)),
    "links of notes": ("a.md", repeat("![[a]] ", "Words.\n\n")),
    "links on one line": ("a.md", repeat("[a](b.md)", "Words.\n\n")),
    "categories": ("a.xml", lambda size: wiki("x", "".join(f"[[Category:{n}]]" for n in range(size // 17)))(1)),
    "macros of LaTeX": ("a.tex", lambda size: paper("".join(f"\\newcommand{{\\m{letters(n)}}}{{x}}\n" for n in range(size // 24)))),
    "inputs of itself in LaTeX": ("a.tex", lambda size: paper("", "\\input{a}\n" * (size // 10))),
    "theorems of LaTeX": ("a.tex", lambda size: paper("".join(f"\\newtheorem{{t{n}}}{{T}}\n" for n in range(size // 40)), "".join(f"\\begin{{t{n}}}x\\end{{t{n}}}\n" for n in range(size // 40)))),
}  # fmt: skip


@pytest.mark.parametrize("case", GENERATORS)
def test_a_text_is_read_in_time_linear_in_its_size(tmp_path: Path, case: str) -> None:
    name, text = GENERATORS[case]
    (tmp_path / "words.md").write_text("Words.")

    def read(size: int) -> None:
        (tmp_path / name).write_text(text(size), encoding="utf-8")
        list(analyse_all(read_posts(tmp_path, Report())))

    read(100)  # what is imported by the first reading is not measured
    assert slope(read, 40_000) < MOST


@pytest.mark.slow
def test_documents_that_import_each_other_in_a_chain_take_time_linear_in_their_number(tmp_path: Path) -> None:
    def read(files: int) -> None:
        folder = tmp_path / str(files)
        folder.mkdir(exist_ok=True)
        for number in range(files):
            macros = "".join(f"#let m{number}x{n} = $x$\n" for n in range(15))
            (folder / f"{number}.typ").write_text(f'#import "{number + 1}.typ"\n{macros}Words $m{number}x1$.')
        list(read_posts(folder, Report()))

    read(2)
    assert slope(read, 800) < MOST


def test_a_document_whose_macros_expand_without_end_is_counted_and_keeps_what_was_read(
    tmp_path: Path,
) -> None:
    macros = "\n".join(f"#let {chr(97 + n) * 2} = ${f'{chr(98 + n) * 2} ' * 9}$" for n in range(20))
    (tmp_path / "a.typ").write_text(f"{macros}\n\nWords before.\n\n$aa$\n\nWords behind.")
    (post,) = read_posts(tmp_path, report := Report())
    assert "Words before." in post.body
    assert len(post.body) < 300_000
    assert report.skipped == {"too slow": 1}

"""A book in LaTeX with macros of its own: home page, hits, a section, a theorem, wildcards, similar entries."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.serve.page.visit import Page, ask, expect, visited
from tests.serve.site import Site, serving_files

BOOK = r"""\documentclass{book}
\newcommand{\ZZ}{\mathbb{Z}}
\newcommand{\Zc}[1]{\ZZ/#1\ZZ}
\newcommand{\norm}[1]{\left\lVert #1 \right\rVert}
\newtheorem{theorem}{Theorem}[chapter]
\newtheorem{lemma}[theorem]{Lemma}
\newtheorem{definition}[theorem]{Definition}
\begin{document}
\chapter{Groups}
\section{Residues}
Two integers are congruent if their difference is a multiple of $n$, as everybody knows.
\begin{definition}\label{def:zn}
The group of residues $\Zc{n}$ is the set of classes of $\ZZ$ modulo $n$.
\end{definition}
\begin{theorem}[Chinese remainder theorem]\label{thm:crt}
If $\gcd(m,n)=1$ then $\Zc{mn} \cong \Zc{m} \times \Zc{n}$, see \cref{thm:snake}.
\end{theorem}
\begin{proof}
Count the elements of both sides of the map.
\end{proof}
\section{Sequences}
Exact sequences are the language of this chapter and of all that follow.
\begin{theorem}[Snake lemma]\label{thm:snake}
For a diagram \[\begin{tikzcd} A \arrow[r,"f"] \arrow[d,"a"] & B \arrow[d,"b"] \\ C \arrow[r,"g"] & D \end{tikzcd}\]
there is an exact sequence $\ker a \to \ker b$.
\end{theorem}
\begin{lemma}[Snakes again]
For a diagram there is an exact sequence $\ker a \to \ker b$.
\end{lemma}
\begin{lemma}
For a prime $p$ we have $a^p \equiv a$ and $\norm{x+1}^2 = 0$.
\end{lemma}
\end{document}
"""


@pytest.fixture(scope="module")
def book(browser: Any, tmp_path_factory: pytest.TempPathFactory, model_folder: Path) -> Iterator[Site]:
    with serving_files(tmp_path_factory.mktemp("book"), {"book.tex": BOOK}, model_folder) as running:
        yield running


@pytest.fixture
def page(browser: Any, book: Site) -> Iterator[Page]:
    with visited(browser, book) as opened:
        yield opened.page


def test_the_home_page_and_a_formula_that_is_searched_on_know_the_macros_of_the_book(
    page: Page, book: Site
) -> None:
    page.goto(book.url)
    expect(page.locator(".example").first).to_be_visible()
    page.wait_for_load_state("networkidle")
    expect(page.locator("merror, .broken")).to_have_count(0)
    page.locator("#question").fill("the group \\Zc{n}")
    expect(page.locator("#preview math")).to_have_text("ℤ/nℤ")
    page.locator("#question").press("Enter")
    page.locator('.hit[data-post$="def:zn"] .snippet .formula').first.click()
    page.get_by_role("menuitem", name="Search this formula").click()
    expect(page.locator(".hit .found math").first).to_have_text("ℤ/nℤ")
    assert page.locator("#question").input_value() == "\\Zc{n}"
    expect(page.locator(".hit").first).to_contain_text("the same formula")


def test_a_section_shows_what_follows_it_and_entries_lead_on(page: Page, book: Site) -> None:
    posts = book.service.archive.catalogue.every_post()
    section = next(post.id for post in posts if post.kind == "section" and post.title.endswith("Residues"))
    ask(page, book, "residues", f"&post={quote(section, safe='')}")
    inside = page.locator(".contained")
    expect(inside).to_have_count(2)
    expect(inside.nth(1)).to_contain_text("Chinese remainder theorem")
    expect(inside.nth(1).locator("math").last).to_contain_text("ℤ/mℤ")
    inside.nth(1).get_by_role("link").first.click()
    panel = page.locator("#panel")
    expect(panel.get_by_role("heading", level=2)).to_contain_text("Chinese remainder theorem")
    expect(panel.get_by_role("heading", name="Proof", exact=True)).to_be_visible()
    expect(panel.locator(".contained .prose")).to_contain_text("Count the elements of both sides")
    expect(panel.get_by_text("1 answer")).to_have_count(0)
    panel.locator(".turning .previous").click()
    expect(panel.get_by_role("heading", level=2)).to_contain_text("Definition")


def test_a_theorem_shows_its_diagram_and_leads_to_what_it_refers_to(page: Page, book: Site) -> None:
    ask(page, book, "Chinese remainder theorem")
    page.locator('.hit[data-post$="thm:crt"] h3 a').first.click()
    panel = page.locator("#panel")
    panel.locator(".prose a.reference").click()
    expect(panel.get_by_role("heading", level=2)).to_contain_text("Snake lemma")
    expect(panel.locator(".prose math mtable")).to_be_visible()
    page.locator("#question").fill("snake lemma")
    page.locator("#question").press("Enter")
    diagram = page.locator('.hit[data-post$="thm:snake"] .snippet .formula.display')
    expect(diagram).to_be_visible()


def test_what_a_wildcard_took_is_marked_and_the_rest_in_another_colour(page: Page, book: Site) -> None:
    ask(page, book, "$\\norm{?a}^2 = 0$", "&task=formulas")
    first = page.locator(".hit").first
    expect(first).to_contain_text("fits the pattern")
    assert "".join(first.locator(".math-taken").all_text_contents()) == "x+1"
    expect(first.locator(".math-matched").first).to_be_visible()


def test_entries_that_say_the_same_are_listed_below_an_entry(page: Page, book: Site) -> None:
    ask(page, book, "Snake lemma")
    page.locator('.hit[data-post$="thm:snake"] h3 a').first.click()
    panel = page.locator("#panel")
    panel.get_by_text("Is this noted elsewhere?").click()
    expect(panel.locator("details .entry-line").filter(has_text="Snakes again")).to_be_visible()

"""Generators of tangled source text for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

WORDS = ["alpha", "Bravo", "charlie", "delta", "Echo", "foxtrot"]

HTML_PARTS = [
    "<p>", "</p>", "<br>", "<br/>", "<em>", "</em>", "<li>", "</li>", "<pre>", "</pre>", "<code>", "</code>",
    "<blockquote>", "<td>", "<a href='x'>", "</a>", "<img alt='a cat'>", "<!--", "-->", "<math>", "</math>",
    '<span class="math-container" id="7">', "</span>", "<script>", "</script>", "<svg>", "</svg>",
    "&lt;", "&amp;", "&nope;", "&#", "&#x41;", "<", ">", '"', "'", "<b", "</",
]  # fmt: skip
MARKDOWN_PARTS = [
    "\n", "\n\n", "# ", "## ", "> ", "- ", "1. ", "```", "~~~", "`", "``", "    ", "**", "_", "[", "](x.md)",
    "[[note|", "]]", "![", "](i.png)", "| a | b |\n|---|---|\n", "---\n", "===\n", "[r]: u\n", "[^1]", "<b>", "&lt;",
]  # fmt: skip
LATEX_PARTS = [
    "\n\n", "\\section{", "\\emph{", "{", "}", "\\item", "\\begin{itemize}", "\\end{itemize}", "\\begin{align}",
    "\\end{align}", "\\ref{a}", "(\\ref{a})", "\\cite[p]{a}", "%", "~", "``", "''", "\\'e", "\\verb|", "|", "&",
    "\\\\", "\\footnote{", "\\label{", "[", "]", "\\begin{verbatim}", "\\end{verbatim}", "[asy]", "\\ensuremath{",
    "\\begin{thm}[", "\\end{thm}", "\\newcommand{\\a}{", "--",
]  # fmt: skip
MATH_PARTS = [
    "$", "$$", "\\(", "\\)", "\\[", "\\]", "\\$", "\\", "{", "}", "x=1", ".", ",", " ", "\n", "FORMULA_3", "FORMULA_",
    "\\begin{equation}", "\\end{equation}", "n!", "?", "e.g.", "\u2028", "\0", "\1", "e\u0301", "5 and ",
]  # fmt: skip
PARTS = {"html": HTML_PARTS, "markdown": MARKDOWN_PARTS, "latex": LATEX_PARTS, "text": []}


def soup(markup: str) -> st.SearchStrategy[str]:
    """Tangled source in a markup: words, math and marks of the markup in any order, or any text at all."""
    part = st.sampled_from([*PARTS[markup], *MATH_PARTS, *WORDS, *[f"{word} " for word in WORDS]])
    return st.one_of(st.lists(part, max_size=40).map("".join), st.text(max_size=60))

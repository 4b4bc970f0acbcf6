"""The Markdown of the sample corpus: converts it to HTML with ARQMath's formula spans and checks every formula."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from xml.sax.saxutils import escape

TOKEN = re.compile(
    r"""^```\w*\n(?P<fence>.*?)^```[ \t]*$
      | `(?P<code>[^`\n]+)`
      | (?P<dollar>\\\$)
      | \$\$(?P<display>(?:[^$\\]|\\.)+)\$\$
      | \$(?P<inline>(?:[^$\\]|\\.)+)\$(?!\$)
      | (?P<unbalanced>\$)""",
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
SLOT = re.compile("\ue000(\\d+)\ue001")
LATEX_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|.")
FINAL_PUNCTUATION = re.compile(r"(?:\\[ ,;:]|(?<!\\right)[.,;:?]|\s)+$")
SYNONYMS = {"\\leq": "\\le", "\\geq": "\\ge", "\\neq": "\\ne", "\\rightarrow": "\\to"}
LIST_ITEM = re.compile(r"(?:(-)|\d+\.) +")

Problem = Callable[[int, str], None]  # a line (0: the section's own) and what is wrong there


@dataclass
class Rendered:
    """HTML from Markdown, and the LaTeX of its formulas in order."""

    html: str
    formulas: list[str]


def squeeze(latex: str) -> str:
    """Return LaTeX on one line, with one blank for each run of white space."""
    return " ".join(latex.split())


def visual_key(latex: str) -> str:
    r"""Return a key that formulas with the same appearance share: without invisible blanks, needless braces and final punctuation.

    >>> visual_key(r"\frac{1}{2} \leq x^{2}\,.") == visual_key(r"\frac12\le x^2")
    True
    >>> visual_key(r"\pi x"), visual_key(r"\pix"), visual_key("x^{10}")
    ('\\pi x', '\\pix', 'x^{10}')
    """
    tokens: list[str] = []
    for token in LATEX_TOKEN.findall(FINAL_PUNCTUATION.sub("", squeeze(latex))):
        if token == "}" and tokens[-2:-1] == ["{"] and tokens[-1] not in "{}":
            tokens[-2:] = tokens[-1:]
        elif token != " ":
            tokens.append(SYNONYMS.get(token, token))
    pairs = itertools.pairwise([*tokens, ""])
    return "".join(one + " " * (one[1:].isalpha() and two.isalpha()) for one, two in pairs)


class Markdown:
    """Renders the Markdown of one title or body; formulas become ARQMath's spans with ids from `formula_id`."""

    def __init__(
        self, formula_id: Callable[[], str], post_url: Callable[[str], str | None], problem: Problem
    ) -> None:
        self.formula_id, self.post_url, self.problem = formula_id, post_url, problem
        self.slots: list[str] = []
        self.formulas: list[str] = []

    def title(self, text: str, line: int) -> Rendered:
        """One line without blocks."""
        return Rendered(self.inline(self.protect(text, line)), self.formulas)

    def body(self, text: str, line: int) -> Rendered:
        """Blocks: paragraphs, lists, quotes, tables, code."""
        return Rendered(self.fill("\n\n".join(self.blocks(self.protect(text, line)))), self.formulas)

    def protect(self, text: str, line: int) -> str:
        """Move code and formulas into slots, where no other rule of Markdown can touch them."""
        if strange := re.search("[^\n\x20-\x7e\u00a0-\ud7ff]", text):
            self.problem(
                line + text.count("\n", 0, strange.start()),
                f"the character {strange[0]!r} may not stand here",
            )

        def slot(match: re.Match[str]) -> str:
            at = line + text.count("\n", 0, match.start())
            latex = match["display"] or match["inline"]
            if match["unbalanced"]:
                self.problem(at, "a $ without its partner (write \\$ for a dollar sign)")
                return ""
            if latex is not None:
                check_latex(latex, at, self.problem)
                latex, mark = squeeze(latex), "$$" if match["display"] else "$"
                self.formulas.append(latex)
                span = f'<span class="math-container" id="{self.formula_id()}">{mark}{escape(latex)}{mark}</span>'
                return self.slot(span)
            if match["fence"] is not None:
                code = self.slot(f"<pre><code>{escape(match['fence'])}</code></pre>")
                return f"\n\n{code}\n\n"
            return self.slot("$" if match["dollar"] else f"<code>{escape(match['code'])}</code>")

        return TOKEN.sub(slot, text)

    def slot(self, content: str) -> str:
        """Return the placeholder of a piece of finished HTML."""
        self.slots.append(content)
        return f"\ue000{len(self.slots) - 1}\ue001"

    def fill(self, text: str) -> str:
        """Replace the slots by the finished pieces."""
        return SLOT.sub(lambda match: self.slots[int(match[1])], text)

    def inline(self, text: str) -> str:
        """Emphasis and links of one line of text, with the slots filled."""
        text = escape(squeeze(text))
        text = re.sub(r"\*\*(\S.*?)\*\*", r"<strong>\1</strong>", text)
        text = re.sub(r"\*(\S.*?)\*", r"<em>\1</em>", text)
        return self.fill(re.sub(r"\[([^\]]+)\]\(([^)\s]+)\)", self.link, text))

    def link(self, match: re.Match[str]) -> str:
        """Render a link: `[text](#101)` leads to a post of the corpus, anything else is an address."""
        url = self.post_url(match[2][1:]) if match[2].startswith("#") else match[2]
        if url is None:
            self.problem(0, f"a link to {match[2]}, which is no post of the corpus")
        return '<a href="{}">{}</a>'.format((url or "").replace('"', "&quot;"), match[1])

    def blocks(self, text: str) -> Iterator[str]:
        """Yield the HTML of each block."""
        chunks = [chunk for chunk in re.split(r"\n[ \t]*\n", text) if chunk.strip()]
        while chunks:
            chunk = chunks.pop(0).strip("\n")
            if item := LIST_ITEM.match(chunk):
                while chunks and (chunks[0].startswith("  ") or is_item(chunks[0].lstrip("\n"), item[1])):
                    chunk += "\n" + chunks.pop(0).strip("\n")
                yield self.list_block(chunk, "ul" if item[1] else "ol")
            elif chunk.startswith(">"):
                inner = "\n".join(re.sub(r"^> ?", "", line) for line in chunk.split("\n"))
                yield "<blockquote>\n" + "\n\n".join(self.blocks(inner)) + "\n</blockquote>"
            elif chunk.startswith("|"):
                yield self.table(chunk)
            elif (match := SLOT.fullmatch(chunk.strip())) and self.slots[int(match[1])].startswith("<pre>"):
                yield chunk.strip()
            else:
                yield f"<p>{self.inline(chunk)}</p>"

    def list_block(self, chunk: str, tag: str) -> str:
        """Render a list of one level; a line without a marker continues the item above it."""
        items: list[str] = []
        for line in chunk.split("\n"):
            if match := LIST_ITEM.match(line):
                items.append(line[match.end() :])
            else:
                items[-1] += "\n" + line
        return f"<{tag}>\n" + "".join(f"<li>{self.inline(item)}</li>\n" for item in items) + f"</{tag}>"

    def table(self, chunk: str) -> str:
        """Return a table with one row of headings, a row of dashes, and rows."""
        rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in chunk.split("\n")]
        if len(rows) < 3 or not all(re.fullmatch(r":?-+:?", cell) for cell in rows[1]):
            self.problem(0, f"a table needs a row of dashes under its headings: {chunk.split(chr(10))[0]!r}")
        if len({len(row) for row in rows}) > 1:
            self.problem(0, f"the rows of a table differ in length: {chunk.split(chr(10))[0]!r}")
        head, *body = [rows[0], *rows[2:]]
        cells = [f"<tr>{''.join(f'<th>{self.inline(cell)}</th>' for cell in head)}</tr>"]
        cells += [f"<tr>{''.join(f'<td>{self.inline(cell)}</td>' for cell in row)}</tr>" for row in body]
        return "<table>\n" + "\n".join(cells) + "\n</table>"


def is_item(chunk: str, bullet: str | None) -> bool:
    """Return True if a chunk continues a list of this kind."""
    match = LIST_ITEM.match(chunk)
    return match is not None and match[1] == bullet


def check_latex(latex: str, at: int, problem: Problem) -> None:
    """Check every formula: content, balanced braces, environments and fences, no blank line."""
    shown = squeeze(latex)[:60]
    if not latex.strip():
        problem(at, "an empty formula")
    if re.search(r"\n[ \t]*\n", latex):
        problem(at, f"a formula over a blank line, probably a $ without its partner: {shown!r}")
    if re.search(r"\n>", latex):
        problem(at, f"a formula of a quote must stand on one line: {shown!r}")
    if not is_nested(latex):
        problem(at, f"braces, or \\begin and \\end, do not match in {shown!r}")
    if len(re.findall(r"\\left(?![a-z])", latex)) != len(re.findall(r"\\right(?![a-z])", latex)):
        problem(at, f"\\left and \\right do not match in {shown!r}")


def is_nested(latex: str) -> bool:
    r"""Return True if every brace and every environment that opens is closed by its own partner.

    >>> is_nested(r"\{ \begin{cases} {x} \end{cases}"), is_nested(r"\begin{cases} { \end{cases} }")
    (True, False)
    """
    open_now: list[str] = []
    for environment, name, brace in re.findall(r"\\(begin|end)\{(.*?)\}|(\\.|[{}])", latex, re.DOTALL):
        opener = name if environment else "{"
        if environment == "begin" or brace == "{":
            open_now.append(opener)
        elif (environment == "end" or brace == "}") and (not open_now or open_now.pop() != opener):
            return False
    return not open_now

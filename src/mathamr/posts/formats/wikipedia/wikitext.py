"""Wikitext to a `Document`: prose, formulas, lists and links; of templates only those for mathematics."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

from mathamr.core.listing import names
from mathamr.posts.formats.document import Document, anchor, code, element, math, plain, text
from mathamr.posts.postkind import kind_named
from mathamr.posts.report import Report

_BRACES = re.compile(r"\{\{|\}\}|\{\||\|\}")
_OPENING = re.compile(
    r"""<!--|__[A-Z]{3,20}__  # comments and switches such as __NOTOC__
    |<(?P<tag>math|chem|ce|nowiki|pre|syntaxhighlight|source|code|ref|gallery|timeline|score|imagemap)
       \b(?P<given>[^<>]{0,1000})>""",
    re.I | re.X,
)
_KEPT = frozenset(["math", "chem", "ce", "nowiki", "pre", "syntaxhighlight", "source", "code"])
_RESERVED = re.compile("[\ue000-\ue003]")  # mark what is held out of the text, and statements
_HOLD = re.compile("\ue000(\\d+)\ue001")
_MEDIA = re.compile(r"(?:file|image|category|datei|bild|kategorie|fichier|catégorie)\s*:", re.I)
_CATEGORY = re.compile(r"(?:category|kategorie|catégorie)\s*:\s*([^|]+)", re.I)
_LINK = re.compile(
    r"\[\[([^\[\]]{1,1000})\]\]|\[(?:https?:)?//[^\s\[\]]{1,1000}(?:[ \t]++([^\[\]]{1,500}))?\]"
)
_TAG = re.compile(r"</?(?:sup|sub)\b[^<>]{0,200}>|</?[a-zA-Z][^<>]{0,500}>")
_RAISED = re.compile(r"<(/?)(sup|sub)>")
_QUOTES = re.compile(r"'{2,5}")
_TEXT_TEMPLATES = names("em nobr nowrap nobreak strong term gloss defn val lang abs pi tmath")
_STATEMENTS = frozenset(["math theorem", "math_theorem", "math proof", "math_proof", "proof"])
_ANCHORS = frozenset(["anchor", "equationref", "visible anchor", "vanchor"])


def write_wikitext(document: Document, source: str, report: Report) -> None:
    """Write the text of one page into its document."""
    _Wikitext(document, report).write(source)


class _Wikitext:
    """One page; marks stand for formulas and code while the rest of the text is read."""

    def __init__(self, document: Document, report: Report) -> None:
        self._document, self._report = document, report
        self._held: list[str] = []
        self._first_line = document.line
        self._tags = dict.fromkeys(document.tags)

    def write(self, source: str) -> None:
        lines = _RESERVED.sub("", source)
        lines = self._strip_templates("".join(self._strip_elements(lines)))
        for number, line in enumerate(lines.split("\n")):
            self._line(line.strip(), self._first_line + number)
        self._document.tags = tuple(self._tags)

    def _strip_elements(self, source: str) -> Iterator[str]:
        """Yield the text with formulas and code held out, and without comments, references and pictures.

        The end of an element that is never closed is searched only once, so that the time is linear in the text.
        """
        done, never = 0, set[str]()
        while match := _OPENING.search(source, done):
            yield source[done : match.start()]
            done = match.end()
            name = (match["tag"] or "!").lower()
            if (match["given"] and match["given"].endswith("/")) or match.group().startswith("__"):
                continue
            closing = re.compile("-->" if name == "!" else rf"</{name}\s*>", re.I)
            close = None if name in never else closing.search(source, done)
            if close is None:
                if name not in never:
                    self._report.repair("unclosed element", f"<{name}> is never closed")
                never.add(name)
                continue
            inside = source[done : close.start()]
            done = close.end()
            if name in _KEPT:
                yield self._hold(name, match["given"], inside)
            yield "\n" * inside.count("\n")
        yield source[done:]

    def _hold(self, name: str, given: str, inside: str) -> str:
        if not inside.strip():
            return ""
        words = unescape(inside)
        if name == "math":
            self._held.append(math(words, display="block" in given))
        elif name in ("chem", "ce"):
            self._held.append(code(words))
        else:
            self._held.append(code(words.strip("\n"), block=name in ("pre", "syntaxhighlight", "source")))
        return f"\ue000{len(self._held) - 1}\ue001"

    def _strip_templates(self, source: str) -> str:
        """Return the text with each template replaced by its words, inner ones first; tables become lists."""
        stack: list[tuple[str, list[str]]] = [("", [])]
        done = 0
        for match in _BRACES.finditer(source):
            stack[-1][1].append(source[done : match.start()])
            done = match.end()
            mark = match.group()
            if mark in ("{{", "{|"):
                if len(stack) < 100:
                    stack.append((mark, []))
            elif len(stack) > 1 and (mark == "}}") == (stack[-1][0] == "{{"):
                opened, parts = stack.pop()
                inside = "".join(parts)
                said = self._template(inside) if opened == "{{" else _table(inside)
                stack[-1][1].append(said + "\n" * max(0, inside.count("\n") - said.count("\n")))
        stack[-1][1].append(source[done:])
        if len(stack) > 1:
            self._report.repair("unclosed template", "a template or table is never closed")
        return "".join(part for _, parts in stack for part in parts)

    def _template(self, inside: str) -> str:
        name, *arguments = _arguments(inside)
        name = " ".join(name.replace("_", " ").lower().split())
        given = {
            key.strip().lower(): value.strip()
            for key, mark, value in (part.partition("=") for part in arguments)
            if mark
        }
        plain_arguments = [
            part.strip() for part in arguments if "=" not in part or "\ue000" in part.split("=")[0]
        ]
        first = given.get("1") or (plain_arguments[0] if plain_arguments else "")
        if name in ("math", "mvar", "var", "bigmath", "mathbb", "tmath"):
            latex = _latex(first if name != "mathbb" else f"\\mathbb{{{first}}}")
            if not latex:
                return first
            self._held.append(math(latex))
            return f"\ue000{len(self._held) - 1}\ue001"
        if name in ("numblk", "equation box 1", "block indent", "indented"):
            return next((part for part in [*plain_arguments, *given.values()] if "\ue000" in part), first)
        if name in _STATEMENTS:
            kind = kind_named(given.get("name", "") or name) or "theorem"
            said = given.get("math_statement") or given.get("statement") or given.get("proof") or first
            return f"\n\ue002{kind}|{given.get('note') or given.get('name', '')}\n{said}\n\ue003\n"
        if name in _ANCHORS and plain_arguments:
            self._document.label(plain_arguments[0])
            return plain_arguments[-1] if name != "anchor" else ""
        if name in ("main", "see also", "further"):
            return ""
        return first if name in _TEXT_TEMPLATES else ""

    def _line(self, line: str, number: int) -> None:
        if line.startswith("\ue002"):
            kind, _, note = line[1:].partition("|")
            found = kind_named(kind) or "theorem"
            said = plain(self._inline(note))
            title = said if kind_named(said) else found.capitalize() + (f" ({said})" if said else "")
            self._document.begin(found, title, number)
        elif line.startswith("\ue003"):
            self._document.end()
        elif level := _heading_level(line):
            title = plain(self._inline(line[level:-level].strip()))
            self._document.heading(level, title, number, title)
        elif not line or line.startswith(("|", "!", "----")):
            return
        else:
            depth = len(line) - len(line.lstrip("*#:;"))
            body = self._inline(line[depth:].strip())
            is_display = depth and set(line[:depth]) == {":"} and _is_formula(body)
            if is_display:
                body = (
                    body.replace('">$', '">$$', 1).replace("$</span>", "$$</span>", 1)
                    if "$$" not in body
                    else body
                )
            self._document.write(element("li" if depth and not is_display else "p", body))

    def _inline(self, line: str) -> str:
        parts: list[str] = []
        done = 0
        for match in _LINK.finditer(line):
            parts.append(self._words(line[done : match.start()]))
            done = match.end()
            if match[1] is None:
                parts.append(self._words(match[2] or ""))
                continue
            target, _, words = match[1].partition("|")
            if category := _CATEGORY.match(target):
                self._tags[category[1].strip()] = None
            elif not _MEDIA.match(target.strip()):
                parts.append(self._link(target.strip(), words))
        parts.append(self._words(line[done:]))
        return "".join(parts)

    def _link(self, target: str, words: str) -> str:
        said = self._words(words or target.lstrip(":"))
        page, _, section = target.lstrip(":").partition("#")
        page = page.replace("_", " ").strip()
        page = page[:1].upper() + page[1:]
        address = f"{page}#{section}" if section else page
        self._document.refer(address, plain(said))
        return anchor(address, said)

    def _words(self, source: str) -> str:
        """Return words without quotes of emphasis and tags, with what was held out put back.

        Character references are decoded between the marks only: an author may write a mark as one.
        """
        parts = _HOLD.split(_TAG.sub(_script, _QUOTES.sub("", source)))
        parts[::2] = [text(unescape(words)) for words in parts[::2]]
        parts[1::2] = [self._held[int(number)] for number in parts[1::2]]
        return "".join(parts)


def _script(match: re.Match[str]) -> str:
    return {"<sup": "^", "<sub": "_"}.get(match.group()[:4].lower(), "")


def _latex(words: str) -> str:
    """Return the LaTeX of what a template shows in italics: `''x''<sup>2</sup>` is `x^{2}`."""
    if "\ue000" in words or "[[" in words:
        return ""
    return unescape(_TAG.sub("", _QUOTES.sub("", _with_scripts(words)))).strip()


def _with_scripts(words: str) -> str:
    """Return words with `<sup>` and `<sub>` that are closed written as `^{…}` and `_{…}`.

    >>> _with_scripts("x<sup>a<sub>1</sub></sup> <sup>y")
    'x^{a_{1}} <sup>y'
    """
    parts: list[str] = []
    opened: list[tuple[str, int]] = []
    done = 0
    for match in _RAISED.finditer(words):
        parts += (words[done : match.start()], match.group())
        done = match.end()
        if not match[1]:
            opened.append((match[2], len(parts) - 1))
        elif opened and opened[-1][0] == match[2]:
            name, place = opened.pop()
            parts[place], parts[-1] = "^{" if name == "sup" else "_{", "}"
    return "".join((*parts, words[done:]))


def _heading_level(line: str) -> int:
    """Return how many equals signs stand on both sides of a title, 0 if the line is none.

    >>> _heading_level("== Proof =="), _heading_level("==="), _heading_level("= a")
    (2, 1, 0)
    """
    title = line.strip("=")
    if not title.strip():
        return min(6, (len(line) - 1) // 2) if line and not title else 0
    return min(6, line.index(title[0]), len(line) - 1 - line.rindex(title[-1]))


def _is_formula(html: str) -> bool:
    return (
        html.startswith('<span class="math-container">')
        and html.count("<span") == 1
        and len(plain(html[html.find("</span>") :])) < 3
    )


def _arguments(inside: str) -> list[str]:
    """Return the parts of a template between bars that are not those of a link."""
    parts, depth, begun = [], 0, 0
    for match in re.finditer(r"\[\[|\]\]|\|", inside):
        if match.group() == "|" and depth <= 0:
            parts.append(inside[begun : match.start()])
            begun = match.end()
        else:
            depth += {"[[": 1, "]]": -1}.get(match.group(), 0)
    return [*parts, inside[begun:]]


def _table(inside: str) -> str:
    """Return the cells of a table, one a line; styling is dropped."""
    cells: list[str] = []
    for line in inside.split("\n")[1:]:
        bare = line.strip()
        if bare.startswith(("|-", "|+")) or not bare.startswith(("|", "!")):
            continue
        for cell in re.split(r"\|\||!!", bare[1:]):
            words = cell.rpartition("|")[2] if "[[" not in cell else cell
            if words.strip():
                cells.append(words.strip())
    return "\n".join(["", *(f"* {cell}" for cell in cells), ""])

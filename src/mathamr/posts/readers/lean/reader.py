"""`LeanReader`: every declaration of Lean files as a post, and what modules say about themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from mathamr.posts.identifiers import stable_name, unique
from mathamr.posts.inputs import Head, shown, stem
from mathamr.posts.markup import formulas_of
from mathamr.posts.markup.declaration import statement_latex
from mathamr.posts.post import Formula, Link, Place, Post
from mathamr.posts.postkind import PostKind
from mathamr.posts.reader import Collection
from mathamr.posts.readers.lean.commands import Declaration, declarations, heading_of, learned
from mathamr.posts.readers.lean.source import Comment, LeanSource
from mathamr.posts.readers.lean.translation import Translations
from mathamr.posts.report import Report

MOST_LINKS = 20
_KINDS: dict[str, PostKind] = {
    "theorem": "theorem", "lemma": "lemma", "axiom": "axiom", "example": "example", "proof_wanted": "conjecture",
    **dict.fromkeys(["def", "abbrev", "structure", "class", "inductive", "coinductive", "irreducible_def"], "definition"),
    **dict.fromkeys(["notation", "notation3", "infix", "infixl", "infixr", "prefix", "postfix", "macro", "syntax", "elab", "simproc"], "notation"),
}  # fmt: skip
_LICENCE = re.compile(r"\A\s*(?:Copyright|\*{5,}|Released under|This file is)", re.I)
_MENTIONED = re.compile(r"`([\w'.₀-₉]{2,100})`|\[([\w'.]{2,100})\]")
_TRANSLATED = ("to_additive", "to_dual")
_SHOWN_ATTRIBUTES = frozenset(
    ["simp", "ext", "instance", "deprecated", "norm_cast", "gcongr", "fun_prop", "simps", "stacks", "aesop"]
)


class LeanReader:
    """Reads declarations, documented or not, under their full names, and `/-! … -/`, in which Lean writes Markdown."""

    description: ClassVar[str] = "Lean: declarations with their documentation"

    @classmethod
    def recognises(cls, head: Head) -> bool:
        """True if the suffix is `.lean` and the file contains no NUL byte."""
        return head.is_text(".lean")

    def read(self, collection: Collection, report: Report) -> Iterator[Post]:
        """The declarations of each file in the order of its text.

        A first pass learns which types have a counterpart by `to_additive`, since these are namespaces of names that
        other files make.
        """
        known = self._translations(collection)
        for file, path, text in collection.texts(report):
            source = LeanSource(text)
            if source.unclosed is not None:
                report.repair(
                    "unclosed comment", f"the comment that begins at offset {source.unclosed} is never closed"
                )
            posts = _posts(source, file, path, known, report)
            first = next(posts, None)
            if first is not None:
                yield first
                yield from posts
            else:
                report.ignore("nothing declared", "the file has no declaration and no documentation")

    def _translations(self, collection: Collection) -> Translations:
        known = Translations()
        for _, _, text in collection.texts(Report()):
            if any(attribute in text for attribute in _TRANSLATED):
                learned(known, LeanSource(text))
        return known


def _posts(source: LeanSource, file: Path, path: str, known: Translations, report: Report) -> Iterator[Post]:
    taken: dict[str, int] = {}
    comments = iter([comment for comment in source.comments if comment.is_module])
    comment = next(comments, None)
    line = counted = 0
    module = _module(path)
    for declared in declarations(source, known):
        while comment is not None:
            line += source.text.count("\n", counted, comment.start)
            counted = comment.start
            if line + 1 > declared.line:
                break
            yield from _module_post(comment, line + 1, file, path, taken, report)
            comment = next(comments, None)
        yield _post(declared, file, path, module, taken, report)
    while comment is not None:
        line += source.text.count("\n", counted, comment.start)
        counted = comment.start
        yield from _module_post(comment, line + 1, file, path, taken, report)
        comment = next(comments, None)


def _post(
    declared: Declaration, file: Path, path: str, module: str, taken: dict[str, int], report: Report
) -> Post:
    doc = declared.doc.strip()
    own = unique(f"{path}#{declared.name or stable_name(declared.word, declared.code)}", taken)
    context = f"variable {' '.join(declared.variables)}\n" if declared.variables else ""
    made = f"-- {_made(declared)}\n" if _made(declared) else ""
    code = f"{made}{context}{declared.code}"
    body = f"{doc}\n\n```lean\n{code}\n```\n".lstrip("\n")
    title = declared.name or f"{declared.word} {stem(Path(path))}"
    if "$" in doc or "\\" in doc or "```" in doc or "<" in doc or "    " in doc:
        formulas = formulas_of(own, title, body, "declaration", report.note)
    else:
        latex = statement_latex(code + "\n")
        formulas = (Formula(f"{own}:0", latex, True),) if latex else ()
    mentioned = (first or second for first, second in _MENTIONED.findall(doc))
    links = [name for name in dict.fromkeys(mentioned) if name not in (declared.name, declared.origin)]
    if declared.origin:
        links.insert(0, declared.origin)
    return Post(
        id=own,
        kind=_KINDS.get(declared.word, "declaration"),
        body=body,
        title=title,
        markup="declaration",
        tags=tuple(_tags(declared, module)),
        links=tuple(Link("", "mention", name, name) for name in links[:MOST_LINKS]),
        source=shown(file),
        formulas=formulas,
        place=Place(path, declared.line, declared.name, tuple(_short_names(declared))),
        aliases=declared.aliases,
    )


def _short_names(declared: Declaration) -> Iterator[str]:
    """The names by which people ask for a declaration without its whole namespace, and the names that attributes give."""
    for name in (declared.name, *declared.aliases):
        parts = name.split(".")
        yield from (".".join(parts[-size:]) for size in (1, 2) if size < len(parts))
    yield from declared.aliases


def _made(declared: Declaration) -> str:
    """How a declaration came about that no one wrote."""
    if declared.origin and declared.word not in ("alias", "field", "constructor"):
        return f"made from {declared.origin} by an attribute; the statement is translated word by word"
    return ""


def _tags(declared: Declaration, module: str) -> Iterator[str]:
    """The kind of a declaration, its attributes, its module and namespace with all that contain them."""
    yield declared.word
    if not declared.doc.strip():
        yield "undocumented"
    if _made(declared):
        yield "generated"
    if "private" in declared.modifiers:
        yield "private"
    for attribute in dict.fromkeys(attribute.split()[0] for attribute in declared.attributes):
        if attribute in _SHOWN_ATTRIBUTES and attribute != declared.word:
            yield attribute
    for mark, dotted in (("module", module), ("namespace", declared.namespace)):
        yield from (f"{mark}:{name}" for name in _prefixes(dotted))


def _module(path: str) -> str:
    """`Mathlib/Data/Nat.lean` is `Mathlib.Data.Nat`."""
    return path.removesuffix(".lean").replace("/", ".")


def _module_post(
    comment: Comment, line: int, file: Path, path: str, taken: dict[str, int], report: Report
) -> Iterator[Post]:
    """What a module says about itself or about one of its parts; a heading alone is not a post."""
    body = comment.text.strip()
    heading = heading_of(body)
    if _LICENCE.match(body) or not body.replace(heading, "").strip("# \n"):
        return
    title = heading or stem(Path(path))
    own = unique(f"{path}#{stable_name(title, body[:300])}" if taken else path, taken)
    mentioned = (first or second for first, second in _MENTIONED.findall(body))
    yield Post(
        id=own,
        kind="note",
        body=body,
        title=title,
        markup="markdown",
        tags=tuple(f"module:{name}" for name in _prefixes(_module(path))),
        links=tuple(Link("", "mention", name, name) for name in dict.fromkeys(mentioned)),
        source=shown(file),
        formulas=formulas_of(own, title, body, "markdown", report.note),
        place=Place(path, line),
    )


def _prefixes(dotted: str) -> Iterator[str]:
    parts = dotted.split(".") if dotted else []
    return (".".join(parts[:size]) for size in range(1, min(len(parts), 6) + 1))

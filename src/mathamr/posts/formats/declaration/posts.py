"""`Declaration`: what a file of a proof assistant declares, and the post that it becomes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mathamr.posts.bounds import cut_title
from mathamr.posts.formats.declaration.pieces import statement_latex
from mathamr.posts.identifiers import stable_name, unique
from mathamr.posts.inputs import display_path, stem
from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Formula, Link, Place, Post
from mathamr.posts.postkind import PostKind, kind_named
from mathamr.posts.report import Report

Language = Literal["lean", "coq"]
MOST_LINKS = 20
LONGEST_VALUE = 400
"""The longest value of a definition that is read with it."""
MOST_UNCLOSED = 8
"""Comments that are never closed and yet are read on behind; each search for an end goes through the rest of the file."""
MOST_PREFIXES = 6
_KINDS: dict[str, PostKind] = {
    "proof_wanted": "conjecture",
    **dict.fromkeys(["abbrev", "structure", "class", "inductive", "coinductive", "irreducible_def"], "definition"),
    **dict.fromkeys(["notation3", "infix", "infixl", "infixr", "prefix", "postfix", "macro", "syntax", "elab", "simproc"], "notation"),
    **dict.fromkeys(["axioms", "parameter", "hypothesis", "variable"], "axiom"),
    **dict.fromkeys(["fixpoint", "cofixpoint", "function", "record"], "definition"),
}  # fmt: skip
"""The kinds of declarations whose words do not say so themselves."""
_LICENCE = re.compile(r"\A\s*(?:Copyright|\*{5,}|Released under|This file is)", re.I)
_MENTIONED = re.compile(r"`([\w'.₀-₉]{2,100})`|\[([\w'.]{2,100})\]")
_MAY_HAVE_FORMULAS = re.compile(r"[$\\<]|```| {4}")
_HEADING = re.compile(r"^[ \t]*#{1,6}[ \t]+(\S[^\n]*)", re.M)
_SHOWN_ATTRIBUTES = frozenset(
    ["simp", "ext", "instance", "deprecated", "norm_cast", "gcongr", "fun_prop", "simps", "stacks", "aesop"]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """A declaration: its full name, what it says, and what its author says about it."""

    name: str
    word: str
    """`theorem`, `def`, `instance`, `field`, `constructor`, …"""
    code: str
    """The signature under the full name, and a short value."""
    doc: str
    line: int
    variables: tuple[str, ...] = ()
    """The section variables that it uses, as binders."""
    attributes: tuple[str, ...] = ()
    modifiers: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    """Further names that attributes give."""
    origin: str = ""
    """The declaration it was made of by an attribute, or whose alias it is."""
    heading: str = ""
    """The heading of the part of the file."""

    @property
    def namespace(self) -> str:
        """The full name without its last part."""
        return self.name.rpartition(".")[0]

    @property
    def is_deprecated(self) -> bool:
        """True if it has the attribute `deprecated`."""
        return any(attribute.startswith("deprecated") for attribute in self.attributes)


def declaration_post(
    declared: Declaration, language: Language, file: Path, path: str, taken: dict[str, int], report: Report
) -> Post:
    """Return the post of a declaration in a file; `taken` counts the ids of the file."""
    doc = declared.doc.strip()
    own = unique(f"{path}#{declared.name or stable_name(declared.word, declared.code)}", taken)
    context = f"variable {' '.join(declared.variables)}\n" if declared.variables else ""
    made = f"-- {_made(declared)}\n" if _made(declared) else ""
    code = f"{made}{context}{declared.code}"
    body = f"{doc}\n\n```{language}\n{code}\n```\n".lstrip("\n")
    title = cut_title(declared.name or f"{declared.word} {stem(Path(path))}", report)
    if _MAY_HAVE_FORMULAS.search(doc):
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
        kind=_KINDS.get(word := declared.word.lower()) or kind_named(word) or "declaration",
        body=body,
        title=title,
        markup="declaration",
        tags=tuple(_tags(declared, module_of(path))),
        links=tuple(Link("", "mention", name, name) for name in links[:MOST_LINKS]),
        source=display_path(file),
        formulas=formulas,
        place=Place(path, declared.line, declared.name, tuple(_short_names(declared))),
        aliases=declared.aliases,
    )


def _short_names(declared: Declaration) -> Iterator[str]:
    """Yield the names by which people ask for a declaration without its whole namespace, and the names that attributes give."""
    for name in (declared.name, *declared.aliases):
        parts = name.split(".")
        yield from (".".join(parts[-size:]) for size in (1, 2) if size < len(parts))
    yield from declared.aliases


def _made(declared: Declaration) -> str:
    """Return how a generated declaration came about; empty for one that somebody wrote."""
    if declared.origin and declared.word not in ("alias", "field", "constructor"):
        return f"made from {declared.origin} by an attribute; the statement is translated word by word"
    return ""


def _tags(declared: Declaration, module: str) -> Iterator[str]:
    """Yield the kind of a declaration, its attributes, its module and namespace with all that contain them."""
    yield declared.word.lower()
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


def module_of(path: str) -> str:
    """Return the module of a file: `Mathlib/Data/Nat.lean` is `Mathlib.Data.Nat`."""
    return path.rpartition(".")[0].replace("/", ".")


def documentation_post(
    text: str, line: int, file: Path, path: str, taken: dict[str, int], report: Report
) -> Iterator[Post]:
    """Yield what a module says about itself or about one of its parts; a heading alone is not a post."""
    body = text.strip()
    heading = heading_of(body)
    if _LICENCE.match(body) or not body.replace(heading, "").strip("# \n"):
        return
    title = cut_title(heading or stem(Path(path)), report)
    own = unique(f"{path}#{stable_name(title, body[:300])}" if taken else path, taken)
    mentioned = (first or second for first, second in _MENTIONED.findall(body))
    yield Post(
        id=own,
        kind="note",
        body=body,
        title=title,
        markup="markdown",
        tags=tuple(f"module:{name}" for name in _prefixes(module_of(path))),
        links=tuple(Link("", "mention", name, name) for name in dict.fromkeys(mentioned)),
        source=display_path(file),
        formulas=formulas_of(own, title, body, "markdown", report.note),
        place=Place(path, line),
    )


def report_nothing(posts: Iterator[Post], report: Report) -> Iterator[Post]:
    """Yield the posts of a file; report one that declares and documents nothing."""
    first = next(posts, None)
    if first is None:
        report.ignore("nothing declared", "the file has no declaration and no documentation")
        return
    yield first
    yield from posts


def _prefixes(dotted: str) -> Iterator[str]:
    parts = dotted.split(".") if dotted else []
    return (".".join(parts[:size]) for size in range(1, min(len(parts), MOST_PREFIXES) + 1))


def heading_of(text: str) -> str:
    """Return the first heading of a documentation comment, or nothing."""
    found = _HEADING.search(text)
    return found[1].strip() if found else ""


def declaring_module(post: Post) -> str:
    """Return the module that holds the declaration of a post."""
    found = [tag.removeprefix("module:") for tag in post.tags if tag.startswith("module:")]
    return max(found, key=len, default="")

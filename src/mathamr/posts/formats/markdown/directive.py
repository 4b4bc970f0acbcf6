"""`Directive`: what a fence or a div of MyST, Quarto or Pandoc says it holds: words, code, a formula, or nothing to read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from mathamr.core.listing import names
from mathamr.posts.postkind import PostKind, kind_named, kinds_named

QUARTO = kinds_named("thm lem cor prp cnj def exm exr sol rem alg")
"""What the labels of Quarto's theorems begin with, and what they are."""

CROSS_REFERENCES = frozenset(QUARTO) | names("fig tbl eq sec lst")
"""What the labels of all of Quarto's cross-references begin with."""

_ADMONITIONS = names("note warning caution hint comment question answer sketch tip important")
_BOXES = _ADMONITIONS | names("div admonition card dropdown attention danger error seealso box")
_CODE = names(
    """
    code code-block code-cell sourcecode literalinclude doctest testcode testoutput prompt parsed-literal program-output
    python python3 py ipython r julia bash sh shell zsh console sql ojs stan dot graphviz mermaid javascript js
    typescript ts octave matlab sage sagemath c cpp c++ csharp rust haskell hs lean lean4 coq agda maxima gap
    mathematica wolfram tikz asy plotly ruby perl scala go java kotlin swift fortran lua php yaml json toml xml html
    css latex tex bibtex diff text txt vim make cmake dockerfile embed raw eval-rst exec jupyter-execute
    """
)
_UNREAD = names(
    """
    toctree tableofcontents contents bibliography image figure-md include index genindex automodule autoclass
    autofunction autosummary iframe video youtube button-link button-ref download printindex only meta
    """
)
_PATH_ARGUMENT = names("figure image include literalinclude download iframe csv-table")

_LABEL_ARGUMENT = names("solution solution-start")
"""Directives that name an exercise by its label."""

_NAMED = re.compile(r"\{\s*([A-Za-z][\w+:.-]*)\s*[,}\s]")
_IN_BRACES = re.compile(r"\{([^{}]{0,500})\}")
_IDENTIFIER = re.compile(r"#([\w:.-]+)")
_CLASS = re.compile(r"\.([\w-]+)")
_NAME_ATTRIBUTE = re.compile(r"\b(?:name|title)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
OPTION = re.compile(r"[ \t]*+:([A-Za-z][\w-]*+):[ \t]*+((?:.*\S)?)[ \t]*+\Z")
"""A line below the opening of a directive of MyST that sets an option, such as its label."""

Content = Literal["words", "code", "math", "nothing"]


@dataclass(frozen=True, slots=True)
class Directive:
    """The opening of a block: `name` without its domain, `label`, and the words of its title with their place.

    >>> Directive.of_fence("{prf:theorem} Pythagoras", 3)
    Directive(name='theorem', content='words', label='', title='Pythagoras', at=17)
    >>> Directive.of_fence("math", 3).content, Directive.of_fence("python", 3)
    ('math', None)
    >>> Directive.of_div('{#thm-line name="Line"}', 4).statement
    'theorem'
    """

    name: str
    content: Content = "words"
    label: str = ""
    title: str = ""
    at: int = 0
    """Where the title begins in the line of the opening."""

    @property
    def statement(self) -> PostKind | None:
        """The kind of theorem-like block, or `None` for any other; a box "note" is not a theorem."""
        if self.content != "words" or self.name in _ADMONITIONS or self.ends:
            return None
        if self.name == "div":
            return QUARTO.get(self.label.partition("-")[0])
        return kind_named(self.name)

    @property
    def starts(self) -> bool:
        """Whether what it states stands behind it, up to the directive of the same name that ends it: `{exercise-start}`."""
        return self.name.endswith("-start") and kind_named(self.name) is not None

    @property
    def ends(self) -> bool:
        """Whether it only ends such a block."""
        return self.name.endswith("-end") and kind_named(self.name) is not None

    @property
    def is_box(self) -> bool:
        """Whether only its title can say what it holds: a call-out, an admonition, a div without a class."""
        return self.content == "words" and self.name in _BOXES

    @classmethod
    def of_fence(cls, info: str, at: int) -> Directive | None:
        """Return what the text after the marks of a fence says, which stands at `at` in its line; `None` for plain code."""
        bare = info.strip()
        if bare == "math":
            return cls("math", "math")
        return cls._in_braces(info, at) if bare.startswith("{") else None

    @classmethod
    def of_div(cls, info: str, at: int) -> Directive:
        """Return what the text after the colons of a div says: a directive, attributes, or a bare name."""
        if found := cls._in_braces(info, at):
            return found
        braces = _IN_BRACES.match(info.strip())
        if braces is None:
            name, _, title = info.strip().partition(" ")
            return cls(_bare(name), title=title.strip(" :"), at=at + info.find(title) if title else 0)
        inside = braces.group(1)
        label, names = _IDENTIFIER.search(inside), _CLASS.findall(inside)
        name = next((name for name in names if "-" not in name and kind_named(name)), "div")
        given = _NAME_ATTRIBUTE.search(inside)
        title = (given[1] or given[2] or "") if given else ""
        return cls(name, "words", label[1] if label else "", title, at + info.find(title) if title else 0)

    @classmethod
    def _in_braces(cls, info: str, at: int) -> Directive | None:
        named = _NAMED.match(info.lstrip())
        if named is None:
            return None
        name = _bare(named.group(1))
        close = info.find("}")
        title = info[close + 1 :].strip() if close >= 0 else ""
        content: Content = "words"
        if name == "math":
            content = "math"
        elif name in _CODE:
            content = "code"
        elif name in _UNREAD:
            content = "nothing"
        if name in _PATH_ARGUMENT or name in _LABEL_ARGUMENT or content != "words":
            title = ""
        return cls(name, content, "", title, at + info.find(title, close) if title else 0)


def _bare(name: str) -> str:
    """Return a directive's name without the domain it belongs to (`prf:theorem`), in lower case."""
    return name.rpartition(":")[2].rpartition(".")[2].lower().rstrip("*")

"""Declarations of formal libraries: how they are asked for, and what is shown of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import quote

from mathamr.core.errors import MathAMRError
from mathamr.index.archive import Archive
from mathamr.index.engines.entry import Filter
from mathamr.posts.formats.declaration.pieces import spelled
from mathamr.posts.formats.lean.brackets import signature
from mathamr.posts.formats.lean.latex import latex_of
from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Post
from mathamr.search.query import Query
from mathamr.systems.ranking import FORMULA_SEARCH, Component, Fuse, Lexical, Promote, QueryKind, Ranking

if TYPE_CHECKING:
    from mathamr.search.hits import Hit

DOCUMENTATION = "https://leanprover-community.github.io/mathlib4_docs"
DOCUMENTED = frozenset(["Mathlib", "Batteries", "Aesop", "Init", "Std", "Lean", "Qq", "ProofWidgets"])
"""The libraries that the documentation of Mathlib covers."""
VERY_SIMILAR = 0.5
"""The cosine from which a hit is shown although it shares too few words with the query to be a match; unrelated ones stay below .4."""
LONGEST_GOAL = 4_000

WEIGHTS = (1.0, 1.0, 3.0)
"""The weights of words, of one vector and of MaxSim in an index that holds declarations; chosen over all of Mathlib
(lab/notes/lean.md)."""
FORMULA_WEIGHTS = (1.0, 1.0, 0.5, 0.5)
"""The weights of words, of formulas, of one vector and of MaxSim for a statement in LaTeX or Lean (lab/notes/typed.md)."""

_FENCED = re.compile(r"```(?:lean|coq)\n(.*?)\n```", re.S)
_HYPOTHESIS = re.compile(r"^[^\s:][^:\n]*: (.+)$", re.M)
_MARKED = re.compile(r"[$\\]")
_LEAN = re.compile(
    r"[({⦃][^\W\d][\w' ₀-₉]* : |\[[A-Z]\w+ |[∀∃∑∏⋃⋂⨆⨅∫][^,]{1,80},|\bfun [^=↦]{1,80}(?:=>|↦)|⊢"
)
_LEAN_NAME = re.compile(r"\b[^\W\d_]+[a-z][A-Z]\w*|\b\w{2,}\.[^\W\d]\w+|\b[^\W\d_]{2,}_\w+")
_RELATION = re.compile(r"[=≤≥<>∈∉→↔∧∨≠⊆⊂∣≃≅≡]")
_PROSE = re.compile(
    r"\b(?:the|of|is|are|an|every|any|that|and|or|such|let|which|has|have|it|we|there|all|each|when|only|iff|a \w{4,})\b",
    re.I,
)
_COMMON = frozenset(["Type", "Sort", "Prop"])


def library_rankings(found: Mapping[str, Ranking]) -> Mapping[str, Ranking]:
    """The named rankings of posts of an index that holds declarations; `hybrid` has weights of its own."""
    if not {"hybrid", "single", "maxsim"} <= found.keys():
        return found
    lexical, single, maxsim = WEIGHTS
    by_words, by_formulas, by_vector, by_parts = FORMULA_WEIGHTS
    parts = (
        Component("lexical", Lexical(), lexical, _for_formulas(by_words)),
        Component("formula", FORMULA_SEARCH, 0.0, _for_formulas(by_formulas)),
        Component("single", found["single"], single, _for_formulas(by_vector)),
        Component("maxsim", found["maxsim"], maxsim, _for_formulas(by_parts)),
    )
    return {**found, "hybrid": Promote(Fuse(parts=parts, normalisation="z"))}


def _for_formulas(weight: float) -> tuple[tuple[QueryKind, float], ...]:
    return (("formula", weight), ("mixed", weight))


def code_of(post: Post) -> str:
    """The code of a declaration."""
    found = _FENCED.search(post.body)
    return found[1] if found else post.body


def documentation_of(post: Post) -> str:
    """What the authors of a declaration say about it."""
    return _FENCED.sub("", post.body).strip()


def module_of(post: Post) -> str:
    """The module that declares it."""
    found = [tag.removeprefix("module:") for tag in post.tags if tag.startswith("module:")]
    return max(found, key=len, default="")


def documentation_address(post: Post) -> str | None:
    """The page of Mathlib's documentation that describes a declaration; `None` of other projects.

    >>> post = Post("a", "theorem", "", "Nat.foo", "declaration", tags=("module:Mathlib", "module:Mathlib.Data.Nat"))
    >>> documentation_address(post)
    'https://leanprover-community.github.io/mathlib4_docs/Mathlib/Data/Nat.html#Nat.foo'
    """
    module = module_of(post)
    if post.markup != "declaration" or module.partition(".")[0] not in DOCUMENTED:
        return None
    return f"{DOCUMENTATION}/{quote(module.replace('.', '/'))}.html#{quote(post.title)}"


def narrowed(
    where: Filter | None = None,
    *,
    module: str = "",
    namespace: str = "",
    word: str = "",
) -> Filter:
    """A filter narrowed to a module and those below it, to a namespace, and to a kind such as `instance` or `def`."""
    where = where or Filter()
    wanted = (
        f"module:{module.removesuffix('.lean').replace('/', '.')}" if module else "",
        f"namespace:{namespace}" if namespace else "",
        word,
    )
    return replace(where, tags=(*where.tags, *filter(None, wanted)))


def is_lean(text: str) -> bool:
    """True if a typed text is a statement in Lean's notation rather than words or LaTeX.

    >>> [is_lean(text) for text in ("(x : G) : x * 1 = x", "∀ ε > 0, ∃ δ > 0, δ < ε", "IsCompact s → IsClosed s")]
    [True, True, True]
    >>> [is_lean(text) for text in ("the range of IsCompact = s", "$a = b$", "x + y = y + x", "Nat.add_comm", "add comm")]
    [False, False, False, False, False]
    """
    if _MARKED.search(text) or _PROSE.search(text):
        return False
    return bool(_LEAN.search(text) or (_LEAN_NAME.search(text) and _RELATION.search(text)))


def lean_query(query: Query) -> Query:
    """A query that was typed in Lean's notation, read as a library's own statements are."""
    if not is_lean(query.typed):
        return query
    said = " ".join(query.typed.split())
    stated = said if signature(said, 0, len(said)).colon is not None else f": {said}"
    body = f"```lean\ntheorem _ {stated}\n```\n"
    formulas = formulas_of(query.post.id, "", body, "declaration")
    return replace(
        query, post=replace(query.post, body=body, markup="declaration", formulas=formulas), formula_id=None
    )


def statement_query(statement: str) -> str:
    r"""A query for a statement in Lean or LaTeX: as it was written, with its names as words, and as a formula.

    >>> statement_query("IsCompact s → IsClosed s")
    'IsCompact s → IsClosed s is compact is closed $\\operatorname{IsCompact}(s) \\to \\operatorname{IsClosed}(s)$'
    """
    statement = " ".join(statement.split())
    if _MARKED.search(statement):
        return statement
    latex = latex_of(statement)
    return f"{spelled(statement)} ${latex}$" if latex else spelled(statement)


def goal_query(goal: str) -> str:
    """A query for a goal as Lean prints it: what is to be shown, then the hypotheses that are propositions.

    >>> goal_query("n : ℕ\\nh : 0 < n\\n⊢ n ≠ 0")
    'n ≠ 0 $n \\\\ne 0$ 0 < n'
    """
    if len(goal) > LONGEST_GOAL:
        raise MathAMRError(f"the goal has {len(goal):,} characters; at most {LONGEST_GOAL:,} are searched")
    before, turnstile, target = goal.partition("⊢")
    if not turnstile:
        before, target = "", goal
    wanted = [
        type
        for type in _HYPOTHESIS.findall(before)
        if " " in type.strip() and not _COMMON.intersection(re.findall(r"\w+", type)) and "→" not in type
    ]
    return " ".join((statement_query(target.partition("\n\n")[0]), *wanted[:5]))


def close_enough(hits: Iterable[Hit]) -> bool:
    """False if all hits are only similar to the query, and none very."""
    return any(hit.match != "similar" or hit.evidence.get("maxsim", 0.0) >= VERY_SIMILAR for hit in hits)


def post_named(archive: Archive, name: str) -> Post:
    """The post of an index with an id or a label, such as the full name of a declaration; raises an error if there is none."""
    catalogue = archive.catalogue
    for found in ([name], catalogue.labelled(name, 1)):
        if posts := catalogue.posts(found):
            return next(iter(posts.values()))
    raise MathAMRError(
        f"no post or label {name[:200]!r} in the index {archive.folder}; ids are in the output of mathamr search -v"
    )

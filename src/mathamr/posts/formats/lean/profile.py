"""The profile of Lean: its notation in queries and goals, the weights of its ranking, the pages of Mathlib's documentation."""

from __future__ import annotations

import re
from urllib.parse import quote

from mathamr.core.errors import MathAMRError
from mathamr.posts.formats.declaration.pieces import spell_names
from mathamr.posts.formats.declaration.posts import declaring_module
from mathamr.posts.formats.declaration.profile import LibraryProfile
from mathamr.posts.formats.lean.brackets import signature
from mathamr.posts.formats.lean.latex import latex_of
from mathamr.posts.post import Post

DOCUMENTATION = "https://leanprover-community.github.io/mathlib4_docs"
DOCUMENTED = frozenset(["Mathlib", "Batteries", "Aesop", "Init", "Std", "Lean", "Qq", "ProofWidgets"])
"""The libraries that the documentation of Mathlib covers."""
LONGEST_GOAL = 4_000

_HYPOTHESIS = re.compile(r"^[^\s:][^:\n]*: (.+)$", re.M)
_MARKED = re.compile(r"[$\\]")
_LEAN = re.compile(
    r"[({⦃][^\W\d][\w' ₀-₉]* : |\[[A-Z]\w+ |[∀∃∑∏⋃⋂⨆⨅∫][^,]{1,80},|\bfun [^=↦]{1,80}(?:=>|↦)|⊢"
)
_LEAN_NAME = re.compile(r"\b[^\W\d_]+[a-z][A-Z]\w*|\b\w{2,}\.[^\W\d]\w+|\b[^\W\d_]{2,}_\w+")
_RELATION = re.compile(r"[=≤≥<>∈∉→↔∧∨≠⊆⊂∣≃≅≡]")
_PROSE = re.compile(
    r"""\b(?:the|of|is|are|an|every|any|that|and|or|such|let|which|has|have|it|we|there|all|each|when|only|iff
    |a[ ]\w{4,})\b  # the article, not a variable""",
    re.I | re.X,
)
_COMMON = frozenset(["Type", "Sort", "Prop"])


def documentation_address(post: Post) -> str | None:
    """Return the page of Mathlib's documentation that describes a declaration; `None` of other projects.

    >>> post = Post("a", "theorem", "", "Nat.foo", "declaration", tags=("module:Mathlib", "module:Mathlib.Data.Nat"))
    >>> documentation_address(post)
    'https://leanprover-community.github.io/mathlib4_docs/Mathlib/Data/Nat.html#Nat.foo'
    """
    module = declaring_module(post)
    if post.markup != "declaration" or module.partition(".")[0] not in DOCUMENTED:
        return None
    return f"{DOCUMENTATION}/{quote(module.replace('.', '/'))}.html#{quote(post.title)}"


def is_lean(text: str) -> bool:
    """Return True if a typed text is a statement in Lean's notation rather than words or LaTeX.

    >>> [is_lean(text) for text in ("(x : G) : x * 1 = x", "∀ ε > 0, ∃ δ > 0, δ < ε", "IsCompact s → IsClosed s")]
    [True, True, True]
    >>> [is_lean(text) for text in ("the range of IsCompact = s", "$a = b$", "x + y = y + x", "Nat.add_comm", "add comm")]
    [False, False, False, False, False]
    """
    if _MARKED.search(text) or _PROSE.search(text):
        return False
    return bool(_LEAN.search(text) or (_LEAN_NAME.search(text) and _RELATION.search(text)))


def declare(statement: str) -> str:
    """Return the body of the post that declares a statement without a name.

    >>> declare("x = x")
    '```lean\\ntheorem _ : x = x\\n```\\n'
    """
    said = " ".join(statement.split())
    stated = said if signature(said, 0, len(said)).colon is not None else f": {said}"
    return f"```lean\ntheorem _ {stated}\n```\n"


def statement_query(statement: str) -> str:
    r"""Return a query for a statement in Lean or LaTeX: as it was written, with its names as words, and as a formula.

    >>> statement_query("IsCompact s → IsClosed s")
    'IsCompact s → IsClosed s is compact is closed $\\operatorname{IsCompact}(s) \\to \\operatorname{IsClosed}(s)$'
    """
    statement = " ".join(statement.split())
    if _MARKED.search(statement):
        return statement
    latex = latex_of(statement)
    return f"{spell_names(statement)} ${latex}$" if latex else spell_names(statement)


def goal_query(goal: str) -> str:
    """Return a query for a goal as Lean prints it: what is to be shown, then the hypotheses that are propositions.

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


LEAN = LibraryProfile(
    language="Lean",
    words=(
        "theorem",
        "lemma",
        "def",
        "abbrev",
        "structure",
        "class",
        "inductive",
        "instance",
        "axiom",
        "alias",
    ),
    weights=(1.0, 1.0, 3.0),  # chosen over all of Mathlib (lab/notes/lean.md)
    formula_weights=(1.0, 1.0, 0.5, 0.5),  # lab/notes/typed.md
    very_similar=0.5,  # unrelated declarations stay below .4
    is_statement=is_lean,
    declare=declare,
    statement_query=statement_query,
    goal_query=goal_query,
    address=documentation_address,
)

"""`highlight_code`: the code of a declaration as HTML whose keywords, names, comments and signs a style sheet can colour."""

from __future__ import annotations

import re
from html import escape

_TOKEN = re.compile(
    r"(?P<comment>--[^\n]*|/-.*?(?:-/|\Z)|\(\*.*?(?:\*\)|\Z))"
    r"|(?P<string>\"(?:[^\"\\]|\\.?)*+(?:\"|\Z))"
    r"|(?P<keyword>\b(?:theorem|lemma|def|abbrev|instance|structure|class|inductive|axiom|opaque|alias|irreducible_def|where"
    r"|extends|deriving|variable|fun|let|have|if|then|else|match|with|by|forall|exists|notation|infixl|infixr|infix|prefix"
    r"|postfix|macro|syntax|elab|Theorem|Lemma|Definition|Fixpoint|Inductive|Record|Class|Instance|Axiom|Corollary"
    r"|Proposition)(?![\w'.]))"
    r"|(?P<sort>\b(?:Type|Sort|Prop|Set)\b\*?|[ℕℤℚℝℂ])"
    r"|(?P<number>\b\d+(?:\.\d+)?\b)"
    r"|(?P<name>[^\W\d][\w'!?.]*)"
    r"|(?P<sign>[∀∃λ∑∏∫→↔↦∧∨¬≤≥≠∈∉⊆∪∩⋃⋂:=]+)",
    re.S,
)
_DECLARING = frozenset(
    ["theorem", "lemma", "def", "abbrev", "instance", "structure", "class", "inductive", "axiom", "alias"]
)


def highlight_code(code: str) -> str:
    """Return the code as HTML; the name that it declares is marked.

    >>> highlight_code("def a := 1")
    '<span class="lean-keyword">def</span> <span class="lean-declared">a</span> <span class="lean-sign">:=</span> <span class="lean-number">1</span>'
    """
    parts: list[str] = []
    done, declares = 0, False
    for match in _TOKEN.finditer(code):
        kind = match.lastgroup or "name"
        parts.append(escape(code[done : match.start()]))
        if kind == "name":
            parts.append(_span("declared", match[0]) if declares else escape(match[0]))
        else:
            parts.append(_span(kind, match[0]))
        declares = kind == "keyword" and match[0].lower() in _DECLARING
        done = match.end()
    parts.append(escape(code[done:]))
    return "".join(parts)


def _span(kind: str, text: str) -> str:
    return f'<span class="lean-{kind}">{escape(text)}</span>'

r"""Declarations of formal libraries: documentation in Markdown, then a block of code whose statement is a formula too.

    Addition of natural numbers commutes.

    ```lean
    theorem Nat.add_comm (a b : ℕ) : a + b = b + a
    ```

The formula `a + b = b + a` follows the code, so that a statement is drawn and found like any other formula.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from mathamr.posts.formats.declaration.namewords import name_words
from mathamr.posts.formats.lean.brackets import signature
from mathamr.posts.formats.lean.latex import latex_of
from mathamr.posts.formats.markdown import pieces as markdown
from mathamr.posts.markup.piece import Note, Piece

_DECLARED = re.compile(
    r"""^(?P<word>theorem|lemma|def|abbrev|irreducible_def|axiom|proof_wanted  # Lean
       |Theorem|Lemma|Corollary|Proposition|Fact|Remark|Property|Definition|Axiom|Hypothesis|Example)?  # Coq
    [ \t]*(?P<name>[\w'!?.«»]+)
    (?:\.\{[^}\n]*\})?  # universes""",
    re.M | re.X,
)
_DEFINITIONS = frozenset(["def", "abbrev", "irreducible_def", "Definition"])
_COQ_SIGNS = {
    "forall": "∀", "exists": "∃", "<->": "↔", "->": "→", "/\\": "∧", "\\/": "∨", "<=": "≤", ">=": "≥", "<>": "≠", "~": "¬",
}  # fmt: skip
_COQ_SIGN = re.compile(r"\bforall\b|\bexists\b|<->|->|/\\|\\/|<=|>=|<>|~")
_CONTEXT = re.compile(r"\A(?:(?:variable|--)[^\n]*\n)*+")
_CODE_ALONE = re.compile(r"```(?:lean|coq)\n((?=\S)(?:(?![`~]{3})[^\r])+\n)```\n")
_PART = r"[\w'!?«»₀-₉]+"
_NAMED = re.compile(
    rf"""\A(?:(?:theorem|lemma|(\w+))[ \t]+{_PART}(?:\.{_PART})*  # a word and a name
       |{_PART}(?:\.{_PART})+)  # a field, by its full name alone
    (?:\.\{{[^}}\n]*\}})?(?![\w'])  # universes""",
    re.X,
)
_TYPES = re.compile(r"[({⦃][^(){}\[\]⦃⦄:]*: *(?:Type|Sort)\b[^(){}\[\]⦃⦄]*[)}⦄]")
_WORD = re.compile(r"[^\W\d_][\w']*")
_MIXED = re.compile(r"(?<=.)[a-z][A-Z]")


def pieces(text: str, note: Note) -> Iterator[Piece]:
    """Yield the pieces of the documentation and of the code; a block of code with a statement is followed by its formula."""
    formula: Piece | None = None
    in_code = False
    for piece in _code_alone(text) or markdown.pieces(text, note):
        yield piece
        if piece.kind == "code" and in_code:
            latex = statement_latex(piece.text)
            formula = Piece("formula", piece.start, piece.end, latex, True) if latex else None
        elif piece.kind == "break":
            in_code = piece.text == "code" and not in_code
            if formula is not None:
                yield formula
                yield Piece("break", formula.end, formula.end, "paragraph")
                formula = None


def _code_alone(text: str) -> tuple[Piece, ...]:
    """Return the pieces of a text that is nothing but a block of code, as Markdown reads it, in a fraction of the time."""
    found = _CODE_ALONE.fullmatch(text)
    if found is None:
        return ()
    start, end = found.span(1)
    return Piece("break", 0, 0, "code"), Piece("code", start, end, found[1]), Piece("break", end, end, "code")


@lru_cache(maxsize=4_096)
def statement_latex(code: str) -> str:
    r"""Return what a declaration claims, or the value of a definition, as LaTeX: an empty string if there is none,
    if it is a single word, or if it cannot be read.

    >>> statement_latex("variable {n : ℕ}\ntheorem foo (h : 0 < n) : n ^ 2 ≠ 0"), statement_latex("structure A where\n  b : ℕ")
    ('n^{2} \\ne 0', '')
    >>> statement_latex("Lemma foo : forall n : nat, n <= n * n")
    '\\forall n \\in \\operatorname{nat}, n \\le n n'
    """
    context = _CONTEXT.match(code)
    start = context.end() if context else 0
    declared = _DECLARED.match(code, start)
    if declared is None or (declared["word"] is None and ":" not in code):
        return ""
    if declared["word"] is None and declared["name"] in (
        "instance",
        "structure",
        "class",
        "inductive",
        "alias",
    ):
        return ""
    if declared["word"] is not None and declared["word"][0].isupper():
        code = _COQ_SIGN.sub(lambda match: _COQ_SIGNS[match[0]], code)
    said = signature(code, declared.end(), len(code))
    if declared["word"] in _DEFINITIONS:
        term = code[said.end + 2 :] if said.ending == ":=" else ""
    else:
        term = code[said.colon : said.end] if said.colon else ""
    return latex_of(term) if " " in term.strip() else ""


def spell_names(code: str) -> str:
    """Return code followed by the words of its names in mixed case, so that "compact" finds `IsCompact s`.

    >>> spell_names("IsCompact s → IsClosed s")
    'IsCompact s → IsClosed s is compact is closed'
    """
    names = dict.fromkeys(word for word in _WORD.findall(code) if _MIXED.search(word))
    return " ".join((code, *map(name_words, names)))


def statement_text(code: str) -> str:
    r"""Return what a declaration says, for an encoder of text: without its name, which is read as words, without binders of types,
    and with the variables of its section last, since the statement says more about it.

    >>> statement_text("variable {α : Type*} [Group α] {a : α}\ntheorem A.b.{u} {β : Type u} : a = a")
    ': a = a [Group α] {a : α}'
    >>> statement_text("A.field : 0 ≤ 1"), statement_text("instance : Group ℤ")
    (': 0 ≤ 1', 'instance : Group ℤ')
    >>> statement_text("def A.double (n : ℕ) : ℕ := 2 * n")
    'def (n : ℕ) : ℕ := 2 * n'
    """
    context = _CONTEXT.match(code)
    end = context.end() if context else 0
    before = [
        line.removeprefix("variable") for line in code[:end].splitlines() if line.startswith("variable")
    ]
    said = _TYPES.sub("", " ".join((_NAMED.sub(r"\1", code[end:], count=1), *before)))
    return " ".join(said.split())

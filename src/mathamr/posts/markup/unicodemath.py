"""Formulas that stand in plain text in Unicode, without dollars: `π₁(S¹) ≅ ℤ`, `x² ≤ 1`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mathamr.core.listing import names
from mathamr.formulas.latex.symbols import FUNCTIONS
from mathamr.posts.markup.piece import Piece

_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁱⁿᵃᵇᶜᵈᵉᵏᵐᵖᵗᵀ′″"
_LOWERED = "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ"
_LETTER = "A-Za-zÀ-ÖØ-öø-ɏͰ-Ͽ\u0400-\u04ff"
_FUNCTIONS = rf"(?:{'|'.join(FUNCTIONS - names('Pr arg cot hom lg sec'))})(?![{_LETTER}])"
"""Functions whose names are no words of English, of abbreviations or of other languages."""
_TOKEN = re.compile(
    rf"""(?P<strong>[ℂℍℕℙℚℝℤℓℵℏ∞∅℘\U0001d400-\U0001d7ff])
    |(?<![{_LETTER}_])(?P<greek>[α-ωϑϕϵΓΔΘΛΞΠΣΦΨΩ])(?![{_LETTER}_]|-[{_LETTER}]{{3}})
    |(?<![{_LETTER}_'’])(?P<letter>[A-Za-z])(?![{_LETTER}_]|['’][{_LETTER}])
    |(?P<number>\d+(?:\.\d+)?)
    |(?<![{_LETTER}_])(?P<function>{_FUNCTIONS})
    |(?P<script>[{_RAISED}{_LOWERED}]+)
    |(?P<big>[∀∃∄∂∇∏∐∑√∛∫∬∭∮¬⋂⋃⨁⨂])
    |(?P<sign>[∈∉∋−±∓∘∝∣∤∥∧∨∩∪∼≃≅≈≠≡≢≤≥≪≫≺⊂⊃⊄⊆⊇⊊⊕⊗⊥⊢⊨⋅⋊∖→←↔⇒⇔↦↪↠⟶⟹⟺×÷≔])
    |(?P<open>[(\[{{⟨⌊⌈‖|])|(?P<close>[)\]}}⟩⌋⌉])
    |(?P<weak>[-+*/=<>:^!·])
    |(?P<comma>[,;])""",
    re.X,
)
_OPERANDS = frozenset(["strong", "greek", "letter", "number", "script", "close", "function"])
_BRACKETS = {")": "(", "]": "[", "}": "{", "⟩": "⟨", "⌋": "⌊", "⌉": "⌈"}
_FUNCTION = re.compile(rf"(?<![{_LETTER}\\]){_FUNCTIONS}|[{{}}]")
_STRONG = re.compile(rf"[^\x00-\xbf\u2010-\u2027À-ÿ]|[{_RAISED}]")

_Token = tuple[str, int, int, str]
"""Kind, beginning, end and text."""


def mark_unicode_formulas(pieces: Iterator[Piece]) -> Iterator[Piece]:
    """Yield the pieces with the formulas of their text as pieces of their own.

    >>> read = Piece("text", 0, 24, "that x² ≤ ℓ for a ∈ ℝ, e")
    >>> [piece.text for piece in mark_unicode_formulas(iter([read]))]
    ['that ', 'x² ≤ ℓ', ' for ', 'a ∈ ℝ', ', e']
    """
    for piece in pieces:
        if (
            piece.kind != "text"
            or len(piece.text) != piece.end - piece.start
            or not _STRONG.search(piece.text)
        ):
            yield piece
            continue
        done = 0
        for start, end in unicode_formulas(piece.text):
            if start > done:
                yield Piece("text", piece.start + done, piece.start + start, piece.text[done:start])
            latex = _FUNCTION.sub(
                lambda match: f"\\{match.group()}" + " " * (match.end() - match.start() > 1),
                piece.text[start:end],
            )
            yield Piece("formula", piece.start + start, piece.start + end, latex)
            done = end
        if done < len(piece.text):
            yield Piece("text", piece.start + done, piece.end, piece.text[done:])


def unicode_formulas(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the formulas of a text begin and end: runs of letters, numbers and signs with Unicode among them."""
    run: list[_Token] = []
    depth = 0
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or ""
        token = (kind, match.start(), match.end(), match.group())
        gap = text[run[-1][2] : token[1]] if run else ""
        if run and (gap not in ("", " ") or _breaks(run, token, gap, depth)):
            yield from _formula(run)
            run, depth = [], 0
        if not run and kind == "script":
            continue
        run.append(token)
        depth += (kind == "open" and token[3] != "|") - (kind == "close")
    yield from _formula(run)


def _breaks(run: list[_Token], token: _Token, gap: str, depth: int) -> bool:
    """Return True if a token does not continue the formula before it."""
    kind, before = token[0], run[-1]
    if kind == "comma" or before[0] == "comma":
        return depth <= 0
    if kind == "script":
        return bool(gap) or before[0] not in (*_OPERANDS, "big")
    is_word = before[3] in ("a", "A", "I") and before[0] == "letter"
    return (
        bool(gap) and is_word and kind in ("letter", "strong", "greek", "function", "big", "number", "open")
    )


def _formula(run: list[_Token]) -> Iterator[tuple[int, int]]:
    """Yield the span of a run without loose signs and brackets at its ends, if it is a formula."""
    first, last = 0, len(run)
    while first < last and (
        run[first][0] in ("close", "comma", "script", "sign") or run[first][3] in "*/=<>:^!·+"
    ):
        first += 1
    while first < last and (
        run[last - 1][0] in ("open", "comma", "sign", "big") or run[last - 1][3] in "-+*/=<>:^·"
    ):
        last -= 1
    run = run[first:last]
    if len(run) > 2 and run[-2][3] == ":" and run[-1][3] in ("a", "A", "I"):
        run = run[:-2]
    run = _balance(run)
    if run and any(kind in _OPERANDS for kind, *_ in run) and _is_strong(run):
        yield run[0][1], run[-1][2]


def _is_strong(run: list[_Token]) -> bool:
    if len(run) == 2 and run[0][0] == "number" and run[1][0] == "script":
        return run[1][3] not in ("′", "″")
    return any(kind in ("strong", "greek", "big", "sign", "script") for kind, *_ in run)


def _balance(run: list[_Token]) -> list[_Token]:
    """Return a run whose brackets match: the run itself, its part before the first bracket that does not,
    or after it if the run begins with that; empty for more than one such bracket.
    """
    opened: list[int] = []
    for place, (kind, _, _, text) in enumerate(run):
        if kind == "open" and text not in "|‖":
            opened.append(place)
        elif kind == "close":
            if not opened or run[opened[-1]][3] != _BRACKETS[text]:
                return [] if opened else run[:place]
            opened.pop()
    if not opened:
        return run
    rest = run[opened[0] + 1 :] if opened[0] == 0 else run[: opened[0]]
    return rest if len(opened) == 1 else []

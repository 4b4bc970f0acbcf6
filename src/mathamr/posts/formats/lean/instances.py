"""Names of anonymous instances: `instance : Group (Perm α)` is `instGroupPerm`.

Lean makes the name of the instance's type after elaborating it: the class, then the constants of its explicit arguments,
without those that the namespace names already. This module makes it of the type as it is written, so that a name may differ
from Lean's where notation hides constants.
"""

from __future__ import annotations

import re
from collections.abc import Container

LONGEST_TYPE = 300
_NOTATION = {
    "ℕ": "Nat", "ℤ": "Int", "ℚ": "Rat", "ℝ": "Real", "ℂ": "Complex", "ℝ≥0∞": "ENNReal", "ℝ≥0": "NNReal",
}  # fmt: skip
_INFIX = (
    ("→", "Forall"), ("↔", "Iff"), ("⊕", "Sum"), ("×", "Prod"), ("≃", "Equiv"), ("=", "Eq"), ("≤", "LE"),
    ("<", "LT"),
)  # fmt: skip
_TOKEN = re.compile(r"ℝ≥0∞|ℝ≥0|[ℕℤℚℝℂ]|[^\W\d][\w'!?.]*|[(\[{⟨)\]}⟩→↔⊕×≃=≤<]")
_LOCAL = re.compile(r"(?:[a-zA-Zα-ωΑ-Ω𝕜𝓕]|[a-z]\w?)[₀-₉'\d]*\Z")


def instance_name(type: str, namespace: str, bound: Container[str]) -> str:
    """Return the name of an instance of a type in a namespace; `bound` are the names of variables.

    >>> instance_name("Group (Perm α)", "", {"α"}), instance_name("Denumerable ℚ", "Rat", ())
    ('instGroupPerm', 'instDenumerable')
    >>> instance_name("Inhabited (α × ℕ)", "", ())
    'instInhabitedProdNat'
    """
    seen = {part for part in namespace.split(".") if part}
    found: list[str] = ["inst"]
    tokens = [_NOTATION.get(token, token) for token in _TOKEN.findall(type[:LONGEST_TYPE])]
    _add(tokens, bound, seen, found, 0)
    return "".join(found)


def _add(tokens: list[str], bound: Container[str], seen: set[str], found: list[str], depth: int) -> None:
    for sign, word in _INFIX:
        if depth < 20 and (places := _top_level(tokens, sign)):
            if word not in seen:
                seen.add(word)
                found.append(word)
            start = 0
            for place in (*places, len(tokens)):
                _add(tokens[start:place], bound, seen, found, depth + 1)
                start = place + 1
            return
    place = 0
    while place < len(tokens):
        token = tokens[place]
        if token in "([{⟨":
            end = _group_end(tokens, place)
            if depth < 20:
                _add(tokens[place + 1 : end], bound, seen, found, depth + 1)
            place = end
        elif token[0].isalpha() and token not in bound and not _LOCAL.match(token):
            word = token.rpartition(".")[2]
            word = word[:1].upper() + word[1:]
            if word not in seen and token.partition(".")[0] not in bound:
                seen.add(word)
                found.append(word)
        place += 1


def _top_level(tokens: list[str], sign: str) -> list[int]:
    depth, found = 0, []
    for place, token in enumerate(tokens):
        if token in "([{⟨":
            depth += 1
        elif token in ")]}⟩":
            depth -= 1
        elif token == sign and not depth:
            found.append(place)
    return found


def _group_end(tokens: list[str], start: int) -> int:
    depth = 0
    for place in range(start, len(tokens)):
        depth += (tokens[place] in "([{⟨") - (tokens[place] in ")]}⟩")
        if not depth:
            return place
    return len(tokens)

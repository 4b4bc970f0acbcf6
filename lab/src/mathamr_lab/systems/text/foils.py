"""Foils: a statement with one small change that changes what it says.

A model that learns to ignore letters must not learn to ignore signs: a foil is nearly the same text, and means something else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Post

_PAIRS: tuple[tuple[str, str, str], ...] = (
    ("order", r"\leq", r"\geq"),
    ("order", r"\le", r"\ge"),
    ("order", "<", ">"),
    ("inclusion", r"\subset", r"\supset"),
    ("inclusion", r"\subseteq", r"\supseteq"),
    ("quantifier", r"\forall", r"\exists"),
    ("quantifier", "for every", "for some"),
    ("quantifier", "for all", "for some"),
    ("quantifier", "for any", "for no"),
    ("map", "injective", "surjective"),
    ("map", "monomorphism", "epimorphism"),
    ("map", "injection", "surjection"),
    ("extremum", r"\max", r"\min"),
    ("extremum", r"\sup", r"\inf"),
    ("extremum", "maximal", "minimal"),
    ("set", r"\cup", r"\cap"),
    ("set", "union", "intersection"),
    ("limit", r"\lim", r"\colim"),
    ("limit", "limits", "colimits"),
    ("limit", "kernel", "cokernel"),
    ("opposite", "finite", "infinite"),
    ("opposite", "open", "closed"),
    ("opposite", "even", "odd"),
    ("opposite", "left", "right"),
    ("opposite", "increasing", "decreasing"),
    ("opposite", "positive", "negative"),
    ("opposite", "projective", "injective"),
    ("opposite", "separated", "quasi-compact"),
    ("opposite", "flat", "proper"),
)
_SIGN = re.compile(r"(?<=[a-zA-Z0-9})])\s*([+-])\s*(?=[a-zA-Z0-9\\({])")
_INDEX = re.compile(r"_\{?([0-9])\}?")
_IF = re.compile(r"\bIf (?P<a>[^.;:]{10,300}?), then (?P<b>[^.;:]{10,300}?)(?=\.(?:\s|$))")
_MATH = re.compile(r"\$[^$]+\$")


@dataclass(frozen=True, slots=True)
class Foil:
    """A statement that was changed, and what kind of change it is."""

    post: Post
    kind: str


def foils_of(post: Post) -> list[Foil]:
    """Return one foil of each kind that can be made of a post, in the order of the kinds."""
    found: dict[str, str] = {}
    for kind, one, other in _PAIRS:
        for before, after in ((one, other), (other, one)):
            pattern = re.escape(before) + (r"(?![a-zA-Z])" if before[0] != "<" and before[0] != ">" else "")
            if before[0].isalpha():
                pattern = rf"(?<![a-zA-Z-]){pattern}"
            match = re.search(pattern, post.body)
            if before in "<>" and post.markup == "html":
                continue
            if match is not None:
                found.setdefault(kind, post.body[: match.start()] + after + post.body[match.end() :])
    for formula in _MATH.finditer(post.body):
        if sign := _SIGN.search(formula.group()):
            at = formula.start() + sign.start(1)
            found.setdefault("sign", post.body[:at] + {"+": "-", "-": "+"}[sign[1]] + post.body[at + 1 :])
        if index := _INDEX.search(formula.group()):
            at = formula.start() + index.start(1)
            found.setdefault("index", f"{post.body[:at]}{(int(index[1]) + 1) % 10}{post.body[at + 1 :]}")
    if swap := _IF.search(post.body):
        changed = f"If {swap['b']}, then {swap['a']}"
        found["direction"] = post.body[: swap.start()] + changed + post.body[swap.end() :]
    return [Foil(_with(post, body), kind) for kind, body in sorted(found.items())]


def _with(post: Post, body: str) -> Post:
    identifier = f"{post.id}#foil"
    return replace(
        post, id=identifier, body=body, formulas=formulas_of(identifier, post.title, body, post.markup)
    )

"""LaTeX as other programs read it: KaTeX, Temml and MathJax (npm), latex2mathml (pip).

Their test suites are not in their packages, so the formulas are generated: every command and environment that their sources
name, in the spellings that the peer itself accepts. For all of them: how many we read, how many we get silently wrong
(no repair, but other characters than any peer shows), how many have the structure that a peer gives them. The formulas of the
bundled sample follow, as real ones. MATHAMR_PEERS names the folder in which npm installed the packages.
"""

from __future__ import annotations

import csv
import os
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from html import unescape
from importlib.resources import files

from benchmarks._peers import Peer, peers
from mathamr.core.errors import MathAMRError
from mathamr.formulas.label import value
from mathamr.formulas.mathml.markup import slt_from_mathml
from mathamr.formulas.parse import FormulaError, ParsedFormula, parse
from mathamr.formulas.tree import Slt
from mathamr.formulas.visualkey import visual_key

_SPELLINGS = ("\\{0}", "a\\{0} b", "\\{0}{{a}}", "\\{0}{{a}}{{b}}", "\\{0}{{a}}{{b}}{{c}}", "\\{0}[a]{{b}}", "{{a\\{0} b}}", "\\{0}{{1em}}a",
         "\\{0}{{red}}{{a}}", "\\left\\{0} a\\right.", "\\{0}*{{a}}", "\\text{{a\\{0}{{b}}c}}", "\\frac{{1}}{{\\{0}{{a}}}}_{{n}}")  # fmt: skip
"""Spellings of a command; those are used that the peer which names it accepts."""
_BODIES = ("a", "a&b\\\\c&d", "{{cc}}a&b\\\\c&d", "{{2}}a&b\\\\c&d", "[t]a&b\\\\c&d")
_SAME = str.maketrans({"−": "-", "∣": "|", "∥": "‖", "·": "⋅", "‾": "¯", "―": "¯", "ˉ": "¯", "ˆ": "^", "˜": "~", "∼": "~", "⏐": "|",
                       "∘": "◦", "˚": "°", "\u0338": None, "⃗": "→", "∶": ":", "〈": "⟨", "〉": "⟩", "ϵ": "ε", "ϕ": "φ", "ˊ": "\u0301",
                       "ˋ": "`", "•": "∙", "°": "\u030a", "◦": "\u030a", "⟺": "⇔", "∗": "*", "∷": "::", "≔": ":=", "≕": "=:", "∹": "-:", "⩴": "::=", "ˇ": "\u030c", "˘": "\u0306", "´": "\u0301", "⃛": "˙˙˙", "⃜": "˙˙˙˙", "¨": "\u0308", "˙": "\u0307", "⁡": None, "\u2062": None, "\u2063": None, "\u2064": None})  # fmt: skip
"""Characters that converters use interchangeably for the same sign."""
_SIZE = re.compile(r"[0-9]+x[0-9]+$")
_NOTATIONS = frozenset(["box", "roundedbox", "horizontalstrike", "updiagonalstrike", "downdiagonalstrike", "updiagonalarrow",
                        "northeastarrow", "verticalstrike", "bottom", "top", "left", "right", "circle", "longdiv", "actuarial",
                        "radical", "phasorangle"])  # fmt: skip


def run() -> None:
    found = peers()
    suites: dict[str, list[str]] = {}
    for peer in found:
        suites[f"commands of {peer.name}"] = suite(peer)
    lines = (files("mathamr.sample") / "formulas.tsv").read_text(encoding="utf-8").splitlines()
    rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    suites["formulas of the sample"] = sorted({row["formula"] for row in rows})
    for name, formulas in suites.items():
        _measured(name, formulas, found)


def suite(peer: Peer) -> list[str]:
    """Return what the peer reads of all spellings of the commands it names."""
    written = [spelling.format(name) for name in peer.commands() for spelling in _SPELLINGS]
    written += [
        rf"\begin{{{name}}}{body.format()}\end{{{name}}}" for name in peer.environments() for body in _BODIES
    ]
    return [latex for latex, mathml in zip(written, peer.read(written), strict=True) if mathml is not None]


def _measured(name: str, formulas: Sequence[str], found: Sequence[Peer]) -> None:
    shown: defaultdict[str, dict[str, Slt]] = defaultdict(dict)
    refused: Counter[str] = Counter()
    for peer in found:
        for latex, mathml in zip(formulas, peer.read(formulas), strict=True):
            tree = None if mathml is None else _tree(mathml)
            if tree is None:
                refused[peer.name] += 1
            else:
                shown[latex][peer.name] = tree
    outcomes: Counter[str] = Counter()
    same: Counter[str] = Counter()
    wrong: list[str] = []
    for latex in formulas:
        formula = _parsed(latex)
        outcome = "error" if formula is None else "unknown" if _has_unknown(formula) else "read"
        outcomes[outcome] += 1
        if formula is None or outcome != "read":
            continue
        trees = shown[latex]
        key = visual_key(formula.slt)
        alike = {peer for peer, tree in trees.items() if visual_key(tree) == key}
        same.update(alike)
        outcomes["same structure as a peer"] += bool(alike)
        outcomes["comparable"] += bool(trees)
        if trees and not formula.repairs and not _shows_the_same(formula.slt, trees):
            wrong.append(latex)
    total = len(formulas)
    print(
        f"{name}: {total} formulas, {outcomes['read'] / total:.1%} read, {outcomes['unknown']} with an unknown command, "
        f"{outcomes['error']} with an error; {len(wrong)} silently wrong ({len(wrong) / total:.1%}); structure of at least one peer "
        f"{outcomes['same structure as a peer'] / max(1, outcomes['comparable']):.1%}"
    )
    for peer in found:
        read = total - refused[peer.name]
        print(
            f"{name}: {peer.name} reads {read / total:.1%}; the same structure {same[peer.name] / max(1, read):.1%}"
        )
    if os.environ.get("MATHAMR_PEERS_SHOW"):
        for latex in wrong:
            print(f"  {latex!r}: ours {_characters(parse(latex).slt)!r}")
            for peer_name, tree in shown[latex].items():
                print(f"      {peer_name} {_characters(tree)!r}")


def _parsed(latex: str) -> ParsedFormula | None:
    try:
        return parse(latex)
    except FormulaError:
        return None


def _has_unknown(formula: ParsedFormula) -> bool:
    return any(repair.message.startswith("unknown") for repair in formula.repairs)


def _tree(mathml: str) -> Slt | None:
    try:
        return slt_from_mathml(mathml)
    except MathAMRError:
        return None


def _shows_the_same(ours: Slt, trees: Mapping[str, Slt]) -> bool:
    """Return True if some peer shows the same characters."""
    return _characters(ours) in [_characters(tree) for tree in trees.values()]


def _characters(tree: Slt) -> str:
    """Return the visible characters, sorted, without their arrangement."""
    text = "".join(_shown(label) for label in tree.labels).translate(_SAME)
    return "".join(sorted("".join(unicodedata.normalize("NFKD", text).split()).translate(_SAME)))


def _shown(label: str) -> str:
    """Return the characters of one node: the fences of a matrix, none for a fraction, a root or a box."""
    if label.startswith("M!"):
        return unescape(_SIZE.sub("", label[2:]))
    if label in ("O!divide", "O!root") or any(word in _NOTATIONS for word in label.split()):
        return ""
    return unescape(value(label))

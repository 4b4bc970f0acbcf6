"""Names that `to_additive` and `to_dual` give: the second declaration that Mathlib makes of a first.

The steps and the word lists are those that Mathlib documents for its attribute (Apache-2.0): a name is cut at capitals
and underscores, each word is replaced, and a few abbreviations are set right.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from mathamr.core.listing import names

_PART = re.compile(r"CoeHTCT|CoeTC|CoeT|(?:LE|LT|GE|GT|WF)(?=[A-Z])|_|[A-Z]*[^A-Z_]+|[A-Z]+")
_CAPITALS = re.compile(r"^[A-Z]+")
_ADDITIVE_WORDS = {
    "one": "Zero", "mul": "Add", "smul": "VAdd", "inv": "Neg", "div": "Sub", "prod": "Sum", "hmul": "HAdd",
    "hsmul": "HVAdd", "hdiv": "HSub", "hpow": "HSMul", "finprod": "Finsum", "tprod": "TSum", "pow": "NSMul",
    "npow": "NSMul", "zpow": "ZSMul", "mabs": "Abs", "monoid": "Add Monoid", "submonoid": "Add Submonoid",
    "group": "Add Group", "subgroup": "Add Subgroup", "semigroup": "Add Semigroup", "magma": "Add Magma",
    "haar": "Add Haar", "prehaar": "Add Prehaar", "unit": "Add Unit", "units": "Add Units", "cyclic": "Add Cyclic",
    "semigrp": "Add Semigrp", "grp": "Add Grp", "commute": "Add Commute", "semiconj": "Add Semiconj",
    "rootable": "Divisible", "zpowers": "ZMultiples", "powers": "Multiples", "multipliable": "Summable",
    "gpfree": "APFree", "quantale": "Add Quantale", "square": "Even", "mconv": "Conv",
    "irreducible": "Add Irreducible", "mlconvolution": "LConvolution",
}  # fmt: skip
_ADDITIVE_FIXES = {
    "isCancelAdd": "IsCancelAdd", "isLeftCancelAdd": "IsLeftCancelAdd", "isRightCancelAdd": "IsRightCancelAdd",
    "cancelAdd": "AddCancel", "leftCancelAdd": "AddLeftCancel", "rightCancelAdd": "AddRightCancel",
    "cancelCommAdd": "AddCancelComm", "commAdd": "AddComm", "zero_le": "Nonneg", "zeroLE": "Nonneg",
    "zero_lt": "Pos", "zeroLT": "Pos", "lezero": "Nonpos", "le_zero": "Nonpos", "ltzero": "Neg", "lt_zero": "Neg",
    "addSingle": "Single", "addSupport": "Support", "addTSupport": "TSupport", "addIndicator": "Indicator",
    "isEven": "Even", "isRegular": "IsAddRegular", "isLeftRegular": "IsAddLeftRegular",
    "isRightRegular": "IsAddRightRegular", "hasFundamentalDomain": "HasAddFundamentalDomain",
    "quotientMeasure": "AddQuotientMeasure", "negFun": "InvFun", "uniqueProds": "UniqueSums",
    "orderOf": "AddOrderOf", "zeroLePart": "PosPart", "leZeroPart": "NegPart", "isScalarTower": "VAddAssocClass",
    "isOfFinOrder": "IsOfFinAddOrder", "isCentralScalar": "IsCentralVAdd", "function_addSemiconj": "Function_semiconj",
    "function_addCommute": "Function_commute", "divisionAddMonoid": "SubtractionMonoid",
    "subNegZeroAddMonoid": "SubNegZeroMonoid", "modularCharacter": "AddModularCharacter",
    "isQuotientCoveringMap": "IsAddQuotientCoveringMap", "addExact": "exact",
}  # fmt: skip
_DUAL_PAIRS = (
    "top Bot, inf Sup, min Max, untop Unbot, minimal Maximal, lower Upper, below Above, least Greatest, glb LUB,"
    " cofinal Coinitial, succ Pred, disjoint Codisjoint, ioi Iio, ici Iic, ioc Ico, terminal Initial,"
    " precompose Postcompose, cone Cocone, cones Cocones, fan Cofan, limit Colimit, limits Colimits,"
    " product Coproduct, products Coproducts, pushout Pullback, pushouts Pullbacks, span Cospan, kernel Cokernel,"
    " kernels Cokernels, unit Counit, monad Comonad, monadic Comonadic"
)
_DUAL_WORDS = {"epi": "Mono"}
for _first, _second in (pair.split() for pair in _DUAL_PAIRS.split(",")):
    _DUAL_WORDS[_first] = _second
    _DUAL_WORDS[_second.lower()] = "LUB" if _second == "LUB" else _first.capitalize()
_DUAL_WORDS["lub"] = "GLB"
_DUAL_FIXES = {
    "wellFoundedLT": "WellFoundedGT", "wellFoundedGT": "WellFoundedLT", "succColimit": "SuccLimit",
    "predColimit": "PredLimit",
}  # fmt: skip
_TABLES: dict[str, tuple[Mapping[str, str], Mapping[str, str]]] = {
    "to_additive": (_ADDITIVE_WORDS, _ADDITIVE_FIXES),
    "to_dual": (_DUAL_WORDS, _DUAL_FIXES),
}
_ALWAYS = {
    "to_additive": names("""
        Monoid Group CommMonoid CommGroup Semigroup CommSemigroup DivInvMonoid DivisionMonoid Submonoid
        Subgroup Subsemigroup MonoidHom MulHom OneHom MulEquiv MulAction Units Commute SemiconjBy IsUnit Con
        QuotientGroup FreeGroup FreeMonoid FreeSemigroup Localization MonCat GrpCat CommGrpCat CommMonCat
        SubmonoidClass SubgroupClass OpenSubgroup ContinuousMonoidHom IsOfFinOrder MulMemClass UniqueProds
        IsCyclic MonoidHomClass MulEquivClass
        """),
    "to_dual": frozenset[str](),
}
"""Namespaces with a counterpart that is known even where Mathlib itself is not read."""
_CODE_TOKEN = re.compile(
    r"[^\W\d][\w'!?.]*|(?<![\w.])(?<![-+] )1(?![\w.])|(?<!Type)(?<!Sort)\*|[/∏⊤⊥⊔⊓⨆⨅≤<≥>]"
)
_INVERSE = re.compile(r"((?:(?<![\w'.])|(?<=⁻¹))[\w'.]++|\([^()\n]*\))⁻¹(?!')")
_POWER = re.compile(r"((?<![\w'.])[\w'.]++|\([^()\n]*\)) \^ ([\w'.]+|\([^()\n]*\))")
_SIGNS = {
    "to_additive": {"*": "+", "/": "-", "∏": "∑", "1": "0"},
    "to_dual": dict(zip("⊤⊥⊔⊓⨆⨅≤<≥>", "⊥⊤⊓⊔⨅⨆≥>≤<", strict=True)),
}
LONGEST_ABBREVIATION = 6
_NO_NAME = frozenset(["self", "none", "existing", "private"])


def guessed(name: str, attribute: str = "to_additive") -> str:
    """Return the last part of the second name that is made of a last part.

    >>> guessed("prod_univ_succ"), guessed("one_le_mul'"), guessed("CommGroup"), guessed("isMulLeftRegular_inv")
    ('sum_univ_succ', "nonneg_add'", 'AddCommGroup', 'isAddLeftRegular_neg')
    >>> guessed("sup_le_iff", "to_dual"), guessed("isLUB_Ici", "to_dual")
    ('inf_le_iff', 'isGLB_Iic')
    """
    return "'".join(_guess(part, attribute) for part in name.split("'"))


@lru_cache(maxsize=50_000)
def _guess(name: str, attribute: str) -> str:
    words, fixes = _TABLES[attribute]
    parts: list[str] = []
    for part in _PART.findall(name):
        new = words.get(part.lower())
        if new is None:
            parts.append(part)
        else:
            first, *rest = new.split()
            parts += [_like(part, first), *rest]
    return _fixed(parts, fixes)


def _fixed(parts: list[str], fixes: Mapping[str, str]) -> str:
    """Return the parts joined; the shortest run from each place that is an abbreviation is replaced."""
    found: list[str] = []
    place = 0
    while place < len(parts):
        end = _abbreviation_end(parts, place, fixes)
        if end is None:
            found.append(parts[place])
            place += 1
        else:
            run = "".join(parts[place:end])
            found.append(_like(run, fixes[_decapitalise(run)]))
            place = end
    return "".join(found)


def _abbreviation_end(parts: list[str], place: int, fixes: Mapping[str, str]) -> int | None:
    run = ""
    for end in range(place, min(len(parts), place + LONGEST_ABBREVIATION)):
        run += parts[end]
        if parts[end] == "_" and run[0].isupper():
            return None
        if _decapitalise(run) in fixes:
            return end + 1
    return None


def _like(model: str, word: str) -> str:
    return word if model[:1].isupper() else _decapitalise(word)


def _decapitalise(word: str) -> str:
    return _CAPITALS.sub(lambda match: match[0].lower(), word)


@dataclass
class Translations:
    """What is known of second names: those of types and definitions, which are the namespaces of other declarations."""

    known: dict[str, dict[str, str]] = field(default_factory=lambda: {name: {} for name in _TABLES})
    """By attribute: a name and the name that its author gave to its counterpart, empty if none was given."""

    def add(self, attribute: str, name: str, given: str = "") -> None:
        """Note a declaration that has a counterpart."""
        self.known[attribute][name] = given

    def of(self, attribute: str, name: str, given: str = "") -> str:
        """Return the second name of a declaration.

        >>> Translations().of("to_additive", "Subgroup.prod_mem"), Translations().of("to_additive", "Finset.prod_comm", "foo")
        ('AddSubgroup.sum_mem', 'Finset.foo')
        """
        prefix, _, last = name.rpartition(".")
        before = self._prefix(attribute, prefix)
        if not given:
            return _dotted(before, guessed(last, attribute))
        kept = before.split(".")[: max(0, len(before.split(".")) - given.count("."))] if before else []
        return _dotted(".".join(kept), given)

    def code(self, attribute: str, text: str) -> str:
        """Return a statement in the words and signs of its counterpart; types are not known, so that it is a good guess.

        >>> Translations().code("to_additive", "[CommMonoid M] (f : ℕ → M) : ∏ i ∈ s, f i * x⁻¹ = 1")
        '[AddCommMonoid M] (f : ℕ → M) : ∑ i ∈ s, f i + -x = 0'
        """
        if attribute == "to_additive":
            text = _INVERSE.sub(r"-\1", _POWER.sub(r"\2 • \1", text.replace("•", "+ᵥ")))
        return _CODE_TOKEN.sub(lambda match: self._token(attribute, match[0]), text)

    def _token(self, attribute: str, token: str) -> str:
        if not token[0].isalpha():
            return _SIGNS[attribute].get(token, token)
        known = self.known[attribute]
        if token in known or "." in token:
            return self.of(attribute, token, known.get(token, ""))
        if len(token) < 3 or (token[0].isupper() and token not in _ALWAYS[attribute]):
            return token
        return guessed(token, attribute)

    def _prefix(self, attribute: str, prefix: str, depth: int = 0) -> str:
        """Return the counterpart of the longest known part of a namespace, and the rest as it is."""
        known, parts = self.known[attribute], prefix.split(".") if prefix else []
        for size in range(len(parts), 0, -1):
            name = ".".join(parts[:size])
            if name in known and depth < 20:
                before = self._prefix(attribute, ".".join(parts[: size - 1]), depth + 1)
                given = known[name] or guessed(parts[size - 1], attribute)
                kept = before.split(".")[: max(0, size - 1 - given.count("."))] if before else []
                return ".".join([*kept, given, *parts[size:]])
            if name in _ALWAYS[attribute]:
                return ".".join([*parts[: size - 1], guessed(parts[size - 1], attribute), *parts[size:]])
        return prefix


def _dotted(*parts: str) -> str:
    return ".".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class TranslationAttribute:
    """What `@[to_additive (attr := simp) name /-- doc -/]` says."""

    attribute: str
    given: str
    hint: str
    attributes: tuple[str, ...]

    @property
    def makes_declaration(self) -> bool:
        """True unless the counterpart exists already, or there is none."""
        return not self.hint


_OPTION = re.compile(r"\(\s*(\w+)\s*:=([^()]*+(?:\([^()]*+\)[^()]*+)*+)\)")
_IDENTIFIER = re.compile(r"[\w'!?.«»]+")


def translation_attribute(text: str) -> TranslationAttribute | None:
    """Return the attribute that a text says, or `None` if it is another one.

    >>> translation_attribute("to_additive (attr := simp, norm_cast) foo")
    TranslationAttribute(attribute='to_additive', given='foo', hint='', attributes=('simp', 'norm_cast'))
    """
    name, _, rest = text.strip().partition(" ")
    name = name.rstrip("?")
    if name not in _TABLES:
        return None
    attributes: list[str] = []
    for option in _OPTION.finditer(rest):
        if option[1] == "attr":
            attributes += [part.strip() for part in option[2].split(",") if part.strip()]
    words = _IDENTIFIER.findall(_OPTION.sub(" ", rest).split('"')[0])
    hint = words.pop(0) if words and words[0] in _NO_NAME else ""
    return TranslationAttribute(name, words[0] if words else "", hint, tuple(attributes))

"""`declarations`: the declarations of a Lean file with their full names, from its commands in order."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Container, Iterator
from dataclasses import dataclass, field, replace

from mathamr.posts.formats.declaration.posts import LONGEST_VALUE, Declaration, heading_of
from mathamr.posts.formats.lean.brackets import Signature, binders, closing, identifiers, signature
from mathamr.posts.formats.lean.parts import constructors, fields
from mathamr.posts.formats.lean.source import Comment, LeanSource
from mathamr.posts.formats.lean.translation import TranslationAttribute, Translations, translation_attribute
from mathamr.posts.formats.lean.variables import Variables

LONGEST_STATEMENT = 3_000
LONGEST_ATTRIBUTES = 3_000
MOST_UNCLOSED = 50
"""After this many attributes without an end, the file is not searched for further ones."""
LONGEST_GAP = 4_000
"""How far a documentation comment may stand before what it documents."""

_DECLARING = [
    "theorem", "lemma", "def", "abbrev", "instance", "structure", "class", "inductive", "coinductive", "axiom",
    "opaque", "example", "alias", "irreducible_def", "proof_wanted",
]  # fmt: skip
_NOTATIONS = [
    "notation", "notation3", "infix", "infixl", "infixr", "prefix", "postfix", "macro", "syntax", "elab",
    "simproc",
]  # fmt: skip
_OTHERS = [
    "namespace", "section", "end", "mutual", "open", "variable", "include", "omit", "universe", "set_option",
    "attribute", "export", "import", "initialize", "builtin_initialize", "initialize_simps_projections",
    "run_cmd", "run_meta", "add_decl_doc", "library_note", "deprecated_module", "register_simp_attr",
    "deriving", "elab_rules", "macro_rules", "insert_to_additive_translation", "assert_not_exists",
    "suppress_compilation", "unsuppress_compilation", "compile_inductive", "declare_syntax_cat",
]  # fmt: skip
_WRITTEN_TWICE = frozenset(["structure", "class", "inductive", "coinductive"])
"""Types whose counterpart is written by hand, as attributes only link the two."""
_MODIFIERS = [
    "private", "protected", "noncomputable", "partial", "unsafe", "nonrec", "local", "public", "meta",
]  # fmt: skip
_TOKEN = (
    r"(?:(?P<attributes>@\[)|(?:(?P<modifier>scoped(?:\[[\w.]+\])?|" + "|".join(_MODIFIERS) + r")|(?P<word>"
    + "|".join(sorted((*_DECLARING, *_NOTATIONS, *_OTHERS), key=len, reverse=True))
    + r"))(?![\w'!?]))"
)  # fmt: skip
_LINE_COMMAND = re.compile(r"\n[ \t]*+" + _TOKEN)
_NEXT_COMMAND = re.compile(r"\s*+" + _TOKEN)
_IN_COMMAND = re.compile(r"[^\n]*?(?<![\w.'])in[ \t]+(?=" + re.sub(r"\?P<\w+>", "?:", _TOKEN) + ")")
_IN_END = re.compile(r"(?<![\w.'])in\s*\Z")
_PREFIXES = frozenset(["open", "set_option", "variable", "omit", "include", "attribute", "universe"])
_CLASS = re.compile(r"\s+(?:abbrev|inductive)(?![\w'])")
_BLANK = re.compile(r"[ \t]*+")
_SPACE = re.compile(r"\s*+")
_NAME = re.compile(r"(?:[\w'!?.]|«[^»\n]{0,200}»)+")
_PRIORITY = re.compile(r"\s*(?:\((?:priority|name)\s*:=[^)\n]{0,100}\)\s*)*")
_GIVEN_NAME = re.compile(r"\(name\s*:=\s*([\w.'«»]+)")
_ALIAS = re.compile(r"\s*+(?:(?P<one>[\w'!?.«»]++)|⟨(?P<pair>[^⟩\n]{0,500})⟩)\s*+:=\s*@?(?P<of>[\w'!?.«»]+)")
_BAR = re.compile(r"\n[ \t]*\||(?<![\w.])where(?![\w'])")
_LINE_START = re.compile(r"\n(?=\S)")
_CONSTANTS = {
    "ℕ": "Nat", "ℤ": "Int", "ℚ": "Rat", "ℝ": "Real", "ℂ": "Complex", "ℝ≥0∞": "ENNReal", "ℝ≥0": "NNReal", "→": "Forall",
    "↔": "Iff", "⊕": "Sum", "×": "Prod", "≃": "Equiv", "=": "Eq", "≤": "LE", "<": "LT",
    "𝓞": "RingOfIntegers", "𝓘(": "ModelWithCornersSelf", "⧸": "Quotient", "ˣ": "Units", "[X]": "Polynomial", "⊗[": "TensorProduct",
    "ᵐᵒᵖ": "MulOpposite", "ᵒᵖ": "Opposite", "→+*": "RingHom", "→*": "MonoidHom", "→+": "AddMonoidHom", "→ₐ": "AlgHom",
    "→ₗ": "LinearMap", "→L": "ContinuousLinearMap", "→₀": "Finsupp", "→o": "OrderHom", "≃+*": "RingEquiv", "≃*": "MulEquiv",
    "≃+": "AddEquiv", "≃ₐ": "AlgEquiv", "≃ₗ": "LinearEquiv", "≃L": "ContinuousLinearEquiv", "≃o": "OrderIso", "⥤": "Functor", "⟶": "Hom",
}  # fmt: skip
"""What notation stands for in the names of anonymous instances."""
_NOTATION = "|".join(re.escape(sign) for sign in sorted(_CONSTANTS, key=len, reverse=True))
_CONSTANT = re.compile(rf"{_NOTATION}|(?:(?!{_NOTATION})[^\W\d_])(?:(?!{_NOTATION})[\w'!?.])*")
_LOCAL = re.compile(r"(?:[a-zA-Zα-ωΑ-Ω𝕜𝓕]|[a-z]\w?)[₀-₉'\d]*\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class LeanDeclaration(Declaration):
    """A declaration of Lean, and the attribute that makes a second one of it."""

    translation: TranslationAttribute | None = None
    translation_doc: str = ""


@dataclass(slots=True)
class _Scope:
    parts: tuple[str, ...]
    is_namespace: bool
    mark: int


@dataclass(slots=True)
class _Head:
    """A command that has begun: its word, where it and its attributes begin, and its modifiers."""

    word: str
    start: int
    end: int
    header: int
    attributes: list[tuple[int, int]] = field(default_factory=list)
    modifiers: list[str] = field(default_factory=list)


def declarations(source: LeanSource, translations: Translations | None = None) -> Iterator[LeanDeclaration]:
    """Yield the declarations of a file in the order of its text, those that attributes make right after their origin.

    >>> text = "namespace Nat\\n/-- Sums commute. -/\\ntheorem add_comm (a b : ℕ) : a + b = b + a := by simp\\nend Nat"
    >>> [(each.name, each.doc.strip(), each.code) for each in declarations(LeanSource(text))]
    [('Nat.add_comm', 'Sums commute.', 'theorem Nat.add_comm (a b : ℕ) : a + b = b + a')]
    """
    known = translations or Translations()
    if translations is None:
        learn_translations(known, source)
    for each in _File(source).declarations():
        yield each
        made = each.translation
        while made is not None and made.makes_declaration:
            origin = each.name
            name = known.of(made.attribute, each.name, made.given)
            if name == each.name or each.word in _WRITTEN_TWICE:
                break
            nested = next(filter(None, map(translation_attribute, made.attributes)), None)
            each = replace(
                each,
                name=name,
                code=known.code(made.attribute, each.code).replace(
                    known.code(made.attribute, origin), name, 1
                ),
                variables=tuple(known.code(made.attribute, binder) for binder in each.variables),
                doc=each.translation_doc,
                origin=origin,
                attributes=tuple(a for a in made.attributes if translation_attribute(a) is None),
                aliases=tuple(known.of(made.attribute, alias) for alias in each.aliases),
                translation=nested,
                translation_doc="",
            )
            yield each
            made = nested


def learn_translations(translations: Translations, source: LeanSource) -> None:
    """Remember the counterparts of a file's types and definitions, which can be namespaces."""
    for declared in _File(source).declarations():
        made = declared.translation
        if made is not None and made.hint in ("", "existing") and declared.word not in ("theorem", "lemma"):
            translations.add(made.attribute, declared.name, made.given)


class _File:
    """Reads the commands of a file in order: scopes, variables, declarations."""

    def __init__(self, source: LeanSource) -> None:
        self.source, self.code, self.text = source, source.code, source.text
        self.docs = [comment for comment in source.comments if not comment.is_module]
        self.doc_ends = [comment.end for comment in self.docs]
        self.modules = [comment for comment in source.comments if comment.is_module]
        self.module_starts = [comment.start for comment in self.modules]
        self.scopes: list[_Scope] = []
        self.namespace: list[str] = []
        self.variables = Variables()
        self.temporary: int | None = None
        self.omitted: frozenset[str] = frozenset()
        self.unclosed = 0
        self.counted, self.line = 0, 1

    def declarations(self) -> Iterator[LeanDeclaration]:
        """Yield the declarations that are written in the file."""
        head: _Head | None = None
        for following in self._heads():
            if head is not None:
                yield from self._finish(head, following.header)
            head = following
        if head is not None:
            yield from self._finish(head, len(self.code))

    def _heads(self) -> Iterator[_Head]:
        """Yield the commands, each with its attributes and modifiers; a command begins a line, or follows `in`."""
        code = self.code
        match = _NEXT_COMMAND.match(code)
        position = 0
        while match := match or _LINE_COMMAND.search(code, position):
            header = match.start(match.lastgroup or 0)
            attributes: list[tuple[int, int]] = []
            modifiers: list[str] = []
            while match and match["word"] is None:
                position = match.end()
                if match["modifier"] is not None:
                    modifiers.append(match["modifier"])
                elif (closed := self._attribute_end(position)) is None:
                    match = None
                    break
                else:
                    attributes.append((position, closed - 1))
                    position = closed
                match = _NEXT_COMMAND.match(code, position)
            if match is None:
                continue
            position = match.end()
            head = _Head(match["word"], match.start("word"), position, header, attributes, modifiers)
            if head.word == "class" and (more := _CLASS.match(code, position)):
                head.end = position = more.end()
            yield head
            position, match = max(position, head.end), None
            if head.word in _PREFIXES and (into := _IN_COMMAND.match(code, position)):
                match = _NEXT_COMMAND.match(code, into.end())

    def _attribute_end(self, start: int) -> int | None:
        """Return the end of the attributes whose inside begins at `start`; `None` if they have none."""
        if self.unclosed >= MOST_UNCLOSED:
            return None
        found = closing(self.code, start - 1, start + LONGEST_ATTRIBUTES)
        self.unclosed += found is None
        return found

    def _finish(self, head: _Head, limit: int) -> Iterator[LeanDeclaration]:
        word = head.word
        if word in _DECLARING or word in _NOTATIONS:
            yield from self._declare(head, head.end + len(self.code[head.end : limit].rstrip()))
            if self.temporary is not None:
                self.variables.back_to(self.temporary)
                self.temporary = None
            self.omitted = frozenset()
        elif word in ("namespace", "section", "mutual"):
            self._open(head, limit)
        elif word == "end":
            self._close(head, limit)
        elif word in ("variable", "include", "omit"):
            self._vary(head, limit)

    def _open(self, head: _Head, limit: int) -> None:
        name = None if head.word == "mutual" else self._scope_name(head, limit)
        parts = tuple(name.group().strip(".").split(".")) if name else ()
        is_namespace = head.word == "namespace"
        for part in parts or ("",):
            self.scopes.append(_Scope((part,) if part else (), is_namespace, self.variables.mark()))
        if is_namespace:
            self.namespace += parts

    def _close(self, head: _Head, limit: int) -> None:
        name = self._scope_name(head, limit)
        for _ in range(len(name.group().split(".")) if name else 1):
            if not self.scopes:
                return
            scope = self.scopes.pop()
            self.variables.back_to(scope.mark)
            if scope.is_namespace and self.namespace:
                self.namespace.pop()

    def _scope_name(self, head: _Head, limit: int) -> re.Match[str] | None:
        blank = _BLANK.match(self.code, head.end)
        return _NAME.match(self.code, blank.end() if blank else head.end, limit)

    def _vary(self, head: _Head, limit: int) -> None:
        is_temporary = _IN_END.search(self.code[max(head.end, limit - 200) : limit]) is not None
        ended = None if is_temporary else _LINE_START.search(self.code, head.end, limit)
        limit = ended.start() if ended else limit
        if is_temporary and self.temporary is None:
            self.temporary = self.variables.mark()
        if head.word == "variable":
            self.variables.add(binders(self.code, head.end, limit))
        elif head.word == "include":
            self.variables.include(identifiers(self.code[head.end : limit]))
        else:
            self.omitted = frozenset(each.text for each in binders(self.code, head.end, limit))

    def _declare(self, head: _Head, limit: int) -> Iterator[LeanDeclaration]:
        doc = self._doc(head.header)
        attributes = self._attributes(head)
        if head.word == "alias":
            yield from self._alias(head, limit, doc, attributes)
            return
        if head.word in _NOTATIONS or head.word == "example":
            if doc:
                yield self._notation(head, limit, doc, attributes)
            return
        after = _PRIORITY.match(self.code, head.end, limit) if head.word == "instance" else None
        begin = after.end() if after else self._blank_end(head.end, limit)
        named = _NAME.match(self.code, begin, limit)
        short = named.group().rstrip(".") if named else ""
        end = begin + len(short)
        if self.code.startswith(".{", end):
            end = self.code.find("}", end, min(limit, end + 200)) + 1 or end
        until = min(limit, end + LONGEST_STATEMENT)
        if "inductive" in self.code[head.start : head.end] and (bar := _BAR.search(self.code, end, until)):
            until = bar.start()
        said = signature(self.code, end, until)
        type = " ".join(self.code[said.colon : said.end].split()) if said.colon else ""
        if not short:
            if head.word != "instance" or not type:
                return
            short = _instance_name(type, ".".join(self.namespace), self.variables.names)
        name = self._full(short)
        value = self._value(head, said, limit)
        rest = self.text[end : said.end].rstrip()
        rest = rest if rest[:1] in ("", " ", "\n", ".") else f" {rest}"
        shown_value = f" :=\n  {value}" if value else ""
        statement = f"{self.code[end : said.end]} {value}"
        structured = head.word in ("structure", "class", "inductive", "coinductive")
        if structured:
            body = self.text[said.end : min(limit, said.end + LONGEST_STATEMENT)]
            shown_value = "\n" * (not body.startswith(("\n", " "))) + body.rstrip() if body.strip() else ""
            shown_value = shown_value if shown_value[:1] in ("", "\n") else " " + shown_value.lstrip()
        made, made_doc = self._translation(head, attributes)
        declared = LeanDeclaration(
            name=name,
            word=head.word,
            code=f"{head.word} {name}{rest}{shown_value}",
            doc=doc,
            line=self._line(head.start),
            variables=tuple(binder.text for binder in self.variables.used_in(statement, self.omitted)),
            attributes=attributes,
            modifiers=tuple(head.modifiers),
            aliases=tuple(_further_names(name, head.word, attributes)),
            heading=self._heading(head.start),
            translation=made,
            translation_doc=made_doc,
        )
        yield declared
        if structured:
            yield from self._parts(declared, head, said, limit)

    def _parts(
        self, whole: LeanDeclaration, head: _Head, said: Signature, limit: int
    ) -> Iterator[LeanDeclaration]:
        is_inductive = "inductive" in self.code[head.start : head.end]
        found = constructors if is_inductive else fields
        start = said.end + (len(said.ending) if said.ending in ("where", ":=") else 0)
        for part in found(self.code, start, limit):
            code = self.text[part.start : part.end].strip()
            type = " ".join(self.code[part.colon : part.end].split()) if part.colon else ""
            yield LeanDeclaration(
                name=f"{whole.name}.{part.name}",
                word="constructor" if is_inductive else "field",
                code=f"{whole.name}.{code}"
                if code.startswith(part.name)
                else f"{whole.name}.{part.name} : {type}",
                doc=self._doc(part.header),
                line=self._line(part.start),
                modifiers=whole.modifiers,
                attributes=whole.attributes if whole.is_deprecated else (),
                heading=whole.heading,
                origin=whole.name,
            )

    def _alias(
        self, head: _Head, limit: int, doc: str, attributes: tuple[str, ...]
    ) -> Iterator[LeanDeclaration]:
        found = _ALIAS.match(self.code, head.end, limit)
        if not found:
            return
        made, made_doc = self._translation(head, attributes)
        names = [found["one"]] if found["one"] else [part.strip() for part in found["pair"].split(",")]
        for name in names:
            if name and name != "_":
                yield LeanDeclaration(
                    name=self._full(name),
                    word="alias",
                    code=f"alias {self._full(name)} := {found['of']}",
                    doc=doc,
                    line=self._line(head.start),
                    attributes=attributes,
                    modifiers=tuple(head.modifiers),
                    origin=found["of"],
                    heading=self._heading(head.start),
                    translation=made,
                    translation_doc=made_doc,
                )

    def _notation(self, head: _Head, limit: int, doc: str, attributes: tuple[str, ...]) -> LeanDeclaration:
        text = self.text[head.start : min(limit, head.start + LONGEST_STATEMENT)]
        first = text.split("\n\n")[0].split(":=" if head.word == "example" else "=>")[0].strip()
        given = _GIVEN_NAME.search(first)
        return LeanDeclaration(
            name=self._full(given[1]) if given else "",
            word=head.word,
            code=first,
            doc=doc,
            line=self._line(head.start),
            attributes=attributes,
            modifiers=tuple(head.modifiers),
            heading=self._heading(head.start),
        )

    def _full(self, name: str) -> str:
        if name.startswith("_root_."):
            return name[len("_root_.") :]
        return ".".join((*self.namespace, name)).replace("«", "").replace("»", "")

    def _value(self, head: _Head, said: Signature, limit: int) -> str:
        """Return the value of a definition, if it is short and no proof."""
        if head.word not in ("def", "abbrev", "irreducible_def") or said.ending != ":=":
            return ""
        text = self.text[said.end + 2 : min(limit, said.end + 2 + LONGEST_VALUE + 1)].strip()
        return "" if len(text) > LONGEST_VALUE or text.startswith("by") else text

    def _blank_end(self, start: int, limit: int) -> int:
        found = _SPACE.match(self.code, start, limit)
        return found.end() if found else start

    def _attributes(self, head: _Head) -> tuple[str, ...]:
        found: list[str] = []
        for start, end in head.attributes:
            depth, cut = 0, start
            text = self.code[start:end]
            for match in re.finditer(r"[(\[{)\]},]", text):
                sign = match.group()
                if sign == "," and not depth:
                    found.append(" ".join(text[cut - start : match.start()].split()))
                    cut = start + match.end()
                elif sign != ",":
                    depth += 1 if sign in "([{" else -1
            found.append(" ".join(text[cut - start :].split()))
        return tuple(attribute for attribute in found if attribute)

    def _translation(
        self, head: _Head, attributes: tuple[str, ...]
    ) -> tuple[TranslationAttribute | None, str]:
        made = next(filter(None, map(translation_attribute, attributes)), None)
        if made is None or not head.attributes:
            return made, ""
        first, last = head.attributes[0][0], head.attributes[-1][1]
        place = bisect_right(self.doc_ends, last) - 1
        inside = place >= 0 and self.docs[place].start >= first
        return made, self.docs[place].text if inside else ""

    def _doc(self, start: int) -> str:
        """Return the text of the documentation comment right before an offset."""
        place = bisect_right(self.doc_ends, start) - 1
        if place < 0:
            return ""
        comment: Comment = self.docs[place]
        gap = self.code[comment.end : start] if start - comment.end <= LONGEST_GAP else "far"
        return "" if gap.strip() else comment.text

    def _heading(self, start: int) -> str:
        place = bisect_right(self.module_starts, start) - 1
        return heading_of(self.modules[place].text) if place >= 0 else ""

    def _line(self, offset: int) -> int:
        if offset >= self.counted:
            self.line += self.text.count("\n", self.counted, offset)
        else:
            self.line -= self.text.count("\n", offset, self.counted)
        self.counted = offset
        return self.line


def _further_names(name: str, word: str, attributes: tuple[str, ...]) -> Iterator[str]:
    """Yield the names of theorems that attributes make besides: `ext`, `mk_iff`, `reassoc`, `elementwise`."""
    every = [*attributes]
    for attribute in attributes:
        if (made := translation_attribute(attribute)) is not None:
            every += made.attributes
    for attribute in every:
        first, _, given = attribute.partition(" ")
        if first == "ext" and word in ("structure", "class"):
            yield from (f"{name}.ext", f"{name}.ext_iff")
        elif first == "ext" and word in ("theorem", "lemma"):
            yield f"{name}_iff"
        elif first == "mk_iff":
            last = name.rpartition(".")[2]
            prefix = name[: len(name) - len(last)]
            yield prefix + (given.strip() or f"{last[:1].lower()}{last[1:]}_iff")
        elif first == "reassoc":
            yield f"{name}_assoc"
        elif first == "elementwise":
            yield f"{name}_apply"


def _instance_name(type: str, namespace: str, bound: Container[str]) -> str:
    """Return a name for an anonymous instance: its class and the constants of its type, as Lean names it where no other notation hides some.

    >>> _instance_name("Group (Perm α)", "", {"α"}), _instance_name("Denumerable ℚ", "Rat", ())
    ('instGroupPerm', 'instDenumerable')
    >>> _instance_name("CommRing (𝓞 K)", "", {"K"}), _instance_name("LieGroup 𝓘(𝕜, R) n Rˣ", "Units", {"R", "n"})
    ('instCommRingRingOfIntegers', 'instLieGroupModelWithCornersSelf')
    """
    words = dict.fromkeys(["inst"])
    for token in _CONSTANT.findall(type):
        if token.partition(".")[0] not in bound and not _LOCAL.match(token):
            word = _CONSTANTS.get(token, token).rpartition(".")[2]
            words[word[:1].upper() + word[1:]] = None
    return "".join(word for word in words if word not in namespace.split("."))

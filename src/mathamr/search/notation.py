"""The notation of a collection: where each symbol is introduced and as what, where it is used, and what was never introduced.

Sentences say it ("let $G$ be a group", "we write $|G|$ for the order of $G$"). Patterns find what is said in a usual way, and the
roles of the meaning graph what is said in another.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from mathamr.amr.batch import parse_each
from mathamr.amr.graph import Amr
from mathamr.amr.parser import load_parser
from mathamr.core.cancellation import check_cancelled
from mathamr.core.listing import names
from mathamr.formulas.formula import Formula
from mathamr.formulas.trees import trees_of
from mathamr.posts.formats.latex.definitions import commands_in
from mathamr.posts.passage import PLACEHOLDER, Sentence
from mathamr.posts.post import Post
from mathamr.posts.postcontent import parse_post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report

MOST_INTRODUCTIONS = 100
"""Introductions of a symbol that are kept; further ones are counted."""
MOST_SYMBOLS = 20_000
"""Symbols of a collection that are listed."""
LONGEST_SENTENCE = 1_500
"""Characters of a sentence that is searched for introductions."""
LONGEST_NOTATION = 40
"""Characters of the LaTeX of a notation such as `|G|`."""
_PARSED_TOGETHER = 64

_F = r"FORMULA_\d+"
_LIST = rf"(?P<symbols>{_F}(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+|\s+or\s+){_F})*)"
_ADVERB = r"(?:(?:now|moreover|further|furthermore|also|again|next|henceforth|always|simply|usually|throughout|first)\s+)?"
_PHRASE = r"(?P<said>(?:(?:an?|the|any|some|two|three|all|every|each|its|their|our)\s+)?(?:[^.;:()]|\([^()]*\)){2,160}?)"
_END = r"(?=[.;:()]|,?\s+(?:such that|so that|where|which|whose|and let|and write|and denote|then|we|if|satisfying|is|are|be|has|have|can|may|must|will|does)\b|,\s|\s+and\s+FORMULA|$)"
_NOT_NOUN = (
    r"(?!(?:of|on|in|at|by|to|from|with|for|than|that|is|are|be|was|has|have|the|an?|and|or|as|if|then|we|it|such|which|where|this|these|its"
    r"|satisfies|contains|into|over|under|between|modulo|containing|given|when|while|about|because|how|only|not|both|until|like|all|every|each|some|any|exactly|case|step|equation|section|theorem|lemma)\b)"
)
_NOUN = (
    rf"(?P<said>\b(?:an?|any|every|each|some)\s+(?:{_NOT_NOUN}[A-Za-z\u00c0-\u024f][\w'\u2019-]*\s+){{1,5}})"
)
_PLURAL = rf"(?P<said>(?:{_NOT_NOUN}[A-Za-z\u00c0-\u024f][\w'\u2019-]*\s+){{0,3}}{_NOT_NOUN}[a-z][\w'-]*s\s+)"
_GOES_ON = (
    r"(?=\s*(?:[.,;:()!?]|$)|\s+(?:of|in|on|is|are|be|with|and|or|such|has|have|had|can|that|which|where|we|if|there|from|to|over|for|as|at|by|when"
    r"|satisf\w+|does|do|then|whose|so|must|lies?|into|not|contain\w*|exists?|will|may|converges|defined|given|under|between|belongs?|it|the)\b)"
)
PATTERNS: tuple[re.Pattern[str], ...] = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        rf"\b(?:let|suppose|assume|say)\s+{_ADVERB}(?:that\s+)?{_LIST}\s+{_ADVERB}(?:be|is|are|denotes?|stands? for|represents?)\s+{_PHRASE}{_END}",
        rf"\b(?:where|here|in which|and|with)\s*,?\s+{_LIST}\s+(?:is|are|denotes?|stands? for|represents?|being)\s+(?=(?:an?|the|some|any)\s){_PHRASE}{_END}",
        rf"{_LIST}\s+(?:will\s+|shall\s+|to\s+)?{_ADVERB}(?:denotes?|stands? for|represents?|for)\s+(?=(?:an?|the|some|any)\s){_PHRASE}{_END}",
        rf"\b(?:denote|write|call|label)\s+(?:by|with)?\s*{_LIST}\s+(?:for\s+)?(?=(?:an?|the|some|any|its)\s){_PHRASE}{_END}",
        rf"(?P<said>\b(?:an?|the)\s+[^.,;:()]{{2,80}}?)\s*,?\s+(?:is|are|be|which we|we|usually|often|also|will be)?\s*(?:is|are|be)?\s*(?:usually|often|also|simply)?\s*(?:denoted|written|symbolized)\s+(?:by|as)?\s*{_LIST}",
        rf"\b(?:denote|write|let us denote)\s+(?P<said>(?:the|an?|its|this)\s+[^.,;:()]{{2,80}}?)\s+(?:by|as)\s+(?:the\s+symbols?\s+)?{_LIST}",
        rf"\bby\s+{_LIST}\s+we\s+{_ADVERB}(?:denote|mean)\s+{_PHRASE}{_END}",
        rf"\b(?:let|fix|set|put|define|given|take|choose|pick|for (?:all|any|every|each|some))\s+{_LIST}(?!\s+(?:be|is|are|denote)\b)",
        rf"\b(?:an?|any|some|one|each|every|exists?|there is|for|with|all)\s+{_LIST}(?!\s+(?:be|is|are|denote)\b)",
        rf"{_NOUN}{_LIST}{_GOES_ON}",
        rf"\b(?:given|fix|consider|for|all|two|three|choose|pick|are|be|exist)\s+{_PLURAL}{_LIST}{_GOES_ON}",
    )
)
"""What introduces symbols in a usual way: `symbols` are formulas, and `said` is what they are said to be."""
_EQUATION = re.compile(
    rf"\b(?P<said>(?:the|an?|our|its|this|one)\s+(?:{_NOT_NOUN}[A-Za-z\u00c0-\u024f][\w'\u2019()-]*\s+){{1,6}}(?:(?:of|for|on|in)\s+(?:{_NOT_NOUN}|the\b|an?\b)(?:(?!\b(?:if|when|then|that|where|iff|to)\b)[^.,;:]){{2,60}}?\s*)?)"
    rf"[,:]?\s*(?:(?:is|are|as|be|by|has the form|which is|(?:we\s+)?(?:can\s+)?(?:define|defined|given|written)(?:\s+(?:as|by|to be))?|then|simply)\s+){{0,4}}[,:]?\s*(?P<symbols>{_F})",
    re.I,
)
"""An equation behind a noun: it introduces its left side if it is one."""
_MAY_INTRODUCE = re.compile(
    r"\b(?:let|put|set|suppose|assum|denot|writ|call|defin|where|here|fix|given|consider|stand|represent|symbol|notation|mean|for (?:any|every|each|some|all)|any |every |each |some |all |one |exist|as |the |an? )",
    re.I,
)
_VERBS = names(
    "let-01 suppose-01 assume-01 assume-02 denote-01 write-01 call-01 call-02 call-03 define-01 stand-03 represent-01 fix-03 consider-01 consider-02 mean-01 symbolize-01 say-01"
)
_NAMING = names(
    "denote-01 write-01 call-01 call-02 call-03 define-01 stand-03 represent-01 mean-01 symbolize-01"
)
_EMPTY = names(
    "such case following formula equation fact one it that this example proof theorem lemma proposition corollary definition section"
)
_RELATION = re.compile(
    r"\\(?:in|ni|colon|to|subset\w*|supset\w*|leq?|geq?|leqslant|geqslant|neq?|equiv|cong|simeq|sim|approx|coloneqq|coloneq|defeq|mapsto|ll|gg|mid)(?![A-Za-z])|:=|[=:<>∈≤≥⊂⊆≠≅]"
)
_SYMBOL = re.compile(
    r"""\s*(?:(?:\\left)?(?:\(|\\\{)\s*)?   # a tuple or a sequence is introduced by its first letter
    (?P<base>
        \\(?:mathcal|mathbb|mathbf|mathfrak|mathscr|mathsf|mathrm|mathit|operatorname\*?|boldsymbol|bm|text|mathtt|Bbb)\s*(?:\{[^{}]+\}|[A-Za-z])
        |\\(?:bar|hat|tilde|vec|overline|widehat|widetilde|dot|underline)(?![a-z])\s*(?:\{[^{}]+\}|\\?[A-Za-z]+)
        |\\(?!frac|sum|int|prod|sqrt|lim|left|dots|ldots|cdots|begin|langle|lvert|lVert|lfloor|lceil|mid|[dt]frac)[A-Za-z]+
        |[^\W\d_]
    )
    (?P<marks>(?:'|\^(?:\*|\{\s*(?:\*|\\prime|\\circ|\\vee|\\perp|\\top|-1|op)\s*\}|\\(?:prime|vee|circ|perp|top|ast)))*)
    (?:\s*(?:_|\^)\s*(?:\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}|\\[A-Za-z]+|[^\s\\{}])){0,8}""",
    re.X,
)
_BRACKETED = re.compile(
    r"(?:\\(?:left|lvert|lVert|langle|\|)|[|\[(]|‖|⟨).*|[A-Za-z]{1,3}[/\\].*|.*(?:/|\\(?:otimes|oplus|circ|cdot|times|mid|cap|cup|wedge|vee|setminus)(?![A-Za-z])).*"
)
_COMMAND = re.compile(r"\\(?:bar|hat|tilde|vec|overline|wide\w+|dot|underline)\b|\\[A-Za-z]+\Z")
_DETERMINED = re.compile(r"(?:an?|the|any|some|its|every|each|two|three|all)\s", re.I)
_DEFINED = re.compile(r"\\([A-Za-z@]+)")
_GREEK = "αβγδεϵζηθϑικλμνξοπϖρϱσςτυφϕχψω"
By = Literal["pattern", "graph"]
Kind = Literal["letter", "operator", "macro", "notation"]


@dataclass(frozen=True)
class Introduction:
    """A sentence that introduces a symbol: the formula in it, what it is `said` to be, and where."""

    symbol: str
    latex: str
    said: str
    sentence: str
    post: str
    place: str
    by: By


@dataclass
class NotationEntry:
    """A symbol of a collection with its introductions, the number of formulas that use it, and the posts that do first."""

    symbol: str
    latex: str
    kind: Kind
    introductions: list[Introduction] = field(default_factory=list)
    introduced: int = 0
    uses: int = 0
    posts: list[str] = field(default_factory=list)

    @property
    def meanings(self) -> list[str]:
        """What the symbol is said to be, different nouns only, the most frequent first."""
        heads: dict[str, Counter[str]] = {}
        for each in self.introductions:
            heads.setdefault(_head_noun(each.said), Counter())[each.said] += 1
        ranked = sorted(heads.values(), key=lambda counts: -counts.total())
        return [counts.most_common(1)[0][0] for counts in ranked]

    def to_dict(self) -> dict[str, Any]:
        """Convert to an object for JSON."""
        rows = [
            {
                "said": each.said,
                "latex": each.latex,
                "sentence": each.sentence,
                "post": each.post,
                "place": each.place,
                "by": each.by,
            }
            for each in self.introductions
        ]
        return {
            "symbol": self.symbol, "latex": self.latex, "kind": self.kind, "meanings": self.meanings, "uses": self.uses,
            "posts": self.posts, "introduced": self.introduced, "introductions": rows,
        }  # fmt: skip


def notation(
    source: Path | str | Iterable[Post], *, parser: str | None = "builtin", exclude: Sequence[str] = ()
) -> list[NotationEntry]:
    r"""Return the symbols of posts, or of the posts of a file or folder, sorted as in a book.

    Without a `parser` (None), introductions are found by patterns alone.

    >>> post = Post("a", "note", r"Let $G$ be a finite group. We write $|G|$ for its order, and $\mu(G)$.", markup="markdown")
    >>> [(entry.symbol, entry.meanings, entry.uses) for entry in notation([post], parser=None)]
    [('G', ['a finite group'], 3), ('μ', [], 1), ('|G|', ['its order'], 1)]
    """
    posts = read_posts(source, Report(), exclude=exclude) if isinstance(source, (str, Path)) else source
    collected = _Collected()
    introductions = _introductions_in(_read(posts, collected), parser)
    for each in introductions:
        collected.introduce(each)
    return collected.entries()


def introductions(posts: Iterable[Post], parser: str | None = "builtin") -> Iterator[Introduction]:
    """Yield the introductions of symbols in posts, in order; without a parser by patterns alone."""
    return _introductions_in(_read(posts, _Collected()), parser)


_Read = tuple[Post, Sentence, dict[str, Formula]]


def _read(posts: Iterable[Post], collected: _Collected) -> Iterator[_Read]:
    """Yield the sentences that may introduce something, and count the symbols of all formulas."""
    for post in posts:
        check_cancelled()
        content = parse_post(post)
        for formula in content.formulas:
            collected.use(formula, post)
        by_id = {formula.id: formula for formula in content.formulas}
        for sentence in content.passage.sentences:
            found = {
                place.name: by_id[place.formula] for place in sentence.placeholders if place.formula in by_id
            }
            if (
                found
                and len(sentence.text) <= LONGEST_SENTENCE
                and sentence.kind == "prose"
                and _MAY_INTRODUCE.search(sentence.text)
            ):
                yield post, sentence, found


def _introductions_in(read: Iterable[_Read], parser: str | None) -> Iterator[Introduction]:
    loaded = load_parser(parser) if parser else None
    waiting = iter(read)
    while chunk := list(islice(waiting, _PARSED_TOGETHER)):
        graphs: Sequence[Amr | None] = [None] * len(chunk)
        if loaded is not None:
            parsed = parse_each(loaded, [sentence.text for _, sentence, _ in chunk])
            graphs = [graph if isinstance(graph, Amr) else None for graph in parsed]
        for (post, sentence, formulas), graph in zip(chunk, graphs, strict=True):
            yield from _of_sentence(post, sentence, formulas, graph)


def _of_sentence(
    post: Post, sentence: Sentence, formulas: Mapping[str, Formula], graph: Amr | None
) -> Iterator[Introduction]:
    """Yield the introductions of a sentence: those of patterns, then those of the graph for formulas without one."""
    seen: set[str] = set()
    found = list(_by_patterns(sentence.text))
    if graph is not None:
        found += [(name, said, "graph") for name, said in _by_graph(graph)]
    text = _written(sentence.text, formulas)
    for name, said, by in found:
        if name in seen or name not in formulas:
            continue
        place = str(post.place) if post.place is not None else post.id
        for symbol, head, condition in symbols_of(formulas[name].latex, post.macros):
            if by == "equation" and not condition.startswith(("$=", "$:=", r"$\coloneq", r"$\equiv")):
                continue
            what = _written(said, formulas).strip(" ,") if said else condition
            if (
                what
                and _head_noun(what) not in _EMPTY
                and not what.startswith("not ")
                and not (by == "graph" and not _DETERMINED.match(what))
            ):
                seen.add(name)
                way: By = "graph" if by == "graph" else "pattern"
                yield Introduction(symbol, head, what, text, post.id, place, way)


def _by_patterns(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield the placeholders that patterns introduce, with what each is said to be; an `equation` has to define it, too."""
    for pattern in (*PATTERNS, _EQUATION):
        for match in pattern.finditer(text):
            said = match.groupdict().get("said") or ""
            for name in re.findall(_F, match["symbols"]):
                yield name, said, "equation" if pattern is _EQUATION else "pattern"


def _by_graph(graph: Amr) -> Iterator[tuple[str, str]]:
    """Yield the placeholders that the roles of a graph introduce: what is let, denoted or defined, and nouns with a name."""
    concepts, edges = graph.concepts(), graph.edges
    governed = {target for source, _, target in edges if concepts[source] in _VERBS}
    governed |= {target for source, role, target in edges if source in governed and role[1:3] == "op"}
    said = _Saying(graph)

    def formulas(node: str) -> list[str]:
        inside = [node, *(target for source, role, target in edges if source == node and role[1:3] == "op")]
        return [concepts[each] for each in inside if PLACEHOLDER.fullmatch(concepts[each])]

    for source, role, target in edges:
        if source not in governed or PLACEHOLDER.fullmatch(concepts[source]):
            continue
        if role == ":domain":
            yield from ((name, said.of(source, target)) for name in formulas(target))
    for verb in (node for node, concept in concepts.items() if concept in _NAMING):
        arguments = [
            target for source, role, target in edges if source == verb and role in (":ARG0", ":ARG1", ":ARG2")
        ]
        named = [each for each in arguments if formulas(each)]
        nouns = [
            each
            for each in arguments
            if not formulas(each) and concepts[each] not in ("we", "i", "you", "one")
        ]
        if len(named) == 1 and len(nouns) == 1:
            yield from ((name, said.of(nouns[0], named[0])) for name in formulas(named[0]))


class _Saying:
    """The words of a node and of what hangs on it, as they stand in the sentence."""

    def __init__(self, graph: Amr) -> None:
        self._tokens = graph.tokens
        self._places = dict(graph.alignments)
        self._below: dict[str, list[str]] = {}
        for source, role, target in graph.edges:
            if role != ":domain" and not role.endswith("-of"):
                self._below.setdefault(source, []).append(target)

    def of(self, node: str, name: str) -> str:
        """Return the words of a node without those of the name that it gives, from its article on."""
        waiting, nodes = [node], {name}
        while waiting:
            each = waiting.pop()
            if each not in nodes:
                nodes.add(each)
                waiting += self._below.get(each, ())
        own = sorted(place for each in nodes - {name} for place in self._places.get(each, ()))
        if not own or not self._places.get(node):
            return ""
        first = last = self._places[node][0]
        named = set(self._places.get(name, ()))
        while first - 1 >= own[0] and first - 1 not in named and self._tokens[first - 1] not in ",.;:":
            first -= 1
        while last + 1 <= own[-1] and last + 1 not in named and self._tokens[last + 1] not in ",.;:":
            last += 1
        if first and self._tokens[first - 1].lower() in ("a", "an", "the", "some", "any", "its"):
            first -= 1
        return " ".join(self._tokens[first : last + 1])


def symbols_of(latex: str, macros: tuple[str, ...] = ()) -> list[tuple[str, str, str]]:
    r"""Return the symbols that a formula introduces: each with its LaTeX, and what the formula itself says of it.

    >>> symbols_of(r"x_1, \dots, y"), symbols_of(r"f\colon X\to Y"), symbols_of("|G|"), symbols_of("2n")
    ([('x', 'x_1', ''), ('y', 'y', '')], [('f', 'f', '$\\colon X\\to Y$')], [('|G|', '|G|', '')], [])
    """
    latex = latex.strip()
    relation = next((each for each in _RELATION.finditer(latex) if _depth(latex[: each.start()]) == 0), None)
    head = latex[: relation.start()] if relation else latex
    condition = f"${latex[relation.start() :].strip()}$" if relation else ""
    if any(head.count(one) != head.count(other) for one, other in (("{", "}"), ("(", ")"), ("\\{", "\\}"))):
        return []
    parts = _parts(head) if _SYMBOL.match(head) else [head]
    found = {symbol: (symbol, name, condition) for part in parts for symbol, name in _symbol(part, macros)}
    return list(found.values())


def _symbol(head: str, macros: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield the symbol of one part of a formula with its LaTeX, if it has one."""
    match = _SYMBOL.match(head)
    if match is None:
        bare = "".join(head.split())
        if len(bare) <= LONGEST_NOTATION and _BRACKETED.fullmatch(bare):
            yield bare, head.strip()
        return
    rest, label = head[match.end() :].strip(), _label(match["base"], macros)
    is_name = len(label) > 1 and label.isalpha()
    if label and (not rest or is_name or rest.startswith(("(", ",", "[", ")", "\\}", "\\right"))):
        yield label + "".join(match["marks"].split()), match.group().strip()


def _depth(latex: str) -> int:
    """Return how many braces are open at the end of LaTeX, those of sets included."""
    return latex.count("{") - latex.count("}")


def _parts(head: str) -> list[str]:
    """Return what stands between the commas of a formula that are in no brackets."""
    parts, depth, start = [], 0, 0
    for match in re.finditer(r"[,()\[\]{}]", head):
        depth += {",": 0}.get(match.group(), 1 if match.group() in "([{" else -1)
        if match.group() == "," and depth == 0:
            parts.append(head[start : match.start()])
            start = match.end()
    return [*parts, head[start:]]


def _label(base: str, macros: tuple[str, ...]) -> str:
    tree = trees_of(Formula("", base), macros)[0][0]
    if tree is not None and tree.labels[0][:2] in ("V!", "F!") and (name := _plain(tree.labels[0])).isalpha():
        return name
    return "".join(base.split()) if _COMMAND.match(base) else ""


def _plain(label: str) -> str:
    """Return the letter or name of a node, an italic letter as it is typed."""
    name = label[2:].removeprefix("italic-")
    if len(name) == 1 and (
        "\U0001d434" <= name <= "\U0001d467" or "\U0001d6e2" <= name <= "\U0001d71b" or name == "ℎ"
    ):
        return unicodedata.normalize("NFKC", name)
    return name


def _written(text: str, formulas: Mapping[str, Formula]) -> str:
    """Return a text with its formulas between dollars."""
    return PLACEHOLDER.sub(
        lambda match: f"${formulas[match.group()].latex}$" if match.group() in formulas else match.group(),
        text,
    )


def _head_noun(said: str) -> str:
    """Return the noun that says what a symbol is: the last word before `of`, a comma or a formula."""
    before = re.split(
        r"\s(?:of|on|in|from|to|over|with|for|that|such|which)\s|[,$(]", f" {said} ", maxsplit=1
    )[0].split()
    word = before[-1].lower() if before else said
    return word[:-1] if word.endswith("s") and len(word) > 3 else word


class _Collected:
    """The symbols of the formulas that were read, with their introductions."""

    def __init__(self) -> None:
        self._entries: dict[str, NotationEntry] = {}
        self._whole: Counter[str] = Counter()

    def _entry(self, symbol: str, latex: str, kind: Kind) -> NotationEntry | None:
        if symbol not in self._entries and len(self._entries) >= MOST_SYMBOLS:
            return None
        return self._entries.setdefault(symbol, NotationEntry(symbol, latex, kind))

    def use(self, formula: Formula, post: Post) -> None:
        """Count the letters, operators and macros of a formula."""
        tree = trees_of(formula, post.macros)[0][0]
        labels = set(tree.labels) if tree is not None else set()
        used: dict[str, Kind] = {
            _plain(each): "operator" if each[0] == "F" or len(each) > 3 else "letter"
            for each in labels
            if each[:2] in ("V!", "F!")
            and _plain(each).isalpha()
            and (each[0] == "V" or len(each) == 3 or each[2:] in formula.latex)
        }
        if "\\" in formula.latex and post.macros:
            own = {name for text in post.macros for name in _DEFINED.findall(text)}
            used |= {f"\\{name}": "macro" for name in commands_in(formula.latex) & own}
        for symbol, kind in used.items():
            if (entry := self._entry(symbol, symbol, kind)) is not None:
                entry.uses += 1
                if post.id not in entry.posts[-1:] and len(entry.posts) < MOST_INTRODUCTIONS:
                    entry.posts.append(post.id)
        if len(self._whole) < MOST_SYMBOLS:
            self._whole["".join(formula.latex.split())] += 1

    def introduce(self, each: Introduction) -> None:
        """Add an introduction of a symbol."""
        entry = self._entry(each.symbol, each.latex, "notation")
        if entry is not None:
            if not entry.introduced:
                entry.latex = each.latex
            entry.introduced += 1
            if len(entry.introductions) < MOST_INTRODUCTIONS:
                entry.introductions.append(each)

    def entries(self) -> list[NotationEntry]:
        """Return the symbols sorted as in a book: Latin letters, Greek letters, then names and other notation."""
        for symbol, entry in self._entries.items():
            entry.uses = entry.uses or self._whole.get(symbol, 0) or entry.introduced
        return sorted(self._entries.values(), key=_book_order)


def _book_order(entry: NotationEntry) -> tuple[int, str, str]:
    base = unicodedata.normalize("NFKD", entry.symbol[:1])[:1]
    if entry.kind in ("letter", "notation") and base.isascii() and base.isalpha():
        return 0, base.lower(), entry.symbol
    if base.lower() in _GREEK:
        return 1, f"{_GREEK.index(base.lower()):02}", entry.symbol
    return (
        (2, entry.symbol.lower(), entry.symbol)
        if entry.kind in ("operator", "macro")
        else (3, entry.symbol, entry.symbol)
    )


def glossary(entries: Iterable[NotationEntry]) -> str:
    """Return the introduced symbols as entries of the LaTeX package nomencl, which `\\printnomenclature` prints."""
    lines = [
        r"% In the preamble: \usepackage{nomencl} \makenomenclature; then \printnomenclature where the list belongs."
    ]
    for number, each in enumerate(each for each in entries if each.introductions):
        lines.append(rf"\nomenclature[{number:05}]{{${each.latex}$}}{{{'; '.join(each.meanings[:3])}}}")
    return "\n".join(lines)

"""What sentences introduce symbols as: "let $G$ be a group", "we write $|G|$ for the order of $G$", "a compact set $K$".

Patterns find what is said in a usual way, and the roles of the meaning graph what is said in another.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from mathamr.amr.graph import Amr
from mathamr.core.listing import names
from mathamr.formulas.formula import Formula
from mathamr.formulas.formulahead import FormulaHead
from mathamr.posts.passage import PLACEHOLDER, Sentence
from mathamr.posts.post import Post

LONGEST_SENTENCE = 1_500
"""Characters of a sentence that is searched for introductions."""
_F = r"F\d+[bctdeir]"
_LIST = rf"(?P<symbols>{_F}(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+|\s+or\s+)(?:{_F}|F\d+x|…|\.\.\.)){{0,30}})"
_ADVERB = r"(?:(?:now|moreover|further|furthermore|also|again|next|henceforth|always|simply|usually|often|sometimes|throughout|first|instead|only)\s+)?"
_ARTICLE = r"(?=(?:an?|the|some|any|its|our|their|all)\s)"
_PHRASE = r"(?P<said>(?:(?:an?|the|any|some|two|three|all|every|each|its|their|our)\s+)?(?:[^.;:()]|\([^()]*\)|(?<=\b[a-z])\.){2,160}?)"
_END = r"(?=\.\s*$|(?<!\b[a-z])\.(?!\w)|[;:)]|(?<!\bof )(?<!\bin )(?<!\bby )\(|,?\s+(?:(?:for|in|to|on|of|with)\s+which|such that|so that|where|which|whose|and let|and write|and denote|then|we|if|satisfying|is|are|be|has|have|can|may|must|will|does)\b|,\s|\s+and\s+F\d|$)"
_NO_NOUN = "|".join(names(
    """
    through become becomes just before after during until inside outside within onto along above below against across around near without of on in at by
    to from with for than that is are be was has have the an? and or as if then we it such which where this these its satisfies contains into over under
    between modulo containing given when while about because how only not both like all every each some any exactly case step equation equations section
    theorem lemma let suppose show prove since so thus hence there but using plug denote call define write find finds get gets uses introduces gives
    obtain obtains see sees takes yields says shows means makes per th notation notations appear appears satisfy satisfying involve involves involving
    require requires demand demands force forces exclude excludes contribute contributes assume assumes assumed imply implies implying apply applies fail
    fails vanish vanishes convert converts read reads writes choose chooses equal equals hold holds allow allows leave leaves turn turns send sends die
    dies remain remains extend extending enclosing follow follows exist exists lie lies need needs add adds tell tells come comes go goes know
    known consider considers depend depends determine determines determining multiply keep keeps return returns produce produces reduce reduces recover
    recovers pick picks does do did associated having being giving making taking including yielding already can could may might must will would should shall start starts transforming
    """
))  # fmt: skip
"""Words that no name of a thing has, above all verbs that stand before a formula: "this forces $x = 0$"."""
_WORD = rf"(?:(?!F\d|(?:{_NO_NOUN})\b)[A-Za-z\u00c0-\u024f][\w'\u2019-]*)"
_OVER = r"(?:F\d+[a-z](?:-|\s+))?"
"""A formula before a noun: a $k$-algebra, an $n \\times n$ matrix."""
_OF = rf"(?:\s+(?:of|on|in|from)\s+(?:{_WORD}\s+){{0,3}}{_WORD}(?<=s))"
_SOME = (
    r"(?:an?|any|every|each|some|no|one|two|three|several|\d+|our|(?:exactly|at least|at most)\s+one|another)"
)
_GOES_ON = r"(?=\s*(?:[.,;:()!?]|$)|\s+(?:of|in|on|is|are|be|with|and|or|such|has|have|had|can|that|which|where|we|if|there|from|to|over|for|as|at|by|when|satisf\w+|does|do|then|whose|so|must|lies?|into|not|contain\w*|exists?|will|may|converges|defined|given|under|between|belongs?|it|the|being|on|here|whenever|only|acting|acts|act|corresponding|called|relative|via|does|represents?|\w+(?:ing|ed|ly))\b)"
_NAMED = rf"(?:\s+{_LIST}{_GOES_ON}|,\s+(?P<apart>F\d+b)(?=\s*[,.;)]))"
_IS = r"(?:is|are|be|denotes?|stands? for|represents?|being)"
EXAMPLES: dict[str, str] = {
    r"Let $x$ be a number.": rf"\b(?:let|suppose|assume|say|if)\s+{_ADVERB}(?:that\s+|we let\s+)?{_LIST}\s+{_ADVERB}(?:be|denotes?|stands? for|represents?)\s+{_ADVERB}{_PHRASE}{_END}",
    r"Suppose that $X$ is a set.": rf"\b(?:suppose|assume|say|if|when|whenever)\s+{_ADVERB}(?:that\s+)?{_LIST}\s+(?:is|are)\s+(?=(?:an?|any|two|the)\s|{_OVER}(?:{_WORD}\s+){{0,3}}(?:subsets?|sets?|spaces?|groups?|numbers?|integers?|functions?|maps?|vectors?|matrices|primes?)\b){_PHRASE}{_END}",
    r"It is $x+y$, where $x$ is the mean.": rf"\b(?:where|here|in which|in this case|with)\s*,?\s+{_LIST}\s+(?:{_ADVERB}{_IS}\s+{_ARTICLE}|(?=the\s)|are\s+(?=(?:{_WORD}\s+){{0,2}}{_WORD}(?<=s)\b)){_PHRASE}{_END}",
    r"Here $x$ denotes the mean.": rf"{_LIST}\s+(?:will\s+|shall\s+|to\s+)?{_ADVERB}(?:denotes?|denoting|stands? for|represents?)\s+(?:by\s+)?{_ARTICLE}{_PHRASE}{_END}",
    r"We write $|G|$ for the order of a group.": rf"\b(?:denoted?|denoting|writ(?:e|ing|ten)|call|label|use|using|notations?|symbols?)\s+(?:by|with|as|the symbol|the notation)?\s*{_LIST}\s+(?:for|to denote|to mean|to stand for|to represent|as)\s+(?=(?:an?|the|its|our|their)\s){_PHRASE}{_END}",
    r"Denote by $K$ the kernel.": rf"\b(?:denote|call|label)\s+(?:by|with)?\s*{_LIST}\s+{_ARTICLE}{_PHRASE}{_END}",
    r"The kernel is denoted by $K$.": rf"(?P<said>\b(?:an?|the)\s+[^.,;:()]{{2,80}}?)\s*[,(]?\s+(?:is|are|be|which we|we|usually|often|also|will be)?\s*(?:is|are|be)?\s*(?:usually|often|also|simply|sometimes)?\s*\(?(?:denoted|written|symbolized|labell?ed)\s+(?:by|as|with)?\s*{_LIST}",
    r"We denote the kernel by $K$.": rf"\b(?:denote|write|let us denote|label|call)\s+(?P<said>(?:the|an?|its|this|our|their)\s+[^.,;:()]{{2,80}}?)\s+(?:by|as|with)\s+(?:the\s+symbols?\s+)?{_LIST}",
    r"By $K$ we mean the kernel.": rf"\bby\s+{_LIST}\s+we\s+{_ADVERB}(?:denote|mean)\s+{_PHRASE}{_END}",
    r"Then $N$, the size of a sample, grows.": r"(?<!\bat )(?<!\bfor )(?<!\bin )(?<!\bif )(?<!\bwith )(?<!\bwhen )(?P<symbols>F\d+b)\s*(?:,\s+(?=(?:the|our|its)\s)(?P<said>[^.,;:()]{4,60}),|\(\s*(?=the\s)(?P<or>[^.;:()]{4,60})\)|,\s+which\s+(?:is|denotes|represents)\s+(?P<which>(?:the|an?)\s+[^.;:(),]{4,60}))",
    r"Thus $x$ is the mean of all values.": rf"(?<!\bof )(?<!\bin )(?<!\bon ){_LIST}\s+(?:is|are)\s+(?P<said>the\s+{_OVER}{_WORD}(?:\s+{_WORD}){{0,3}}\s+(?:of|for)\s+[^.;:(),]{{2,80}}?){_END}",
    r"Let $A$ be a ring, and $M$ an ideal.": rf"(?:,|\band|\b(?:and|or)\s+by)\s+{_LIST}\s+(?:be\s+)?(?P<said>(?:an?|the|its)\s+(?:[^.,;:()]){{2,160}}?){_END}",
    r"Suppose it has rank $k$ and $M$ is an ideal.": rf"\b(?:suppose|assume|if|let|where|when|that)\b[^.;:]{{1,120}}?(?:,|\band)\s+{_LIST}\s+(?:is|are)\s+(?=an?\s|(?:{_WORD}\s+){{0,2}}(?:functions|maps|sets|spaces|groups|vectors|points|numbers|integers)\b){_PHRASE}{_END}",
    r"If $V \subset X$ is closed, it ends.": r"\b(?:if|suppose|assume)\s+(?:that\s+)?(?P<symbols>F\d+c)",
    r"It has ideal $I$ and field $k$ again.": rf"\b(?:with|has)\s+(?:{_WORD}\s+){{1,3}}F\d+[a-z],?\s+and\s+(?P<said>(?:{_WORD}\s+){{1,3}}){_LIST}",
    r"We define $A$ as the matrix in it.": rf"\b(?:define|take|choose|view|regard|think of)\s+{_LIST}\s+(?:as|to be)\s+(?=(?:the|an?)\s){_PHRASE}{_END}",
    r"There are finitely many sets, say $r$, of them.": rf"(?P<said>\b(?:an?|some|one|two|the|finitely many)\s+[^.,;:()]{{3,80}}?),?\s+say,?\s+{_LIST}",
    r"Then $[x]$ is called the class of $x$.": rf"{_LIST}\s+(?:is|are)\s+(?:\w+ly\s+)?called\s+(?=the\s){_PHRASE}{_END}",
    r"It is the group of all units, $U$.": rf"(?P<said>\bthe\s+(?:{_WORD}\s+){{1,3}}(?:of|on)\s+(?:(?:{_WORD}|the|all)\s+|F\d+[a-z]\s+){{0,3}}{_WORD}(?:\s+F\d+b)?),\s+(?P<symbols>F\d+b)(?=\s*[,.;)])",
    r"Denote one by $X$ and the other set by $Y$.": rf"\bdenote\b[^.;]{{1,100}}?\band\s+(?P<said>(?:the|an?)\s+[^.,;:()]{{2,80}}?)\s+by\s+{_LIST}",
    r"$x$ be the mean of all": rf"\A\s*{_LIST}\s+be\s+(?=(?:the|an?)\s){_PHRASE}{_END}",
    r"Here $k$ is capital, and it ends.": rf"\bhere\s+{_LIST}\s+is\s+(?P<said>(?:{_WORD}\s+){{0,2}}{_WORD})(?=\s*[.,;)]|\s+and\s)",
    r"$x$ - an amount of oil": rf"\A\s*{_LIST}\s*(?:-|–|—|:)\s+(?P<said>[A-Za-z][^.;:]{{3,120}}?)(?:,?\s+and)?{_END}",
    r"The set $I$ of pairs is finite.": rf"(?P<said>\bthe\s+{_WORD})\s+{_LIST}(?P<of>\s+of\s+(?:all\s+)?(?:the\s+)?(?:{_WORD}\s+){{0,2}}{_WORD}(?<=s)\b)",
    r"We define the commutator $[A,A]$ to be zero.": rf"\b(?:define|introduce)\s+(?P<said>(?:the|an?)\s+{_OVER}{_WORD}(?:\s+{_WORD}){{0,4}})\s+{_LIST}",
    r"And $b = 1$: the slope of a line.": rf"(?P<symbols>F\d+[de])\s*:\s*(?P<said>(?:the|an?|its)\s+[^.;:]{{4,80}}?){_END}",
    r"Every compact set $K$ is closed.": rf"(?P<said>\b{_SOME}\s+{_OVER}(?:{_WORD}\s+)?(?:{_WORD}\s+and\s+)?(?:{_WORD}\s+){{0,3}}{_WORD}){_NAMED}",
    r"It has a sequence of points $x$ in it.": rf"(?P<said>\b{_SOME}\s+{_OVER}{_WORD}(?:\s+{_WORD}){{0,3}}{_OF}){_NAMED}",
    r"Now take the sample size $n$ as known.": rf"(?P<said>\b(?:the|its|their|our)\s+{_OVER}{_WORD}(?:(?:\s+{_WORD}){{1,4}}|(?:\s+{_WORD}){{0,3}}{_OF})){_NAMED}",
    r"It is normal with mean $x$ and known.": rf"\b(?:with|has)\s+(?P<said>(?:{_WORD}\s+){{1,3}}){_LIST}{_GOES_ON}",
    r"They lie in all compact sets $K$ and grow.": rf"\b(?:given|fix|take|suppose|consider|for|all|two|three|choose|pick|are|be|exist|define|of|let)\s+(?P<said>(?:{_WORD}\s+){{0,3}}{_WORD.replace('[A-Za-z', '[a-z', 1)}(?<=s)\s+){_LIST}{_GOES_ON}",
    r"There is an $n$ such that it holds.": rf"\b(?:an?|any|some|one|exists?|exist|is)\s+{_LIST}\s+(?P<said>(?:in\s+F\d+[a-z]\s+)?such that\s+[^.;:]{{2,60}}?){_END}",
    r"It holds for all $x$ in the set.": rf"\b(?:for|all|any|every|some|each|let|fix|given|choose|pick|take)\s+{_LIST}\s+(?P<said>in\s+(?:the\s+|an?\s+)?(?:F\d+[a-z]|{_WORD}(?:\s+{_WORD}){{0,2}}))",
    r"There exists $x \in A$ as well.": rf"\b(?:let|fix|set|put|setting|putting|writing|define|given|take|choose|pick|consider|find|an?|any|some|one|all|each|every|exists?|exist unique|there (?:is|are)|choice of)\s+(?:{_ADVERB}|(?:fixed|given|real|positive|nonzero|small|large)\s+){_LIST}(?!\s+(?:be|is|are|denote)\b)",
    r"It holds for $x \in A$.": r"\b(?:for|with|where|over|index\w*\s[^.,;:]{0,60}?\bby)\s+(?P<symbols>F\d+[cr](?:(?:\s*,\s*(?:and\s+)?|\s+and\s+)F\d+[cr])*)",
    r"It is a map $f\colon X \to Y$.": rf"(?P<said>\b(?:an?|any|every|each|some|two|three|for|all|suppose|and)\s+(?:{_WORD}\s+){{0,4}})(?P<symbols>F\d+[td])",
    r"It is never an element $x \in M$ cut off.": rf"(?P<said>\b{_SOME}\s+{_OVER}(?:{_WORD}\s+){{1,4}})(?P<symbols>F\d+c)",
    r"Now $n := 2$.": r"(?P<symbols>F\d+[td])",
}
"""What introduces symbols in a usual way, each behind an example: `symbols` (or `apart`) are formulas, and `said` is what they are said to be."""
PATTERNS = tuple(re.compile(pattern, re.I) for pattern in EXAMPLES.values())
_EQUATION = re.compile(
    rf"(?:\b(?P<said>(?:(?P<definite>the|our|its|this)|an?|one)\s+{_WORD}(?:\s+{_WORD}){{0,5}}(?:\s+(?:of|for|on|in)\s+(?:{_WORD}|the\b|an?\b)(?:(?!\b(?:if|when|then|that|where|iff|to)\b)[^.,;:]){{2,60}}?)?)"
    rf"(?(definite)\s*[,:]?|)\s+(?:(?:is|are|as|be|by|has the form|which\s+(?:is|can\s+be)|\w+ly|(?:we\s+)?(?:can\s+)?(?:define|defined|given|written)(?:\s+(?:as|by|to be))?|then|simply)\s+){{0,4}}(?:as follows:?\s+)?(?(definite)[,:]?|)\s*(?P<symbols>F\d+[de]))",
    re.I,
)
"""An equation behind a noun: it introduces its left side if it is one."""
_MORE = re.compile(r"\s*,?\s+(?:and\s+)?(F\d+[crtde])")
"""What a formula that is introduced may be followed by: others that say what they are themselves."""
HAS_VERB = re.compile(
    r"\b(?:let|suppos|assum|denot|writ|call|stand|represent|symbol|mean|fix|consider)", re.I
)
"""Sentences whose graphs may introduce something."""
_BINDS = re.compile(r"(?:for|all|suppose|and)\s*", re.I)
_CODE = re.compile(r"F\d+[bctdeirx]")
_UNFINISHED = re.compile(
    r"^not\b|\b(?:the|an?|of|to|on|in|that|is|are|be|between|by|for|with|and|or|as)$", re.I
)
_PREDICATE = re.compile(r"\b(?:be|is|are|as|being)\s+\Z")
_VERBS = names(
    "let-01 suppose-01 assume-01 assume-02 denote-01 write-01 call-01 call-02 call-03 stand-03 represent-01 fix-03 consider-01 consider-02 mean-01 symbolize-01"
)
_NAMING = names("denote-01 write-01 call-01 call-02 call-03 stand-03 represent-01 mean-01 symbolize-01")
_EMPTY = names(
    "such case following formula equation fact one it that this example proof theorem lemma proposition corollary definition section fixed given arbitrary nonempty single particular convention different distinct exercise condition identity relation equality inequality bound recurrence law rule equations form way method default assumption bit lot notation notations"
)
_DETERMINED = re.compile(r"(?:an?|the|any|some|its|every|each|two|three|all)\s", re.I)
By = Literal["pattern", "graph"]


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


def introductions_of(
    post: Post, sentence: Sentence, formulas: Mapping[str, Formula], graph: Amr | None
) -> Iterator[Introduction]:
    """Yield the introductions of a sentence: those of patterns, then those of the graph for formulas without one."""
    seen: set[str] = set()
    heads = {name: FormulaHead(formula.latex, post.macros) for name, formula in formulas.items()}
    found: list[tuple[str, str, By]] = [(*each, "pattern") for each in _by_patterns(sentence.text, heads)]
    if graph is not None:
        found += [(*each, "graph") for each in _by_graph(graph)]
    text = written(sentence.text, formulas)
    for name, said, by in found:
        if name in seen or name not in heads:
            continue
        for symbol, head, condition in heads[name].symbols():
            what = written(said, formulas).strip(" ,(") or condition
            if (
                what
                and head_noun(what) not in _EMPTY
                and not _UNFINISHED.search(what)
                and not (by == "graph" and not _DETERMINED.match(what))
            ):
                seen.add(name)
                yield Introduction(symbol, head, what, text, post.id, post.where, by)


def _by_patterns(text: str, heads: Mapping[str, FormulaHead]) -> Iterator[tuple[str, str]]:
    """Yield the placeholders that patterns introduce, with what each is said to be."""
    names = {f"F{number}{head.kind}": name for number, (name, head) in enumerate(heads.items())}
    coded = {name: code for code, name in names.items()}
    text = PLACEHOLDER.sub(lambda match: coded.get(match.group(), "FORMULA"), text)
    for pattern in (*PATTERNS, _EQUATION):
        for match in pattern.finditer(text):
            groups = match.groupdict()
            said = next((groups[each] for each in ("said", "or", "which") if groups.get(each)), "")
            said = "" if _BINDS.fullmatch(said) else said + (groups.get("of") or "")
            said = _CODE.sub(lambda code: names[code.group()], said)
            place = "apart" if groups.get("apart") else "symbols"
            if place == "apart" and _PREDICATE.search(text[: match.start()]):
                continue
            yield from ((names[code], said) for code in _CODE.findall(match[place]))
            for end in (match.end(place), match.end()):
                while following := _MORE.match(text, end):
                    yield names[following[1]], ""
                    end = following.end()


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


def plain(label: str) -> str:
    """Return the letter or name of a node, an italic letter as it is typed."""
    name = label[2:].removeprefix("italic-")
    if len(name) == 1 and (
        "\U0001d434" <= name <= "\U0001d467" or "\U0001d6e2" <= name <= "\U0001d71b" or name == "ℎ"
    ):
        return unicodedata.normalize("NFKC", name)
    return name


def written(text: str, formulas: Mapping[str, Formula]) -> str:
    """Return a text with its formulas between dollars."""
    return PLACEHOLDER.sub(
        lambda match: f"${formulas[match.group()].latex}$" if match.group() in formulas else match.group(),
        text,
    )


def head_noun(said: str) -> str:
    """Return the noun that says what a symbol is: the last word before `of`, a comma or a formula."""
    before = re.split(
        r"\s(?:of|on|in|from|to|over|with|for|that|such|which)\s|[,$(]", f" {said} ", maxsplit=1
    )[0].split()
    word = before[-1].lower() if before else said
    return word[:-1] if word.endswith("s") and len(word) > 3 else word

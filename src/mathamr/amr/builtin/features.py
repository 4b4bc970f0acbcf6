"""What the models look at: features of a word, of a candidate core, of a node, and of a pair of nodes.

A feature is a string; a model keeps the ones it met often enough in training and sums their vectors.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from mathamr.amr.builtin.frames import Frames, is_frame
from mathamr.amr.builtin.lexicon import INSIDE, NAME, NONE, NUMBER, STRING, FrameCandidate
from mathamr.amr.builtin.mathematics import FORMULA
from mathamr.amr.builtin.syntax import SyntaxSentence
from mathamr.amr.builtin.vocabulary import PRONOUNS

MAX_PATH = 6
SHORT_PATH = 2
FUNCTION_DEPS = frozenset(
    {"aux", "auxpass", "neg", "det", "prt", "mark", "expl", "cc", "case", "poss", "prep"}
)
CONJUNCTIONS = frozenset({"and", "or", "contrast-01", "slash", "multi-sentence"})


@dataclass
class WordNode:
    """A node of the graph that is being built: `token` is its word, `place` its position in the word's template."""

    concept: str
    constant: bool
    token: int
    place: int = 0
    text: tuple[str, ...] = ()


def word_features(sentence: SyntaxSentence, token: int) -> list[str]:
    """A word in its context."""
    words, lemmas, tags, deps = sentence.words, sentence.lemmas, sentence.tags, sentence.deps
    word, lemma, tag, dep, head = words[token], lemmas[token], tags[token], deps[token], sentence.heads[token]
    low = word.lower()
    head_lemma, head_tag = ("<root>", "<root>") if head == token else (lemmas[head], tags[head])
    before, after = token - 1, token + 1
    previous = lemmas[before] if before >= 0 else "<s>"
    following = lemmas[after] if after < len(words) else "</s>"
    found = [
        "l=" + lemma,
        "t=" + tag,
        "d=" + dep,
        "td=" + tag + dep,
        "s3=" + low[-3:],
        "s2=" + low[-2:],
        "p3=" + low[:3],
        "hl=" + head_lemma,
        "ht=" + head_tag + dep,
        "sh=" + shape(word),
        "pl=" + previous,
        "nl=" + following,
        "pt=" + (tags[before] if before >= 0 else "<s>"),
        "nt=" + (tags[after] if after < len(words) else "</s>"),
        "lpl=" + lemma + "|" + previous,
        "lnl=" + lemma + "|" + following,
        "ld=" + lemma + "|" + dep,
        "lhl=" + lemma + "|" + head_lemma,
        "end=" + words[-1] + tag[0],
        "pos=" + ("first" if token == 0 else "second" if token == 1 else "later"),
    ]
    if after + 1 < len(words):
        found.append("nnl=" + lemmas[after + 1])
    if before > 0:
        found.append("ppl=" + lemmas[before - 1])
    kinds = set()
    for child in sentence.children[token]:
        kinds.add(deps[child])
        if deps[child] in FUNCTION_DEPS:
            found.append("cl=" + deps[child] + lemmas[child])
    found.extend("c=" + kind for kind in sorted(kinds))
    if tag[0] == "V" and not kinds & {"nsubj", "nsubjpass", "csubj", "expl"}:
        found.append("nosubj=" + tag + dep)
    return found


def shape(word: str) -> str:
    """The look of a word: capitals, digits, small letters and marks, runs shortened.

    >>> shape("caMEK-1"), shape("Earth")
    ('xX-d', 'Xx')
    """
    made = ""
    for character in word[:16]:
        kind = (
            "X"
            if character.isupper()
            else "x"
            if character.islower()
            else "d"
            if character.isdigit()
            else character
        )
        if not made or made[-1] != kind:
            made += kind
    return made


def core_kind(candidate: FrameCandidate, lemma: str) -> tuple[str, str]:
    """The kind of a candidate, without and with the reason it is one."""
    core = candidate.core
    if core in (NONE, NAME, INSIDE, NUMBER, STRING) or core[0] == "=":
        name = core
    else:
        name = "copy" if core == lemma else "frame" if is_frame(core) else "concept"
    return name, name + candidate.reason if candidate.reason != "seen" else name


def core_features(
    sentence: SyntaxSentence, token: int, candidate: FrameCandidate
) -> tuple[list[str], list[str]]:
    """A candidate core of a word, whatever its neighbours: features with vectors, and features with a weight alone."""
    tag, dep, lemma, word = (
        sentence.tags[token],
        sentence.deps[token],
        sentence.lemmas[token],
        sentence.words[token],
    )
    core, total = candidate.core, candidate.total
    share = bucket(10 * candidate.count // total) if total > 0 else "x"
    amount, width = bucket(total), bucket(candidate.overall)
    name, kind = core_kind(candidate, lemma)
    return (
        [
            "k=" + kind,
            "kc=" + core,
            "kt=" + kind + tag,
            "kd=" + kind + dep,
            "kp=" + name + share + amount,
            "ko=" + kind + width,
        ],
        [
            "ks=" + kind + word[-3:].lower(),
            "ksh=" + kind + shape(word),
            "krp=" + kind + share + amount,
            "kft=" + name + share + tag,
            "kot=" + name + width + share + tag[0],
            "kct=" + core + "|" + tag,
            "kcd=" + core + "|" + dep,
            "kcl=" + core + "|" + lemma,
        ],
    )


def neighbour_features(sentence: SyntaxSentence, token: int, candidate: FrameCandidate) -> list[str]:
    """A candidate core of a word and the words around it: features with a weight alone."""
    core, head, lemmas = candidate.core, sentence.heads[token], sentence.lemmas
    _, kind = core_kind(candidate, lemmas[token])
    return [
        "kch=" + core + "|" + lemmas[head],
        "kcn=" + core + "|" + (lemmas[token + 1] if token + 1 < len(lemmas) else "</s>"),
        "kcp=" + core + "|" + (lemmas[token - 1] if token > 0 else "<s>"),
        "kht=" + kind + sentence.tags[head] + sentence.deps[token],
    ]


def template_features(described: list[str], tag: str, core: str) -> list[str]:
    """A word, described by `word_features`, and the core it was given."""
    return [*described, "core=" + core, "coret=" + core + "|" + tag]


def bucket(number: int) -> str:
    """A number on a coarse scale: 0, 1, 2, 3, 4, 8, 16, …"""
    if number <= 4:
        return str(max(0, number))
    return str(1 << (number.bit_length() - 1))


def type_of(node: WordNode) -> str:
    """The rough kind of a node."""
    concept = node.concept
    if node.constant:
        return "polarity" if concept == "-" else "number" if concept[:1].isdigit() else "constant"
    if concept in CONJUNCTIONS:
        return "conjunction"
    if FORMULA.fullmatch(concept):
        return "formula"
    if concept == "name":
        return "name"
    if is_frame(concept):
        return "special" if concept.endswith("-91") else "frame"
    if concept in PRONOUNS:
        return "pronoun"
    if concept.endswith(("-quantity", "-entity")):
        return "quantity"
    return "thing"


def node_features(
    sentence: SyntaxSentence, nodes: Sequence[WordNode], number: int, frames: Frames
) -> list[str]:
    """A node, by its concept and its word."""
    node = nodes[number]
    token = node.token
    tags, deps, lemmas = sentence.tags, sentence.deps, sentence.lemmas
    tag, dep, head = tags[token], deps[token], sentence.heads[token]
    kind = type_of(node)
    head_lemma, head_tag = ("<root>", "<root>") if head == token else (lemmas[head], tags[head])
    concept = kind if kind in ("formula", "number") else node.concept
    found = [
        "n=" + concept,
        "ny=" + kind,
        "nt=" + tag,
        "nd=" + dep,
        "nyd=" + kind + dep,
        "nl=" + lemmas[token] if kind != "formula" else "nl=<formula>",
        "nhl=" + head_lemma,
        "nht=" + head_tag + dep,
        "ndh=" + dep + head_lemma,
        "nr=" + (frames.roles(node.concept) if kind == "frame" else "-"),
        "np=" + str(min(node.place, 3)) + kind,
        "npc=" + str(min(node.place, 3)) + concept,
        "ndp=" + bucket(sentence.depths[token]),
        "nroot=" + ("root" if head == token else "inner") + kind,
    ]
    kinds = set()
    for child in sentence.children[token]:
        kinds.add(deps[child])
        if deps[child] in ("prep", "mark", "aux", "cc"):
            found.append("ncl=" + lemmas[child])
    found.extend("nc=" + each + kind[0] for each in sorted(kinds))
    return found


class Paths:
    """Dependency paths between the words of one sentence, as text."""

    def __init__(self, sentence: SyntaxSentence) -> None:
        self._heads = sentence.heads
        self._deps = sentence.deps
        self._inner = [
            dep + ":" + lemma if tag in ("IN", "TO") else dep
            for dep, lemma, tag in zip(sentence.deps, sentence.lemmas, sentence.tags, strict=True)
        ]
        self._known: dict[int, tuple[dict[int, int], list[str], list[str]]] = {}

    def _chain(self, token: int) -> tuple[dict[int, int], list[str], list[str]]:
        """The words above a word with their distances, and the text of the way up to each and down from each."""
        found = self._known.get(token)
        if found is None:
            steps, here = {token: 0}, token
            up, down = [""], [""]
            while self._heads[here] != here and len(steps) <= MAX_PATH:
                name = self._deps[here] if here == token else self._inner[here]
                up.append(up[-1] + "^" + name)
                down.append("v" + name + down[-1])
                here = self._heads[here]
                steps[here] = len(steps)
            found = self._known[token] = steps, up, down
        return found

    def between(self, source: int, target: int) -> tuple[str, int]:
        """The path as text and its length; ``far`` and MAX_PATH + 1 beyond the reach."""
        if source == target:
            return "same", 0
        rises, up, _ = self._chain(source)
        falls, _, down = self._chain(target)
        for node, rise in rises.items():
            fall = falls.get(node)
            if fall is not None:
                if rise + fall > MAX_PATH:
                    break
                return up[rise] + down[fall], rise + fall
        return "far", MAX_PATH + 1


def pair_features(
    sentence: SyntaxSentence,
    source: WordNode,
    target: WordNode,
    kinds: tuple[str, str],
    path: str,
    roles: str,
) -> list[str]:
    """Two nodes and the way from one to the other."""
    one, other = kinds
    concept = source.concept if one != "formula" else one
    goal = target.concept if other not in ("formula", "number") else other
    gap = target.token - source.token
    both = one[:4] + other[:4]
    distance = ("+" if gap > 0 else "-") + bucket(abs(gap))
    return [
        path,
        path + both,
        path + "|" + concept,
        path + "|>" + goal,
        concept + "|" + goal,
        path + "#" + roles + other[:4],
        distance + both,
        path + str(min(source.place, 2)) + str(min(target.place, 2)) + both,
        "=" + both if concept == goal else "!" + both,
    ]


def worth_scoring(path: str, length: int, one: str, other: str, known: Collection[str]) -> bool:
    """Whether two nodes may be related: near in the tree, on a path that related nodes before, or a pronoun."""
    if length <= SHORT_PATH or path in known:
        return True
    return "pronoun" in (one, other)

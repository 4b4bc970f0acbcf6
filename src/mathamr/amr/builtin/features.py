"""The features of the models: of a word, of a candidate core, of a node, and of a pair of nodes.

A feature is a string; a model knows those that were frequent enough in training and sums their vectors. Most are
declared as forms, which training writes out here word by word and `lookup` resolves to numbers for whole batches.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

from mathamr.amr.builtin.frames import Frames, is_frame
from mathamr.amr.builtin.lexicon import INSIDE, NAME, NONE, NUMBER, STRING, FrameCandidate
from mathamr.amr.builtin.mathematics import is_formula
from mathamr.amr.builtin.syntax import SyntaxSentence
from mathamr.amr.builtin.vocabulary import PRONOUNS

MAX_PATH = 6
SHORT_PATH = 2
FUNCTION_DEPS = frozenset(
    {"aux", "auxpass", "neg", "det", "prt", "mark", "expl", "cc", "case", "poss", "prep"}
)
ROOT, OPENING, CLOSING = "<root>", "<s>", "</s>"
HIDDEN_FORMULA = "<formula>"
POSITIONS = ("first", "second", "later")
KINDS = (
    "polarity", "number", "constant", "conjunction", "formula", "name", "frame", "special", "pronoun",
    "quantity", "thing",
)  # fmt: skip
CONJUNCTIONS = frozenset({"and", "or", "contrast-01", "slash", "multi-sentence"})


@dataclass(slots=True)
class WordNode:
    """A node of the graph that is being built: `token` is its word, `place` its position in the word's template."""

    concept: str
    constant: bool
    token: int
    place: int = 0
    text: tuple[str, ...] = ()


OWN_FORMS = (
    "l={lemma}", "t={tag}", "s3={suffix3}", "s2={suffix2}", "p3={prefix3}", "sh={shape}",
)  # fmt: skip
"""Features of a word alone."""

AROUND_FORMS = (
    "d={dep}", "td={tag}{dep}", "ld={lemma}|{dep}", "hl={head_lemma}", "ht={head_tag}{dep}", "pl={previous}", "nl={following}",
    "pt={previous_tag}", "nt={following_tag}", "lpl={lemma}|{previous}", "lnl={lemma}|{following}", "lhl={lemma}|{head_lemma}",
    "end={last}{letter}", "pos={position}", "nnl={second_following}", "ppl={second_previous}",
    "nosubj={bare_verb}{dep}",
)  # fmt: skip
"""Features of a word and its place in the sentence; a form with a missing part yields no feature."""

CHILD_FORM, CHILD_WORD_FORM = "c={dep}", "cl={dep}{lemma}"
SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj", "expl"})


OWN_PARTS = ("lemma", "tag", "suffix3", "suffix2", "prefix3", "shape")


def own_parts(word: str, lemma: str, tag: str) -> tuple[str, ...]:
    """The `OWN_PARTS` of a word."""
    low = word.lower()
    return lemma, tag, low[-3:], low[-2:], low[:3], shape(word)


def around_parts(sentence: SyntaxSentence, token: int) -> dict[str, str]:
    """The parts of `AROUND_FORMS` that are present; `columns.WordColumns` computes the same for a whole batch."""
    lemmas, tags, deps, head = sentence.lemmas, sentence.tags, sentence.deps, sentence.heads[token]
    size, tag = len(lemmas), tags[token]
    parts = {
        "lemma": lemmas[token],
        "tag": tag,
        "dep": deps[token],
        "head_lemma": lemmas[head] if head != token else ROOT,
        "head_tag": tags[head] if head != token else ROOT,
        "previous": lemmas[token - 1] if token > 0 else OPENING,
        "previous_tag": tags[token - 1] if token > 0 else OPENING,
        "following": lemmas[token + 1] if token + 1 < size else CLOSING,
        "following_tag": tags[token + 1] if token + 1 < size else CLOSING,
        "last": sentence.words[-1],
        "letter": tag[0],
        "position": POSITIONS[min(token, 2)],
    }
    if token + 2 < size:
        parts["second_following"] = lemmas[token + 2]
    if token > 1:
        parts["second_previous"] = lemmas[token - 2]
    if tag[0] == "V" and SUBJECTS.isdisjoint(deps[child] for child in sentence.children[token]):
        parts["bare_verb"] = tag
    return parts


def written(forms: Sequence[str], parts: Mapping[str, str]) -> list[str]:
    """The features that the forms yield for the parts that are present."""
    found = []
    for form in forms:
        with suppress(KeyError):
            found.append(form.format_map(parts))
    return found


def word_features(sentence: SyntaxSentence, token: int) -> list[str]:
    """The features of a word in its context."""
    deps, lemmas = sentence.deps, sentence.lemmas
    own = own_parts(sentence.words[token], lemmas[token], sentence.tags[token])
    found = written(OWN_FORMS, dict(zip(OWN_PARTS, own, strict=True)))
    found += written(AROUND_FORMS, around_parts(sentence, token))
    children = sentence.children[token]
    found += [CHILD_FORM.format(dep=kind) for kind in sorted({deps[child] for child in children})]
    found += [
        CHILD_WORD_FORM.format(dep=deps[child], lemma=lemmas[child])
        for child in children
        if deps[child] in FUNCTION_DEPS
    ]
    return found


@lru_cache(maxsize=16_384)
def shape(word: str) -> str:
    """The shape of a word: classes of capitals, digits, lower-case letters and marks, with runs shortened.

    >>> shape("caMEK-1"), shape("Earth")
    ('xX-d', 'Xx')
    """
    result = ""
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
        if not result or result[-1] != kind:
            result += kind
    return result


_SPECIAL = frozenset({NONE, NAME, INSIDE, NUMBER, STRING})


def core_kind(candidate: FrameCandidate, lemma: str) -> tuple[str, str]:
    """The kind of a candidate, without and with the reason why it is one."""
    core, reason = candidate[:2]
    if core in _SPECIAL or core[0] == "=":
        name = core
    else:
        name = "copy" if core == lemma else "frame" if is_frame(core) else "concept"
    return name, name + reason if reason != "seen" else name


CORE_DEP_FORM, DETAIL_DEP_FORM = "kd={kind}{dep}", "kcd={core}|{dep}"


def core_features(
    sentence: SyntaxSentence, token: int, candidate: FrameCandidate
) -> tuple[list[str], list[str]]:
    """The features of a candidate core that ignore its neighbours: those with vectors, and those with a weight alone."""
    lemma, dep = sentence.lemmas[token], sentence.deps[token]
    (own,) = own_core_parts(sentence.words[token], lemma, sentence.tags[token], [candidate])
    parts = {"dep": dep, **dict(zip(CORE_PARTS, own, strict=True))}
    return written((*CORE_FORMS, CORE_DEP_FORM), parts), written((*DETAIL_FORMS, DETAIL_DEP_FORM), parts)


CORE_PARTS = (
    "kind", "name", "core", "share", "amount", "width", "tag", "letter", "lemma", "suffix3", "shape",
)  # fmt: skip
CORE_FORMS = ("k={kind}", "kc={core}", "kt={kind}{tag}", "kp={name}{share}{amount}", "ko={kind}{width}")
DETAIL_FORMS = (
    "ks={kind}{suffix3}", "ksh={kind}{shape}", "krp={kind}{share}{amount}", "kft={name}{share}{tag}",
    "kot={name}{width}{share}{letter}", "kct={core}|{tag}", "kcl={core}|{lemma}",
)  # fmt: skip
"""Features of a candidate core that depend only on the word and its tag: with vectors, and with a weight."""


def own_core_parts(
    word: str, lemma: str, tag: str, candidates: Sequence[FrameCandidate]
) -> list[tuple[str, ...]]:
    """The `CORE_PARTS` of the candidates of a word."""
    own = tag, tag[0], lemma, word[-3:].lower(), shape(word)
    result: list[tuple[str, ...]] = []
    for candidate in candidates:
        core, _, times, total, overall = candidate
        name, kind = core_kind(candidate, lemma)
        share = bucket(10 * times // total) if total > 0 else "x"
        result.append((kind, name, core, share, bucket(total), bucket(overall), *own))
    return result


NEIGHBOUR_FORMS = (
    "kch={core}|{head_lemma}", "kcn={core}|{following}", "kcp={core}|{previous}", "kht={kind}{head_tag}{dep}",
)  # fmt: skip


def neighbour_features(sentence: SyntaxSentence, token: int, candidate: FrameCandidate) -> list[str]:
    """The features of a candidate core and the words around it (a root is its own head), all with a weight alone."""
    head, lemmas = sentence.heads[token], sentence.lemmas
    parts = {
        "core": candidate.core,
        "kind": core_kind(candidate, lemmas[token])[1],
        "head_lemma": lemmas[head],
        "head_tag": sentence.tags[head],
        "dep": sentence.deps[token],
        "following": lemmas[token + 1] if token + 1 < len(lemmas) else CLOSING,
        "previous": lemmas[token - 1] if token > 0 else OPENING,
    }
    return written(NEIGHBOUR_FORMS, parts)


TEMPLATE_FORMS = ("core={core}", "coret={core}|{tag}")


def template_features(described: list[str], tag: str, core: str) -> list[str]:
    """The features of a word, described by `word_features`, with its core."""
    return [*described, *written(TEMPLATE_FORMS, {"core": core, "tag": tag})]


@lru_cache(maxsize=4096)
def bucket(number: int) -> str:
    """Rounds a number to a coarse scale: 0, 1, 2, 3, 4, 8, 16, …"""
    if number <= 4:
        return str(max(0, number))
    return str(1 << (number.bit_length() - 1))


def type_of(node: WordNode) -> str:
    """The rough kind of a node."""
    return _type_of(node.concept, node.constant)


@lru_cache(maxsize=65_536)
def _type_of(concept: str, constant: bool) -> str:
    if constant:
        return "polarity" if concept == "-" else "number" if concept[:1].isdigit() else "constant"
    if concept in CONJUNCTIONS:
        return "conjunction"
    if is_formula(concept):
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


NODE_FORMS = (
    "n={concept}", "ny={kind}", "nt={tag}", "nd={dep}", "nyd={kind}{dep}", "nl={lemma}", "nhl={head_lemma}",
    "nht={head_tag}{dep}", "ndh={dep}{head_lemma}", "nr={roles}", "np={place}{kind}", "npc={place}{concept}",
    "ndp={depth}", "nroot={position}{kind}",
)  # fmt: skip
NODE_CHILD_FORM, NODE_CHILD_WORD_FORM = "nc={dep}{letter}", "ncl={lemma}"
CHILD_WORDS = frozenset({"prep", "mark", "aux", "cc"})


def node_features(
    sentence: SyntaxSentence, nodes: Sequence[WordNode], number: int, frames: Frames
) -> list[str]:
    """The features of a node, from its concept and its word."""
    node = nodes[number]
    token = node.token
    deps, lemmas, head = sentence.deps, sentence.lemmas, sentence.heads[token]
    kind = type_of(node)
    parts = {
        "concept": kind if kind in ("formula", "number") else node.concept,
        "kind": kind,
        "tag": sentence.tags[token],
        "dep": deps[token],
        "lemma": lemmas[token] if kind != "formula" else HIDDEN_FORMULA,
        "head_lemma": lemmas[head] if head != token else ROOT,
        "head_tag": sentence.tags[head] if head != token else ROOT,
        "roles": roles_of(node, kind, frames),
        "place": str(min(node.place, 3)),
        "depth": bucket(sentence.depths[token]),
        "position": "root" if head == token else "inner",
    }
    found = written(NODE_FORMS, parts)
    children = sentence.children[token]
    found += [
        NODE_CHILD_WORD_FORM.format(lemma=lemmas[child]) for child in children if deps[child] in CHILD_WORDS
    ]
    kinds = sorted({deps[child] for child in children})
    found += [NODE_CHILD_FORM.format(dep=each, letter=kind[0]) for each in kinds]
    return found


def roles_of(node: WordNode, kind: str, frames: Frames) -> str:
    """The numbers of the core arguments that a node's concept takes."""
    return frames.roles(node.concept) if kind == "frame" else "-"


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
        """The words above a word with their distances, and the text of the path up to each and down from each."""
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
        """The path as text and its length; ``far`` and MAX_PATH + 1 if it is longer than `MAX_PATH`."""
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


PATH_FORMS = (
    "{path}{both}",
    "{path}|{concept}",
    "{path}|>{goal}",
    "{path}#{roles}{other}",
    "{path}{places}{both}",
)
"""Features of two nodes on a path; none of them applies if the path itself (`PATH_FORM`) is not a feature."""

PATH_FORM, CONCEPTS_FORM, BOTH_FORM = "{path}", "{concept}|{goal}", "{sign}{both}"


def pair_features(
    sentence: SyntaxSentence,
    source: WordNode,
    target: WordNode,
    kinds: tuple[str, str],
    path: str,
    roles: str,
) -> list[str]:
    """The features of two nodes and the path from one to the other."""
    one, other = kinds
    concept = source.concept if one != "formula" else one
    goal = target.concept if other not in ("formula", "number") else other
    both = one[:4] + other[:4]
    parts = {
        "path": path,
        "both": both,
        "concept": concept,
        "goal": goal,
        "roles": roles,
        "other": other[:4],
        "places": str(min(source.place, 2)) + str(min(target.place, 2)),
    }
    signs = (distance(target.token - source.token), "=" if concept == goal else "!")
    return [
        *written((PATH_FORM, *PATH_FORMS, CONCEPTS_FORM), parts),
        *(BOTH_FORM.format(sign=sign, both=both) for sign in signs),
    ]


def distance(gap: int) -> str:
    """The number of words between two words on a coarse scale, with the direction."""
    return ("+" if gap > 0 else "-") + bucket(abs(gap))


def worth_scoring(path: str, length: int, one: str, other: str, known: Collection[str]) -> bool:
    """True if two nodes may be related: close in the tree, on a path known from training, or with a pronoun."""
    if length <= SHORT_PATH or path in known:
        return True
    return "pronoun" in (one, other)

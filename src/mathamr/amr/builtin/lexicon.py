"""`Lexicon`: counts which concepts each lemma stood for in the training graphs.

A *core* is what one word contributes: a concept, a constant (written with a leading ``=``), or one of the special
cores below. The nodes and edges around a core (``person :ARG0-of``) are its *template*, which is chosen separately.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from mathamr.amr.builtin.frames import LETTERS, Frames
from mathamr.amr.builtin.lemmas import lemma as lemma_of
from mathamr.amr.builtin.mathematics import ADJECTIVES, NOUNS, THINGS, is_formula, is_mathematical
from mathamr.amr.builtin.names import find_names
from mathamr.amr.builtin.vocabulary import NEGATIVE_PREFIXES, PRONOUNS, number_value
from mathamr.amr.builtin.words import WordSentence

NONE, NAME, INSIDE, NUMBER, STRING = "<none>", "<name>", "<inside>", "<number>", "<string>"
PARTICLES = frozenset({"RP", "IN", "RB", "TO"})
PARTICLE_WITHIN = 5
LIMIT = 12
CERTAIN, CERTAIN_SHARE = 60, 0.997
RARE, SHORT = 8, 3
"""A rarer word is unknown; a shorter sentence is a title."""
_OF_NAMES = frozenset({NAME, INSIDE, STRING})


class FrameCandidate(NamedTuple):
    """A core that a word may have: the `reason`, and how often its lemma (`times` of `total`) and any lemma had it."""

    core: str
    reason: str
    times: int
    total: int
    overall: int


def name_keys(parts: Sequence[str]) -> Iterator[str]:
    """Yield what a name is looked up by: itself, its letters and digits, those without a number at the end, its last word.

    >>> list(name_keys(["B-Raf1"]))
    ['B-Raf1', '~braf1', '#braf', '.raf']
    """
    text = " ".join(parts)
    low = re.sub(r"[\W_]+", "", text.lower())
    stem = low.rstrip("0123456789")
    words = [word for word in re.split(r"[\W\d_]+", text.lower()) if len(word) > 2]
    yield text
    yield "~" + low
    if len(stem) > 1 and stem != low:
        yield "#" + stem
    if words:
        yield "." + words[-1]


class Lexicon:
    """Counts of cores per lemma, and the candidates of a word.

    `general` names the cores that each lemma had outside the graphs on biology: in a mathematical sentence a
    "negative" number downregulates nothing. `names` says what names on biology are, by `name_keys`, and `biology` has the words that mark a sentence as one about biology; `words` are common words of mathematical prose, and
    `mathematical` has counts that only mathematical sentences use.
    """

    def __init__(
        self,
        frames: Frames,
        counts: Mapping[str, Mapping[str, int]],
        general: Mapping[str, Iterable[str]] | None = None,
        names: Mapping[str, str] | None = None,
        biology: Iterable[str] = (),
        words: Iterable[str] = (),
        mathematical: Mapping[str, Mapping[str, int]] | None = None,
    ) -> None:
        self.frames, self.names, self.biology = frames, names or {}, frozenset(biology)
        self.words = frozenset(words)
        self.general = (
            None if general is None else {lemma: frozenset(cores) for lemma, cores in general.items()}
        )
        self.counts: dict[str, dict[str, int]] = {lemma: dict(cores) for lemma, cores in counts.items()}
        self.mathematical = {
            lemma: Counter(self.counts.get(lemma, {})) + Counter(cores)
            for lemma, cores in (mathematical or {}).items()
        }
        self.totals = {lemma: sum(cores.values()) for lemma, cores in self.counts.items()}
        self.cores: Counter[str] = Counter()
        for cores in self.counts.values():
            self.cores.update(cores)

    def named(self, parts: Sequence[str]) -> str:
        """Return the core of a name with the concept that such names had in training, as in "<name>enzyme"; without it if
        there was none.
        """
        return NAME + next((self.names[key] for key in name_keys(parts) if key in self.names), "")

    def read_capitals(self, sentence: WordSentence) -> None:
        """Set whether a sentence is about biology; if not, set its names and lower-case its other words in place."""
        low = [word.lower() for word in sentence.words]
        singular = [word.removesuffix("s") for word in low]
        marked = not self.biology.isdisjoint(low + singular) or any(
            word in self.names for word in sentence.words if len(word) > 2 and not word[1:].islower()
        )
        sentence.biological = marked and not is_mathematical(sentence.words, low + singular)
        if sentence.biological:
            return
        sentence.names = names = find_names(sentence, self._is_word)
        inside = {token for first, (last, _) in names.items() for token in range(first, last + 1)}
        for token, word in enumerate(sentence.words):
            if token not in inside and not is_formula(word) and len(word) > 1:
                sentence.words[token] = low[token] if token else word[0] + low[token][1:]

    def _is_word(self, low: str) -> bool:
        """Return True if English has the word, as far as the tables know."""
        bases = {low, lemma_of(low, "NNS"), lemma_of(low, "VBD"), lemma_of(low, "VBG")}
        return low in self.words or any(
            any(core not in _OF_NAMES for core in self.counts.get(base, ()))
            or base in NOUNS
            or self.frames.derived(base)
            or any(self.frames.senses(base, letter) for letter in "vnjr")
            for base in bases
        )

    def actor(self, sentence: WordSentence, token: int) -> str | None:
        """Return the verb of a noun for persons ("student": `study-01`), outside biology."""
        if sentence.biological or sentence.tags[token][0] != "N":
            return None
        _, _, verb = (self.frames.derived(sentence.lemmas[token]) or "").partition("person :ARG0-of ")
        return verb or None

    def candidates(
        self, sentence: WordSentence, token: int, seen: Mapping[tuple[str, str], int] | None = None
    ) -> list[FrameCandidate]:
        """Return the cores that a word may have; a single one if there is nothing to decide.

        `seen` holds the counts that come from the sentence itself; training subtracts them, so that a model learns to
        handle words that the lexicon does not know.
        """
        word, lemma, tag = sentence.words[token], sentence.lemmas[token], sentence.tags[token]
        if is_formula(word):
            return [FrameCandidate(word, "formula", 0, 0, 0)]
        if not sentence.biological:
            for first, (last, kind) in sentence.names.items():
                if first <= token <= last:
                    core = word.lower() if not kind else NAME if token == first else INSIDE
                    return [FrameCandidate(core, "name", 0, 0, 0)]
            if len(word) == 1 and word.isupper() and (word not in "AI" or (token and word == "A")):
                return [FrameCandidate(lemma, "noun", 0, 0, 0)]
        if tag[0] == "N" and (
            (lemma in NOUNS and sentence.mathematical) or (lemma in THINGS and not sentence.biological)
        ):
            return [FrameCandidate(lemma, "noun", 0, 0, 0)]
        if lemma in ADJECTIVES and sentence.mathematical and tag[0] in "JN":
            return [FrameCandidate(lemma, "noun", 0, 0, 0)]
        counts = self.counts.get(lemma, {})
        total = self.totals.get(lemma, 0)
        if lemma in self.mathematical and sentence.mathematical:
            counts, total = self.mathematical[lemma], self.mathematical[lemma].total()
        if seen is not None:
            counts = {core: count - seen.get((lemma, core), 0) for core, count in counts.items()}
            total = sum(counts.values())
        elif total >= CERTAIN and counts.get(NONE, 0) >= CERTAIN_SHARE * total:
            return [FrameCandidate(NONE, "none", total, total, 0)]
        found: dict[str, str] = {NONE: "none"}
        if word.isalnum() or any(character.isalnum() for character in word):
            for core, reason in self._productive(sentence, token, word, lemma, tag):
                found.setdefault(core, reason)
        allowed = self._allowed(sentence, lemma) if seen is None else None
        for core, count in sorted(counts.items(), key=lambda item: -item[1])[:LIMIT]:
            if (
                count > 0
                and (allowed is None or core in allowed)
                and (sentence.biological or core not in _OF_NAMES)
            ):
                found.setdefault(core, "seen")
        unknown = seen is None and total <= RARE and not counts.keys() - _OF_NAMES - {NONE}
        titled = len(sentence) <= SHORT and not sentence.biological
        if (
            unknown
            and (sentence.mathematical or titled)
            and tag[0] in "NJV"
            and word.isalpha()
            and len(word) > 2
        ):
            found.pop(NONE)  # An unknown word of mathematical English is a concept.
        own = seen or {}
        return [
            FrameCandidate(
                core,
                reason,
                max(0, counts.get(core, 0)),
                total,
                self.cores.get(core, 0) - own.get((lemma, core), 0),
            )
            for core, reason in found.items()
        ]

    def _allowed(self, sentence: WordSentence, lemma: str) -> frozenset[str] | None:
        """Return the cores that a lemma had outside texts on biology, or None (any) in such a text."""
        if self.general is None or sentence.biological:
            return None
        return self.general.get(lemma, frozenset()) | self.mathematical.get(lemma, {}).keys()

    def _productive(
        self, sentence: WordSentence, token: int, word: str, lemma: str, tag: str
    ) -> Iterable[tuple[str, str]]:
        low = word.lower()
        if low in PRONOUNS:
            yield PRONOUNS[low], "pronoun"
            return
        if number_value(word) is not None:
            yield NUMBER, "number"
        kind = tag[0]
        if kind in "NVJRMCFUA" or tag in ("IN", "XX", "ADD", "DT", "WRB", "PDT"):
            yield from self._senses(sentence, token, low, lemma, tag)
            yield lemma, "copy"
        if not sentence.biological:
            return
        plain = word.isalpha() and word.islower()
        capital = not plain and any(c.isupper() or c.isdigit() for c in word)
        if capital or tag.startswith("NNP") or self.counts.get(lemma, {}).get(NAME, 0) > 0:
            yield NAME, "name"
        if capital and (len(word) == 1 or any(c.isdigit() for c in word)):
            yield STRING, "string"
        if token > 0:
            yield INSIDE, "inside"

    def phrasal(self, sentence: WordSentence, token: int) -> Iterable[tuple[str, str]]:
        """Yield the senses of a verb with a particle or preposition among the next words."""
        lemma = sentence.lemmas[token]
        for distance in range(1, PARTICLE_WITHIN + 1):
            if token + distance >= len(sentence):
                return
            if sentence.tags[token + distance] in PARTICLES:
                phrase = f"{lemma}-{sentence.words[token + distance].lower()}"
                for sense in self.frames.senses(phrase, "v")[:2]:
                    yield sense, f"phrasal-{min(distance, 3)}"

    def _senses(
        self, sentence: WordSentence, token: int, low: str, lemma: str, tag: str
    ) -> Iterable[tuple[str, str]]:
        frames = self.frames
        if tag[0] in "VN":
            yield from self.phrasal(sentence, token)
        letter = LETTERS.get(tag[0], "n")
        senses = frames.senses(lemma, letter)
        for rank, sense in enumerate(senses[:4]):
            yield sense, f"sense-{letter}{rank}"
        if not senses and letter in "nj":
            for rank, sense in enumerate(frames.senses(lemma, "v")[:2]):
                yield sense, f"sense-v{rank}"
        derived = (frames.derived(lemma) or frames.derived(low) or "").removesuffix(" :polarity -")
        if derived:
            yield derived.split()[-1], "derived-" + ("actor" if " " in derived else "event")
        if tag in ("JJR", "JJS", "RBR", "RBS"):
            for rank, sense in enumerate(frames.senses(lemma, "j")[:3]):
                yield sense, f"sense-j{rank}"
        if low.endswith("ly") and tag[0] == "R":
            for base in (low[:-2], low[:-3] + "y", low[:-2] + "le", low[:-1] + "e", low[:-4]):
                senses = frames.senses(base, "j")
                for rank, sense in enumerate(senses[:2]):
                    yield sense, f"adverb-{rank}"
                if senses or base in self.counts:
                    yield base, "adverb-copy"
                    break
            else:
                yield low[:-2], "adverb-guess"
        if low.endswith(("ing", "ed")) and tag[0] in "NJ":
            for base in (low[:-3], low[:-3] + "e", low[:-2], low[:-1], low[:-4]):
                senses = frames.senses(base, "v")
                if senses:
                    yield senses[0], "participle"
                    break
        if low.startswith(NEGATIVE_PREFIXES) and len(low) > 5:
            size = 3 if low.startswith(("dis", "non")) else 2
            for letter in "jvn":
                senses = frames.senses(lemma[size:], letter)
                if senses:
                    yield senses[0], "negated"
                    break

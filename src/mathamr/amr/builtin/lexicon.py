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
from mathamr.amr.builtin.mathematics import NOUNS, is_formula
from mathamr.amr.builtin.vocabulary import NEGATIVE_PREFIXES, PRONOUNS, number_value
from mathamr.amr.builtin.words import WordSentence

NONE, NAME, INSIDE, NUMBER, STRING = "<none>", "<name>", "<inside>", "<number>", "<string>"
PARTICLES = frozenset({"RP", "IN", "RB", "TO"})
PARTICLE_WITHIN = 5
LIMIT = 12
CERTAIN, CERTAIN_SHARE = 60, 0.997


class FrameCandidate(NamedTuple):
    """A core that a word may have: the `reason`, and how often its lemma (`times` of `total`) and any lemma had it."""

    core: str
    reason: str
    times: int
    total: int
    overall: int


def name_keys(parts: Sequence[str]) -> Iterator[str]:
    """What a name is looked up by: itself, its letters and digits, those without a number at the end, its last word.

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
    "negative" number downregulates nothing. `names` says what names are, by `name_keys`.
    """

    def __init__(
        self,
        frames: Frames,
        counts: Mapping[str, Mapping[str, int]],
        general: Mapping[str, Iterable[str]] | None = None,
        names: Mapping[str, str] | None = None,
    ) -> None:
        self.frames, self.names = frames, names or {}
        self.general = (
            None if general is None else {lemma: frozenset(cores) for lemma, cores in general.items()}
        )
        self.counts: dict[str, dict[str, int]] = {lemma: dict(cores) for lemma, cores in counts.items()}
        self.totals = {lemma: sum(cores.values()) for lemma, cores in self.counts.items()}
        self.cores: Counter[str] = Counter()
        for cores in self.counts.values():
            self.cores.update(cores)

    def named(self, parts: Sequence[str]) -> str:
        """The core of a name: with what such a name was in training ("<name>enzyme"), or alone."""
        return NAME + next((self.names[key] for key in name_keys(parts) if key in self.names), "")

    def candidates(
        self, sentence: WordSentence, token: int, seen: Mapping[tuple[str, str], int] | None = None
    ) -> list[FrameCandidate]:
        """The cores that a word may have; a single one if there is nothing to decide.

        `seen` holds the counts that come from the sentence itself; training subtracts them, so that a model learns to
        handle words that the lexicon does not know.
        """
        word, lemma, tag = sentence.words[token], sentence.lemmas[token], sentence.tags[token]
        if is_formula(word):
            return [FrameCandidate(word, "formula", 0, 0, 0)]
        if tag[0] == "N" and lemma in NOUNS and sentence.mathematical:
            return [FrameCandidate(lemma, "noun", 0, 0, 0)]
        counts = self.counts.get(lemma, {})
        total = self.totals.get(lemma, 0)
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
            if count > 0 and (allowed is None or core in allowed):
                found.setdefault(core, "seen")
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
        """For a mathematical sentence, the cores that a lemma had outside texts on biology; None means any core."""
        if self.general is None or not sentence.mathematical:
            return None
        return self.general.get(lemma, frozenset())

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
        plain = word.isalpha() and word.islower()
        capital = not plain and any(c.isupper() or c.isdigit() for c in word)
        if capital or tag.startswith("NNP") or self.counts.get(lemma, {}).get(NAME, 0) > 0:
            yield NAME, "name"
        if capital and (len(word) == 1 or any(c.isdigit() for c in word)):
            yield STRING, "string"
        if token > 0:
            yield INSIDE, "inside"

    def phrasal(self, sentence: WordSentence, token: int) -> Iterable[tuple[str, str]]:
        """The senses of a verb with a particle or preposition among the next words."""
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
        derived = frames.derived(lemma) or frames.derived(low)
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

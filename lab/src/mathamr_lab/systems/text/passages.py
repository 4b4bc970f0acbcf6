"""`Passages`: complete texts, runs of sentences and single sentences of a corpus, as places in a stream of word pieces."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mathamr.core.arrays import BoolArray, IntArray
from mathamr.core.errors import MathAMRError
from mathamr.text.configuration import WINDOW
from mathamr.text.wordpieces import Pieces
from mathamr_lab.systems.text.corpus import TextCorpus

RUNS = ((200, 1), (120, 40))
"""The greatest and least length, in pieces, of two kinds of runs of sentences."""
LEAST_SENTENCE = 6
NONE = -1


@dataclass(frozen=True, eq=False)
class Passages:
    """What an encoder learns from without questions.

    Passage i has the pieces [starts[i], starts[i] + lengths[i]) of `numbers`, which are numbered as in BERT's vocabulary of
    this checksum; a row of `other_starts` and `other_lengths` is the same passage in other letters, as often as there is a
    form of its text. `wholes` has the passage of each complete text of the corpus.
    """

    numbers: npt.NDArray[np.uint16]
    starts: IntArray
    lengths: IntArray
    other_starts: IntArray
    other_lengths: IntArray
    wholes: IntArray
    vocabulary: int

    def __len__(self) -> int:
        return len(self.starts)

    def drawn(
        self, chosen: IntArray, in_other_letters: BoolArray, generator: np.random.Generator
    ) -> tuple[IntArray, IntArray]:
        """Return the places and lengths of passages, some in a form that is drawn among theirs."""
        starts, lengths = self.starts[chosen], self.lengths[chosen]
        if not self.other_starts.shape[1]:
            return starts, lengths
        known = (self.other_starts[chosen] != NONE).sum(1)
        column = (generator.random(len(chosen)) * known).astype(np.int64)
        changed = in_other_letters & (known > 0)
        return (
            np.where(changed, self.other_starts[chosen, column], starts),
            np.where(changed, self.other_lengths[chosen, column], lengths),
        )

    @classmethod
    def of(cls, corpus: TextCorpus) -> Passages:
        """Return the passages of the texts that may be trained on; of a question that is part of another text only the complete one."""
        posts, forms = corpus.texts.posts, corpus.forms
        of_text = [forms.places.get(place, []) for place in range(len(posts))]
        at = np.cumsum([0, *map(len, posts), *map(len, forms.texts.posts)])
        wholes = np.full(len(posts), NONE)
        rows: list[tuple[int, int]] = []
        others: list[list[tuple[int, int]]] = []
        for place in np.flatnonzero(~corpus.apart).tolist():
            texts = [(at[place], posts[place])]
            texts += [(at[len(posts) + form], forms.texts.posts[form]) for form in of_text[place]]
            wholes[place] = len(rows)
            rows.append((int(at[place]), min(len(posts[place]), WINDOW)))
            others.append([(int(start), min(len(text), WINDOW)) for start, text in texts[1:]])
            if "#" in corpus.ids[place]:
                continue
            for first, last in sorted(set(_runs(posts[place]))):
                ends = int(posts[place].of[first]), int(posts[place].of[last])
                found = [_interval(text, *ends) for _, text in texts]
                intervals = [
                    (int(start) + interval[0], interval[1] - interval[0])
                    for (start, _), interval in zip(texts, found, strict=True)
                    if interval is not None
                ]
                rows.append(intervals[0])
                others.append(intervals[1:])
        most = max(map(len, others), default=0)
        filled = np.array([[*each, *[(NONE, 0)] * (most - len(each))] for each in others], np.int64)
        filled = filled.reshape(len(rows), most, 2)
        own = np.array(rows, np.int64).reshape(-1, 2)
        numbers = [text.numbers.astype(np.uint16) for text in (*posts, *forms.texts.posts)]
        return cls(
            np.concatenate([*numbers, np.zeros(0, np.uint16)]),
            own[:, 0],
            own[:, 1],
            filled[..., 0],
            filled[..., 1],
            wholes,
            corpus.vocabulary,
        )

    def save(self, path: Path) -> None:
        """Write one `.npz` without pickles."""
        arrays = {each.name: np.asarray(getattr(self, each.name)) for each in fields(self)}
        with path.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, **arrays)

    @classmethod
    def load(cls, path: Path) -> Passages:
        """Read the file that `save` wrote; refuse any other file."""
        try:
            with np.load(path, allow_pickle=False) as file:
                found = {each.name: file[each.name] for each in fields(cls)}
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise MathAMRError(f"{path} does not hold passages, or it is damaged: {error}") from error
        return cls(**{**found, "vocabulary": int(found["vocabulary"])})


def _runs(text: Pieces) -> Iterator[tuple[int, int]]:
    """Yield the first and last part of every run of sentences and single sentence, without the complete text."""
    sentences = _sentences(text)
    lengths = [int(text.ends[part] - text.starts[part]) for part in sentences]
    if len(sentences) < 2:
        return
    yield from (
        (part, part) for part, length in zip(sentences, lengths, strict=True) if length >= LEAST_SENTENCE
    )
    for most, least in RUNS:
        first, total = 0, 0
        for place, length in enumerate([*lengths, most + 1]):
            if total and total + length > most:
                if total >= least and place - first < len(sentences):
                    yield sentences[first], sentences[place - 1]
                first, total = place, 0
            total += length


def _sentences(text: Pieces) -> list[int]:
    """Return the outermost parts of a text but for the last, which is the complete text."""
    parts = range(len(text.of) - 1)
    found: list[int] = []
    end = 0
    for part in sorted(parts, key=lambda part: (text.starts[part], -text.ends[part])):
        if text.ends[part] > end:
            found.append(part)
            end = int(text.ends[part])
    return found


def _interval(text: Pieces, first: int, last: int) -> tuple[int, int] | None:
    """Return the pieces from one representative's part to another's, at most a window; None if the text lacks one."""
    begin, finish = np.flatnonzero(text.of == first), np.flatnonzero(text.of == last)
    if not len(begin) or not len(finish):
        return None
    start = int(text.starts[begin[0]])
    return start, min(int(text.ends[finish[0]]), start + WINDOW)

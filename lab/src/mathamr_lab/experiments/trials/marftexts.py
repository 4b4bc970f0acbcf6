"""`MarfTexts`: posts as MaRF reads them, one JSON line each, read from the file one at a time in any order."""

from __future__ import annotations

import json
import zlib
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from mathamr.core.closing import Closing
from mathamr.core.errors import MathAMRError
from mathamr.posts.post import Formula, Post
from mathamr.systems.marf.latextokens import latex_tokens
from mathamr.systems.marf.mathtokens import MathTokens
from mathamr.text.wording import written_sentences

COMMANDS = "commands.txt"
MOST_COMMANDS, LEAST_USES = 1000, 25
"""The paper adds about 1,000 mathematical tokens to the vocabulary; ours are the most frequent LaTeX commands."""


@dataclass(frozen=True, slots=True)
class MarfText:
    """The sentences of a post with its formulas as LaTeX, and the normalised tokens of each formula, the longest first."""

    id: str
    sentences: list[str]
    formulas: list[str]

    @classmethod
    def of(cls, name: str, post: Post) -> MarfText:
        """Reads a post."""
        return cls(name, written_sentences(post), _longest_first(post.formulas))

    @classmethod
    def of_formula(cls, name: str, formula: Formula) -> MarfText:
        """Reads a formula alone, which is its own text."""
        return cls(name, [f"${formula.latex}$"], _longest_first([formula]))

    @property
    def text(self) -> str:
        """All sentences."""
        return " ".join(self.sentences)

    def some(self, most: int) -> list[str]:
        """The longest formula, or up to `most` random ones, always the same of a post (section 3.4)."""
        if most == 1 or len(self.formulas) <= most:
            return self.formulas[:most]
        chance = np.random.default_rng(zlib.crc32(self.id.encode()))
        return [self.formulas[place] for place in sorted(chance.permutation(len(self.formulas))[:most])]


def _longest_first(formulas: Iterable[Formula]) -> list[str]:
    found = {" ".join(tokens): len(tokens) for each in formulas if (tokens := latex_tokens(each.latex))}
    return sorted(found, key=lambda latex: -found[latex])


class MarfTexts:
    """The lines of a file; only their places are in memory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._starts = array("q")
        try:
            self._file = path.open("rb")
            while True:
                start = self._file.tell()
                if not self._file.readline():
                    break
                self._starts.append(start)
        except OSError as error:
            raise MathAMRError(f"cannot read the texts in {path}: {error}") from error

    def __len__(self) -> int:
        return len(self._starts)

    def __getitem__(self, place: int) -> MarfText:
        self._file.seek(self._starts[place])
        return MarfText(**json.loads(self._file.readline()))

    def __iter__(self) -> Iterator[MarfText]:
        return (self[place] for place in range(len(self)))

    @staticmethod
    def write(path: Path, texts: Iterable[MarfText]) -> int:
        """Writes a file and returns the number of its lines."""
        with MarfWriter(path) as writer:
            for text in texts:
                writer.add(text)
        return writer.count


class MarfWriter(Closing):
    """Writes the lines of a file one after the other."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w", encoding="utf-8")
        self.count = 0

    def add(self, text: MarfText) -> int:
        """Appends a text and returns its line."""
        self._file.write(json.dumps(asdict(text), ensure_ascii=False) + "\n")
        self.count += 1
        return self.count - 1

    def close(self) -> None:
        """Closes the file."""
        self._file.close()


def write_commands(folder: Path, counts: Counter[str]) -> None:
    """Writes the most frequent commands, one a line."""
    common = [name for name, count in counts.most_common(MOST_COMMANDS) if count >= LEAST_USES]
    (folder / COMMANDS).write_text("".join(f"\\{name}\n" for name in common), encoding="utf-8")


def read_commands(folder: Path) -> list[str]:
    """The commands that are added to a base's vocabulary."""
    return (folder / COMMANDS).read_text(encoding="utf-8").split()


def commands_in(formulas: Iterable[Formula]) -> Iterator[str]:
    """The commands in formulas, without their backslash."""
    for formula in formulas:
        yield from MathTokens.commands_in(formula.latex)

"""`MarfTexts`: posts as MaRF reads them, one JSON line each, read from the file one at a time in any order."""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from mathamr.core.arrays import AnyArray
from mathamr.core.closing import Closing
from mathamr.core.errors import MathAMRError
from mathamr.posts.post import Formula, Post
from mathamr.systems.marf.latextokens import latex_tokens
from mathamr.systems.marf.mathtokens import MathTokens
from mathamr.systems.marf.postinput import (
    LatexVocabulary,
    PostInput,
    context_sentences,
    draw_formulas,
    normalised_latex,
)
from mathamr_lab.systems.marf.postshard import PostShard

COMMANDS = "commands.txt"
MOST_COMMANDS, LEAST_USES = 1000, 25
"""The paper adds about 1,000 mathematical tokens to the vocabulary; ours are the most frequent LaTeX commands."""


@dataclass(frozen=True, slots=True)
class MarfText:
    """The sentences of a post with its formulas as normalised LaTeX, and the tokens of each formula, the longest first."""

    id: str
    sentences: list[str]
    formulas: list[str]

    @classmethod
    def of(
        cls, name: str, post: Post, formula: Formula | None = None, *, normalised: bool = True
    ) -> MarfText:
        """Read a post, its LaTeX normalised or as written; with `formula` only that one, whose context the post is."""
        formulas = post.formulas if formula is None else [formula]
        return cls(name, context_sentences(post, normalised=normalised), _longest_first(formulas))

    @classmethod
    def of_formula(cls, name: str, formula: Formula) -> MarfText:
        """Read a formula alone, which is its own text."""
        return cls(name, [f"${normalised_latex(formula.latex)}$"], _longest_first([formula]))

    @property
    def text(self) -> str:
        """All sentences."""
        return " ".join(self.sentences)


Cut = Callable[[Sequence[Sequence[str]]], Iterable[tuple[AnyArray, AnyArray]]]
"""Turns the sentences of texts into tokens of a base, and the number of each token's sentence."""


class TextReader:
    """Reads texts as a network's input: tokens of the base, and tokens of normalised LaTeX."""

    def __init__(self, cut: Cut, latex: LatexVocabulary, formula_length: int) -> None:
        self._cut, self._latex, self._formula_length = cut, latex, formula_length

    def read(self, texts: Sequence[MarfText]) -> list[PostInput]:
        """Read texts, in order; formulas are drawn as an index draws them."""
        cut = self._cut([text.sentences for text in texts])
        return [
            PostInput(
                numbers,
                tuple(
                    ("", self._latex.numbers_of(latex.split(), self._formula_length))
                    for latex in draw_formulas(text.formulas, text.id)
                ),
                sentences,
            )
            for text, (numbers, sentences) in zip(texts, cut, strict=True)
        ]

    def shard(self, texts: MarfTexts, pairs: AnyArray, at_a_time: int = 1000) -> PostShard:
        """Read all texts of a file, and pairs of their lines."""
        stream, posts, ids = iter(texts), list[PostInput](), list[str]()
        while some := list(islice(stream, at_a_time)):
            posts += self.read(some)
            ids += [text.id for text in some]
        return PostShard(tuple(ids), tuple(posts), np.asarray(pairs, np.int32).reshape(-1, 2))


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
        """Write a file and return the number of its lines."""
        with MarfWriter(path) as writer:
            for text in texts:
                writer.add(text)
        return writer.count


class MarfWriter(Closing):
    """Write the lines of a file one after the other."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w", encoding="utf-8")
        self.count = 0

    def add(self, text: MarfText) -> int:
        """Append a text and return its line."""
        self._file.write(json.dumps(asdict(text), ensure_ascii=False) + "\n")
        self.count += 1
        return self.count - 1

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def write_commands(folder: Path, counts: Counter[str]) -> None:
    """Write the most frequent commands, one a line."""
    common = [name for name, count in counts.most_common(MOST_COMMANDS) if count >= LEAST_USES]
    (folder / COMMANDS).write_text("".join(f"\\{name}\n" for name in common), encoding="utf-8")


def read_commands(folder: Path) -> list[str]:
    """Return the commands that are added to a base's vocabulary."""
    return (folder / COMMANDS).read_text(encoding="utf-8").replace("\\", "").split()


def commands_in(formulas: Iterable[Formula]) -> Iterator[str]:
    """Yield the commands in formulas, without their backslash."""
    for formula in formulas:
        yield from MathTokens.commands_in(formula.latex)

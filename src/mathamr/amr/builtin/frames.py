"""`Frames`: which PropBank senses a word can have, which arguments a sense takes, and which nouns hide a verb.

The table was compiled from PropBank's frame files and from AMR's verbalisation lists; see NOTICE for their licences.
"""

from __future__ import annotations

import gzip
import re
from functools import cache, lru_cache
from pathlib import Path

TABLE = Path(__file__).parent / "data" / "frames.tsv.gz"
SENSE = re.compile(r"-[0-9][0-9]+$")
LETTERS = {"N": "n", "V": "v", "J": "j", "R": "r", "M": "v"}


@lru_cache(maxsize=16_384)
def is_frame(concept: str) -> bool:
    """Return True if a concept names a PropBank sense, like `give-up-07`."""
    return SENSE.search(concept) is not None


class Frames:
    """The compiled table.

    >>> frames = load_frames()
    >>> frames.senses("give", "v")[0], frames.roles("fall-01")
    ('give-01', '1234')
    >>> frames.derived("hater")
    'person :ARG0-of hate-01'
    """

    def __init__(self, lines: list[str]) -> None:
        self._roles: dict[str, str] = {}
        self._senses: dict[tuple[str, str], list[str]] = {}
        self._derived: dict[str, str] = {}
        self.relatives: set[str] = set()
        for line in lines:
            kind, key, *rest = line.split("\t")
            if kind == "F":
                self._roles[key] = rest[0]
                for alias in rest[1].split():
                    word, _, letter = alias.rpartition("/")
                    self._senses.setdefault((word, letter), []).append(key)
            elif kind == "D":
                self._derived[key] = rest[0]
            elif kind == "R":
                self.relatives.add(key)

    def __contains__(self, concept: str) -> bool:
        return concept in self._roles

    def roles(self, concept: str) -> str:
        """Return the numbers of the core arguments of a sense, as digits; empty if it is unknown."""
        return self._roles.get(concept, "")

    def senses(self, lemma: str, letter: str) -> list[str]:
        """Return the senses of a lemma as a verb (v), noun (n), adjective (j) or adverb (r), lowest number first."""
        return self._senses.get((lemma, letter), [])

    def derived(self, word: str) -> str | None:
        """Return what a derived noun or adjective stands for, like ``person :ARG0-of hate-01``."""
        return self._derived.get(word)


@cache
def load_frames() -> Frames:
    """Return the table of the package, read once."""
    return Frames(table_lines(TABLE))


def table_lines(path: Path) -> list[str]:
    """Return the lines of a compressed table without its comments."""
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    return [line for line in lines if not line.startswith("#")]

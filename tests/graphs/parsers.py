"""An AMR parser for tests: each sentence a chain of its words; some words do harm."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Sequence

from mathamr.amr.graph import Amr


class WordChain:
    """Words as concepts; FORMULA_1 is always dropped, `explode` raises, `killer` ends the process, `endless` never ends.

    `greedy` wants more memory than anybody gives it.
    """

    name = "words"

    def __init__(self, model: str | None = None) -> None:
        self.fingerprint = f"words-{model or 1}"

    def parse(self, sentences: Sequence[str]) -> list[Amr]:
        return [self._chain(sentence) for sentence in sentences]

    def _chain(self, sentence: str) -> Amr:
        words = [word for word in re.findall(r"\w+", sentence) if word != "FORMULA_1"] or ["nothing"]
        if "explode" in words:
            raise ValueError("exploded")
        if "killer" in words and os.environ.get("MATHAMR_TEST_KILL"):
            os._exit(9)
        while "endless" in words:
            pass
        if "greedy" in words:
            words += ["x" * (8 << 30)]
        names = [f"w{number}" for number in range(len(words))]
        edges = [(a, ":mod", b) for a, b in itertools.pairwise(names)]
        return Amr("w0", tuple(zip(names, words, strict=True)), tuple(edges))

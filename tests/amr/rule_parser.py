"""A parser for tests: every word a node under the first one, with ways to fail on demand."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence

from mathamr.amr.graph import Amr


class RuleParser:
    """Deterministic, dependency-free; a sentence that starts with a word of command misbehaves."""

    name = "rule"

    def __init__(self, model: str | None = None) -> None:
        self.fingerprint = f"rule-1-{model}"
        self.calls: list[tuple[str, ...]] = []

    def parse(self, sentences: Sequence[str]) -> list[Amr]:
        self.calls.append(tuple(sentences))
        graphs = [self._graph(sentence) for sentence in sentences]
        return [graph for graph in graphs if graph is not None]

    def _graph(self, sentence: str) -> Amr | None:
        words = tuple(re.findall(r"\w+", sentence))
        command = words[0] if words else ""
        if command == "RAISE":
            raise ValueError("I cannot read this")
        if command == "SLOW":
            raise TimeoutError
        if command == "SLEEP":
            time.sleep(60)
        if command == "DIE":
            os._exit(3)
        if command == "SKIP":
            return None
        if command == "BROKEN":
            Amr("a", (("a", "alone"), ("b", "apart")))
        if command == "DEEP":
            words = ("deep",) * 400
        if command == "DROP":
            words = tuple(word for word in words if not word.startswith("FORMULA"))
        nodes = tuple((f"n{number}", word) for number, word in enumerate(words)) or (("n0", "amr-empty"),)
        step = 1 if command == "DEEP" else len(nodes)
        edges = tuple((f"n{max(0, number - step)}", ":mod", f"n{number}") for number in range(1, len(nodes)))
        return Amr("n0", nodes, edges, (), words, tuple((f"n{n}", (n,)) for n in range(len(words))))

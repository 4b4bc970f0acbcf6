"""Parses in parallel: every worker is a process with its own copy of the parser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from mathamr.amr.batch import parse_each, parse_text
from mathamr.amr.graph import Amr
from mathamr.amr.parser import Cause, Failure, PartialParseError, TextParser, load_parser
from mathamr.core.closing import Closing
from mathamr.core.workers import Allowance, Lost, WorkerPool

BATCH, BUILTIN_BATCH = 32, 256
"""Sentences per request: the built-in parser is fastest with hundreds, others take seconds per sentence."""
TIMEOUT = 120.0


class ParallelParser(Closing):
    """Runs a parser in several processes in order; a worker that dies or hangs costs only the sentence at fault.

    If a worker dies while parsing a batch, or exceeds its allowance, a new one parses the sentences of the batch one by
    one to isolate the sentence at fault.
    """

    def __init__(
        self,
        name: str = "builtin",
        model: str | None = None,
        *,
        workers: int = 2,
        batch: int | None = None,
        allowance: Allowance | None = None,
    ) -> None:
        self.batch = batch or (BUILTIN_BATCH if name == "builtin" else BATCH)
        self.workers = workers
        self._pool = WorkerPool(
            "mathamr.amr.workers:ParseWork",
            (name, model),
            workers=workers,
            allowance=allowance or Allowance(TIMEOUT),
        )
        self.name, self.fingerprint = self._pool.hello

    def parse(self, sentences: Sequence[str]) -> list[Amr]:
        """One graph for every sentence; raises `PartialParseError` if some failed."""
        # Several batches per worker balance sentences of different lengths; a single worker is fastest with one batch.
        batches = 4 * self.workers if self.workers > 1 else 1
        size = max(1, min(self.batch, -(-len(sentences) // batches)))
        cut = [list(sentences[start : start + size]) for start in range(0, len(sentences), size)]
        results = [result for batch, answer in self._ask(cut) for result in self._settled(batch, answer)]
        if any(isinstance(result, Failure) for result in results):
            raise PartialParseError(results)
        return [result for result in results if isinstance(result, Amr)]

    def parse_text(self, sentences: Sequence[str], latex: Mapping[str, str]) -> list[Amr]:
        """One graph for every sentence of a text, in its context if the parser reads it; raises `PartialParseError` if some failed."""
        answer = self._pool.ask([list(sentences), dict(latex)])
        if isinstance(answer, Lost):
            return self.parse(sentences)
        results = [_result(row) for row in answer]
        if any(isinstance(result, Failure) for result in results):
            raise PartialParseError(results)
        return [result for result in results if isinstance(result, Amr)]

    def _ask(self, batches: list[list[str]]) -> list[tuple[list[str], list[Amr | Failure] | Lost]]:
        answers = (
            self._pool.map(batches)
            if len(batches) > 1
            else [(each, self._pool.ask(each)) for each in batches]
        )
        return [
            (batch, answer if isinstance(answer, Lost) else [_result(row) for row in answer])
            for batch, answer in answers
        ]

    def _settled(self, batch: list[str], answer: list[Amr | Failure] | Lost) -> list[Amr | Failure]:
        if not isinstance(answer, Lost):
            return answer
        if len(batch) == 1:
            return [Failure(cast(Cause, answer.cause), answer.message)]
        singles = self._ask([[sentence] for sentence in batch])
        return [result for single, its_answer in singles for result in self._settled(single, its_answer)]

    def close(self) -> None:
        """Ends the workers."""
        self._pool.close()


def _result(row: str | list[str]) -> Amr | Failure:
    return Amr.from_json(row) if isinstance(row, str) else Failure(cast(Cause, row[0]), row[1])


class ParseWork:
    """The task of a worker process: it turns a list of sentences into a graph or a failure for each."""

    def __init__(self, name: str, model: str | None) -> None:
        self.parser = load_parser(name, model)

    @property
    def hello(self) -> tuple[str, str]:
        """Name and fingerprint of the parser."""
        return self.parser.name, self.parser.fingerprint

    def __call__(self, request: list[Any]) -> list[str | list[str]]:
        """Graphs as JSON, failures as cause and message; the request is sentences, or the sentences of a text and its formulas."""
        is_text = len(request) == 2 and isinstance(request[1], dict)
        if is_text and isinstance(self.parser, TextParser):
            results = parse_text(self.parser, request[0], request[1])
        else:
            results = parse_each(self.parser, request[0] if is_text else request)
        return [r.to_json() if isinstance(r, Amr) else [r.cause, r.message] for r in results]

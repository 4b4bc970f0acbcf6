"""Parses in parallel: every worker is a process with its own copy of the parser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from mathamr.amr.batch import parse_each, parse_text
from mathamr.amr.graph import Amr
from mathamr.amr.parser import Cause, Failure, TextParser, all_graphs, load_parser
from mathamr.core.batches import batches
from mathamr.core.closing import Closing
from mathamr.core.workers import Lost, WorkerPool, WorkLimits

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
        allowance: WorkLimits | None = None,
    ) -> None:
        self.batch = batch or (BUILTIN_BATCH if name == "builtin" else BATCH)
        self.workers = workers
        self._pool = WorkerPool(
            "mathamr.amr.workers:ParseWork",
            (name, model),
            workers=workers,
            allowance=allowance or WorkLimits(TIMEOUT),
        )
        self.name, self.fingerprint = self._pool.identity

    def parse(self, sentences: Sequence[str]) -> list[Amr]:
        """Return one graph for every sentence; raise `PartialParseError` if some failed."""
        # Several batches per worker balance sentences of different lengths; a single worker is fastest with one batch.
        count = 4 * self.workers if self.workers > 1 else 1
        size = max(1, min(self.batch, -(-len(sentences) // count)))
        return all_graphs(self._results(list(batches(sentences, size))))

    def parse_text(self, sentences: Sequence[str], latex: Mapping[str, str]) -> list[Amr]:
        """Return one graph for every sentence of a text, in context if the parser reads context; raise `PartialParseError`
        if some failed.
        """
        answer = self._pool.ask([list(sentences), dict(latex)])
        return self.parse(sentences) if isinstance(answer, Lost) else all_graphs([*map(_result, answer)])

    def _results(self, parts: list[list[str]]) -> list[Amr | Failure]:
        requests = [[part, None] for part in parts]
        # A single request needs no threads.
        answers = self._pool.map(requests) if len(parts) > 1 else ((r, self._pool.ask(r)) for r in requests)
        return [result for (part, _), answer in [*answers] for result in self._settled(part, answer)]

    def _settled(self, part: list[str], answer: list[Any] | Lost) -> list[Amr | Failure]:
        if not isinstance(answer, Lost):
            return [*map(_result, answer)]
        if len(part) == 1:
            return [Failure(cast(Cause, answer.cause), answer.message)]
        return self._results([[sentence] for sentence in part])

    def close(self) -> None:
        """End the workers."""
        self._pool.close()


def _result(row: str | list[str]) -> Amr | Failure:
    return Amr.from_json(row) if isinstance(row, str) else Failure(cast(Cause, row[0]), row[1])


class ParseWork:
    """The task of a worker process: it turns a list of sentences into a graph or a failure for each."""

    def __init__(self, name: str, model: str | None) -> None:
        self.parser = load_parser(name, model)

    @property
    def identity(self) -> tuple[str, str]:
        """Name and fingerprint of the parser."""
        return self.parser.name, self.parser.fingerprint

    def __call__(self, request: tuple[list[str], dict[str, str] | None]) -> list[str | list[str]]:
        """Return graphs as JSON, failures as [cause, message]; a request is (sentences, formulas of their text or None)."""
        sentences, latex = request
        if latex is not None and isinstance(self.parser, TextParser):
            results = parse_text(self.parser, sentences, latex)
        else:
            results = parse_each(self.parser, sentences)
        return [r.to_json() if isinstance(r, Amr) else [r.cause, r.message] for r in results]

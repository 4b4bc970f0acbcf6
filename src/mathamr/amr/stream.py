"""Sentences and JSON lines as `mathamr amr` reads them: an answer for each, and counts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from mathamr.amr.document import DocumentAmr, parse_documents
from mathamr.amr.parser import AmrParser


@dataclass(slots=True)
class Tally:
    """Counts parsed sentences and failures."""

    sentences: int = 0
    fallbacks: Counter[str] = field(default_factory=Counter)
    dropped: int = 0
    refused: int = 0

    def count(self, document: DocumentAmr) -> None:
        """Count a document of one sentence."""
        self.sentences += 1
        self.fallbacks += document.causes()
        self.dropped += len(document.dropped)

    def __str__(self) -> str:
        fallbacks = ", ".join(f"{cause}: {count:,}" for cause, count in self.fallbacks.most_common())
        refused = f", {self.refused:,} lines refused" if self.refused else ""
        return (
            f"{self.sentences:,} sentence{'' if self.sentences == 1 else 's'} parsed, "
            f"{self.fallbacks.total():,} with a minimal graph{f' ({fallbacks})' if fallbacks else ''}, "
            f"{self.dropped:,} formula{'' if self.dropped == 1 else 's'} without a node{refused}"
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """One line of `mathamr amr --jsonl`: the graph of a text, and problems with it, if any."""

    text: str | None
    amr: str | None
    error: str | None

    def to_json(self) -> str:
        """Return one JSON line; it is pure ASCII only if the text has characters that cannot be printed. (`{"text": "é", …}`
        is written as it stands.)
        """
        row = {"text": self.text, "amr": self.amr, "error": self.error}
        line = json.dumps(row, ensure_ascii=False)
        return line if line.isprintable() else json.dumps(row)


def parse_sentences(parser: AmrParser, sentences: Sequence[str], tally: Tally) -> list[DocumentAmr]:
    """Parse every sentence separately: chunked, repaired and counted like the sentences of a post."""
    documents = list(
        parse_documents(parser, ([sentence] for sentence in sentences), batch=max(1, len(sentences)))
    )
    for document in documents:
        tally.count(document)
    return documents


def answer_lines(parser: AmrParser, lines: Sequence[bytes], tally: Tally) -> list[Answer]:
    """Answer every JSON line `{"text": …}`; any other line gets an answer with an error."""
    texts = [_text(line) for line in lines]
    good = [text for text in texts if isinstance(text, str)]
    tally.refused += len(texts) - len(good)
    documents = iter(parse_sentences(parser, good, tally))
    return [
        _answer(text, next(documents)) if isinstance(text, str) else Answer(None, None, str(text))
        for text in texts
    ]


def _text(line: bytes) -> str | ValueError:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        return ValueError(f"this line is not JSON: {error}")
    if not isinstance(row, dict) or not isinstance(row.get("text"), str):
        return ValueError('this line is not a JSON object with a string "text"')
    text: str = row["text"]
    return text


def _answer(text: str, document: DocumentAmr) -> Answer:
    problems = [f"{fallback.cause}: {fallback.message}" for fallback in document.fallbacks]
    error = f"minimal graph, because the parser failed: {'; '.join(problems)}" if problems else None
    return Answer(text, document.amr.to_penman(one_line=True), error)

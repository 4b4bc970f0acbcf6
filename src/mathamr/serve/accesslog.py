"""The server's log on stderr: lines for people, or one JSON object a line for machines."""

from __future__ import annotations

import json
import logging
import queue
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from logging.handlers import QueueHandler, QueueListener

FIELDS = "mathamr_fields"
"""The attribute of a log record that holds its content as names with values."""
_LOGGERS = ("mathamr.serve", "mathamr.index", "uvicorn.error")
MOST_WAITING = 10_000
"""Lines that wait for whoever reads the log; more are dropped and counted."""


class JsonLines(logging.Formatter):
    """Formats a record as one JSON object: time, level, message, and the record's fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line without its end."""
        row = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "message": record.getMessage(),
            **getattr(record, FIELDS, {}),
        }
        if record.exc_info:
            row["trace"] = self.formatException(record.exc_info)
        return json.dumps(row, ensure_ascii=False)


def set_up_log(*, quiet: bool, as_json: bool = False) -> None:
    """Log errors, and one line a request unless `quiet`."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        JsonLines() if as_json else logging.Formatter("%(asctime)s %(levelname)s %(message)s")
    )
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.propagate = False
        logger.setLevel(logging.WARNING if quiet or name != "mathamr.serve" else logging.INFO)


@contextmanager
def log_in_background(most_waiting: int = MOST_WAITING) -> Iterator[None]:
    """Let a thread write the log, so that requests do not wait where nobody reads it: a paused terminal, a full pipe.

    Enter it after processes are forked, since threads do not survive a fork.
    """
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    before = [list(logger.handlers) for logger in loggers]
    handoff = _Handoff(queue.Queue(most_waiting))
    writers = dict.fromkeys(handler for handlers in before for handler in handlers)
    listener = _Writer(handoff.queue, *writers, respect_handler_level=True)
    listener.start()
    for logger in loggers:
        logger.handlers[:] = [handoff]
    try:
        yield
    finally:
        for logger, handlers in zip(loggers, before, strict=True):
            logger.handlers[:] = handlers
        listener.stop()
        if handoff.lost:
            logging.getLogger(_LOGGERS[0]).warning("%d lines of the log were dropped", handoff.lost)


class _Handoff(QueueHandler):
    """Puts records into a queue; never waits."""

    lost = 0

    def prepare(self, record: logging.LogRecord) -> logging.LogRecord:
        """Leave the record as it is: the thread that writes it is of the same process."""
        return record

    def enqueue(self, record: logging.LogRecord) -> None:
        """Add the record, or count it where the queue is full."""
        try:
            self.queue.put_nowait(record)
        except queue.Full:
            self.lost += 1


class _Writer(QueueListener):
    """Writes what is in the queue."""

    def enqueue_sentinel(self) -> None:
        """Wait for a place in the queue for the mark of its end."""
        self.queue.put(self._sentinel)  # type: ignore[attr-defined]

"""The server's log on stderr: lines for people, or one JSON object a line for machines."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

FIELDS = "mathamr_fields"
"""The attribute of a log record that holds its content as names with values."""


class JsonLines(logging.Formatter):
    """Formats a record as one JSON object: time, level, message, and the record's fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Returns the line without its end."""
        row = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "message": record.getMessage(),
            **getattr(record, FIELDS, {}),
        }
        if record.exc_info:
            row["trace"] = self.formatException(record.exc_info)
        return json.dumps(row, ensure_ascii=False)


def set_up_log(quiet: bool, as_json: bool = False) -> None:
    """Logs errors, and one line a request unless `quiet`."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        JsonLines() if as_json else logging.Formatter("%(asctime)s %(levelname)s %(message)s")
    )
    for name in ("mathamr.serve", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.propagate = False
        logger.setLevel(logging.WARNING if quiet or name != "mathamr.serve" else logging.INFO)

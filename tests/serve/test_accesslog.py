from __future__ import annotations

import json
import logging
import threading

import pytest

from mathamr.serve.accesslog import FIELDS, log_in_background, set_up_log


def test_every_record_is_one_json_object_on_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_log(quiet=False, as_json=True)
    logger = logging.getLogger("mathamr.serve")
    logger.info(
        "a %s\nof two lines", "message", extra={FIELDS: {"route": "/v1/search", "stages": {"parse": 0.5}}}
    )
    try:
        raise ValueError("wrong")
    except ValueError:
        logger.exception("failed")
    first, second = map(json.loads, capsys.readouterr().err.splitlines())
    assert (first["message"], first["route"], first["stages"]) == (
        "a message\nof two lines",
        "/v1/search",
        {"parse": 0.5},
    )
    assert (second["level"], second["trace"].splitlines()[-1]) == ("ERROR", "ValueError: wrong")


def test_a_quiet_log_says_only_what_goes_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_log(quiet=True)
    logging.getLogger("mathamr.serve").info("a request")
    assert capsys.readouterr().err == ""


def test_nobody_waits_for_the_reader_of_the_log(capsys: pytest.CaptureFixture[str]) -> None:
    release, written = threading.Event(), []

    class Paused(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            release.wait(120)
            written.append(record.getMessage())

    set_up_log(quiet=False)
    logger = logging.getLogger("mathamr.serve")
    logger.handlers[:] = [Paused()]
    with log_in_background(most_waiting=3):
        for number in range(10):
            logger.info("request %d", number)
        assert not written
        release.set()
    assert written[:3] == ["request 0", "request 1", "request 2"]
    lines, last = written[:-1], written[-1]
    assert last == f"{10 - len(lines)} lines of the log were dropped"

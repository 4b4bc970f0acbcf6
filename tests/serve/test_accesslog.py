from __future__ import annotations

import json
import logging

import pytest

from mathamr.serve.accesslog import FIELDS, set_up_log


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

from __future__ import annotations

import json

from mathamr.core.errors import VectorsMissingError
from mathamr.serve.errors import CODES, ApiError, from_error
from tests.conftest import ROOT


def test_every_code_is_in_the_docs_with_its_status() -> None:
    rows = [
        line.split("|")[1:3]
        for line in (ROOT / "docs" / "api.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| `")
    ]
    documented = {
        name.strip(" `"): status.strip()
        for names, status in rows
        for name in names.split(",")
        if status.strip().isdecimal() and name.strip(" `") in CODES
    }
    assert documented == {code: str(status) for code, status in CODES.items()}


def test_a_body_can_always_be_written() -> None:
    assert json.loads(ApiError("invalid", "\ud800" + "x" * 10_000).body("1"))["error"]["message"].endswith(
        "…"
    )


def test_vectors_that_are_still_being_made_are_no_fault_of_the_request() -> None:
    told = from_error(VectorsMissingError("the index /home/ada/notes cannot do this yet"))
    assert (told.code, told.status) == ("unavailable", 503)
    assert "ada" not in told.message

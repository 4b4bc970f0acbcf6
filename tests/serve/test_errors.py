from __future__ import annotations

import json

import pytest

from mathamr.core.errors import MathAMRError, VectorsMissingError
from mathamr.formulas.parse import FormulaError
from mathamr.serve.errors import CODES, ApiError, from_error, from_status, from_validation
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


def test_the_body_names_code_status_request_and_place() -> None:
    body = json.loads(ApiError("broken_formula", "unclosed", "q", 5).body("abc"))
    assert body == {
        "error": {
            "code": "broken_formula",
            "message": "unclosed",
            "status": 422,
            "request": "abc",
            "field": "q",
            "offset": 5,
        }
    }


def test_a_body_can_always_be_written() -> None:
    assert json.loads(ApiError("invalid", "\ud800" + "x" * 10_000).body("1"))["error"]["message"].endswith(
        "…"
    )


def test_a_parse_error_keeps_its_place_and_not_its_text() -> None:
    told = from_error(FormulaError("unclosed brace", "secret {", 7))
    assert (told.code, told.offset, told.message) == ("broken_formula", 7, "unclosed brace")


def test_other_errors_are_about_the_request() -> None:
    assert from_error(MathAMRError("no such thing")).code == "invalid"


def test_vectors_that_are_still_being_made_are_no_fault_of_the_request() -> None:
    told = from_error(VectorsMissingError("the index /home/ada/notes cannot do this yet"))
    assert (told.code, told.status) == ("unavailable", 503)
    assert "ada" not in told.message


@pytest.mark.parametrize(
    ("status", "code"), [(404, "unknown_route"), (405, "wrong_method"), (418, "bad_request")]
)
def test_a_bare_status_gets_a_code(status: int, code: str) -> None:
    assert from_status(status).code == code


def test_the_first_problem_of_a_request_is_told_with_its_field() -> None:
    told = from_validation(
        [
            {"loc": ("body", "filter", "kinds", 0), "msg": "wrong", "type": "x"},
            {"loc": ("body", "k"), "msg": "y"},
        ]
    )
    assert (told.field, told.message) == ("filter.kinds.0", "filter.kinds.0: wrong (and 1 more)")

from __future__ import annotations

import json

from mathamr.serve.errors import CODES, ApiError
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

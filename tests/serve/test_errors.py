from __future__ import annotations

import json

from mathamr.serve.errors import ApiError


def test_a_body_can_always_be_written() -> None:
    assert json.loads(ApiError("invalid", "\ud800" + "x" * 10_000).body("1"))["error"]["message"].endswith(
        "…"
    )

from __future__ import annotations

from dataclasses import fields

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.serve.limits import Limits
from tests.conftest import ROOT


def test_every_limit_is_in_the_docs_with_its_default() -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    for each in fields(Limits):
        if each.name == "workers":
            assert "| `workers` |" in page
        else:
            assert f"| `{each.name}` | {each.default:,} |".replace(".0 |", " |") in page, each.name


@pytest.mark.parametrize(
    "written", ["k=0", "k=-1", "k=many", "k=", "seconds=0", "seconds=nan", "seconds=inf", "k=1e3"]
)
def test_a_limit_that_limits_nothing_is_refused(written: str) -> None:
    with pytest.raises(MathAMRError, match=written.partition("=")[0]):
        Limits().changed([written])


def test_a_queue_may_have_no_places() -> None:
    assert Limits().changed(["waiting=0"]).waiting == 0

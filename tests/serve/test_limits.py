from __future__ import annotations

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.serve.limits import Limits
from tests.cases import cases


@cases("written", ["k=0", "k=-1", "k=many", "k=", "seconds=0", "seconds=nan", "seconds=inf", "k=1e3"])
def test_a_limit_that_limits_nothing_is_refused(written: str) -> None:
    with pytest.raises(MathAMRError, match=written.partition("=")[0]):
        Limits().changed([written])


def test_a_queue_may_have_no_places() -> None:
    assert Limits().changed(["waiting=0"]).waiting == 0

from __future__ import annotations

import pytest

from mathamr.core.errors import MathAMRError, MissingExtraError
from mathamr.index.engines.engine import ClientLibrary

LIBRARY = ClientLibrary("no_such_module", "The dancer", "a dancer", "pip install dancer")


def test_a_missing_library_is_reported_with_how_to_install_it() -> None:
    with pytest.raises(MissingExtraError, match=r"a dancer is not installed; .*pip install dancer"):
        LIBRARY.check()


@pytest.mark.parametrize(
    ("error", "reason"), [(ValueError("bad step"), "bad step"), (ValueError(), "ValueError")]
)
def test_an_error_of_the_library_is_a_clear_error(error: BaseException, reason: str) -> None:
    with (
        pytest.raises(MathAMRError, match=f"^The dancer cannot dance: {reason}$"),
        LIBRARY.reporting("dance"),
    ):
        raise error


@pytest.mark.parametrize("error", [KeyboardInterrupt(), MathAMRError("clear already")])
def test_an_interrupt_and_a_clear_error_stay_as_they_are(error: BaseException) -> None:
    with pytest.raises(type(error)) as raised, LIBRARY.reporting("dance"):
        raise error
    assert raised.value is error

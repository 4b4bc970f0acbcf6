"""Errors are the same in the process that reports them as in the one that raised them."""

from __future__ import annotations

import pickle

from mathamr.core.errors import MathAMRError, MissingExtraError, ParseError, UnknownNameError
from tests.cases import cases


@cases(
    "error",
    [
        MathAMRError("no"),
        UnknownNameError("model", "x", ["y"]),
        MissingExtraError("torch", "pip install torch"),
        ParseError("unclosed brace", "a + {b", 4, "notes.md"),
    ],
)
def test_an_error_comes_back_from_another_process(error: MathAMRError) -> None:
    found = pickle.loads(pickle.dumps(error))
    assert type(found) is type(error)
    assert (str(found), vars(found)) == (str(error), vars(error))

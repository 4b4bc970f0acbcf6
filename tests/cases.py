"""`cases`: a table of cases as one test."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import Any


def cases(names: str | tuple[str, ...], rows: Iterable[Any]) -> Callable[[Callable[..., None]], Any]:
    """Make one test that tries every row of a table and names all that fail.

    The rows share the fixtures of the test, but each has a folder of its own for `tmp_path`. What pytest does for one test takes
    longer than most rows of a table, so `pytest.mark.parametrize` is for few and for slow ones.
    """
    keys = (names,) if isinstance(names, str) else names
    table = [(row,) if isinstance(names, str) else tuple(row) for row in rows]

    def made(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def every(**fixtures: Any) -> None:
            failures = []
            for number, row in enumerate(table):
                given = {**fixtures, **dict(zip(keys, row, strict=True))}
                if "tmp_path" in fixtures:
                    given["tmp_path"] = Path(fixtures["tmp_path"], str(number))
                    given["tmp_path"].mkdir()
                try:
                    test(**given)
                except Exception as error:
                    error.add_note(f"{keys} are {row!r:.2000}")
                    failures.append(error)
            if failures:
                raise failures[0] if len(failures) == 1 else ExceptionGroup(test.__name__, failures)

        signature = inspect.signature(test)
        left = [each for each in signature.parameters.values() if each.name not in keys]
        every.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return every

    return made

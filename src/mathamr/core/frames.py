"""Tables of pandas, for those who have it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from mathamr.core.errors import MissingExtraError

if TYPE_CHECKING:
    from pandas import DataFrame


def data_frame(rows: Iterable[Mapping[str, Any]], columns: tuple[str, ...]) -> DataFrame:
    """Return rows as a table of pandas with these columns, also if there are no rows."""
    try:
        from pandas import DataFrame
    except ImportError as error:
        raise MissingExtraError("pandas", "pip install pandas") from error
    return DataFrame([dict(row) for row in rows], columns=list(columns))

"""`ClientLibrary`: a library that an engine needs and the default installation lacks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module

from mathamr.core.errors import MathAMRError, MissingExtraError


@dataclass(frozen=True, slots=True)
class ClientLibrary:
    """A library that an engine needs; it is imported when the engine is made or opened."""

    module: str
    speaker: str
    """Its name in error messages."""
    title: str
    install: str
    """The command that installs it."""

    def check(self) -> None:
        """Raise `MissingExtraError` if it is not installed."""
        try:
            import_module(self.module)
        except ImportError as error:
            raise MissingExtraError(self.title, self.install) from error

    @contextmanager
    def reporting(self, what: str) -> Iterator[None]:
        """Turn errors inside into `MathAMRError`; also a panic of the library, which is not an `Exception`."""
        try:
            yield
        except MathAMRError:
            raise
        except BaseException as error:
            if isinstance(error, Exception) or type(error).__name__ == "PanicException":
                reason = str(error)[:500] or type(error).__name__
                raise MathAMRError(f"{self.speaker} cannot {what}: {reason}") from error
            raise

"""The one exception tree: every error that mathamr raises on purpose is a `MathAMRError`."""

from __future__ import annotations

import copyreg
from collections.abc import Iterable
from difflib import get_close_matches


class MathAMRError(Exception):
    """An error that the user can act on: its text says what is wrong, where, and what to do."""

    def __reduce__(self) -> tuple[object, ...]:
        """Return how another process rebuilds the error: from its text and fields, whatever arguments its class takes."""
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__  # type: ignore[attr-defined]


class UnknownNameError(MathAMRError):
    """A name that no registry entry has; the text lists the known names."""

    def __init__(self, kind: str, name: str, known: list[str]) -> None:
        self.kind, self.name, self.known = kind, name, known
        super().__init__(
            f"unknown {kind} {name!r}; known: {', '.join(known) or 'none'}{did_you_mean(name, known)}"
        )


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the end of an error message about an unknown name: it suggests the most similar known name, if one is close.

    >>> did_you_mean("serch", ["index", "search"]), did_you_mean("x", ["index"])
    (". Did you mean 'search'?", '')
    """
    near = get_close_matches(name, list(known), n=1)
    return f". Did you mean {near[0]!r}?" if near else ""


class MissingExtraError(MathAMRError):
    """Raised if an optional part is not installed; the text holds the install command."""

    def __init__(self, what: str, install: str) -> None:
        self.what, self.install = what, install
        super().__init__(f"{what} is not installed; install it with: {install}")


class ParseError(MathAMRError):
    """A text that cannot be parsed: shows source, offset and a caret under the place.

    >>> print(ParseError("unclosed brace", "a + {b", offset=4, source="notes.md"))
    notes.md: unclosed brace (at offset 4)
      a + {b
          ^
    """

    WINDOW = 30

    def __init__(self, message: str, text: str, offset: int, source: str = "") -> None:
        self.message, self.text, self.offset, self.source = message, text, offset, source
        super().__init__(message)

    def __str__(self) -> str:
        start = max(0, self.offset - self.WINDOW)
        shown = self.text[start : self.offset + self.WINDOW]
        shown = "".join(" " if character.isspace() else character for character in shown)
        left, right = ("…" if start else ""), ("…" if self.offset + self.WINDOW < len(self.text) else "")
        caret = " " * (len(left) + self.offset - start) + "^"
        place = f"{self.source}: " if self.source else ""
        return f"{place}{self.message} (at offset {self.offset})\n  {left}{shown}{right}\n  {caret}"

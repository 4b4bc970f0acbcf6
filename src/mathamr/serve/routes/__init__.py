"""The routes of the API, and how they read an id from a path: whatever a post is called, an address reaches it."""

from __future__ import annotations

from starlette.convertors import Convertor, register_url_convertor

ANY = "any"
"""The converter of a route's last part that takes the rest of the path."""


class AnyConvertor(Convertor[str]):
    """The rest of a path, line breaks included; starlette's own `path` ends at the first line break."""

    regex = r"[\s\S]*"

    def convert(self, value: str) -> str:
        """Return the text as it stands in the path."""
        return value

    def to_string(self, value: str) -> str:
        """Return the text as it stands in the path."""
        return value


register_url_convertor(ANY, AnyConvertor())

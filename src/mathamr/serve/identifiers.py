"""Ids in the path of an address: whatever a post is called, there is an address that reaches it."""

from __future__ import annotations

from starlette.convertors import Convertor, register_url_convertor

ANY = "any"
"""The name under which routes ask for the rest of a path, whatever is in it."""


class AnyConvertor(Convertor[str]):
    """The rest of a path, lines included: the framework's own `path` ends at the first end of a line."""

    regex = r"[\s\S]*"

    def convert(self, value: str) -> str:
        """As it stands in the path."""
        return value

    def to_string(self, value: str) -> str:
        """As it stands in the path."""
        return value


register_url_convertor(ANY, AnyConvertor())

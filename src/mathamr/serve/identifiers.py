"""Ids in the path of an address: every post can be addressed, whatever characters its id has."""

from __future__ import annotations

from starlette.convertors import Convertor, register_url_convertor

ANY = "any"
"""The name of the path convertor that matches the rest of a path, whatever characters it has."""


class AnyConvertor(Convertor[str]):
    """Matches the rest of a path, including line breaks: the framework's own `path` stops at the first one."""

    regex = r"[\s\S]*"

    def convert(self, value: str) -> str:
        """As it stands in the path."""
        return value

    def to_string(self, value: str) -> str:
        """As it stands in the path."""
        return value


register_url_convertor(ANY, AnyConvertor())

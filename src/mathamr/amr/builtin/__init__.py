"""The built-in parser: spaCy's analysis, learned concepts and relations, and a mathematical vocabulary."""

from mathamr.amr.builtin.parser import BuiltinParser, Description, describe

__all__ = ["BuiltinParser", "Description", "describe"]

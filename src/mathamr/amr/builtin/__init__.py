"""The built-in parser: spaCy's analysis, learned concepts and relations, and a mathematical vocabulary."""

from mathamr.amr.builtin.parser import BuiltinParser

__all__ = ["BuiltinParser"]

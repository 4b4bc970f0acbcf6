"""The built-in parser: a small network over the text encoder's states, a lexicon of frames, and a mathematical vocabulary."""

from mathamr.amr.builtin.parser import BuiltinParser, Description, describe

__all__ = ["BuiltinParser", "Description", "describe"]

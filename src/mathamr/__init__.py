"""mathamr: a math-aware search engine and research toolkit."""

__version__ = "0.1.0"

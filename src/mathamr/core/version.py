"""The version of the package, which indexes and workers record."""

__version__ = "0.1.0"

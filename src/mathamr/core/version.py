"""The version of all packages of the repository, which indexes and workers record; their pyproject files read it here."""

__version__ = "0.2.0"

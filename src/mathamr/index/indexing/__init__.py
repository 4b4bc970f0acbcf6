"""Builds and updates an index."""

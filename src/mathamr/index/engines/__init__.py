"""Engines: where vectors are kept and searched."""

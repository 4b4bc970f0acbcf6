"""Engines, which store and search vectors."""

"""Thin adapters that let other programs' frameworks search an index; each needs its own optional package."""

"""Builds an index on many machines: workers anywhere do what workers of one machine do, and one process writes."""

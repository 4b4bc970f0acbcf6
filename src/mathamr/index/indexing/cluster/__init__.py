"""Builds an index on many machines: workers compute shards of posts anywhere, and one process assembles them."""

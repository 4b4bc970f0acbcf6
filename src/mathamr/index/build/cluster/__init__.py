"""Building an index on many machines: posts in shards, made anywhere, put together in one place."""

"""The flat engine: vectors in memory-mapped files, searched exactly."""

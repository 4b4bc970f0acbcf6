"""What every room needs and no mathematics: errors, settings, registries, worker pools, files, SQLite, progress."""

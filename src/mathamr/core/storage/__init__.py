"""Files that survive a crash: whole writes, arrays, locks, SQLite."""

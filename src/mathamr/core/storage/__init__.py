"""Files that survive a crash: atomic writes, memory-mapped arrays, locks."""

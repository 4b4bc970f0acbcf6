"""Administration of an index: check, repair, backup, restore."""

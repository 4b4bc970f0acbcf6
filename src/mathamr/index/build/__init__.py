"""How an index is built, updated, checked and repaired."""

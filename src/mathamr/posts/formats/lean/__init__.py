"""The reader of Lean 4: source text, commands, declarations, posts."""

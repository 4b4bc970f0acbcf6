"""LaTeX documents: their files, what they define, their outline, their posts."""

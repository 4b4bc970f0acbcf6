"""Markdown of any dialect: notes, their parts and links, their blocks and pieces."""

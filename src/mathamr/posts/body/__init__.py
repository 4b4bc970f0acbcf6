"""The text of a post as HTML."""

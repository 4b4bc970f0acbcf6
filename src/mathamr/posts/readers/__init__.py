"""One reader for each format of posts, and what they share."""

"""HTML: pages, their outline, their pieces."""

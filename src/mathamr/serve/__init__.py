"""The HTTP API and the web page: search, explain, read and change an index from a browser or a program."""

"""Abstract Meaning Representation: the parser seam, the built-in parser, adapters to others."""

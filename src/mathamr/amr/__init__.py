"""Abstract Meaning Representation: the parser interface, the built-in parser, and adapters to others."""

"""The training of text encoders alone: from pairs of many kinds, and from a larger encoder."""

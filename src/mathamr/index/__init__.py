"""The index: engines that keep vectors, the directory around them, and the lexical index beside them."""

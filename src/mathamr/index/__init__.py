"""The index: engines that store vectors, the lexical index, and the directory that holds them."""

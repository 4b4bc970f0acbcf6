"""The transformer of the text encoder as loops of machine code: products in eight bits, attention in sixteen."""

"""MathAMR+ graphs: meaning, operators and layout in one graph, its virtual nodes, tensors and store."""

"""The parts of networks: relational convolution, attention, batches of graphs, the transformer and its word pieces."""

"""What networks are made of: the relational convolution, attention, batches of graphs, the transformer and its word pieces."""

"""Encoders of other people behind our index: Sentence-Transformers, late interaction, and servers of embeddings."""

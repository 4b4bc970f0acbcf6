"""Encoders: from graph tensors to the vectors of a post's formulas, sentences and document."""

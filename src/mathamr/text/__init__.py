"""The text encoder beside the graph network: a small transformer that reads posts with their formulas in place."""

"""The engine `qdrant`: a Qdrant server or cluster."""

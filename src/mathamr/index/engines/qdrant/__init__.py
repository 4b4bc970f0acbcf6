"""Two engines over Qdrant: `edge`, in this process, and `qdrant`, a server or cluster."""

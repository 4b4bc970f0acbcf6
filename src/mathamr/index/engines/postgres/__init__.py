"""The engine `postgres`: a PostgreSQL server with pgvector."""

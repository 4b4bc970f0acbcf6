"""How cross-encoders are trained."""

"""Cross-encoders that order again what a search found."""

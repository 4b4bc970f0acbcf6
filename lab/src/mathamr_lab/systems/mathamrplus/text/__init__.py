"""The training of the text encoder, on the same pairs."""

"""Models of mathamr, one folder each; found through the entry point `mathamr.models`."""

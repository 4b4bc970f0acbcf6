"""The laboratory of mathamr: training, recipes, the papers' experiments and studies."""

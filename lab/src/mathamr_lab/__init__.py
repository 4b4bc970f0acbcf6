"""The laboratory of mathamr: training, recipes, the papers' experiments and studies."""

import mathamr  # noqa: F401  (its first import switches off what libraries report)

"""The mathematician's reading of a formula: `statements` reads relations and words, `expressions` sums and products, `factors` symbols."""

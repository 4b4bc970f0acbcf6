"""Studies: measurements of quality that chose a default or a weight."""

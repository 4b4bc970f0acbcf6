"""SSEmb: a formula's operator graph, embedded by graph contrastive learning, and the text around it (section 2 of the paper)."""

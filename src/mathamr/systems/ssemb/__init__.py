"""SSEmb: a formula's operator graph by graph contrastive learning, and the text around it (section 2 of the paper)."""

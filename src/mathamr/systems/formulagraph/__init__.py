"""Formula graphs: two relational networks over layout and operator graphs, compared node by node (Amador and Zanibbi)."""

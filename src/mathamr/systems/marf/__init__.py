"""MaRF: representation-level fusion of formulas into a post's token vectors (Wang, Zheng and Kani)."""

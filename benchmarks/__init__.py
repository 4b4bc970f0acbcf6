"""Benchmarks: speed, memory and quality, as ratios against a peer measured in the same run."""

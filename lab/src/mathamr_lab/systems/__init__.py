"""Trainers of the systems; each folder bears the name of the product's system."""

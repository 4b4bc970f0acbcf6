"""Trainers of the systems; each folder has the name of the product's system."""

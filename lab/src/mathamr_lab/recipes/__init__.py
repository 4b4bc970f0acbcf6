"""Training of complete systems: recipes by name, prepared folders, and parallel trainings."""

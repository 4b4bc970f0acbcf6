"""Training of whole systems: recipes by name, prepared folders, and trainings side by side."""

"""Players, and what they do against each other."""

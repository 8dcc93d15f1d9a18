"""Connect 4: what the source claimed, and its settings."""

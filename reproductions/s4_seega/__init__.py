"""Seega: what the source claimed, and its settings."""

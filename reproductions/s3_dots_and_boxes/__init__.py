"""Dots and Boxes: what the source claimed, how its program differs from the books, and what came out."""

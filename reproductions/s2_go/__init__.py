"""Source S2: Go from tables, and from networks that predict moves."""

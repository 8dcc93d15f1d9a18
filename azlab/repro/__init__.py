"""Reproductions: what a source claimed, what comes out here."""

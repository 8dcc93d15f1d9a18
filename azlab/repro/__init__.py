"""Reproductions: what a source claimed, what comes out here."""

from azlab.repro.record import Recorder, recorder

__all__ = ["Recorder", "recorder"]

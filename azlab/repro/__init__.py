"""Reproductions: what a source claimed, what comes out here."""

from azlab.repro.perform import result
from azlab.repro.record import Recorder

__all__ = ["Recorder", "result"]

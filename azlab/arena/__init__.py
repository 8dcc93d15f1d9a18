"""Players, and what they do against each other."""

from azlab.arena.agents import agent
from azlab.arena.match import match, round_robin

__all__ = ["agent", "match", "round_robin"]

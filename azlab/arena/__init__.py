"""Players, and what they do against each other."""

from azlab.arena.agents import agent
from azlab.arena.match import each_against_each, match, round_robin

__all__ = ["agent", "each_against_each", "match", "round_robin"]

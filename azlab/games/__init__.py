"""The rules of the games, and nothing but rules. `game` finds one by name."""

from azlab.games.registry import GAMES, game, game_class, known_game, register

__all__ = ["GAMES", "game", "game_class", "known_game", "register"]

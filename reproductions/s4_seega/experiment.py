"""The experiments of S4, a function each: `azlab reproduce s4.moving`, and so on. Each is in the module of its name."""

from azlab_reproductions.s4_seega.moving import moving
from azlab_reproductions.s4_seega.positioning import positioning

__all__ = ["moving", "positioning"]

"""The experiments of S4, a function each: `azlab reproduce s4.tables`, and so on. Each is in the module of its name."""

from azlab_reproductions.s4_seega.board import board
from azlab_reproductions.s4_seega.exam import exam
from azlab_reproductions.s4_seega.moving import moving
from azlab_reproductions.s4_seega.phases import phases
from azlab_reproductions.s4_seega.positioning import positioning
from azlab_reproductions.s4_seega.tables import tables
from azlab_reproductions.s4_seega.variants import variants

__all__ = ["tables", "board", "moving", "positioning", "exam", "phases", "variants"]

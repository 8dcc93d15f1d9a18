"""The experiments of S5, a function each: `azlab reproduce s5.sets`, and so on."""

from azlab_reproductions.s5_connect4.alphazero import curves, pilot, sets, switches
from azlab_reproductions.s5_connect4.datasets import data
from azlab_reproductions.s5_connect4.exam import exam
from azlab_reproductions.s5_connect4.supervised import supervised

__all__ = ["data", "supervised", "pilot", "sets", "switches", "curves", "exam"]

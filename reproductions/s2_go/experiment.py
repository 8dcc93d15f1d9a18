"""The experiments of S2, a function each: `azlab reproduce s2.tabular`, and so on."""

from azlab_reproductions.s2_go.datasets import data
from azlab_reproductions.s2_go.moves import moves
from azlab_reproductions.s2_go.play import play
from azlab_reproductions.s2_go.protocol import gtp
from azlab_reproductions.s2_go.tabular import tabular

__all__ = ["tabular", "data", "moves", "play", "gtp"]

"""Looking ahead: minimax, UCT with random playouts, and PUCT with any evaluator."""

from azlab.search.analysis import Analysis
from azlab.search.config import Budget, Explore, Search
from azlab.search.minimax import minimax
from azlab.search.puct import Searcher, puct
from azlab.search.uct import uct

__all__ = ["Analysis", "Budget", "Explore", "Search", "Searcher", "minimax", "puct", "uct"]

"""Learning: tables, value networks by generations, supervised training, AlphaZero. Parts are loaded when asked for."""

from azlab.lazy import lazily

_WHERE = {
    "AlphaZero": "alphazero",
    "AlphaZeroConfig": "config",
    "preset": "config",
    "RunFolder": "run_folder",
    "TorchLearner": "learner",
    "KerasLearner": "learner",
    "LossConfig": "learner",
    "TrainedAgent": "player",
    "Sweep": "sweep",
    "Table": "sweep_table",
    "PositionSet": "position_sets",
    "connect4_set": "position_sets",
    "go_set": "go_sets",
    "split_set": "position_sets",
    "SupervisedConfig": "supervised",
    "train_supervised": "supervised",
    "several_runs": "supervised",
    "MonteCarloControl": "tabular",
    "TableAgent": "tabular",
    "TableHistory": "table_history",
    "ValueGenerations": "generations",
}

__all__ = list(_WHERE)
__getattr__, __dir__ = lazily("azlab.learning", _WHERE)

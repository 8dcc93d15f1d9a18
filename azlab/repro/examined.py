"""A shipped player under examination: what its searches and matches found is kept, and not done again after a cut.

az = examined(record, azlab.game("connect4"), "az", small)
played = az.played(record, "uct:1000", lambda report: match(az.agent(100), "uct:1000", 20, az.game, progress=report))
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from azlab.arena.results import MatchResult
from azlab.errors import one_of
from azlab.games.game import Game
from azlab.learning.alphazero import new_learner
from azlab.learning.config import AlphaZeroConfig
from azlab.learning.parts import complete
from azlab.learning.player import TrainedAgent
from azlab.learning.shipped import load_player, player_for, save_player
from azlab.repro.record import Recorder

PLAYERS = ("az", "untrained")


@dataclass(frozen=True)
class Examined:
    """A player's file, and the folder for what was found of it."""

    game: Game
    file: Path
    folder: Path
    seed: int

    def agent(self, simulations: int, threads: int | None = None) -> TrainedAgent:
        """The player with so many simulations a move."""
        found = TrainedAgent(self.file, simulations, seed=self.seed, threads=threads)
        found.name = f"az, {simulations} simulations"
        return found

    def net(self) -> Any:
        """Its network as an evaluator that takes one thread."""
        return self.agent(1, threads=1).evaluator

    def facts(self) -> dict[str, Any]:
        """How large it is: its file and its network."""
        net = load_player(self.file)[0].net
        parameters = sum(weight.numel() for weight in net.parameters())
        sizes = {"blocks": net.config.blocks, "filters": net.config.filters}
        return {"bytes": self.file.stat().st_size, "parameters": parameters, **sizes}

    def kept(self, name: str) -> Path:
        """A file for what is called `name`, of these very weights."""
        return self.folder / f"{hashlib.sha256(self.file.read_bytes()).hexdigest()[:12]}-{self.seed}-{name}"

    def played(self, record: Recorder, label: str, play: Callable[[Any], MatchResult]) -> MatchResult:
        """A match, `play(report)`, or the one of this label that was played before."""
        file = self.kept(f"{label.replace(' ', '-').replace(',', '').replace(':', '')}.jsonl")
        return kept_whole(record, file, label, play)


def kept_whole(record: Recorder, file: Path, label: str, play: Callable[[Any], MatchResult]) -> MatchResult:
    """A match, `play(report)`, which is kept in `file` when it is complete; the one that is there is not played again."""
    if not file.is_file():
        with record.progress(label) as report:
            complete(play(report)).save(file)
    return MatchResult.load(file)


def examined(record: Recorder, game: Game, player: str, small: AlphaZeroConfig) -> Examined:
    """The player that ships for the game, "az"; or one that is made on the spot, "untrained", by the settings `small`."""
    one_of("player", player, PLAYERS)
    if player == "az":
        return Examined(game, player_for(game), record.folder, record.seed)
    file = record.folder / "untrained.safetensors"
    if not file.is_file():
        save_player(new_learner(small.rules(), small.net, small.loss, 0), small, file)
    return Examined(game, file, record.folder, record.seed)

"""A residual net for each phase of a game that has two, trained together: what one net for both would share, these learn apart.

In a config: [net] kind = "phases", with the sizes of a "residual" net.
"""

from typing import Any

import torch
from torch import Tensor, nn

from azlab.errors import AzlabError
from azlab.games.game import Game
from azlab.nets.residual import NetOutput, ResidualConfig, ResidualNet


class PhaseNet(nn.Module):
    """Two nets of one shape. `forward` takes planes [B, ...] and which of them lie beyond the game's horizon, bool [B]."""

    def __init__(self, config: ResidualConfig) -> None:
        super().__init__()
        if config.reply:
            raise AzlabError(
                "A net for each phase predicts no replies: one phase's last move is answered in the other. Leave out `reply`."
            )
        self.config = config
        self.before, self.beyond = ResidualNet(config), ResidualNet(config)

    @property
    def encoding(self) -> str:
        """How both see a state."""
        return self.config.encoding

    def forward(self, planes: Tensor, is_beyond: Tensor | None = None) -> NetOutput:
        if is_beyond is None or not is_beyond.any():
            return self.before(planes)
        if is_beyond.all():
            return self.beyond(planes)
        rows = is_beyond.nonzero().flatten(), (~is_beyond).nonzero().flatten()
        parts = self.beyond(planes[rows[0]]), self.before(planes[rows[1]])
        order = torch.cat(rows).argsort()
        return NetOutput(torch.cat([part.policy for part in parts])[order], torch.cat([part.result for part in parts])[order])


def phase_net(game: Game, **sizes: Any) -> PhaseNet:
    """The kind of net that configs call "phases"; `sizes` as in `ResidualConfig.for_game`."""
    game.at_horizon(game.new_states(1))  # a sentence where there are not two phases
    return PhaseNet(ResidualConfig.for_game(game, **sizes))

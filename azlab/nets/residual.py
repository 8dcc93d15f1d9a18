"""The residual networks of the Connect 4 source (S5, tables 2, 6 and 11), for the board of any game.

A stem (3x3 convolution, batch norm, ReLU), a 1x1 adapter, n residual blocks, and one head for each thing to be predicted: a 3x3
convolution and a fully connected layer. All convolutions have a bias, which is what the source's parameter counts need: on 6x7
with 5 / 10 / 20 blocks 1,574,730 / 3,053,130 / 6,009,930. The bottleneck net of table 11 has 63,312. The source's program tells
three things its text leaves open: no activation between a head's convolution and its fully connected layer, no adapter where
stem and blocks are equally wide, and a reply head that shares the policy head's convolution.

Everything is seen by the player to move. The result head gives draw, win, loss, in the source's order.
"""

import dataclasses
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from azlab.errors import AzlabError, one_of, whole_number
from azlab.games.game import Game

DRAW, WIN, LOSS = range(3)  # the result head's outputs, from the mover's view


@dataclass(frozen=True)
class ResidualConfig:
    """All there is to know to build a net. `for_game` fills in the board."""

    rows: int
    cols: int
    actions: int
    channels: int = 1  # planes of the input
    encoding: str = "single"  # how a state becomes those planes, a name of azlab.nets.encodings
    blocks: int = 5
    filters: int = 128  # of the residual blocks
    stem: int = 64  # filters of the first convolution
    head: int = 32  # filters of each head's convolution
    squeeze: int = 0  # neurons of the squeeze-and-excitation layer (S5: 8, section 3.6.6); 0 leaves it out
    reply: bool = False  # also predict the opponent's reply (section 3.6.5)

    def __post_init__(self) -> None:
        for name in ("rows", "cols"):
            whole_number(name, getattr(self, name), 1, 64)
        for name, most in (
            ("actions", 100_000),
            ("channels", 1000),
            ("blocks", 200),
            ("filters", 2048),
            ("stem", 2048),
            ("head", 2048),
        ):
            whole_number(name, getattr(self, name), 1, most)
        whole_number("squeeze", self.squeeze, 0, 2048)
        one_of("reply", self.reply, (True, False))
        one_of("encoding", self.encoding, ("single", "planes"))

    @classmethod
    def for_game(cls, game: Game, encoding: str = "planes", **sizes: Any) -> "ResidualConfig":
        """The net of `sizes` for a game: it sees the game's own planes, or with "single" one plane of stones, as in S5."""
        channels, rows, cols = game.planes_shape
        possible = {field.name for field in dataclasses.fields(cls)} - {"rows", "cols", "actions", "channels", "encoding"}
        if unknown := set(sizes) - possible:
            raise AzlabError(f"A residual net has no {', '.join(sorted(unknown))}; its sizes are {', '.join(sorted(possible))}.")
        return cls(rows, cols, game.num_actions, 1 if encoding == "single" else channels, encoding, **sizes)

    @classmethod
    def bottleneck(cls, game: Game, **sizes: Any) -> "ResidualConfig":
        """Table 11: the small net whose 42 features a head are learning targets for a larger one."""
        table: dict[str, Any] = {"encoding": "single", "stem": 128, "filters": 32, "blocks": 3, "squeeze": 4, "head": 1}
        return cls.for_game(game, **table | sizes)


class NetOutput(NamedTuple):
    """What a net says of B positions, before the softmax."""

    policy: Tensor  # [B, A]
    result: Tensor  # [B, 3]: draw, win, loss for the player to move
    reply: Tensor | None = None  # [B, A]: what the opponent will answer


class Squeeze(nn.Module):
    """Squeeze and excitation: each feature map is scaled by a number made from the means of all maps. No bias."""

    def __init__(self, filters: int, neurons: int) -> None:
        super().__init__()
        self.down = nn.Linear(filters, neurons, bias=False)
        self.up = nn.Linear(neurons, filters, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        scale = torch.sigmoid(self.up(torch.relu(self.down(x.mean(dim=(2, 3))))))
        return x * scale[:, :, None, None]


class Block(nn.Module):
    """Two 3x3 convolutions whose result is added to their input."""

    def __init__(self, filters: int, squeeze: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(filters, filters, 3, padding=1)
        self.norm1 = nn.BatchNorm2d(filters)
        self.conv2 = nn.Conv2d(filters, filters, 3, padding=1)
        self.norm2 = nn.BatchNorm2d(filters)
        self.squeeze = Squeeze(filters, squeeze) if squeeze else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        out = torch.relu(self.norm1(self.conv1(x)))
        return torch.relu(x + self.squeeze(self.norm2(self.conv2(out))))


class Head(nn.Module):
    """A 3x3 convolution and a fully connected layer. `features` is what S5's auxiliary targets are made of."""

    def __init__(self, config: ResidualConfig, outputs: int) -> None:
        super().__init__()
        self.board = config.rows, config.cols
        self.conv = nn.Conv2d(config.filters, config.head, 3, padding=1)
        self.linear = nn.Linear(config.head * config.rows * config.cols, outputs)

    def features(self, x: Tensor) -> Tensor:
        """The convolution's output [B, head, H, W]."""
        return self.conv(x)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(self.features(x).flatten(1))


class ResidualNet(nn.Module):
    """See the module's description. Input float [B, channels, H, W]."""

    def __init__(self, config: ResidualConfig) -> None:
        super().__init__()
        self.config = config
        self.stem = nn.Conv2d(config.channels, config.stem, 3, padding=1)
        self.stem_norm = nn.BatchNorm2d(config.stem)
        self.adapter = nn.Conv2d(config.stem, config.filters, 1) if config.stem != config.filters else nn.Identity()
        self.blocks = nn.Sequential(*(Block(config.filters, config.squeeze) for _ in range(config.blocks)))
        self.policy = Head(config, config.actions)
        self.result = Head(config, 3)
        self.reply = nn.Linear(self.policy.linear.in_features, config.actions) if config.reply else None

    @property
    def encoding(self) -> str:
        """How it sees a state, a name of azlab.nets.encodings."""
        return self.config.encoding

    def trunk(self, planes: Tensor) -> Tensor:
        """The output of the last block [B, filters, H, W]."""
        return self.blocks(self.adapter(torch.relu(self.stem_norm(self.stem(planes)))))

    def forward(self, planes: Tensor) -> NetOutput:
        return self.heads(self.trunk(planes))

    def heads(self, x: Tensor) -> NetOutput:
        """The predictions from the trunk's output."""
        features = self.policy.features(x).flatten(1)
        reply = None if self.reply is None else self.reply(features)
        return NetOutput(self.policy.linear(features), self.result(x), reply)


def residual_net(game: Game, **sizes: Any) -> ResidualNet:
    """The kind of net that configs call "residual"; `sizes` as in `ResidualConfig.for_game`."""
    return ResidualNet(ResidualConfig.for_game(game, **sizes))


def count_multiplications(config: ResidualConfig) -> int:
    """Multiplications, each with its addition, for one position, in convolutions and fully connected layers."""
    board, filters = config.rows * config.cols, config.filters
    adapter = config.stem * filters if config.stem != filters else 0
    block = board * 2 * 9 * filters**2 + 2 * filters * config.squeeze
    heads = 2 * board * 9 * filters * config.head + config.head * board * (config.actions * (2 if config.reply else 1) + 3)
    return board * (9 * config.channels * config.stem + adapter) + config.blocks * block + heads


def count_parameters(net: nn.Module) -> int:
    """How many numbers are trained."""
    return sum(parameter.numel() for parameter in net.parameters())

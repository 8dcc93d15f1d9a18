"""AlphaZero in some 100 lines of plain Python and torch, as lesson 08 writes it: one position at a time, for any small game.

`azlab.learning` does the same for real: many games at once, compiled searches, resumable runs. Here every step can be read.
Values are for the first player, except inside the network, which sees a position with the eyes of the player to move.
(D. Silver et al., A general reinforcement learning algorithm that masters chess, shogi, and Go through self-play, 2018.)
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from azlab.games.game import Game, Position

Evaluate = Callable[[Position], tuple[dict[int, float], float]]  # priors of the legal actions, value for the first player


class Net(nn.Module):
    """Planes in; a number for each action, and a value between -1 and 1 for the player to move, out."""

    def __init__(self, game: Game, width: int = 64) -> None:
        super().__init__()
        inputs = math.prod(game.planes_shape)
        self.body = nn.Sequential(nn.Flatten(), nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.policy, self.value = nn.Linear(width, game.num_actions), nn.Linear(width, 1)

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        hidden = self.body(planes)
        return self.policy(hidden), torch.tanh(self.value(hidden))[:, 0]


def evaluate(net: nn.Module, position: Position) -> tuple[dict[int, float], float]:
    """A probability for each legal action, and the value for the first player."""
    planes = torch.from_numpy(position.game.encode(position.state))
    with torch.no_grad():
        logits, value = net(planes)
    legal = position.legal_actions
    priors = torch.softmax(logits[0][legal], 0)
    sign = 1 if position.to_move == 0 else -1
    return dict(zip(legal, priors.tolist())), sign * float(value[0])


class Node:
    """A move that may be searched: its prior, and what came of the visits so far, for the first player."""

    def __init__(self, prior: float, position: Position | None = None) -> None:
        self.prior, self.position = prior, position  # the position is made at the first visit
        self.visits, self.total = 0, 0.0
        self.children: dict[int, Node] = {}


def choose(node: Any, c: float = 1.5) -> int:
    """PUCT: the action with the largest Q + U for the player to move at `node`."""
    sign = 1 if node.position.to_move == 0 else -1

    def score(action: int) -> float:
        child = node.children[action]
        mean = sign * child.total / child.visits if child.visits else 0.0
        return mean + c * child.prior * math.sqrt(node.visits) / (1 + child.visits)

    return max(node.children, key=score)


def simulate(root: Any, evaluate: Evaluate) -> None:
    """Down to a node without children, judge it, give it children, and carry its value back."""
    path = [root]
    while path[-1].children:
        node = path[-1]
        action = choose(node)
        child = node.children[action]
        if child.position is None:
            child.position = node.position.play(action)
        path.append(child)
    leaf = path[-1]
    if leaf.position.over:
        value = leaf.position.result
    else:
        priors, value = evaluate(leaf.position)
        leaf.children = {action: Node(prior) for action, prior in priors.items()}
    for node in path:
        node.visits += 1
        node.total += value


def search(position: Position, evaluate: Evaluate, simulations: int, rng: Any = None, noise: float = 0.25) -> np.ndarray:
    """The share of the visits that each action got; with `rng`, noise is mixed into the priors of the root."""
    root = Node(1.0, position)
    simulate(root, evaluate)
    if rng is not None:
        for child, random in zip(root.children.values(), rng.dirichlet([1.0] * len(root.children))):
            child.prior = (1 - noise) * child.prior + noise * random
    for _ in range(simulations):
        simulate(root, evaluate)
    visits = np.zeros(position.game.num_actions)
    for action, child in root.children.items():
        visits[action] = child.visits
    return visits / visits.sum()


def drawn(shares: np.ndarray, temperature: float, rng: Any) -> int:
    """An action by its share of the visits; the lower the temperature, the more often the largest. 0 is always the largest."""
    if temperature == 0:
        return int(shares.argmax())
    weights = shares ** (1 / temperature)
    return int(rng.choice(len(shares), p=weights / weights.sum()))


def play_game(
    game: Game, evaluate: Evaluate, simulations: int, rng: Any, temperature: float = 1.0, noise: float = 0.25
) -> tuple[list[tuple[Position, np.ndarray]], int]:
    """A game against itself: every position with the shares of its search, and the result."""
    position, steps = game.start(), []
    while not position.over:
        shares = search(position, evaluate, simulations, rng, noise)
        steps.append((position, shares))
        position = position.play(drawn(shares, temperature, rng))
    return steps, position.result or 0


def targets(steps: list[tuple[Position, np.ndarray]], result: int) -> list[tuple[np.ndarray, np.ndarray, float]]:
    """What the network is to learn from a game: planes, shares of the search, and the result for the player to move."""
    examples = []
    for position, shares in steps:
        planes = position.game.encode(position.state)[0]
        examples.append((planes, shares, float(result if position.to_move == 0 else -result)))
    return examples


def turned(examples: list[tuple[np.ndarray, np.ndarray, float]], game: Game) -> list[tuple[np.ndarray, np.ndarray, float]]:
    """Every example in all symmetries of the board."""
    return [(s.on_planes(planes), s.on_actions(shares), value) for planes, shares, value in examples for s in game.symmetries]


def loss(logits: torch.Tensor, values: torch.Tensor, shares: torch.Tensor, results: torch.Tensor) -> torch.Tensor:
    """How far the network's answers are from the searches' shares and the games' results."""
    policy = -(shares * functional.log_softmax(logits, 1)).sum(1).mean()
    return policy + ((values - results) ** 2).mean()


def train(net: nn.Module, optimiser: Any, examples: list, steps: int, rng: Any, batch: int = 256) -> float:
    """Some steps of training on examples drawn at random; returns the mean loss."""
    planes, shares, results = (torch.tensor(np.array(part), dtype=torch.float32) for part in zip(*examples))
    losses = []
    for _ in range(steps):
        rows = torch.from_numpy(rng.integers(0, len(planes), batch))
        logits, values = net(planes[rows])
        now = loss(logits, values, shares[rows], results[rows])
        optimiser.zero_grad()
        now.backward()
        optimiser.step()
        losses.append(float(now.detach()))
    return float(np.mean(losses))

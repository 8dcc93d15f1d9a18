"""Every game as an environment of PettingZoo, in which agents take turns (AEC): azlab.interop.pettingzoo.env("connect4").

Agents are player_0 and player_1. An observation is what a network sees, float32 [C, H, W] from the agent's own side, and a mask
of the legal actions, which is empty for who is not to move. The winner's reward is 1, the loser's -1, at the end.
"""

from typing import Any, ClassVar

import numpy as np

from azlab.errors import AzlabError, one_of
from azlab.games import game as find
from azlab.games.game import Game

try:
    from gymnasium import spaces
    from pettingzoo import AECEnv
    from pettingzoo.utils import wrappers
except ImportError:
    raise AzlabError(
        "PettingZoo is not installed: pip install pettingzoo, or with all of azlab's extras for other libraries "
        'pip install "azlab[interop]".'
    ) from None

AGENTS = ["player_0", "player_1"]


def env(game: Game | str, render_mode: str | None = None, **options: Any) -> AECEnv:
    """The environment of a game or its name, with PettingZoo's usual guards: an illegal action loses the game.

    render_mode: "ansi" lets `render` return the board as text, "human" prints it
    """
    raw = raw_env(game, render_mode, **options)
    guarded = wrappers.AssertOutOfBoundsWrapper(wrappers.TerminateIllegalWrapper(raw, illegal_reward=-1))
    return wrappers.OrderEnforcingWrapper(guarded)


class raw_env(AECEnv):  # PettingZoo's name for an environment without guards
    """The environment itself; an illegal action raises `IllegalMove`."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["human", "ansi"], "name": "azlab", "is_parallelizable": False}

    def __init__(self, game: Game | str, render_mode: str | None = None, **options: Any) -> None:
        super().__init__()
        self.game = find(game, **options) if isinstance(game, str) else game
        self.metadata = {**self.metadata, "name": f"azlab_{self.game.name}"}  # type: ignore[misc]
        self.render_mode = one_of("render_mode", render_mode, (None, "human", "ansi"))
        self.possible_agents = list(AGENTS)
        mask = spaces.Box(0, 1, (self.game.num_actions,), np.int8)
        planes = spaces.Box(-np.inf, np.inf, self.game.planes_shape, np.float32)
        self.observation_spaces = {agent: spaces.Dict({"observation": planes, "action_mask": mask}) for agent in AGENTS}
        self.action_spaces = {agent: spaces.Discrete(self.game.num_actions) for agent in AGENTS}
        self.position = self.game.start()

    def observation_space(self, agent: str) -> Any:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict | None = None) -> None:
        """Begin a game; there is no chance in it, so `seed` changes only what the action spaces sample."""
        if seed is not None:
            for number, agent in enumerate(AGENTS):
                self.action_spaces[agent].seed(seed + number)
        self.agents = list(AGENTS)
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self.infos: dict[str, dict] = {agent: {} for agent in AGENTS}
        self.position = self.game.start()
        self.agent_selection = AGENTS[self.position.to_move]

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """The position from the agent's side, and what it may do now."""
        seat, state = AGENTS.index(agent), self.position.state
        mask = self.game.legal_mask(state)[0]
        if state["to_move"][0] != seat:
            mask[:] = False
        state["to_move"] = seat
        return {"observation": self.game.encode(state)[0], "action_mask": mask.astype(np.int8)}

    def step(self, action: int | None) -> None:
        """Play an action of the agent whose turn it is."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self.position = self.position.play(int(action))  # type: ignore[arg-type]
        self.agent_selection = AGENTS[self.position.to_move]
        if self.position.over:
            result = float(self.position.result or 0)
            self.rewards = {AGENTS[0]: result, AGENTS[1]: -result}
            self.terminations = dict.fromkeys(AGENTS, True)
        self._accumulate_rewards()
        if self.render_mode == "human":
            self.render()

    def render(self) -> str | None:
        """The board as text."""
        if self.render_mode == "human":
            print(self.position.text)
            return None
        return self.position.text

    def close(self) -> None:
        """Nothing is open."""

"""All the numbers of a PUCT search in one place. The defaults are AlphaZero's for a match; self-play adds noise."""

from dataclasses import dataclass

from azlab.errors import AzlabError, one_of, whole_number


@dataclass(frozen=True)
class SearchConfig:
    """Settings of `puct`. Values Q lie in [-1, 1] for the player to move, unless `unit_values` says otherwise."""

    simulations: int = 800
    # new positions evaluated for each move (AlphaZero: 800)
    cpuct: float = 1.25
    # weight of the exploration term U = c(N) * P * sqrt(N) / (1 + n), N counting the node's own evaluation
    cpuct_base: float = 19652.0
    # c(N) = cpuct + log((1 + N + base) / base); 0 keeps cpuct constant
    fpu: float = 0.0
    # first-play urgency: the Q of a move not tried yet
    fpu_relative: bool = False
    # if set, a move not tried yet counts as the mean of its node minus `fpu`
    draw_value: float = 0.0
    # what a draw is worth to either player
    unit_values: bool = False
    # if set, cpuct, fpu and draw_value are meant for Q in [0, 1], as source S5 states them
    noise: float = 0.0
    # share of Dirichlet noise in the root's priors (AlphaZero: 0.25 in self-play)
    noise_alpha: float = 0.3
    # parameter of that noise (AlphaZero: 0.3 in chess, 0.03 in Go)
    noise_alpha_base: float = 0.0
    # if positive, the parameter is this divided by the number of legal moves (source S5: 20.38)
    temperature: tuple[tuple[int, float], ...] = ((0, 0.0),)
    # (from ply, temperature): moves are drawn by visits ** (1 / temperature); 0 takes the most visited
    gumbel: int = 0
    # if positive, Gumbel search (Danihelka et al. 2022) with so many moves considered at the root, by sequential halving
    gumbel_visit_offset: float = 50.0
    # c_visit of that paper
    gumbel_value_scale: float = 1.0
    # c_scale of that paper
    forced_playouts: float = 0.0
    # a root move visited at all gets at least sqrt(k * P * N) visits (KataGo: k = 2); targets are then pruned
    cap_probability: float = 1.0
    # share of full searches; the others have `cap_simulations` (playout cap, KataGo and S5 section 3.6.4)
    cap_simulations: int = 30
    # size of the small searches
    kl_threshold: float = 0.0
    # if positive, a search goes on only while log2-KL gain of the visits per step exceeds this (S5 section 4.1)
    kl_step: int = 50
    # simulations between two looks at the gain
    reuse_tree: bool = False
    # keep the part of the tree below the move played
    leaves: int = 1
    # leaves taken from one tree before an evaluation; more than 1 uses virtual losses and suits a single position
    solve: bool = False
    # carry proven wins and losses up the tree
    margin: bool = False
    # a finished game counts by the lead in points (as a share of all points), not as won or lost; the evaluator must do so too
    root_values_only: bool = False
    # add values to the root alone: every other Q stays 0, so that visits follow the priors (the program of source S3)
    to_the_end: bool = False
    # a simulation goes on from its new leaf to the end of the game and evaluates every node on the way (the program of source S3)
    random_ties: bool = False
    # at temperature 0 a random one of the most visited moves is played, not the first
    drawn_plies: int = 0
    # before this ply moves are not searched: visits are draws from 3/4 priors and 1/4 equal chances (S3's program, in training)

    def __post_init__(self) -> None:
        for name in ("simulations", "cap_simulations", "kl_step", "leaves"):
            whole_number(name, getattr(self, name), 1, 10**9)
        for name in ("gumbel", "drawn_plies"):
            whole_number(name, getattr(self, name), 0, 10**6)
        for name in ("root_values_only", "to_the_end", "random_ties"):
            one_of(name, getattr(self, name), (True, False))
        for name in ("cpuct", "fpu", "draw_value", "noise", "noise_alpha", "cap_probability", "forced_playouts", "kl_threshold"):
            if not isinstance(getattr(self, name), int | float):
                raise AzlabError(f"{name} must be a number, not {getattr(self, name)!r}.")
        for name in ("noise", "cap_probability"):
            if not 0 <= getattr(self, name) <= 1:
                raise AzlabError(f"{name} is a share and must lie between 0 and 1, not {getattr(self, name)}.")
        for name in ("cpuct", "cpuct_base", "noise_alpha_base", "forced_playouts", "kl_threshold"):
            if getattr(self, name) < 0:
                raise AzlabError(f"{name} must not be negative, not {getattr(self, name)}.")
        if self.margin and (self.solve or self.draw_value):
            raise AzlabError("A search for the margin knows neither proven wins nor draws: leave out `solve` and `draw_value`.")
        if self.noise and self.noise_alpha <= 0 and self.noise_alpha_base <= 0:
            raise AzlabError("Root noise needs a positive noise_alpha or noise_alpha_base.")
        if self.gumbel and (self.leaves > 1 or self.reuse_tree):
            raise AzlabError("Gumbel search takes one leaf at a time and starts each move afresh: no `leaves`, no `reuse_tree`.")
        for switch, others, reason in NO_SENSE:
            for other in others:
                if getattr(self, switch) and getattr(self, other) != getattr(SearchConfig, other):
                    raise AzlabError(f"With {switch}, {reason}: leave out `{other}`.")
        if not isinstance(self.temperature, tuple) or not all(
            isinstance(part, tuple) and len(part) == 2 and all(isinstance(x, int | float) for x in part)
            for part in self.temperature
        ):
            raise AzlabError("temperature is a tuple of (from ply, temperature), such as ((0, 1.0), (30, 0.0)).")
        plies = [ply for ply, _ in self.temperature]
        if not plies or plies[0] != 0 or plies != sorted(plies) or min(t for _, t in self.temperature) < 0:
            raise AzlabError("temperature is a tuple of (from ply, temperature), from ply 0 on, e.g. ((0, 1.0), (30, 0.0)).")

    def room(self, longest_game: int) -> int:
        """The number of nodes that a tree may come to have, in a game of at most `longest_game` moves."""
        nodes = self.simulations * (longest_game if self.to_the_end else 1) + self.leaves + 1
        return 2 * nodes if self.reuse_tree else nodes

    def signed(self, value: float) -> float:
        """A value of the config as one in [-1, 1]."""
        return 2 * value - 1 if self.unit_values else value

    def temperature_at(self, ply: int) -> float:
        """The temperature for the move at `ply`."""
        return [t for start, t in self.temperature if start <= ply][-1]


# (switch, settings that make no sense with it, why)
NO_SENSE = (
    ("to_the_end", ("gumbel", "leaves", "solve", "forced_playouts"), "a simulation passes known results and adds many visits"),
    ("root_values_only", ("gumbel", "solve", "fpu_relative", "reuse_tree"), "no node but the root has a value"),
    ("random_ties", ("gumbel",), "moves are chosen by their visits alone"),
    ("drawn_plies", ("gumbel",), "moves are chosen by their visits alone"),
)

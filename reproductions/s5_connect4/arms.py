"""The arms of the source's comparisons: what each changes in a base config, at the source's size or at that of its twin.

Sizes follow the base: the source merges duplicates at 0.6 of the positions, begins the slow window at a quarter of the full one,
and caps searches at 30 of 343 simulations.
"""

import math
from itertools import combinations
from typing import Any

from azlab.learning.config import AlphaZeroConfig

SWITCHES = ("merge", "cyclic", "window", "reply", "squeeze")  # sections 3.6.1, 3.6.2, 3.6.3, 3.6.5 and 3.6.6, in their order
EXTENDED = "_".join(SWITCHES)


def parameters(cpuct: float, fpu: float, alpha_base: float, draw_value: float) -> dict[str, Any]:
    """Settings of a parameter set as the source states it, for values in [0, 1], in self-play and in tests."""
    formula = {"cpuct": 2 * cpuct, "fpu": 2 * fpu - 1, "draw_value": 2 * draw_value - 1}
    both = {f"{part}.{name}": value for part in ("search", "test_search") for name, value in formula.items()}
    return both | {"explore.noise_alpha_base": alpha_base}


def sets(base: AlphaZeroConfig) -> dict[str, AlphaZeroConfig]:
    """Table 5 and figure 8: the parameter sets, and playout caps. The baseline is hyperopt2."""
    simulations = math.ceil(base.budget.simulations * 30 / 343)
    return {
        "baseline": base,
        "hyperopt1": base.changed(parameters(0.9267, 0.9168, 12.5, 0.4815)),  # 0.9168 in the runs, 0.91 in the text
        "prevwork": base.changed(parameters(4.0, 0.0, 7.0, 0.5)),
        "caps": base.changed({"budget.cap": [0.25, simulations], "explore.capped_noise": 0.1}),  # of 0.25: 0.025
    }


def switched(base: AlphaZeroConfig, switches: tuple[str, ...]) -> AlphaZeroConfig:
    """The base with some of the five switches of the extended baseline (section 3.7)."""
    positions, window = base.selfplay.positions, base.training.window[0][1]
    changes: dict[str, dict[str, Any]] = {
        "merge": {"training.merge": 0.8, "selfplay.positions": round(0.6 * positions), "selfplay.count_new": True},
        "cyclic": {
            "training.rate": [[1, 1.0], [20, 0.4]],
            "training.rate_cycle": [[0, 0.02], [0.35, 0.2], [0.7, 0.02], [1, 0.003]],
            "training.momentum_cycle": [[0, 0.95], [0.35, 0.85], [0.7, 0.95]],
        },
        "window": {"training.window": [[5, window // 4], [15, window]]},
        "reply": {"net.reply": True, "parts.program": "s5_connect4", "parts.uniform_last_reply": True},
        "squeeze": {"net.squeeze": max(4, base.net.get("filters", 128) // 16)},
    }
    found = base
    for name in switches:
        found = found.changed(changes[name])
    return found


def factorial(base: AlphaZeroConfig) -> dict[str, AlphaZeroConfig]:
    """Half of all combinations of the five switches, those with an odd number of them on: a 2^(5-1) design of resolution V.

    No main effect and no interaction of two is confused with another of these.
    """
    chosen = [on for count in (1, 3, 5) for on in combinations(SWITCHES, count)]
    return {"_".join(on): switched(base, on) for on in chosen}


def singles(base: AlphaZeroConfig) -> dict[str, AlphaZeroConfig]:
    """The source's single runs of section 3.6, whose schedules differ from those of its extended baseline."""
    window = base.training.window[0][1]
    found = {name: switched(base, (name,)) for name in SWITCHES}
    found["cyclic"] = found["cyclic"].changed({"training.rate": [[1, 1.0], [25, 0.5]]})
    found["window"] = found["window"].changed({"training.window": [[5, window // 4], [12, window]]})
    for weight in (2, 5):
        found[f"merge{weight}"] = found["merge"].changed({"training.merge": weight / 10})
    return found

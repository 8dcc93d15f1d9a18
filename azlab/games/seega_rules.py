"""Seega has been written down many times, and never twice alike: its rule sets by name, `azlab.game("seega", rules="maic")`.

An option given beside `rules` takes the place of what the set says. Sets are options of `Seega` and nothing more: a game does
not remember the name. Where an author gives no limit on moves without a capture, one stands in, since a game must end: for
authors who let players agree that a barrier has closed the board, 20 such moves are that agreement; for Ludii it is 300, as good
as none.

Left out, since each is in one or two texts alone: the first four stones on the middle cells of the edges (Lane 1836, Ringling);
the first two turns with two stones and then one a turn (Ringling); a stone that may not step back at once, and a player who
cannot move and takes an enemy stone off instead (a course's sheet); requests to exchange stones (KharbgaNet).
"""

import functools
from collections.abc import Callable
from typing import Any, ParamSpec

from azlab.errors import one_of

# What most public descriptions have in common: who placed last moves first, and a stone on the centre is safe.
_COMMON = {"first_mover": "last_placer", "safe_centre": True, "blocked": "skip", "least_stones": 1, "quiet_limit": 20}

RULE_SETS: dict[str, dict[str, Any]] = {
    # the text of source S4, section 2.1.3; what it does not say is as the defaults of `Seega`
    "s4": {},
    # the engine of a contest of programs, MAIC 2018 (chrisemezue/seega_ai): no chains, 50 moves without a capture end the game
    "maic": {**_COMMON, "chain": "none", "least_stones": 2, "quiet_limit": 50},
    # Khamsawee as Ludii 1.3.10 plays it: the first placer moves first, no chains, no safe centre; who cannot move passes
    "khamsawee": {
        "first_mover": "first", "safe_centre": False, "chain": "none", "blocked": "pass", "least_stones": 1, "quiet_limit": 300,
    },
    # J. P. Neto's page, and alike kestevenmorris, bead.game and Ringling's: the stone that captured may go on capturing
    "neto": {**_COMMON, "chain": "optional"},
    # richgames: as neto, but it mentions no chains
    "richgames": {**_COMMON, "chain": "none"},
    # bodogemu: as neto, but after a capture any stone may make any step
    "bodogemu": {**_COMMON, "chain": "optional", "extra_move": "any"},
}  # fmt: skip

P = ParamSpec("P")


def by_name(init: Callable[P, None]) -> Callable[P, None]:
    """Let `rules` fill in those options of `init` that are not given."""

    @functools.wraps(init)
    def filled(*args: P.args, **options: P.kwargs) -> None:
        chosen = RULE_SETS[str(one_of("rules", options.get("rules", "s4"), tuple(RULE_SETS)))]
        init(*args, **{**chosen, **options})  # type: ignore[arg-type]

    return filled

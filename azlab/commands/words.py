"""Words that several commands share: options such as size=9, seeds, code of the user's, agents by name."""

import argparse
from typing import TYPE_CHECKING, Any

from azlab.errors import literal

if TYPE_CHECKING:
    from azlab.games.game import Game


def as_option(text: str) -> tuple[str, object]:
    key, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"an option looks like size=9, not {text!r}")
    if value in ("true", "false"):  # as config files spell them
        return key, value == "true"
    return key, literal(value)


def as_seed(text: str) -> int:
    seed = literal(text)
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 2**63:
        raise argparse.ArgumentTypeError(f"a seed is a whole number from 0 on, not {text!r}")
    return seed


def add_net(command: argparse.ArgumentParser) -> None:
    command.add_argument("--net", metavar="FILE.py:FUNCTION", help="code of yours that makes the network: a function of the game")


def load_code(args: argparse.Namespace) -> None:
    """Run the code that the user names, so that the folder of a run may name it too."""
    if args.game:
        from azlab.games.registry import load_game

        load_game(args.game)
    if args.net:
        from azlab.nets.kinds import load_net

        load_net(args.net)


def agent_for(name: str, seed: int, rules: "Game") -> Any:
    """The agent called `name`; one that cannot play this game says so now, not at its first move."""
    from azlab.arena.agents import agent, ready

    return ready(agent(name, seed), rules)

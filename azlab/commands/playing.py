"""`azlab play`, `match`, `tournament` and `gtp`: players and what they do."""

import argparse
import os

from azlab.commands.words import add_net, agent_for, as_option, as_seed, load_code
from azlab.endings import STOPPED
from azlab.errors import AzlabError


def add_play(commands: argparse._SubParsersAction) -> None:
    play = commands.add_parser("play", help="play a game in the terminal", description="Play a game in the terminal.")
    play.add_argument("game", help="tictactoe, connect4, dots_and_boxes, go, simple_go, seega, or yours: othello.py:Othello")
    play.add_argument("options", nargs="*", type=as_option, metavar="OPTION=VALUE", help="options of the game, e.g. size=9")
    play.add_argument(
        "--against",
        default="random",
        help="random, minimax:6, uct:5000, uct:2s, puct:800, perfect, gnugo:10, az, net:FILE (default: random)",
    )
    play.add_argument("--seat", choices=["first", "second", "both"], default="first", help="which seat you take (default: first)")
    play.add_argument("--moves", default="", help="start after these moves")
    play.add_argument("--seed", type=as_seed, help="makes the opponent's choices repeatable")
    add_net(play)
    play.set_defaults(run=_play)


def _play(args: argparse.Namespace) -> int:
    from azlab.arena.terminal import play
    from azlab.games import game

    rules = game(args.game, **dict(args.options))
    load_code(args)
    position = rules.from_moves(args.moves)
    seed = args.seed if args.seed is not None else int.from_bytes(os.urandom(4))
    play(position, agent_for(args.against, seed, rules), {"first": 0, "second": 1, "both": None}[args.seat])
    return 0


def add_match(commands: argparse._SubParsersAction) -> None:
    match = commands.add_parser("match", help="let two agents play each other")
    match.add_argument("game", help="the game, as for play")
    match.add_argument("first", metavar="AGENT", help="e.g. uct:1000")
    match.add_argument("second", metavar="AGENT", help="e.g. minimax:4")
    match.add_argument("options", nargs="*", type=as_option, metavar="OPTION=VALUE", help="options of the game, e.g. size=9")
    match.add_argument("--games", type=int, default=100, help="how many, an even number (default: 100)")
    match.add_argument("--openings", type=int, help="random moves before each game (default: 2, more when those are used up)")
    match.add_argument("--seed", type=as_seed, default=0, help="of the openings and the agents (default: 0)")
    match.add_argument("--save", metavar="FILE", help="keep every game as JSON lines")
    add_net(match)
    match.set_defaults(run=_match)


def _match(args: argparse.Namespace) -> int:
    from tqdm import tqdm

    from azlab.arena import match
    from azlab.arena.match import AgentFailed
    from azlab.games import game

    rules = game(args.game, **dict(args.options))
    load_code(args)
    players = [agent_for(name, args.seed + k, rules) for k, name in enumerate((args.first, args.second))]
    if args.save and (os.path.isdir(args.save) or not os.access(os.path.dirname(os.path.abspath(args.save)), os.W_OK)):
        raise AzlabError(f"The games cannot be saved in {args.save}: name a file in a folder that can be written.")
    with tqdm(total=args.games, unit="game", disable=None) as bar:
        progress = lambda done, total: bar.update(done - bar.n)  # noqa: E731
        try:
            result = match(players[0], players[1], args.games, rules, args.openings, args.seed, progress)
        except AgentFailed as failure:
            print(failure.result)
            raise
    print(result)
    if args.save:
        result.save(args.save)
        print(f"The games are in {args.save}.")
    return 0 if result.complete else STOPPED


def add_tournament(commands: argparse._SubParsersAction) -> None:
    tournament = commands.add_parser(
        "tournament",
        help="let all players in a folder of Python files play each other, and write a page with the games",
        description="A round robin of the files in a folder, one a player, each game in processes of its own with limits "
        "(docs/tournament.md). The same command goes on where it was stopped. It is no protection against malice.",
    )
    tournament.add_argument("folder", metavar="FOLDER", help="the folder with anna.py, ben.py and so on")
    tournament.add_argument("options", nargs="*", type=as_option, metavar="OPTION=VALUE", help="options of the game, e.g. rows=4")
    tournament.add_argument("--game", required=True, help="the game, as for play")
    tournament.add_argument("--games", type=int, default=10, help="of each pair of players, an even number (default: 10)")
    tournament.add_argument("--with", dest="agents", action="append", metavar="AGENT", help="an agent plays too, e.g. uct:1000")
    tournament.add_argument("--seconds", type=float, default=5.0, help="for a move (default: 5)")
    tournament.add_argument("--start-seconds", type=float, default=30.0, help="for starting a player (default: 30)")
    tournament.add_argument("--memory", type=int, default=2000, metavar="MB", help="for a player, on Linux (default: 2000)")
    tournament.add_argument(
        "--openings", type=int, help="random moves before each game (default: 2, more when those are used up)"
    )
    tournament.add_argument("--seed", type=as_seed, default=0, help="of the openings and the players (default: 0)")
    tournament.add_argument("--processes", type=int, metavar="N", help="how many games at once (default: one a core)")
    tournament.add_argument(
        "--out", metavar="FOLDER", help="folder of the results (default: runs/tournament_ and the folder's name)"
    )
    tournament.add_argument("--again", action="append", metavar="PLAYER", help="play this player's games anew")
    tournament.add_argument("--list", action="store_true", help="say who would play and how much of it is done, and stop")
    tournament.set_defaults(run=_tournament)


def _tournament(args: argparse.Namespace) -> int:
    from azlab.show import tournament_command

    return tournament_command.run(args)


def add_gtp(commands: argparse._SubParsersAction) -> None:
    gtp = commands.add_parser(
        "gtp",
        help="be a Go engine for Sabaki, GoGui, Lizzie and other programs that speak the Go Text Protocol",
        description="Play Go over stdin and stdout by the Go Text Protocol (docs/gtp.md). `quit` or the end of the input end it.",
    )
    gtp.add_argument("agent", metavar="AGENT", help="who plays, e.g. uct:10000")
    gtp.add_argument("options", nargs="*", type=as_option, metavar="OPTION=VALUE", help="options of Go: size=9 komi=7 ko=simple")
    gtp.add_argument("--name", default="", help="what the engine calls itself (default: azlab and the agent)")
    gtp.add_argument(
        "--as-version", metavar="VERSION", default="", help="the version it tells, for programs that want a certain one"
    )
    gtp.add_argument("--log", metavar="FILE", default="", help="write down what is said, to a file that grows")
    gtp.add_argument("--seed", type=as_seed, help="makes the agent's choices repeatable")
    add_net(gtp)
    gtp.set_defaults(run=_gtp, game=None)


def _gtp(args: argparse.Namespace) -> int:
    from azlab.arena.agents import agent
    from azlab.arena.gtp_engine import serve

    load_code(args)
    seed = args.seed if args.seed is not None else int.from_bytes(os.urandom(4))
    serve(agent(args.agent, seed), dict(args.options), args.name, args.as_version, args.log, args.is_debugged)
    return 0

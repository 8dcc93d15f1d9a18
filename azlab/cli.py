"""The command `azlab`. Every part is imported when it is asked for, so that `azlab --help` answers at once."""

import argparse
import math
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlab import __version__
from azlab.commands.playing import add_gtp, add_match, add_play, add_tournament
from azlab.commands.training import add_run, add_sweep, add_train
from azlab.commands.words import as_option, as_seed
from azlab.endings import Parser, ended
from azlab.errors import AzlabError, one_of

if TYPE_CHECKING:
    pass


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code. An error is printed as one sentence."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    others = [word for word in words if word != "--debug"]

    def run() -> int:
        args = _parsed(others)
        args.is_debugged = others != words
        return args.run(args)

    return ended(run, is_debugged=others != words)


def _parsed(words: list[str]) -> argparse.Namespace:
    """The command and its arguments; flags, names and options such as size=9 may stand in any order behind the command."""
    if any("\0" in word for word in words):
        raise AzlabError("An argument holds a zero byte, which no name can have.")
    parser, commands = _parsers()
    if words and words[0] in commands:
        return commands[words[0]].parse_intermixed_args(words[1:])
    return parser.parse_args(words)


def _parsers() -> tuple[Parser, dict[str, Parser]]:
    """The parser of `azlab` itself, and those of its commands."""
    parser = Parser(prog="azlab", description="Learn game-playing reinforcement learning and check what was claimed.")
    parser.add_argument("--version", action="version", version=f"azlab {__version__}")
    parser.add_argument("--debug", action="store_true", help="show where an error happened; goes with every command")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    add_play(commands)
    add_match(commands)
    add_tournament(commands)
    add_gtp(commands)
    _add_reproduce(commands)
    add_train(commands)
    add_run(commands)
    add_sweep(commands)
    _add_bench(commands)
    _add_data(commands)
    _add_course(commands)
    doctor = commands.add_parser("doctor", help="what this machine has, what is wrong, how to fix it")
    doctor.set_defaults(run=_doctor)
    return parser, commands.choices


def _add_reproduce(commands: argparse._SubParsersAction) -> None:
    reproduce = commands.add_parser("reproduce", help="run the experiments that check the sources' claims, and report")
    reproduce.add_argument(
        "what", nargs="*", metavar="WHAT", help="a source (s1), an experiment (s1.tictactoe) or a notebook (default: all)"
    )
    reproduce.add_argument("--profile", choices=["smoke", "laptop", "paper"], help="how large to run (default: smoke)")
    reproduce.add_argument("--seed", type=as_seed, help="of everything random (default: 0)")
    reproduce.add_argument("--out", metavar="DIR", help="folder of the run (default: a new one in runs/)")
    reproduce.add_argument("--resume", action="store_true", help="go on with the run in --out, or with the newest unfinished one")
    reproduce.add_argument(
        "--estimate", action="store_true", help="time a few steps, say how long the profile would take, and stop"
    )
    reproduce.add_argument("--keep", action="store_true", help="keep the results in reproductions/, to be committed")
    reproduce.add_argument("--list", action="store_true", help="list sources, experiments and profiles, and stop")
    reproduce.set_defaults(run=_reproduce)
    report = commands.add_parser(
        "report", help="write the page that puts the sources' numbers beside ours, without running anything"
    )
    report.add_argument("runs", nargs="*", metavar="RUN", help="folders of runs to take in besides the results that are kept")
    report.add_argument("--out", metavar="DIR", default="runs/report", help="where to write it (default: runs/report)")
    report.set_defaults(run=_report)
    demo = commands.add_parser("demo", help="a one-minute demonstration: published counts recounted by the rules")
    demo.set_defaults(run=_demo)


def _reproduce(args: argparse.Namespace) -> int:
    from azlab.repro import command

    return command.reproduce(args)


def _report(args: argparse.Namespace) -> int:
    from azlab.repro import command

    return command.report(args)


def _demo(args: argparse.Namespace) -> int:
    from azlab.repro.demo import run

    return 0 if run() else 1


def _add_bench(commands: argparse._SubParsersAction) -> None:
    bench = commands.add_parser("bench", help="measure speeds on this machine")
    bench.add_argument("part", nargs="*", help="what to measure: games, search, oracles, nets, learning, compile (default: all)")
    bench.add_argument("--peers", action="store_true", help="measure open_spiel, pgx and mctx too, where they are installed")
    bench.add_argument("--seconds", type=float, default=1.0, help="time for each figure (default: 1)")
    bench.add_argument("--json", action="store_true", help="print JSON instead of a table")
    bench.set_defaults(run=_bench)


def _bench(args: argparse.Namespace) -> int:
    from azlab import bench
    from azlab.bench import games, learning, nets, oracles, peers, search

    groups = {
        "games": [bench.on_one_core(games.playouts(args.seconds))],
        "search": [bench.on_one_core(part(args.seconds)) for part in (search.uct_rows, search.puct_rows)],
        "oracles": [bench.on_one_core(oracles.rows())],
        "nets": [nets.rows(args.seconds)],
        "learning": [learning.rows()],
        "compile": [games.first_use()],
    }
    if args.peers:
        groups["games"].append(bench.on_one_core(peers.playouts(args.seconds)))
        groups["search"].append(bench.on_one_core(peers.searches(args.seconds)))
    groups["search"].append(search.network_rows())
    for name in args.part:
        one_of("part", name, tuple(groups))
    if not 0 < args.seconds < math.inf:
        raise AzlabError("--seconds must be positive.")
    parts = [part for name in args.part or groups for part in groups[name]]
    rows = []
    for row in (row for part in parts for row in part):
        print(f"measured {row.what}", end="\r\033[K" if sys.stderr.isatty() else "\n", file=sys.stderr, flush=True)
        rows.append(row)
    print(bench.as_json(rows) if args.json else bench.table(rows))
    return 0


def _add_data(commands: argparse._SubParsersAction) -> None:
    data = commands.add_parser(
        "data",
        help="data sets: which are here, get a public one, make one",
        description="List the data sets, download a public one, or make one by perfect play (docs/data.md). `azlab data make` "
        "alone says what can be made; the same command goes on where it was stopped.",
    )
    data.add_argument("action", nargs="?", choices=["list", "get", "make"], default="list")
    data.add_argument(
        "name", nargs="*", metavar="NAME", help="get: data sets as the list names them; make: connect4 perfect=0.5 count=10000"
    )
    data.add_argument(
        "--out", metavar="FILE.txt.gz", help="make: where to write it, a folder for tables (default: where azlab finds it)"
    )
    data.add_argument("--processes", type=int, metavar="N", help="make: how many processes (default: one a core)")
    data.set_defaults(run=_data)


def _data(args: argparse.Namespace) -> int:
    from azlab.formats import datasets

    if args.action == "make":
        from azlab.oracles import making_command

        for word in args.name[1:]:
            if "=" not in word:
                raise AzlabError(f"An option of what is made looks like count=1000, not {word!r}.")
        return making_command.run(args.name[:1], dict(map(as_option, args.name[1:])), args.out, args.processes)
    if args.out or args.processes:
        raise AzlabError("--out and --processes are for `azlab data make`.")
    if args.action == "list":
        if args.name:
            raise AzlabError("`azlab data` lists all data sets; to get one, say `azlab data get NAME`.")
        for row in datasets.status():
            size = f"{row.size / 1e6:.1f} MB"
            print(f"{row.name:<30} {row.where:<8} {size:>8}  {row.description} (licence: {row.licence})")
        return 0
    if not args.name:
        raise AzlabError("Say which data set to get; `azlab data` lists them.")
    for name in args.name:
        print(f"{name} is in {datasets.get(name, _show_bytes)}")
    return 0


def _show_bytes(done: int, total: int | None) -> None:
    print(f"\r{done / 1e6:.1f} MB{f' of {total / 1e6:.1f}' if total else ''}", end="", file=sys.stderr, flush=True)


def _add_course(commands: argparse._SubParsersAction) -> None:
    course = commands.add_parser(
        "course",
        help="make the notebooks of students from the instructor's",
        description="Make both versions of the lessons that have exercises to write: one with solutions, one without.",
    )
    course.add_argument("action", choices=["build"])
    course.add_argument("name", nargs="*", metavar="NAME", help="lessons, such as 02_minimax (default: all)")
    course.add_argument("--student", metavar="DIR", help="where to write the notebooks without solutions")
    course.add_argument("--instructor", metavar="DIR", help="where to write those with solutions")
    course.set_defaults(run=_course)


def _course(args: argparse.Namespace) -> int:
    from azlab.course.build import build
    from azlab.files import expanded

    student, instructor = (expanded(folder) if folder else None for folder in (args.student, args.instructor))
    for path in build(args.name, student, instructor):
        print(path)
    return 0


def _doctor(args: argparse.Namespace) -> int:
    from azlab.doctor import report

    text, is_well = report()
    print(text)
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main())

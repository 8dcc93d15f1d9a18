"""What `azlab sweep` does and prints."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from azlab.endings import STOPPED
from azlab.games.registry import load_game
from azlab.learning.progress import SweepProgress
from azlab.learning.sweep import Sweep
from azlab.learning.sweep_file import read
from azlab.nets.kinds import load_net


def run(args: argparse.Namespace) -> int:
    """Run or list the sweep of a file. Exit code 0 if all units asked for are done, 1 if one failed."""
    for name in args.game or ():
        load_game(name)
    for name in args.net or ():
        load_net(name)
    plan = read(args.file)
    folder = Path(args.out) if args.out else Path("runs") / Path(args.file).stem
    sweep = Sweep(plan.arms, plan.seeds, folder, games=args.game or (), nets=args.net or ())
    only = args.only or ()
    if args.list:
        _list(sweep, only)
        return 0
    progress = SweepProgress()
    try:
        table = sweep.run(args.processes, only, progress)
    except KeyboardInterrupt:
        progress.close()
        print(f"\nStopped. What is finished is in {folder}; the same command goes on from there.", file=sys.stderr)
        return STOPPED
    finally:
        progress.close()
    if table.rows:
        print(table.text())
        print("± is the 95 % interval over the seeds; differences are taken seed by seed.")
    print(f"The table of all iterations is {folder / 'metrics.csv'}.")
    states = sweep.states()
    failed = [unit for unit in sweep.chosen(only) if not states[unit].finished]
    for unit in failed:
        print(f"{unit.name} failed: {states[unit].error}", file=sys.stderr)
    return 1 if failed else 0


def _list(sweep: Sweep, only: Sequence[str]) -> None:
    """What would run, and how much of it is done."""
    states, units = sweep.states(), sweep.chosen(only)
    for unit in units:
        state, steps = states[unit], sweep.steps(unit)
        word = "done" if state.finished else f"failed: {state.error}" if state.error else "to do"
        print(f"{unit.name}: {max(state.rows, default=0)} of {steps} iterations, {word}")
    done = sum(states[unit].finished for unit in units)
    print(f"{len(units)} units in {sweep.folder}: {done} done, {len(units) - done} to do.")

"""What `azlab data make` prints: what can be made, how far it is, where it is in the end."""

import dataclasses
import sys
import time
from collections.abc import Mapping, Sequence
from typing import IO, Any

from tqdm import tqdm

from azlab.endings import STOPPED
from azlab.errors import whole_number
from azlab.machine import cores
from azlab.oracles import making
from azlab.oracles.making import FilesMaker, find_maker, make, read_options

PAUSE = 60.0  # seconds between two lines in a log


def run(name: Sequence[str], values: Mapping[str, Any], out: str | None, processes: int | None) -> int:
    """Make the data called `name`, a list of none or one; without a name say what there is. Returns the exit code."""
    if not name:
        print("\n".join(listing()))
        return 0
    options, maker = read_options(name[0], values), find_maker(name[0])
    if advice := maker.advice(options):
        print(advice, file=sys.stderr)
    progress = MakingProgress()
    try:
        if isinstance(maker, FilesMaker):
            threads = cores() if processes is None else whole_number("The number of processes", processes, 1, 1024)
            place = maker.build(options, out, threads, progress)
        else:
            file, entry = make(name[0], options, out, processes, progress)
    except KeyboardInterrupt:
        progress.close()
        print("\nStopped. What is finished is kept; the same command goes on from there.", file=sys.stderr)
        return STOPPED
    finally:
        progress.close()
    if isinstance(maker, FilesMaker):
        print(f"{maker.describe(options)}: in {place}.")
        return 0
    print(f"{entry.description}: in {file}, content sha256 {entry.sha256}.")
    if out is None:
        print(f"Its name as a data set is {entry.name}.")
    return 0


def listing() -> list[str]:
    """The makers and their options, a line each."""
    lines = []
    for name in making.MAKERS:
        maker = find_maker(name)
        lines.append(f"azlab data make {name} [OPTION=VALUE ...]")
        for field in dataclasses.fields(maker.options):
            default = str(field.default).lower() if isinstance(field.default, bool) else field.default
            lines.append(f"  {field.name + '=' + str(default):<20} {maker.meaning[field.name]}")
    return lines


class MakingProgress:
    """A bar with rate and remaining time on a terminal, a line now and then in a log.

    What is there at the first call, perhaps from an earlier start, does not count for the rate.
    """

    def __init__(self, stream: IO[str] | None = None, pause: float = PAUSE) -> None:
        self._stream = stream or sys.stderr
        self._pause = pause
        self._bar: Any = None
        self._begin: tuple[float, int] | None = None
        self._said = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if self._begin is None:
            self._begin = now, done
        if self._stream.isatty():
            if self._bar is None:
                self._bar = tqdm(total=total, initial=done, unit=" positions", file=self._stream, smoothing=0.05)
            self._bar.update(done - self._bar.n)
        elif now - self._said >= self._pause:
            self._said = now
            rate = (done - self._begin[1]) / max(1e-9, now - self._begin[0])
            left = f", {rate:,.1f} a second, {(total - done) / rate / 3600:.2f} hours left" if rate > 0 else ""
            print(f"{done:,} of {total:,}{left}", file=self._stream, flush=True)

    def close(self) -> None:
        """Leave the bar as it is."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None

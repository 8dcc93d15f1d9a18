"""The networks against GNU Go, as Black and without komi (figures 6.5 and 6.7), as the source's program plays and repaired.

The source shows two games on each board. Its program never passes of its own, fills its own eyes and so kills its own stones: the
test against them is there, commented out. It plays with the last weights, not with their average. Each pairing is a unit of a
sweep and keeps every game; an engine that hangs or dies costs its game only.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from azlab.arena import match
from azlab.arena.gtp_agent import GnuGoAgent
from azlab.arena.match import AgentFailed
from azlab.arena.policy_agent import AFTER_OPPONENT, EYES_LEFT, PolicyAgent
from azlab.arena.results import score_interval
from azlab.errors import AzlabError
from azlab.files import write_aside
from azlab.games.go import Go
from azlab.intact import parsed, sealed, unsealed
from azlab.learning.parts import complete
from azlab.learning.shipped import load_player
from azlab.machine import find_program
from azlab.repro.record import Recorder
from azlab.repro.sweeps import swept
from azlab_reproductions.s2_go.moves import LAST, arms, train

PLAYERS: dict[str, dict[str, Any]] = {
    "source": {"own_eyes": True, "passes": AFTER_OPPONENT},
    "repaired": {"own_eyes": False, "passes": EYES_LEFT},
}
GAMES = "games.json"
PATIENCE = 120.0  # seconds for a move of GNU Go, which takes one at most; one that hangs is given up


def play(
    record: Recorder, *, boards: list, layers: int, filters: int, steps: int, every: int, batch: int, tested: int, games_9: int,
    games_19: int, levels_9: list, levels_19: list, matches_9: int, matches_19: int, sampled: int,
) -> None:  # fmt: skip
    """Play matches with the network of that many layers. A run that has s2.moves at the same settings lends its networks.

    boards to games_19: as in `moves`
    levels_9, levels_19: of GNU Go, on each board
    matches_9, matches_19: games of each pairing
    sampled: moves at the start of a game that the network draws by their chances, so that games differ
    """
    if find_program("gnugo") is None:  # its claims then count as not run
        return
    sizes = {"filters": filters, "steps": steps, "every": every, "batch": batch, "tested": tested}
    nets = arms(boards, [layers], [], {9: games_9, 19: games_19}, sizes)
    lend_networks(record, {f"{size}x{size}_{layers}": nets[f"{size}x{size}_{layers}"] for size in boards})
    levels, counts = {9: levels_9, 19: levels_19}, {9: matches_9, 19: matches_19}
    pairings = {
        f"{size}x{size}_{player}_{level}": {
            "net": f"{size}x{size}_{layers}", "size": size, "level": level, "games": counts[size], "sampled": sampled, **habits
        }
        for size in boards
        for player, habits in PLAYERS.items()
        for level in levels[size]
    }  # fmt: skip
    swept(record, "play", pairings, [record.seed], work=games, steps=max(counts[size] for size in boards))
    found = {name: read_games(record.folder / "play" / "arms" / name / f"seed{record.seed}" / "run") for name in pairings}
    record.data("games", {name: summary(own) for name, own in found.items()})
    record.data("margins", {name: [one["margin"] for one in own] for name, own in found.items()})
    for size in boards:
        claims_of(record, size, {player: found[f"{size}x{size}_{player}_{max(levels[size])}"] for player in PLAYERS})


def lend_networks(record: Recorder, configs: dict[str, dict[str, Any]]) -> None:
    """Put the networks into the folder `nets`: those of the run's own s2.moves if it has these settings, else new ones."""
    seed, folder = 100 * record.seed, record.folder
    others = folder.parent.parent / "s2.moves" / folder.name / "moves" / "arms"
    lacking = {}
    for arm, config in configs.items():
        made = others / arm / f"seed{seed}" / "run" / LAST
        if not (made.is_file() and _same(others / arm / "config.json", config)):
            lacking[arm] = config
            made = folder / "moves" / "arms" / arm / f"seed{seed}" / "run" / LAST
        configs[arm] = {"file": made}
    if lacking:
        swept(record, "moves", lacking, [seed], work=train, steps=max(config["steps"] for config in lacking.values()))
    for arm, config in configs.items():
        content = config["file"].read_bytes()
        write_aside(folder / "nets" / f"{arm}.safetensors", lambda aside, content=content: aside.write_bytes(content))  # type: ignore[misc]


def _same(file: Path, config: dict[str, Any]) -> bool:
    try:
        return bool(parsed(file.read_text("utf-8")) == config)
    except (OSError, ValueError):
        return False


# --- the unit ---------------------------------------------------------------------------------------------------------


def games(config: dict[str, Any], seed: int, folder: Path) -> Iterator[dict[str, Any]]:
    """The unit of a match: a row for each game, and every game in a file. Games that were played before are not played again."""
    done = read_games(folder)
    for number, one in enumerate(done, 1):
        yield as_row(number, one)
    learner, _ = load_player(folder.parents[4] / "nets" / f"{config['net']}.safetensors")
    evaluator, rules = learner.evaluator(), Go(config["size"], komi=0.0)
    habits = {name: config[name] for name in ("own_eyes", "passes", "sampled")}
    for number in range(len(done) + 1, config["games"] + 1):
        lot = int(np.random.default_rng([seed, number]).integers(2**31))
        player = PolicyAgent(evaluator, learner.game, seed=lot, **habits)
        done.append(one_game(player, GnuGoAgent(config["level"], PATIENCE, seed=lot), rules))
        text = json.dumps(sealed({"games": done})) + "\n"
        write_aside(folder / GAMES, lambda aside, text=text: aside.write_text(text, encoding="utf-8"))  # type: ignore[misc]
        yield as_row(number, done[-1])


def one_game(player: PolicyAgent, gnugo: GnuGoAgent, rules: Go) -> dict[str, Any]:
    """A game with the network as Black: its moves and margin; if somebody failed, why, and no margin."""
    try:
        played = complete(match(player, gnugo, 1, rules, openings=0, swap_seats=False))
        final = played.records[0].final
        black, white = final.scores or (0.0, 0.0)
        return {"margin": black - white, "moves": " ".join(final.moves), "failed": ""}
    except AgentFailed as failure:
        if failure.agent is not gnugo:  # a fault of ours is no lost game
            raise
        return {"margin": None, "moves": " ".join(failure.position.moves), "failed": str(failure)[:200]}
    finally:
        gnugo.close()


def as_row(number: int, one: dict[str, Any]) -> dict[str, Any]:
    return {"iteration": number, "margin": one["margin"], "plies": len(one["moves"].split()), "failed": bool(one["failed"])}


def read_games(folder: Path) -> list[dict[str, Any]]:
    """The games that a unit has finished."""
    file = folder / GAMES
    if not file.is_file():
        return []
    try:
        return list(unsealed(parsed(file.read_text("utf-8")))["games"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise AzlabError(f"{file} is damaged ({error}). Delete it: its games are then played anew.") from None


# --- what came of it --------------------------------------------------------------------------------------------------


def summary(own: list[dict[str, Any]]) -> dict[str, Any]:
    """Of the games of a pairing: how many, how many different ones, wins, ties, failures, margins, lengths."""
    margins = np.array([one["margin"] for one in own if one["margin"] is not None])
    whole = [one for one in own if one["margin"] is not None]
    lengths = np.array([len(one["moves"].split()) for one in whole])
    return {
        "games": len(own),
        "failed": len(own) - len(whole),
        "distinct": len({one["moves"] for one in whole}),
        "wins": int((margins > 0).sum()),
        "ties": int((margins == 0).sum()),
        "ended by two passes": sum(one["moves"].endswith("pass pass") for one in whole),
        "margin quartiles": np.quantile(margins, [0, 0.25, 0.5, 0.75, 1]).tolist() if len(margins) else [],
        "mean length": float(lengths.mean()) if len(lengths) else None,
        "why failed": sorted({one["failed"] for one in own if one["failed"]}),
    }


def claims_of(record: Recorder, size: int, found: dict[str, list[dict[str, Any]]]) -> None:
    """Shares of games won against GNU Go's strongest level here, by the source's player and by the repaired one."""
    for player, claim in (("source", f"s2.play.{size}x{size}.wins"), ("repaired", f"s2.play.{size}x{size}.repaired")):
        whole = [one for one in found[player] if one["margin"] is not None]
        if whole:
            share = float(np.mean([one["margin"] > 0 for one in whole]))
            different = {one["moves"]: float(one["margin"] > 0) for one in whole}  # a game twice tells no more than once
            low, high = score_interval([won] for won in different.values())
            middle = np.median([one["margin"] for one in whole])
            note = f"{len(different)} different games of {len(whole)}; the middle margin is {middle:+g}"
            record(claim, share, max(share - low, high - share), len(whole), note)

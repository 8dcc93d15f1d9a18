"""The game itself: what its lines tell, how much data a game is, perfect play, and how far simple players are from it."""

from typing import Any

import numpy as np

import azlab
from azlab.arena import match
from azlab.games.count import children
from azlab.nets.encodings import outputs_of_actions
from azlab.repro.record import Recorder
from azlab_reproductions.s3_dots_and_boxes.kept import Kept

BOXES = azlab.game("dots_and_boxes")  # 3x3
GAMES = 500  # of the first training data, figure 5.1
LINES = 24
MISTAKES = {"random players": 1.0, "good players, one move in ten is random": 0.1}
EXAMS = {"random games": 1.0, "good games": 0.1}  # where positions come from: the chance of a random move
QUESTIONS = {"best lines": True, "margin lost": False, "wins kept": True}  # and whether the answer is a share


def game(
    record: Recorder,
    *,
    told_games: int,
    data_player: str,
    sets_per_ply: int,
    perfect_games: int,
    exam_positions: int,
    match_games: int,
) -> None:
    """What 28 numbers tell, how many boards 500 games are, perfect play, and simple players measured by it (S3, 1.2 to 5.1).

    told_games: games for the question whether lines tell who wins
    data_player: who plays the 500 games whose boards are counted
    sets_per_ply: positions looked at after each number of lines
    perfect_games: games of perfect players against each other
    exam_positions: positions of each of two exams for players
    match_games: games of each player against the perfect one
    """
    exact = azlab.oracle(BOXES)
    record.data("told by lines", {who: told(exact, chance, told_games, record.seed) for who, chance in MISTAKES.items()})
    _training_boards(record, exact, data_player)
    _margins(record, exact)
    _declined_boxes(record, exact, sets_per_ply)
    record.data("perfect games", perfect_play(exact, perfect_games, record.seed))
    _simple_players(record, exact, exam_positions, match_games)


def best_or_random(exact: Any, states: np.ndarray, mistakes: float, rng: np.random.Generator) -> np.ndarray:
    """A best line in each state, or with the chance `mistakes` any line that is not drawn: int64 [N]."""
    is_random = rng.random((len(states), 1)) < mistakes
    allowed = np.where(is_random, BOXES.legal_mask(states), exact.best_actions(states))
    return np.where(allowed, rng.random(allowed.shape), -1).argmax(axis=1)


def told(exact: Any, mistakes: float, games: int, seed: int) -> list[float]:
    """After 0 to 23 lines: how often the lines alone tell whether the player to move wins under perfect play."""
    rng, states, shares = np.random.default_rng(seed), BOXES.new_states(games), []
    for _ in range(LINES):
        for_mover = np.sign(exact.values(states)) * (1 - 2 * states["to_move"])
        shares.append(told_by_lines(exact, sets_of_lines(states), for_mover))
        BOXES.kernels.play(states, best_or_random(exact, states, mistakes, rng))
    return shares


def sets_of_lines(states: np.ndarray) -> np.ndarray:
    """The drawn lines of each state as one number, the smallest among its eight turned and mirrored forms: int64 [N]."""
    drawn = states["lines"].reshape(-1, 28)[:, outputs_of_actions(BOXES, 28, "lines")]
    return np.min([symmetry.on_actions(drawn) @ (1 << np.arange(LINES)) for symmetry in BOXES.symmetries], axis=0)


def told_by_lines(exact: Any, sets: np.ndarray, results: np.ndarray) -> float:
    """How often the guess from the first half of the games is right in the second half.

    The guess for a set of lines is what happened most often with it; for one that is new, that whoever gets more of the boxes to
    come wins. sets: int64 [N]; results: +1 or -1 for the player to move [N]
    """
    known, row = np.unique(sets, return_inverse=True)
    half = len(sets) // 2
    often = np.bincount(row[:half], results[:half], len(known))
    guess = np.where(often == 0, np.where(exact.table[known] > 0, 1, -1), np.sign(often))
    return float((guess[row[half:]] == results[half:]).mean())


def _training_boards(record: Recorder, exact: Any, data_player: str) -> None:
    """Count the boards of 500 games, and how many of a test set were seen in training; and who wins these games."""
    seed = record.seed
    one, other = (_data_player(record, data_player, number) for number in (0, 1))
    with record.progress(f"{GAMES} games") as report:
        played = match(one, other, GAMES, BOXES, openings=0, seed=seed, progress=report)
    drawn = np.zeros((GAMES, LINES, LINES), bool)  # game, ply, line
    for number, finished in enumerate(played.records):
        for ply, move in enumerate(finished.moves[:-1]):
            drawn[number, ply + 1 :, BOXES.action(move)] = True
    copies = np.stack([symmetry.on_actions(drawn) for symmetry in BOXES.symmetries], axis=2)  # game, ply, form, line
    for games in (100, 200, 500):
        count = copies[:games].reshape(-1, LINES).shape[0]
        record(f"s3.data.boards_{games}", count, note="24 boards a game in 8 forms; the text multiplies by 2 once more")
    codes = copies @ (1 << np.arange(LINES))  # every board as a number: game, ply, form
    smallest = np.repeat(codes.min(axis=2, keepdims=True), 8, axis=2)  # turned and mirrored boards get the same number
    shuffled = np.random.default_rng(seed).permutation(smallest.ravel())
    seen = {"all boards shuffled, as in S3": seen_before(shuffled), "whole games kept apart": seen_before(smallest)}
    different = {"different": len(np.unique(codes)), "up to symmetry": len(np.unique(smallest))}
    record.data("boards", {"player": data_player, "boards": codes.size, **different, "seen before": seen})
    ends = BOXES.playout(BOXES.new_states(100_000), seed)
    second = {"random": [float((ends["result"] < 0).mean()), len(ends)]}
    second["perfect"] = [1.0 if exact.value(BOXES.start()) < 0 else 0.0, 1]
    if data_player != "random":
        second[data_player] = [float(np.mean([finished.result < 0 for finished in played.records])), GAMES]
    record.data("second player wins", second)  # the share, and of how many games


def _data_player(record: Recorder, name: str, number: int) -> Any:
    """One of the two players of these games. Moves of a search are kept: the source's take hours."""
    if name == "random":
        return azlab.agent(name, record.seed + number)
    return Kept(name, record.seed + number, record.folder / f"data_player_{number}.jsonl")


def seen_before(codes: np.ndarray) -> float:
    """The share of the last fifth that also occurs before."""
    cut = 4 * len(codes) // 5
    return float(np.isin(codes[cut:], codes[:cut]).mean())


def _margins(record: Recorder, exact: Any) -> None:
    """The margins of small boards under perfect play, and of all first lines on 3x3."""
    found = {}
    published: Any = record.source.claim("s3.exact.small").value
    for size in published:
        small = azlab.game("dots_and_boxes", rows=int(size[0]), cols=int(size[2]))
        found[size] = azlab.oracle(small).value(small.start())
    record("s3.exact.small", found)
    opening = exact.scores(BOXES.start())
    worst, best = min(opening.values()), max(opening.values())
    record("s3.exact.3x3", worst, note=f"{len(opening)} first lines, margins {worst:+.0f} to {best:+.0f}")


def random_orders(lines: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """The first `lines` lines of random games, in the order they are drawn: int64 [count, lines]."""
    return rng.permuted(np.tile(np.arange(LINES), (count, 1)), axis=1)[:, :lines]


def after_lines(orders: np.ndarray) -> np.ndarray:
    """The states after these lines: records [count]."""
    states = BOXES.new_states(len(orders))
    for line in orders.T:
        BOXES.kernels.play(states, np.ascontiguousarray(line))
    return states


def gains_and_margins(exact: Any, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What each line wins at once, and the margin of the boxes to come with it, for the player to move.

    Both float64 [N, 24], NaN where a line is drawn.
    """
    after, parents = children(BOXES, states)
    gains = np.full((len(states), LINES), np.nan)
    gains[BOXES.legal_mask(states)] = after["boxes"].sum(axis=1) - states["boxes"].sum(axis=1)[parents]
    lead = states["boxes"][:, 0] - states["boxes"][:, 1]
    return gains, (exact.action_scores(states) - lead[:, None]) * (1 - 2 * states["to_move"])[:, None]


def look_at(exact: Any, states: np.ndarray) -> tuple[np.ndarray, ...]:
    """Of many positions: what share of moves is best, what a random move loses, where a box is on offer, what taking costs."""
    gains, margins = gains_and_margins(exact, states)
    best = np.nanmax(margins, axis=1)
    share = np.nanmean(np.where(np.isnan(margins), np.nan, margins == best[:, None]), axis=1)
    on_offer = np.nanmax(gains, axis=1) > 0
    by_taking = np.max(np.where(gains > 0, margins, -np.inf), axis=1)  # the best that begins with a box
    return share, best - np.nanmean(margins, axis=1), on_offer, np.where(on_offer, best - by_taking, 0)


def _declined_boxes(record: Recorder, exact: Any, sets_per_ply: int) -> None:
    """Random positions after 0 to 23 lines: how hard they are, and how often a box on offer is better declined."""
    rng = np.random.default_rng(record.seed)
    orders = [random_orders(lines, sets_per_ply, rng) for lines in range(LINES)]
    looked = np.array([look_at(exact, after_lines(one)) for one in orders])
    share, lost, on_offer, cost = looked.transpose(1, 0, 2)  # each [24, positions]
    found = {"best moves": share.mean(axis=1), "lost by a random move": lost.mean(axis=1), "box on offer": on_offer.mean(axis=1)}
    found["must be declined"] = (cost > 0).sum(axis=1) / np.maximum(1, on_offer.sum(axis=1))
    record.data("random positions", found)
    lines, row = np.unravel_index(cost.argmax(), cost.shape)
    moves = [BOXES.move_name(line) for line in orders[lines][row]]
    record.data("dearest exception", {"moves": " ".join(moves), "cost": float(cost.max())})


def perfect_play(exact: Any, games: int, seed: int) -> dict[str, Any]:
    """Games of perfect players, who choose at random among best lines: where a box is on offer, declined, better declined."""
    rng, states = np.random.default_rng(seed), BOXES.new_states(games)
    events: dict[str, list] = {"a box is on offer": [], "it is declined": [], "it must be declined": []}
    for _ in range(LINES):
        gains, margins = gains_and_margins(exact, states)
        best = margins == np.nanmax(margins, axis=1, keepdims=True)
        chosen = best_or_random(exact, states, 0.0, rng)
        offer = np.nanmax(gains, axis=1) > 0
        declined = offer & (gains[np.arange(games), chosen] == 0)
        must = offer & ~((gains > 0) & best).any(axis=1)
        for seen, event in zip(events.values(), (offer, declined, must)):
            seen.append(event)
        BOXES.kernels.play(states, chosen)
    ends = sorted({f"{one[0]}-{one[1]}" for one in states["boxes"].tolist()})
    by_line = {what: np.mean(seen, axis=1) for what, seen in events.items()}
    return {"ends": ends, "by line": by_line, "of games": {what: np.any(seen, axis=0).mean() for what, seen in events.items()}}


class Greedy:
    """Takes a box if it can, two if possible, otherwise any line."""

    name = "greedy"

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def choose(self, position: Any) -> int:
        after, _ = children(BOXES, position.state)
        won = after["boxes"].sum(axis=1)
        return position.legal_actions[self.rng.choice(np.flatnonzero(won == won.max()))]


def positions_of_games(exact: Any, mistakes: float, count: int, rng: np.random.Generator) -> np.ndarray:
    """One position of each of `count` games, after 0 to 23 lines: records [count]."""
    states, lines = BOXES.new_states(count), rng.integers(0, LINES, count)
    for ply in range(LINES - 1):
        going_on = states[lines > ply]
        BOXES.kernels.play(going_on, best_or_random(exact, going_on, mistakes, rng))
        states[lines > ply] = going_on
    return states


def examine(exact: Any, player: Any, states: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each position whether the chosen line is best, how many boxes it loses, and whether it keeps the win.

    Each float64 [N], NaN where there is nothing to decide.
    """
    chosen = [player.choose(BOXES.position(state)) for state in states]
    _, margins = gains_and_margins(exact, states)
    for_mover = exact.action_scores(states) * (1 - 2 * states["to_move"])[:, None]
    losses, wins = np.nanmax(margins, axis=1, keepdims=True) - margins, np.where(np.isnan(margins), np.nan, for_mover > 0)
    lost, won = (table[np.arange(len(states)), chosen] for table in (losses, wins))
    lost[np.nanmax(losses, axis=1) == 0] = np.nan
    won[np.nanmin(wins, axis=1) == np.nanmax(wins, axis=1)] = np.nan
    return np.where(np.isnan(lost), np.nan, lost == 0), lost, won


def with_interval(numbers: np.ndarray, is_share: bool) -> list[float]:
    """The mean and the ends of its 95% interval; for a share two right and two wrong answers are added (Agresti and Coull)."""
    numbers = numbers[~np.isnan(numbers)]
    padded = np.concatenate([numbers, [0, 0, 1, 1]]) if is_share else numbers
    half = 1.96 * padded.std() / len(padded) ** 0.5
    return [numbers.mean(), padded.mean() - half, padded.mean() + half]


def _simple_players(record: Recorder, exact: Any, exam_positions: int, match_games: int) -> None:
    """Six players in two exams, and then in games against the perfect player."""
    players: list[Any] = [azlab.agent("random", record.seed), Greedy(record.seed)]
    players += [azlab.agent(name, record.seed) for name in ("minimax:2", "minimax:4", "uct:200", "uct:1000")]
    _exams(record, exact, players, exam_positions)
    against = {}
    for player in players:
        with record.progress(f"{player.name} against perfect") as report:
            games = match(player, "perfect", match_games, BOXES, openings=0, seed=record.seed, progress=report).records
        seats = {}
        for seat, name in enumerate(("as first", "as second")):
            won = np.array([one.final.state["boxes"][0] for one in games if one.players[seat] == player.name], int)
            margins = won[:, seat] - won[:, 1 - seat]
            seats[name] = {"margin": margins.mean(), "won": int((margins > 0).sum()), "games": len(margins)}
        against[player.name] = seats
    record.data("against perfect", against)


def _exams(record: Recorder, exact: Any, players: list[Any], count: int) -> None:
    """Each player's marks in positions of random and of good games."""
    rng = np.random.default_rng(record.seed)
    exams = {name: positions_of_games(exact, mistakes, count, rng) for name, mistakes in EXAMS.items()}
    third = exams["good games"]["ply"] // 8
    marks: dict[str, dict] = {name: {} for name in exams}
    sizes, thirds = {}, {}
    with record.progress("exams") as report:
        for number, player in enumerate(players, start=1):
            for name, states in exams.items():
                found = examine(exact, player, states)
                sizes[name] = [int(np.count_nonzero(~np.isnan(found[question]))) for question in (0, 2)]
                answers = zip(QUESTIONS.items(), found)
                marks[name][player.name] = {what: with_interval(numbers, share) for (what, share), numbers in answers}
                if name == "good games":
                    thirds[player.name] = [np.nanmean(found[1][third == k]) for k in range(3)]
            report(number, len(players))
    record.data("positions of exams", sizes)  # with something to decide: for the first two questions, and for the third
    record.data("exams", marks)  # mean and ends of the interval
    record.data("margin lost by thirds of good games", thirds)

"""Matches: two players, many games, both seats; and round robins of more players.

Every opening is played twice with the seats swapped, so neither player gains by the openings or by moving first; only who asks
for it gets a match in which one player always begins. Openings are random and seeded: without them, two players that always
answer alike would play the same game over and over.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from azlab.arena.agents import Agent, ChoosesMany, PlaysOneGame, choose_all
from azlab.arena.agents import agent as agent_by_name
from azlab.arena.results import Crosstable, GameRecord, MatchResult, Tally
from azlab.errors import AzlabError, whole_number
from azlab.games import game as find_game
from azlab.games.game import Game, Position

__all__ = [
    "match",
    "round_robin",
    "each_against_each",
    "random_openings",
    "AgentFailed",
    "MatchResult",
    "Crosstable",
    "GameRecord",
    "Tally",
]

# Called as progress(games so far, games in all). For a bar of tqdm's: `bar.total = total; bar.update(done - bar.n)`.
Progress = Callable[[int, int], None]
Line = str | Iterable[str | int]  # moves: "4444", or a list of names or action numbers
Openings = int | Sequence[Position | Line] | None

_FEWEST_PLIES = 2  # where the number is left open: both players' first moves are drawn ...
_MOST_PLIES = 8  # ... and at most this many, for long random openings tend to be lost before the players begin
_TRIES = 20  # draws for an opening that was not there before; then it is more moves, or a repetition
_TRIES_TO_LAST = 1000  # draws for an opening that does not end the game
MIXED_GAMES = 64  # games advanced together if only one of the agents takes many positions


class AgentFailed(AzlabError):
    """An agent raised an error or gave no legal move. The games finished before are in `result`."""

    def __init__(self, message: str, agent: Agent, position: Position) -> None:
        super().__init__(message)
        self.agent = agent
        self.position = position  # where it happened
        self.result: MatchResult | Crosstable | None = None


@dataclass
class _Running:
    """A game that is being played."""

    pair: int
    first: int  # which of the two agents sits in seat 0
    position: Position
    opening: int  # moves given by the opening
    start: str | None  # see GameRecord

    @property
    def turn(self) -> int:
        """Which of the two agents is to move."""
        return self.position.to_move ^ self.first

    def record(self, names: tuple[str, str]) -> GameRecord:
        players = (names[self.first], names[1 - self.first])
        moves, result = tuple(self.position.moves), self.position.result
        assert result is not None
        return GameRecord(self.position.game, players, moves, self.opening, result, self.pair, self.start)


def match(
    a: Agent | str,
    b: Agent | str,
    games: int = 100,
    game: Game | str | None = None,
    openings: Openings = None,
    seed: int = 0,
    progress: Progress | None = None,
    swap_seats: bool = True,
) -> MatchResult:
    """Play `games` games between two agents (or their names), each opening twice with seats swapped.

    `openings`: None for random openings of 2 moves (and of 3, 4 ... when those are used up); a number for random
    openings of so many moves, 0 for none; or a list of positions or move lines, which are taken in turn. `seed` is that of
    the random openings, and the first openings are the same however many games there are. Without `swap_seats` agent `a` has
    seat 0 in all games, and every game has an opening of its own; that is no fair match where a seat is worth something.

    If both agents have `choose_many(positions) -> actions`, all games are advanced together; if one has, so many at a time that
    a network gets large batches and few games are lost by Ctrl-C; if none has, or one says `one_game = True`, one after another.
    Ctrl-C ends the match: the games finished so far are returned, and `complete` is False. An agent that fails
    raises `AgentFailed`, with the games so far in its `result`.
    """
    players = _as_agents((a, b), seed)
    return _match((players[0], players[1]), _different_names(players), games, game, openings, seed, progress, swap_seats)


def round_robin(
    agents: Sequence[Agent | str],
    game: Game | str | None = None,
    games: int = 100,
    openings: Openings = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Crosstable:
    """Let every agent play a match of `games` games against every other, all from the same openings.

    Ctrl-C and failing agents are treated as in `match`; `progress` counts the games of all matches.
    """
    if len(agents) < 2:
        raise AzlabError("A round robin needs at least two agents.")
    all_players = _as_agents(agents, seed)
    names = _different_names(all_players)
    pairings = list(itertools.combinations(range(len(agents)), 2))
    matches: list[MatchResult] = []

    def table(rules: Game) -> Crosstable:
        return Crosstable(rules, names, tuple(matches), len(pairings))

    def progress_of_all(done: int, total: int) -> None:
        if progress is not None:
            progress(sum(len(played.records) for played in matches) + done, total * len(pairings))

    for one, other in pairings:
        players, both = (all_players[one], all_players[other]), (names[one], names[other])
        try:
            played = _match(players, both, games, game, openings, seed, progress_of_all)
        except AgentFailed as failure:
            assert isinstance(failure.result, MatchResult)
            matches.append(failure.result)
            failure.result = table(failure.result.game)
            raise
        matches.append(played)
        if not played.complete:
            break
    return table(matches[0].game)


def each_against_each(agents: Sequence[Agent | str], game: Game | str, seed: int = 0) -> list[list[Position]]:
    """One game without an opening for every ordered pair, also of an agent with itself: `[i][j]` is how i in seat 0 met j.

    That is a fair picture only of players who always answer alike; for others, and for ratings, play a `round_robin`.
    """
    rules = find_game(game) if isinstance(game, str) else game
    players = _as_agents(agents, seed)
    names = _different_names(players)
    table = [[rules.start() for _ in players] for _ in players]
    while not all(position.over for row in table for position in row):
        for who, player in enumerate(players):
            for seat in (0, 1):
                places = [(who, k) if seat == 0 else (k, who) for k in range(len(players))]
                turn = [(i, j) for i, j in places if not table[i][j].over and table[i][j].to_move == seat]
                asked = [table[i][j] for i, j in turn]
                for (i, j), action in zip(turn, _choices(player, names[who], asked)):
                    table[i][j] = _after(table[i][j], action, player, names[who])
    return table


def _as_agents(agents: Sequence[Agent | str], seed: int) -> list[Agent]:
    """Agents for names such as "uct:1000"; each gets a seed of its own."""
    return [agent_by_name(one, seed + k) if isinstance(one, str) else one for k, one in enumerate(agents)]


def random_openings(game: Game, count: int, plies: int | None = None, seed: int = 0) -> list[Position]:
    """Positions after `plies` random moves, none of them over; they repeat only when new ones have become rare.

    Without `plies`: 2 moves; when those become rare 3, and so on up to 8 or half the length of a game.
    """
    if plies is None:
        length = min(_FEWEST_PLIES, game.max_length // 2)
        longest = max(length, min(_MOST_PLIES, game.max_length // 2))
    else:
        length = longest = whole_number("openings", plies, 0, game.max_length - 1)
    rng = np.random.default_rng(whole_number("seed", seed, 0, 2**63))
    found: list[Position] = []
    seen: set[Position] = set()
    are_rare = False  # nearly all openings of the greatest length were drawn before
    while len(found) < count:
        for _ in range(1 if are_rare else _TRIES):
            position = _random_opening(game, length, rng)
            if position not in seen:
                break
        if position not in seen or are_rare:
            seen.add(position)
            found.append(position)
        elif length < longest:
            length += 1
        else:
            are_rare = True
    return found


def _random_opening(game: Game, plies: int, rng: np.random.Generator) -> Position:
    for _ in range(_TRIES_TO_LAST):
        position = game.start()
        while not position.over and len(position.actions) < plies:
            legal = position.legal_actions
            position = position.play(legal[rng.integers(len(legal))])
        if not position.over:
            return position
    raise AzlabError(f"{plies} random moves end almost every game of {game.name}; ask for shorter openings.")


def _match(
    agents: tuple[Agent, Agent],
    names: Sequence[str],
    games: int,
    game: Game | str | None,
    openings: Openings,
    seed: int,
    progress: Progress | None,
    swap_seats: bool = True,
) -> MatchResult:
    seats = (0, 1) if swap_seats else (0,)
    games, seed = whole_number("games", games, len(seats), 10**9), whole_number("seed", seed, 0, 2**63)
    if games % len(seats):
        raise AzlabError(f"games must be even, since every opening is played from both seats; try {games + 1}.")
    rules, starts, words = _starts(game, openings, games // len(seats), seed)
    if not swap_seats:
        words += f", {names[0]} always first"
    both = (names[0], names[1])
    running = [_begin(pair, first, position, rules) for pair, position in enumerate(starts) for first in seats]

    def result() -> MatchResult:
        records = tuple(played.record(both) for played in running if played.position.over)
        return MatchResult(rules, both, records, games, seed, words)

    size = _games_at_once(agents, len(running))
    done = 0
    try:
        for begin in range(0, len(running), size):
            for ended in _play(running[begin : begin + size], agents, names):
                done += ended
                if progress is not None:
                    progress(done, games)
    except KeyboardInterrupt:
        pass  # what was played is worth keeping; the result says that it is not complete
    except AgentFailed as failure:
        failure.result = result()
        raise
    return result()


def _games_at_once(agents: tuple[Agent, Agent], games: int) -> int:
    if any(isinstance(agent, PlaysOneGame) and agent.one_game for agent in agents):
        return 1
    return (1, min(games, MIXED_GAMES), games)[sum(isinstance(agent, ChoosesMany) for agent in agents)]


def _starts(game: Game | str | None, openings: Openings, count: int, seed: int) -> tuple[Game, list[Position], str]:
    """The game, `count` positions to start from, and where they come from in words."""
    if isinstance(openings, str | Position):
        openings = [openings]
    given = list(openings) if isinstance(openings, Iterable) else []
    if game is None:
        game = next((opening.game for opening in given if isinstance(opening, Position)), None)
    if game is None:
        raise AzlabError('Say which game is to be played: match(a, b, game="connect4").')
    rules = find_game(game) if isinstance(game, str) else game
    if not isinstance(openings, Iterable):
        words = {None: "random openings", 0: "no openings", 1: "random first moves"}
        starts = random_openings(rules, count, openings, seed)
        return rules, starts, words.get(openings, f"random openings of {openings} moves")
    if not given:
        raise AzlabError("The list of openings is empty; give openings=0 to begin at the start of the game.")
    starts = [opening if isinstance(opening, Position) else rules.from_moves(opening) for opening in given]
    for position in starts:
        if position.game != rules:
            raise AzlabError(f"The opening {position!r} belongs to {position.game!r}, not to {rules!r}.")
        if position.over:
            raise AzlabError(f"The opening {position!r} is a game that is over.")
    return rules, list(itertools.islice(itertools.cycle(starts), count)), f"{len(starts)} given openings"


def _begin(pair: int, first: int, position: Position, game: Game) -> _Running:
    origin = position.path()[0]
    start = None if origin == game.start() else origin.state.tobytes().hex()
    return _Running(pair, first, position, len(position.actions), start)


def _play(batch: list[_Running], agents: tuple[Agent, Agent], names: Sequence[str]) -> Iterator[int]:
    """Play all games of the batch to the end; tell how many ended whenever some did.

    Each agent is asked at once about all positions where it is to move.
    """
    while batch:
        for who in (0, 1):
            asked = [running for running in batch if running.turn == who and not running.position.over]
            positions = [running.position for running in asked]
            for running, action in zip(asked, _choices(agents[who], names[who], positions)):
                running.position = _after(running.position, action, agents[who], names[who])
        going_on = [running for running in batch if not running.position.over]
        if len(going_on) < len(batch):
            yield len(batch) - len(going_on)
        batch = going_on


def _choices(agent: Any, name: str, positions: list[Position]) -> list[Any]:
    if not positions:
        return []
    try:
        actions = choose_all(agent, positions)
    except Exception as error:
        many = f"choosing for {len(positions)} positions, the first " if len(positions) > 1 else "choosing "
        what = f"{type(error).__name__}: {error}"
        raise AgentFailed(f"{name} failed while {many}{_where(positions[0])} ({what}).", agent, positions[0]) from error
    if len(actions) != len(positions):
        message = f"{name} gave {len(actions)} moves for {len(positions)} positions, the first {_where(positions[0])}."
        raise AgentFailed(message, agent, positions[0])
    return actions


def _after(position: Position, action: Any, agent: Agent, name: str) -> Position:
    try:
        return position.play(action)
    except AzlabError as error:
        raise AgentFailed(f"{name} made an illegal move {_where(position)}: {error}", agent, position) from error


def _where(position: Position) -> str:
    return f"in {position.game.name} after {' '.join(position.moves) or 'no moves'}"


def _different_names(agents: Sequence[Agent]) -> tuple[str, ...]:
    """The agents' names; a second "random" becomes "random (2)"."""
    names: list[str] = []
    for agent in agents:
        name = str(agent.name)
        numbers = itertools.count(2)
        while name in names:
            name = f"{agent.name} ({next(numbers)})"
        names.append(name)
    return tuple(names)

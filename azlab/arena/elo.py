"""Ratings: how strong each player is, from who beat whom.

`Elo` changes ratings game by game, as leagues do. `fit` finds the ratings that explain all games at once best, and how sure
they are; it is the better choice when the players do not change.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from azlab.arena.results import Z95, Crosstable, GameRecord, MatchResult, Tally, html_table, text_table
from azlab.errors import AzlabError

# Whatever holds games: results of matches, records, or (name of the first, name of the second, score of the first).
Games = MatchResult | Crosstable | Iterable["MatchResult | Crosstable | GameRecord | tuple[str, str, float]"]


def expected_score(rating: float, opponent: float, scale: float = 400) -> float:
    """The points a game that Elo's formula expects: 1 / (1 + 10^((opponent - rating) / scale))."""
    return (1 + math.tanh((rating - opponent) * math.log(10) / (2 * scale))) / 2  # the same, and it cannot overflow


def added_rating(result: Tally, scale: float = 400) -> float:
    """How far a player's rating lies above its opponent's by Elo's formula for the score of one match, which counts as half a
    game short of all or nothing. If each new player meets one that is rated already, and no game is drawn, sums of these are
    the likeliest ratings of all.
    """
    if not result.games:
        raise AzlabError("A rating needs at least one game.")
    points = min(max(result.points, 0.5), result.games - 0.5)
    return scale * math.log10(points / (result.games - points))


def game_scores(games: Games) -> Iterator[tuple[str, str, float]]:
    """(first, second, score of the first) of every game, whatever form the games have."""
    for item in games.records if isinstance(games, MatchResult | Crosstable) else games:
        if isinstance(item, MatchResult | Crosstable):
            yield from game_scores(item)
        elif isinstance(item, GameRecord):
            yield (*item.players, item.first_score)
        elif isinstance(item, Sequence) and not isinstance(item, str) and len(item) == 3:
            yield item[0], item[1], float(item[2])
        else:
            raise AzlabError(f"A game is a record or (first, second, score of the first), not {item!r}.")


def _check_players(first: str, second: str) -> None:
    if first == second:
        raise AzlabError(f"{first!r} cannot be rated by games against itself.")


class Elo:
    """Ratings that change after every game by K times (score - expected score).

    Source S5 uses the defaults, source S4 `Elo(k=16, start=500)`. `ratings` is a plain dict, so a run can store it as JSON
    and go on with `Elo(..., ratings=stored)`.
    """

    def __init__(self, k: float = 32, start: float = 1600, scale: float = 400, ratings: dict[str, float] | None = None):
        if not (k > 0 and scale > 0 and math.isfinite(k) and math.isfinite(scale) and math.isfinite(start)):
            raise AzlabError("K and the scale of Elo must be positive numbers, and the start a number.")
        self.k = k
        self.start = start  # the rating of who has not played yet
        self.scale = scale  # who leads by so much is expected to win 10 points for each of the other's
        self.ratings = dict(ratings or {})

    def __getitem__(self, name: str) -> float:
        return self.ratings.get(name, self.start)

    def expected(self, a: str, b: str) -> float:
        """The expected score of `a` against `b`."""
        return expected_score(self[a], self[b], self.scale)

    def update(self, a: str, b: str, score: float) -> tuple[float, float]:
        """Count a game (or a mean score) of `a` against `b`, 1 for a win of `a`, and return both new ratings."""
        _check_players(a, b)
        if not 0 <= score <= 1:
            raise AzlabError(f"A score lies between 0 (lost) and 1 (won), not {score!r}.")
        change = self.k * (score - self.expected(a, b))
        self.ratings[a], self.ratings[b] = self[a] + change, self[b] - change
        return self.ratings[a], self.ratings[b]

    def update_all(self, games: Games) -> "Elo":
        """Count all games in their order; return self."""
        for first, second, score in game_scores(games):
            self.update(first, second, score)
        return self

    def _cells(self) -> list[list[str]]:
        ordered = sorted(self.ratings.items(), key=lambda item: -item[1])
        return [["", "rating"], *([name, f"{rating:.0f}"] for name, rating in ordered)]

    @property
    def headline(self) -> str:
        return f"Elo ratings, K {self.k:g}, start {self.start:g}"

    def __str__(self) -> str:
        return f"{self.headline}\n{text_table(self._cells())}"

    def _repr_html_(self) -> str:
        return html_table(self._cells(), self.headline)

    def __repr__(self) -> str:
        return f"Elo(k={self.k!r}, start={self.start!r}, scale={self.scale!r}, ratings={self.ratings!r})"


@dataclass(frozen=True)
class Estimate:
    """A number and its standard error."""

    value: float
    error: float

    @property
    def low(self) -> float:
        """The lower end of the 95% interval."""
        return self.value - Z95 * self.error

    @property
    def high(self) -> float:
        """The upper end of the 95% interval."""
        return self.value + Z95 * self.error


@dataclass(frozen=True)
class Rating(Estimate):
    """The rating of one player."""

    name: str
    games: int
    score: float  # points a game


@dataclass(frozen=True, eq=False)
class Ratings:
    """What `fit` finds. Errors and intervals are relative to the mean of all players, or to the anchor."""

    players: tuple[Rating, ...]  # the best first
    first_advantage: Estimate  # what sitting in seat 0 is worth, in points of rating; error 0 if it was not asked for
    draw_rate: Estimate  # how many games between equals are drawn; error 0 if there was no draw
    scale: float
    relative_to: str
    covariance: np.ndarray = field(repr=False)  # of the ratings, [players, players]

    def __getitem__(self, name: str) -> Rating:
        for player in self.players:
            if player.name == name:
                return player
        raise AzlabError(f"{name!r} did not play; the players are {', '.join(p.name for p in self.players)}.")

    def difference(self, name: str, opponent: str) -> Estimate:
        """How much stronger `name` is than `opponent`. Better than comparing two intervals: ratings vary together."""
        one, other = self[name], self[opponent]
        i, j = self.players.index(one), self.players.index(other)
        variance = self.covariance[i, i] + self.covariance[j, j] - 2 * self.covariance[i, j]
        return Estimate(one.value - other.value, math.sqrt(max(0.0, variance)))

    def outcome(self, first: str, second: str) -> tuple[float, float, float]:
        """The chances that `first`, in seat 0, wins, draws and loses against `second`."""
        lead = self[first].value + self.first_advantage.value - self[second].value
        equal = self.draw_rate.value
        log_odds = np.array(lead * math.log(10) / self.scale / (1 - equal))
        log_nu = np.log(2 * equal / (1 - equal)) if equal else -np.inf
        win, draw, loss = _chances(log_odds, log_nu)
        return float(win), float(draw), float(loss)

    def _cells(self) -> list[list[str]]:
        rows = [["", "rating", "95% interval", "games", "score"]]
        for player in self.players:
            interval = f"{player.low:.0f} to {player.high:.0f}"
            rows.append([player.name, f"{player.value:.0f}", interval, str(player.games), f"{player.score:.3f}"])
        return rows

    @property
    def headline(self) -> str:
        return f"Maximum likelihood ratings, relative to {self.relative_to}"

    @property
    def _footnote(self) -> str:
        advantage, draws = self.first_advantage, self.draw_rate
        first = f"sitting first is worth {advantage.value:.0f} ± {Z95 * advantage.error:.0f} points"
        drawn = f"equals draw {100 * draws.value:.0f} ± {100 * Z95 * draws.error:.0f}% of their games"
        return "; ".join(([first] if advantage.error else []) + ([drawn] if draws.error else []))

    def __str__(self) -> str:
        return f"{self.headline}\n{text_table(self._cells())}\n{self._footnote}".rstrip()

    def _repr_html_(self) -> str:
        return html_table(self._cells(), self.headline, self._footnote)


def fit(
    games: Games,
    mean: float = 1600,
    anchor: tuple[str, float] | None = None,
    first_advantage: bool = True,
    scale: float = 400,
    prior: float = 1000,
) -> Ratings:
    """The most likely ratings given the games and a weak prior, with first-seat advantage and draws.

    The model is Davidson's (1970), with the seat's advantage of Davidson and Beaver (1977). Let d be the rating of the player
    in seat 0, plus the advantage, minus the opponent's rating, and nu >= 0 the tendency to draw. Then

        win : draw : loss = e^(u/2) : nu : e^(-u/2),   u = (1 + nu/2) d ln(10) / scale.

    Without draws this is Elo's formula. The factor 1 + nu/2 keeps the unit of Elo's when there are draws: near equality a
    lead of d points has the expected score of `expected_score`. Equals draw nu / (2 + nu) of their games.

    The mean of the ratings is `mean`, or the rating of the player `anchor[0]` is `anchor[1]`. Standard errors come from the
    observed information. A weak prior keeps everything finite if a player won or lost all games, or if the same player always
    sat first: u of each player (and of the seat) is normal around 0 with standard deviation `prior` points, which
    weighs as much as an eighth of a game; and if there are draws, equals have won and lost one game more.
    """
    if not (prior > 0 and scale > 0):
        raise AzlabError("The prior and the scale must be positive numbers.")
    names, first, second, counts = _counted(games)
    _check_connected(names, first, second)
    if anchor is not None and anchor[0] not in names:
        raise AzlabError(f"The anchor {anchor[0]!r} did not play; the players are {', '.join(names)}.")
    unit = math.log(10) / scale
    n = len(names)
    design = np.zeros((len(counts), n + 1))  # u = design @ (u of the players, u of seat 0)
    np.add.at(design, (np.arange(len(counts)), first), 1.0)
    np.add.at(design, (np.arange(len(counts)), second), -1.0)
    design[:, n] = first_advantage
    u, log_nu, covariance = _most_likely(design, counts, (prior * unit) ** -2)

    relative = np.eye(n + 2)
    relative[:n, :n] -= 1 / n if anchor is None else np.eye(n)[names.index(anchor[0])]
    values, covariance = _in_points(u, log_nu, covariance, unit)
    values, covariance = relative @ values, relative @ covariance @ relative.T
    values[:n] += mean if anchor is None else anchor[1]
    errors = np.sqrt(np.maximum(0.0, np.diag(covariance)))

    played, scored = np.zeros(n), np.zeros(n)
    wins, draws, losses = counts.T
    for seat, gained in ((first, wins), (second, losses)):
        np.add.at(played, seat, counts.sum(axis=1))
        np.add.at(scored, seat, gained + draws / 2)
    order = np.argsort(-values[:n], kind="stable")
    rated = [Rating(float(values[i]), float(errors[i]), names[i], int(played[i]), float(scored[i] / played[i])) for i in order]
    advantage, draw_rate = (Estimate(float(values[i]), float(errors[i])) for i in (n, n + 1))
    words = f"the mean of {mean:g}" if anchor is None else f"{anchor[0]} at {anchor[1]:g}"
    return Ratings(tuple(rated), advantage, draw_rate, scale, words, covariance[np.ix_(order, order)])


def _in_points(u: np.ndarray, log_nu: float, covariance: np.ndarray, unit: float) -> tuple[np.ndarray, np.ndarray]:
    """(u, log nu) as (points of rating, draw rate of equals), with the covariance by the derivatives (the delta method)."""
    drawn = 1 / (1 + 2 * math.exp(-log_nu)) if math.isfinite(log_nu) else 0.0  # nu / (2 + nu)
    points = (1 - drawn) / unit  # of rating for one of u
    jacobian = np.diag(np.append(np.full(len(u), points), drawn * (1 - drawn)))
    jacobian[:-1, -1] = -drawn * points * u
    return np.append(points * u, drawn), jacobian @ covariance @ jacobian.T


def _counted(games: Games) -> tuple[list[str], np.ndarray, np.ndarray, np.ndarray]:
    """Names, and for each pairing the number of the first, of the second, and [wins, draws, losses] of the first."""
    pairings: dict[tuple[str, str], list[int]] = {}
    for one, other, score in game_scores(games):
        _check_players(one, other)
        if score not in (0, 0.5, 1):
            raise AzlabError(f"The score of a game is 1, 0.5 or 0, not {score!r}.")
        pairings.setdefault((one, other), [0, 0, 0])[round(2 - 2 * score)] += 1
    if not pairings:
        raise AzlabError("Without games there are no ratings.")
    names = list(dict.fromkeys(name for pairing in pairings for name in pairing))
    first, second = np.array([[names.index(name) for name in pairing] for pairing in pairings]).T
    return names, first, second, np.array(list(pairings.values()), float)


def _check_connected(names: list[str], first: np.ndarray, second: np.ndarray) -> None:
    group = np.arange(len(names))
    for one, other in zip(first, second):
        group[group == group[other]] = group[one]
    if len(set(group)) > 1:
        inside = [name for name, of in zip(names, group) if of == group[0]]
        outside = [name for name, of in zip(names, group) if of != group[0]]
        raise AzlabError(
            f"Nobody of {', '.join(inside)} played against anybody of {', '.join(outside)}; "
            "rate the groups one by one, or let them play each other."
        )


def _chances(u: np.ndarray, log_nu: float) -> np.ndarray:
    """The chances of win, draw and loss [3, ...] of Davidson's model."""
    logits = np.stack([u / 2, np.full_like(u, log_nu), -u / 2])
    weights = np.exp(logits - logits.max(axis=0))
    return weights / weights.sum(axis=0)


def _most_likely(design: np.ndarray, counts: np.ndarray, precision: float) -> tuple[np.ndarray, float, np.ndarray]:
    """Newton's method for u (all columns of `design`) and log nu; also returns their covariance.

    The logarithm of the likelihood is concave, for the model is a multinomial logit; so the only care to take is to halve
    a step that overshoots.
    """
    wins, draws, losses = counts.T
    total = counts.sum(axis=1)
    size = design.shape[1]
    has_draws = bool(draws.sum())
    theta = np.zeros(size + 1)  # the last is log nu
    free = np.append(design.any(axis=0), has_draws)  # no draws: nu is 0 and stays so; no advantage asked for: likewise

    def log_nu(at: np.ndarray) -> float:
        return float(at[size]) if has_draws else -math.inf

    def objective(at: np.ndarray) -> float:
        u = design @ at[:size]
        chances = np.log(np.maximum(_chances(u, log_nu(at)), 1e-300))
        equals = -2 * np.logaddexp(math.log(2), at[size]) if has_draws else 0.0  # one game won and one lost between equals
        return float((counts.T * chances).sum() - precision / 2 * (at[:size] ** 2).sum() + equals)

    for _ in range(200):
        win, draw, loss = _chances(design @ theta[:size], log_nu(theta))
        equal = 1 / (1 + 2 * math.exp(-theta[size])) if has_draws else 0.0
        gradient = np.append(design.T @ ((wins - losses) - total * (win - loss)) / 2, draws.sum() - total @ draw - 2 * equal)
        gradient[:size] -= precision * theta[:size]
        information = np.zeros((size + 1, size + 1))
        information[:size, :size] = design.T @ (design * (total * (win + loss - (win - loss) ** 2) / 4)[:, None])
        information[:size, :size] += precision * np.eye(size)
        information[:size, size] = information[size, :size] = -design.T @ (total * draw * (win - loss)) / 2
        information[size, size] = total @ (draw * (1 - draw)) + 2 * equal * (1 - equal)
        covariance = np.zeros_like(information)
        covariance[np.ix_(free, free)] = np.linalg.inv(information[np.ix_(free, free)])
        step = covariance @ gradient
        if gradient @ step < 1e-18:
            break
        before = objective(theta)
        while objective(theta + step) < before and np.abs(step).max() > 1e-12:
            step = step / 2
        theta = theta + step
    return theta[:size], log_nu(theta), covariance

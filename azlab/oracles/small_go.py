"""Perfect Go on 2x2 and 3x3 points, area scoring, for any komi and every kind of ko.

With *simple ko* 3x3 has 51,468 situations (board, player to move, ko point, whether the last move was a pass), and play can go
round in circles for ever. We compute for each situation the most that Black can force in finite time (`lower`) and the least
that White can (`upper`). Where the two agree, that is the value. Elsewhere one player can keep the game going, and we count
endless play as a draw: the value is 0 if that lies between the bounds, else the bound that is nearer to 0.

With *superko* every game ends, but the value depends on all earlier positions; `Superko` searches for it when asked.

The limit `max_moves` of the game is left out of account. Perfect games are shorter than the default limit, except endless ones.
"""

import functools
import math
import sys
from collections.abc import Callable, Iterator

import numpy as np

from azlab.errors import AzlabError
from azlab.games import stones
from azlab.games.count import outcomes
from azlab.games.game import Position
from azlab.games.go import KEYS, Go
from azlab.oracles.oracle import Oracle, is_best

MAX_SIZE = 3  # 4x4 has 24,318,165 boards, and superko on it is beyond a plain search
NONE = -1


class Boards:
    """All boards of one size on which every chain has a liberty, numbered, and what a stone on each point makes of them."""

    def __init__(self, size: int) -> None:
        game = Go(size, komi=0, ko="simple")
        self.cells = size * size
        self.places = stones.points(size)  # of the cells on the bordered board
        self.cell_of_place = np.full(len(stones.empty_board(size)), NONE)
        self.cell_of_place[self.places] = np.arange(self.cells)
        states = game.new_states(3**self.cells)
        states["board"][:, self.places] = np.arange(len(states))[:, None] // 3 ** np.arange(self.cells) % 3
        scratch = np.zeros((2, len(self.cell_of_place)), np.int64)
        stands = np.array([stones.all_have_liberties(board, size + 1, *scratch) for board in states["board"]])
        states = states[stands]
        self.count = len(states)
        self.of_code = np.full(len(stands), NONE)  # the number of a board by its code
        self.of_code[stands] = np.arange(self.count)
        self.margin = np.array([np.subtract(*stones.area(board, size + 1, *scratch)) for board in states["board"]])
        keys = np.zeros((3, self.cells), np.uint64)  # an empty point adds nothing to a hash
        keys[:2] = KEYS[:2, self.places]
        colours = states["board"][:, self.places]
        self.hashes = np.bitwise_xor.reduce(keys[colours, np.arange(self.cells)], axis=1)
        self.following = np.full((self.count, 2, self.cells), NONE)  # [board, seat, cell]: the board after a stone there
        self.ko = np.full((self.count, 2, self.cells), NONE)  # the cell that may then not be taken back
        for seat in (0, 1):
            states["to_move"] = seat
            parents, cells = np.nonzero(game.legal_mask(states)[:, : self.cells])
            after = states[parents]
            game.kernels.play(after, cells)
            self.following[parents, seat, cells] = self.numbers(after)
            self.ko[parents, seat, cells] = self.cell_of_place[after["ko"]]

    def numbers(self, states: np.ndarray) -> np.ndarray:
        """The numbers of the boards of `states`."""
        return self.of_code[states["board"][:, self.places].astype(np.int64) @ 3 ** np.arange(self.cells)]


@functools.cache
def boards_of(size: int) -> Boards:
    """The boards of one size; they are made once in a process."""
    return Boards(size)


class SimpleKo:
    """Go without superko as a graph, and what each side can force in it.

    Nodes: first `4 * board + 2 * to_move + passes`; then the situations with a ko point; last one for each finished game.
    """

    def __init__(self, boards: Boards) -> None:
        count, cells = boards.count, boards.cells
        self.boards = boards
        nobody_passed = 4 * boards.following + np.array([2, 0])[:, None]  # [board, seat, cell], the other seat to move
        situations = nobody_passed * cells + boards.ko
        self.ko_situations = np.unique(situations[boards.ko != NONE])
        self.unfinished = 4 * count + len(self.ko_situations)
        with_ko = 4 * count + np.searchsorted(self.ko_situations, situations)
        after_stone = np.where(boards.ko == NONE, nobody_passed, with_ko)
        after_stone[boards.following == NONE] = NONE

        children = np.empty((count, 2, 2, cells + 1), np.int64)
        children[:, :, :, :cells] = after_stone[:, :, None]
        board = np.arange(count)[:, None]
        children[:, :, 0, cells] = 4 * board + np.array([3, 1])
        children[:, :, 1, cells] = self.unfinished + board
        plain = children.reshape(4 * count, cells + 1)
        same_without_ko, ko_cell = np.divmod(self.ko_situations, cells)
        limited = plain[same_without_ko]
        limited[np.arange(len(limited)), ko_cell] = NONE
        self.children = np.concatenate([plain, limited])  # [unfinished, cells + 1], the pass last; NONE where illegal
        self.to_move = np.concatenate([np.arange(4 * count), same_without_ko]) // 2 % 2
        self.lower, self.lower_time = self._forced(endless=-np.inf)
        self.upper, self.upper_time = self._forced(endless=np.inf)

    def _forced(self, endless: float) -> tuple[np.ndarray, np.ndarray]:
        """The margin at every node if endless play counts `endless`, and within how many moves it is reached."""
        margin = np.concatenate([np.full(self.unfinished, endless), self.boards.margin])
        time = np.zeros(len(margin), np.int64)
        sign = np.where(self.to_move == 0, 1.0, -1.0)
        moves = 0
        while True:  # after round k the margins are those that can be forced within k moves
            moves += 1
            for_mover = np.where(self.children == NONE, -np.inf, margin[self.children] * sign[:, None])
            better = for_mover.max(axis=1) * sign
            changed = better != margin[: self.unfinished]
            if not changed.any():
                return margin, time
            margin[: self.unfinished] = better
            time[: self.unfinished][changed] = moves

    def reachable(self, start: int) -> np.ndarray:
        """The unfinished nodes that play can lead to from node `start`, itself included, in order."""
        seen = np.zeros(self.unfinished, np.bool_)
        border = np.array([start])
        while len(border):
            seen[border] = True
            after = np.unique(self.children[border])
            after = after[(after != NONE) & (after < self.unfinished)]
            border = after[~seen[after]]
        return np.flatnonzero(seen)

    def nodes(self, states: np.ndarray) -> np.ndarray:
        """The node of each unfinished state."""
        board = self.boards.numbers(states)
        node = 4 * board + 2 * states["to_move"] + states["passes"]
        ko = self.boards.cell_of_place[states["ko"]]
        situation = node * self.boards.cells + ko
        k = np.searchsorted(self.ko_situations, situation)
        possible = self.ko_situations.take(k, mode="clip") == situation if len(self.ko_situations) else ko == NONE
        if (board == NONE).any() or not (possible | (ko == NONE)).all():
            raise AzlabError("One of these states cannot arise in Go: a chain without liberties, or a ko point out of place.")
        return np.where(ko == NONE, node, 4 * self.boards.count + k)


@functools.cache
def simple_ko_of(size: int) -> SimpleKo:
    """The graph of one size; it is made once in a process."""
    return SimpleKo(boards_of(size))


# What a search proved, and for which pasts it holds: (whether Black gets the margin; the situations that the winner's moves lead
# to, which must not have been seen; those that the loser was forbidden to repeat, which must). Sets are the bits of an int.
Proof = tuple[bool, int, int]


class Superko:
    """Search for the value under superko: does Black get a margin of at least so many points?

    A proof found with one past is used again for every other past for which it holds (see `Proof`). That makes the search short:
    the empty 3x3 board takes some thousand positions. Moves are tried in the order that simple ko suggests.
    """

    MAX_PROOFS = 50_000  # about 2 KB each on 3x3; then all are forgotten

    def __init__(self, graph: SimpleKo, situational: bool) -> None:
        sys.setrecursionlimit(max(sys.getrecursionlimit(), 10_000))  # lines of play without repetition can be long
        self.graph = graph
        self.situational = situational
        self.following = graph.boards.following.tolist()
        self.children = graph.children.tolist()
        self.lower = list(zip(graph.lower.tolist(), graph.lower_time.tolist(), strict=True))
        self.upper = list(zip(graph.upper.tolist(), graph.upper_time.tolist(), strict=True))
        self.margin = graph.boards.margin.tolist()
        # What a player gets who passes for ever; the other one's moves alone cannot go round in circles.
        self.floor = self._alone(1, min)
        self.ceiling = self._alone(0, max)
        white_to_move = int(KEYS[2, 0]) if situational else 0
        self.bit_of_hash = {  # as the rules remember situations
            board_hash ^ (white_to_move if seat else 0): self.bit(board, seat)
            for board, board_hash in enumerate(graph.boards.hashes.tolist())
            for seat in (0, 1)
        }
        self.positions = 0  # searched so far
        self._proofs: dict[tuple[int, int], list[Proof]] = {}
        self._proof_count = 0
        self._ordered: dict[tuple[int, int], list[int]] = {}

    def _alone(self, seat: int, best: Callable[[list[int]], int]) -> list[int]:
        @functools.cache
        def reached(board: int) -> int:
            return best([self.margin[board], *(reached(after) for after in self.following[board][seat] if after != NONE)])

        return [reached(board) for board in range(len(self.margin))]

    def bit(self, board: int, to_move: int) -> int:
        """The set that holds just this situation."""
        return 1 << (2 * board + to_move if self.situational else board)

    def value(self, board: int, to_move: int, passes: int, seen: int) -> int:
        """Black's margin; `seen` is the set of situations so far, this one included."""
        low, high = self.floor[board], self.ceiling[board]
        node = 4 * board + 2 * to_move + passes
        guess = int(min(max(0, self.lower[node][0]), self.upper[node][0]))
        while low < high:
            guess = min(max(guess, low + 1), high)
            if self._reaches(board, to_move, passes, seen, guess)[0]:
                low, guess = guess, guess + 1
            else:
                high, guess = guess - 1, guess - 1
        return low

    def action_values(self, board: int, to_move: int, passes: int, seen: int) -> list[float]:
        """Black's margin after a stone on each cell and after a pass, NaN where a stone is illegal."""
        values = []
        for after in self.following[board][to_move]:
            bit = 0 if after == NONE else self.bit(after, 1 - to_move)
            illegal = after == NONE or seen & bit
            values.append(math.nan if illegal else self.value(after, 1 - to_move, 0, seen | bit))
        after_pass = seen | self.bit(board, 1 - to_move)
        values.append(self.margin[board] if passes else self.value(board, 1 - to_move, 1, after_pass))
        return values

    def _reaches(self, board: int, to_move: int, passes: int, seen: int, margin: int) -> Proof:
        if self.floor[board] >= margin:
            return True, 0, 0
        if self.ceiling[board] < margin:
            return False, 0, 0
        key = 4 * board + 2 * to_move + passes, margin
        for proof in self._proofs.get(key, ()):
            if not proof[1] & seen and not proof[2] & ~seen:
                return proof
        self.positions += 1
        answer, must_be_new, must_be_seen = self._try_moves(board, to_move, passes, seen, margin)
        proof = answer, must_be_new, must_be_seen & ~self.bit(board, to_move)  # this situation is always seen
        if self._proof_count >= self.MAX_PROOFS:
            self._proofs.clear()
            self._proof_count = 0
        self._proofs.setdefault(key, []).append(proof)
        self._proof_count += 1
        return proof

    def _try_moves(self, board: int, to_move: int, passes: int, seen: int, margin: int) -> Proof:
        wanted = to_move == 0
        all_new = all_seen = 0
        for after in self._moves(4 * board + 2 * to_move + passes, margin):
            if after == NONE and passes:
                answer, must_be_new, must_be_seen = self.margin[board] >= margin, 0, 0
            elif after == NONE:
                answer, must_be_new, must_be_seen = self._reaches(
                    board, 1 - to_move, 1, seen | self.bit(board, 1 - to_move), margin
                )
            else:
                bit = self.bit(after, 1 - to_move)
                if seen & bit:
                    all_seen |= bit
                    continue
                answer, must_be_new, must_be_seen = self._reaches(after, 1 - to_move, 0, seen | bit, margin)
                if answer == wanted:
                    must_be_new |= bit
            if answer == wanted:
                return answer, must_be_new, must_be_seen
            all_new |= must_be_new
            all_seen |= must_be_seen
        return not wanted, all_new, all_seen

    def _moves(self, node: int, margin: int) -> list[int]:
        """The boards after each move, the pass as NONE, most promising first for the player to move."""
        if (node, margin) not in self._ordered:
            board, to_move = node // 4, node // 2 % 2
            boards_after = [*self.following[board][to_move], NONE]
            promising = [
                (self._promise(child, to_move, margin), after)
                for child, after in zip(self.children[node], boards_after, strict=True)
                if child != NONE
            ]
            self._ordered[node, margin] = [after for _, after in sorted(promising)]
        return self._ordered[node, margin]

    def _promise(self, child: int, to_move: int, margin: int) -> tuple[int, int]:
        """How good a move to node `child` would be with simple ko; small is good."""
        (lower, lower_time), (upper, upper_time) = self.lower[child], self.upper[child]
        if to_move == 0:
            forced, possible, my_time, their_time = lower >= margin, upper >= margin, lower_time, upper_time
        else:
            forced, possible, my_time, their_time = upper < margin, lower < margin, upper_time, lower_time
        return (0, my_time) if forced else (1 if possible else 2, -their_time)


class SmallGoOracle(Oracle):
    """Perfect Go on 2x2 and 3x3. Values are Black's margin in points after komi; see the top of this file for endless play."""

    game: Go

    def __init__(self, game: Go) -> None:
        if game.size > MAX_SIZE:
            raise AzlabError(f"Perfect Go is known here on 2x2 and 3x3 points only, not on {game.size}x{game.size}.")
        self.game = game
        self.graph = simple_ko_of(game.size)
        self.superko = None if game.ko == "simple" else Superko(self.graph, game.ko == "situational")

    def values(self, states: np.ndarray) -> np.ndarray:
        self.check_states(states)
        values, going_on = np.empty(len(states)), ~states["over"]
        values[~going_on] = outcomes(self.game, states[~going_on])
        if self.superko is None:
            values[going_on] = self._after_komi(self.graph.nodes(states[going_on]))
        else:
            values[going_on] = [
                self.superko.value(*situation) - self.game.komi for situation in self._situations(states[going_on])
            ]
        return values

    def action_scores(self, states: np.ndarray) -> np.ndarray:
        self.check_states(states)
        scores, going_on = np.full((len(states), self.game.num_actions), np.nan), ~states["over"]
        if self.superko is None:
            children = self.graph.children[self.graph.nodes(states[going_on])]
            scores[going_on] = np.where(children == NONE, np.nan, self._after_komi(children))
        else:
            for k, situation in zip(np.flatnonzero(going_on), self._situations(states[going_on]), strict=True):
                scores[k] = self.superko.action_values(*situation)
                scores[k] -= self.game.komi
        return scores

    def best_actions(self, states: np.ndarray) -> np.ndarray:
        """Which actions are best: bool [B, A]. With simple ko, a winner's are those that also come nearer to the end.

        Otherwise the winner could choose moves that all keep the win and go round in circles with them.
        """
        best = is_best(self.action_scores(states), states["to_move"])
        if self.superko is None:
            going_on = np.flatnonzero(~states["over"])
            nodes = self.graph.nodes(states[going_on])
            values = self._after_komi(nodes)
            for seat, time in ((0, self.graph.lower_time), (1, self.graph.upper_time)):
                wins = (self.graph.to_move[nodes] == seat) & (values * (1 - 2 * seat) > 0)
                nearer = time[self.graph.children[nodes[wins]]] < time[nodes[wins], None]
                best[going_on[wins]] &= nearer
        return best

    def positions(self) -> np.ndarray:
        """Every situation that can arise from the empty board: stones, whose turn it is, ko point, pass before; none is over.

        With superko no such list is possible, for there a position is all that was played before.
        """
        if self.superko is not None:
            raise AzlabError("With superko a position is all that was played before; list the positions of ko='simple'.")
        graph, boards = self.graph, self.graph.boards
        nodes = graph.reachable(int(graph.nodes(Go(self.game.size, komi=0).new_states(1))[0]))
        plain, ko = nodes.copy(), np.full(len(nodes), NONE)
        limited = nodes >= 4 * boards.count
        plain[limited], ko[limited] = np.divmod(graph.ko_situations[nodes[limited] - 4 * boards.count], boards.cells)
        states = self.game.new_states(len(nodes))
        codes = np.flatnonzero(boards.of_code != NONE)[plain // 4]
        states["board"][:, boards.places] = codes[:, None] // 3 ** np.arange(boards.cells) % 3
        states["to_move"], states["passes"] = plain // 2 % 2, plain % 2
        states["ko"] = np.where(ko == NONE, 0, boards.places[ko])
        return states

    def bounds(self, position: Position) -> tuple[float, float]:
        """The most that Black can force and the least that White can, after komi, if neither gains by endless play."""
        state = self._state_of(position)
        if self.superko is not None or position.over:
            return (self.value(position),) * 2
        node = self.graph.nodes(state)[0]
        return float(self.graph.lower[node]) - self.game.komi, float(self.graph.upper[node]) - self.game.komi

    def _after_komi(self, nodes: np.ndarray) -> np.ndarray:
        """The values of nodes with simple ko; endless play is a draw."""
        return np.clip(0, self.graph.lower[nodes] - self.game.komi, self.graph.upper[nodes] - self.game.komi)

    def _situations(self, states: np.ndarray) -> Iterator[tuple[int, int, int, int]]:
        """Board, seat to move, passes and the set of situations seen, for each state of a game with superko."""
        assert self.superko is not None
        for board, state in zip(self.graph.boards.numbers(states).tolist(), states, strict=True):
            if board == NONE:
                raise AzlabError("One of these states cannot arise in Go: it has a chain without liberties.")
            seen = self.superko.bit(board, int(state["to_move"]))
            for board_hash in state["history"][: state["ply"] + 1].tolist():
                seen |= self.superko.bit_of_hash.get(board_hash, 0)
            yield board, int(state["to_move"]), int(state["passes"]), seen

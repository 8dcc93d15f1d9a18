"""Seega: the rules written a second time, slowly and plainly, and random games that must go alike under both."""

import itertools
import random
import string
from collections import Counter

import numpy as np
import pytest

import azlab

OPTIONS = {
    "placement": (1, 2),
    "first_mover": ("first", "last_placer"),
    "safe_centre": (False, True),
    "chain": ("optional", "mandatory", "none"),
    "extra_move": ("same", "any"),
    "blocked": ("skip", "pass"),
    "least_stones": (1, 2),
    "quiet_limit": (3, 20, 50, None),
    "move_limit": (30, 120, None),
}


class PlainSeega:
    """The rules once more, straight from the text: stones in a dictionary of cells, which are complex numbers."""

    STEPS = {"up": -1j, "down": 1j, "left": -1, "right": 1}

    def __init__(self, size, **rules):
        self.cells = {complex(col, row) for row in range(size) for col in range(size)}
        self.centre, self.rules = complex(size // 2, size // 2), rules
        self.stones = {}
        self.placed, self.log = 0, []  # stones placed; how many stones each move of the moving phase captured
        self.turn, self.runner, self.over = 0, None, False

    @staticmethod
    def name(cell):
        return f"{string.ascii_uppercase[int(cell.imag)]}{int(cell.real) + 1}"

    @property
    def placing(self):
        return self.placed < len(self.cells) - 1

    @property
    def quiet(self):
        return next((n for n, taken in enumerate(reversed(self.log)) if taken), len(self.log))

    @property
    def free(self):
        """Whether any stone may step after a capture."""
        return self.rules["extra_move"] == "any"

    def counts(self):
        return tuple(list(self.stones.values()).count(seat) for seat in (0, 1))

    def steps(self, seat):
        """Every step of `seat`: name -> (from, to, captured cells)."""
        found = {}
        for cell in [cell for cell, owner in self.stones.items() if owner == seat]:
            for word, step in self.STEPS.items():
                to = cell + step
                if to in self.cells and to not in self.stones:
                    others = {c: s for c, s in self.stones.items() if c != cell}
                    taken = [to + d for d in self.STEPS.values()
                             if others.get(to + d) == 1 - seat and others.get(to + 2 * d) == seat
                             and not (self.rules["safe_centre"] and to + d == self.centre)]  # fmt: skip
                    found[f"{self.name(cell)}-{word}"] = (cell, to, taken)
        return found

    def legal(self):
        if self.over:
            return set()
        if self.placing:
            return {self.name(cell) for cell in self.cells if cell not in self.stones and cell != self.centre}
        steps = self.steps(self.turn)
        if self.runner is None:
            return set(steps) or {"stop"}
        onward = {name for name, (cell, _, taken) in steps.items() if self.free or (cell == self.runner and taken)}
        return onward | ({"stop"} if self.rules["chain"] == "optional" else set())

    def play(self, name):
        if self.placing:
            self.stones[next(cell for cell in self.cells if self.name(cell) == name)] = self.turn
            self.placed += 1
            self.turn = self.placed // self.rules["placement"] % 2
            if not self.placing:
                self.begin(1 if self.rules["first_mover"] == "last_placer" else 0)
            return
        if name == "stop":
            if self.runner is None:
                self.log.append(0)
            self.begin(1 - self.turn)
        else:
            cell, to, taken = self.steps(self.turn)[name]
            self.stones[to] = self.stones.pop(cell)
            for victim in taken:
                del self.stones[victim]
            self.log.append(len(taken))
            self.runner = to
            more = self.free or any(step[0] == to and step[2] for step in self.steps(self.turn).values())
            if min(self.counts()) < self.rules["least_stones"]:
                self.over = True
            elif not taken or not more or self.rules["chain"] == "none":
                self.begin(1 - self.turn)
        if self.quiet == self.rules["quiet_limit"] or len(self.log) == self.rules["move_limit"]:
            self.over = True

    def begin(self, seat):
        self.turn, self.runner = seat, None
        if not self.steps(seat) and self.rules["blocked"] == "skip":
            self.turn = 1 - seat

    def planes(self, seat, size):
        """The six planes for the player on `seat`."""
        planes = np.zeros((6, size, size))
        for cell, owner in self.stones.items():
            planes[int(owner != seat), int(cell.imag), int(cell.real)] = 1
        if self.runner is not None and not self.over:
            planes[2, int(self.runner.imag), int(self.runner.real)] = 1
        planes[3] = self.placing
        planes[4] = self.placed % self.rules["placement"] if self.placing else 0
        planes[5] = self.quiet / self.rules["quiet_limit"] if self.rules["quiet_limit"] else 0
        return planes


def move_is_free(plain, legal):
    """Whether there is a step that the stone which has just captured could not make by capturing."""
    return any(name in legal and (step[0] != plain.runner or not step[2]) for name, step in plain.steps(plain.turn).items())


@pytest.mark.parametrize(("size", "games"), [(3, 200), (5, 250), (7, 20), (9, 10)])
@pytest.mark.slow
def test_a_plain_second_implementation_agrees_in_random_games(size, games):
    seen = Counter()
    for number in range(games):
        chance = random.Random(f"{size} {number}")
        rules = {name: chance.choice(choices) for name, choices in OPTIONS.items()}
        if rules["quiet_limit"] is None and rules["move_limit"] is None:
            rules["quiet_limit"] = 20
        plain, position = PlainSeega(size, **rules), azlab.game("seega", size=size, **rules).start()
        while True:
            legal = plain.legal()
            where = f"{rules} after {' '.join(position.moves)}"
            assert set(position.legal_moves) == legal, where
            assert position.over == plain.over, where
            assert position.scores == plain.counts(), where
            assert np.allclose(position.game.encode(position.state)[0], plain.planes(position.to_move, size)), where
            if plain.over:
                break
            assert position.to_move == plain.turn, where
            seen["blocked"] += legal == {"stop"}
            seen["chain"] += plain.runner is not None
            seen["extra move"] += plain.runner is not None and plain.free and move_is_free(plain, legal)
            seen["stop"] += len(legal) > 1 and "stop" in legal
            capturing = [] if plain.placing else [n for n, step in plain.steps(plain.turn).items() if step[2]]
            wanted = [name for name in capturing if name in legal]  # half of the moves capture where they can
            move = chance.choice(sorted(wanted if wanted and chance.random() < 0.5 else legal))
            plain.play(move)
            position = position.play(move)
        black, white = plain.counts()
        assert position.result == (black > white) - (black < white), where
        assert position.ply <= position.game.max_length
        seen["few stones"] += min(black, white) < rules["least_stones"]
        seen["at a limit"] += min(black, white) >= rules["least_stones"]
    rare = ["chain", "stop", "extra move", "at a limit"] + (["blocked", "few stones"] if size == 5 else [])
    assert all(seen[event] > 5 for event in rare), seen


@pytest.mark.parametrize("size", [3, 5, 7, 9])
@pytest.mark.parametrize("limits", [{"quiet_limit": 1}, {"quiet_limit": 300}, {"quiet_limit": None, "move_limit": 300}])
def test_every_random_game_ends_for_a_stated_reason(size, limits):
    for chain, extra in itertools.product(("optional", "mandatory", "none"), ("same", "any")):
        game = azlab.game("seega", size=size, chain=chain, extra_move=extra, **limits)
        final = game.playout(game.new_states(40), seed=size)
        assert final["over"].all()
        assert final["ply"].max() <= game.max_length
        few = final["stones"].min(axis=1) < 2
        at_limit = final["quiet"] == limits["quiet_limit"] if limits["quiet_limit"] else final["moves"] == 300
        assert (few | at_limit).all()
        counted = np.array([[(board == seat).sum() for seat in (0, 1)] for board in final["board"]])
        assert (counted == final["stones"]).all()
        assert (final["result"] == np.sign(counted[:, 0] - counted[:, 1])).all()

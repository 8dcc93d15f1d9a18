"""Replays without a browser: steps, curves, mistakes."""

import pytest

import azlab
import azlab.show
from azlab.arena import match
from azlab.errors import AzlabError

LONG = 120  # seconds, more than any review takes


def test_stepping_through_a_record():
    record = match("random", "random", games=2, game="tictactoe", openings=0).records[0]
    board = azlab.show.replay(record)
    assert board.step == len(record.moves) and board.story["players"] == list(record.players)
    board._hear(board, {"what": "step", "step": 2}, [])
    assert board.step == 2 and board.position == record.positions[2] and board.view["step"] == 2
    board._hear(board, {"what": "step", "step": 999}, [])
    assert board.position == record.final
    board.step = 0
    assert board.svg == record.positions[0].svg
    with pytest.raises(AzlabError, match="step"):
        board.step = 99


def test_mistakes_and_curves():
    board = azlab.show.replay("a1 b1 c1", agents=["uct:50", "perfect"], game="tictactoe")
    assert board.values["uct:50"] == [None] * 4 and board.mistakes == []
    assert board.wait(LONG)
    assert [(found.number, found.move, found.kind) for found in board.mistakes] == [(2, "b1", "mistake"), (3, "c1", "mistake")]
    assert board.values["perfect"] == [0, 0, 1, 0] and None not in board.values["uct:50"]
    assert [curve["name"] for curve in board.review["curves"]] == ["perfect play", "uct:50", "perfect"]
    assert board.review["done"] == board.review["total"] and len(board.review["mistakes"]) == 2


def test_a_slip_costs_points_but_not_the_game():
    game = azlab.game("dots_and_boxes", rows=1, cols=2)
    oracle = azlab.oracle(game)
    position = game.start()
    while not position.over:  # the worst move that keeps the result, else the best
        scores = {move: value * (1 - 2 * position.to_move) for move, value in oracle.scores(position).items()}
        best = max(scores.values())
        position = position.play(
            min((m for m in scores if (scores[m] > 0) == (best > 0) and (scores[m] < 0) == (best < 0)), key=scores.get)
        )
    board = azlab.show.replay(position)
    assert board.wait(LONG) and all(found.kind == "slip" and found.loss > 0 for found in board.mistakes)


def test_an_agent_that_fails_ends_the_review_with_a_sentence():
    class Broken:
        name = "broken"

        def choose(self, position):
            return 0

        def analyse(self, position):
            raise RuntimeError("no idea")

    board = azlab.show.replay("44", agents=[Broken()], game="connect4", mistakes=False)
    assert board.wait(LONG) and board.review["note"] == "The review stopped (RuntimeError: no idea)."


def test_nothing_is_computed_until_someone_looks():
    board = azlab.show.replay(azlab.game("go", size=5).from_moves("c3 pass"), agents=["uct:20"])
    assert board.review["done"] == 0 and board.review["total"] == 3
    board._hear(board, {"what": "ready"}, [])
    assert board.wait(LONG) and board.review["done"] == 3


def test_what_a_notebook_stores_is_stable():
    board = azlab.show.replay("4453", game="connect4")
    bundle, _ = board._repr_mimebundle_()
    assert bundle["text/plain"] == "<replay of connect4: 4 moves, Yellow to move>"
    assert bundle["image/svg+xml"] == board.position.svg


def test_what_cannot_be_replayed_is_refused_with_a_sentence():
    with pytest.raises(AzlabError, match="Say which game"):
        azlab.show.replay("4453")
    with pytest.raises(AzlabError, match="cannot explain itself"):
        azlab.show.replay("44", agents="random", game="connect4")
    with pytest.raises(AzlabError, match="A board shows"):
        azlab.show.replay(3.5)

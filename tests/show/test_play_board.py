"""The playable board without a browser: what messages do to the game, what an agent's answers, failures and delays do."""

import json
import threading

import pytest

import azlab
import azlab.show
from azlab.arena import match
from azlab.errors import AzlabError, IllegalMove
from azlab.show import play_session
from azlab.show.record_file import from_text

GAMES = ("tictactoe", "connect4", "dots_and_boxes", "go", "simple_go", "seega")
LONG = 60  # seconds, more than any answer takes


class Scripted:
    """An agent that plays the moves it is given; it can be held back, and it can fail."""

    name = "scripted"

    def __init__(self, *moves):
        self.moves, self.asked = list(moves), 0
        self.may_answer = threading.Event()
        self.may_answer.set()

    def choose(self, position):
        self.asked += 1
        assert self.may_answer.wait(LONG)
        move = self.moves.pop(0)
        if isinstance(move, Exception):
            raise move
        return position.game.action(move)


def send(board, what, **more):
    """What the browser does."""
    board._hear(board, {"what": what, **more}, [])


def click(board, move):
    send(board, "move", action=board.game.action(move), ply=board.position.ply)


def board_against(*moves, **options):
    agent = Scripted(*moves)
    return azlab.show.play("tictactoe", against=agent, evaluation=False, **options), agent


@pytest.mark.parametrize("name", GAMES)
def test_every_legal_move_can_be_clicked_or_has_a_button(name):
    board = azlab.show.play(name)
    layout, position = board.layout_of_board, board.position
    for _ in range(60):
        paths = [tuple(layout["actions"][action][1]) for action in position.legal_actions]
        placed = [path for path in paths if path]
        assert len(set(placed)) == len(placed), "two moves are clicked alike"
        assert len(paths) - len(placed) <= 1, "only one move, pass or stop, has no place"
        if position.over:
            break
        position = position.play(position.legal_actions[(7 * position.ply) % len(position.legal_actions)])


def test_a_click_plays_and_the_agent_answers():
    board, agent = board_against("a1")
    click(board, "b2")
    assert board.wait(LONG) and board.position.moves == ["b2", "a1"] and agent.asked == 1
    assert board.view["status"] == "scripted played a1. X to move: your turn."
    assert board.view["legal"] == board.position.legal_actions


def test_an_illegal_move_is_ignored_with_a_sentence():
    board = azlab.show.play("tictactoe")
    click(board, "b2")
    click(board, "b2")
    assert board.position.moves == ["b2"] and board.view["message"].startswith("b2 is not legal here")
    send(board, "nothing", name="b2")
    assert board.view["message"] == "Nothing can be played at b2 now."
    with pytest.raises(IllegalMove):
        board.play("b2")


def test_a_click_on_a_board_of_the_past_and_nonsense_do_nothing():
    board = azlab.show.play("tictactoe")
    click(board, "b2")
    send(board, "move", action=0, ply=0)
    send(board, "dance")
    board._hear(board, "nonsense", [])
    assert board.position.moves == ["b2"] and board.view["heard"] == 4


def test_undo_takes_back_the_answer_too():
    board, _ = board_against("a1", "c3", "a2")
    for move in ("b2", "a3"):
        click(board, move)
        assert board.wait(LONG)
    send(board, "undo")
    assert board.position.moves == ["b2", "a1"]
    send(board, "undo")
    assert board.position.moves == [] and not board.view["can"]["undo"]
    send(board, "undo")
    assert board.view["message"] == "There is nothing to take back."


def test_two_people_take_back_one_move():
    board = azlab.show.play("connect4")
    board.play("4")
    board.play("3")
    board.undo()
    assert board.position.moves == ["4"] and not board.view["can"]["swap"]
    with pytest.raises(AzlabError, match="Two people"):
        board.swap()


def test_swap_lets_the_agent_move():
    board, _ = board_against("a1")
    send(board, "swap")
    assert board.wait(LONG) and board.position.moves == ["a1"] and board.view["players"] == ["scripted", "you"]


def test_an_agent_with_the_first_move_waits_until_someone_looks():
    board, agent = board_against("a1", seat=1)
    assert agent.asked == 0 and board.view["legal"] == []
    send(board, "ready")
    send(board, "ready")
    assert board.wait(LONG) and board.position.moves == ["a1"] and agent.asked == 1


@pytest.mark.parametrize("command", ["undo", "new", "swap"])
def test_a_pending_answer_is_cancelled(command):
    board, agent = board_against("a1", "c3", "c1")
    agent.may_answer.clear()
    click(board, "b2")
    assert board.view["thinking"] == "scripted" and board.view["legal"] == []
    click(board, "a3")
    assert board.position.moves == ["b2"] and board.view["message"] == "scripted is still thinking."
    send(board, command)
    assert board.view["thinking"] == ""
    agent.may_answer.set()
    click(board, "c2")
    assert board.wait(LONG)
    after = {"undo": ["c2", "c3"], "new": ["c2", "c3"], "swap": ["b2", "c2", "c3"]}[command]
    if command == "swap":  # now the person sits where the agent sat
        assert board.position.moves == ["b2", "c2", "c3"]
    assert board.position.moves == after and "a1" not in board.position.moves


def test_a_failing_agent_leaves_the_game_intact():
    board, _ = board_against(RuntimeError("out of ideas"), "b2", "a1")
    click(board, "b2")
    assert board.wait(LONG)
    assert board.view["error"] == "scripted failed (RuntimeError: out of ideas). The game is as it was."
    assert board.position.moves == ["b2"] and board.view["can"]["retry"] and board.view["legal"] == []
    click(board, "a3")
    assert board.view["message"].startswith("It is the turn of scripted")
    send(board, "retry")  # this time it plays an occupied cell
    assert board.wait(LONG) and "IllegalMove" in board.view["error"] and board.position.moves == ["b2"]
    send(board, "retry")
    assert board.wait(LONG) and board.position.moves == ["b2", "a1"] and board.view["error"] == ""
    send(board, "retry")
    assert board.view["message"] == "No agent has failed."


def test_a_hint_is_drawn_until_the_next_move():
    board = azlab.show.play("tictactoe", hints="uct:200")
    assert "fill-opacity" not in board.view["svg"]
    send(board, "hint")
    assert board.wait(LONG) and "fill-opacity" in board.view["svg"]
    assert board.view["message"] == f"Hint of uct:200: {board._session.hint.best_move}."
    click(board, "a1")
    assert "fill-opacity" not in board.view["svg"] and board.view["message"] == ""


def test_hints_of_an_agent_that_only_chooses_and_of_one_that_fails():
    board, _ = board_against("a1", "a2", hints=Scripted("c3", ValueError("no")))
    board.hint()
    assert board.wait(LONG) and board.view["message"] == "Hint of scripted: c3."
    board.hint()
    assert board.wait(LONG) and board.view["error"] == "scripted has no hint (ValueError: no)."
    click(board, "b2")
    assert board.wait(LONG) and board.position.moves == ["b2", "a1"] and board.view["error"] == ""


def test_the_oracle_fills_the_bar():
    board = azlab.show.play(azlab.game("tictactoe").from_moves("a1 b1"))
    assert board.view["evaluation"]["text"] == "…"
    send(board, "ready")
    assert board.wait(LONG) and board.view["evaluation"] == {
        "on": True,
        "share": pytest.approx(0.8222, abs=1e-3),
        "text": "X wins",
    }
    send(board, "evaluate", on=False)
    assert board.view["evaluation"] == {"on": False, "share": 0.5, "text": ""}
    assert azlab.show.play("go").view["evaluation"] is None and azlab.show.play("simple_go").view["evaluation"] is None
    assert azlab.show.play("seega", move_limit=50).view["evaluation"] is None  # tables know no limit on all moves
    assert azlab.show.play("seega", rules="bodogemu").view["evaluation"] is None  # ... nor extra moves with any stone


def test_an_oracle_that_knows_endgames_only_fills_the_bar_when_it_comes_to_one():
    game = azlab.game("seega", size=3)
    for position, text in ((azlab.game("seega").start(), "…"), (game.from_diagram("XO.\n..X\nO.."), "Black wins")):
        board = azlab.show.play(position)
        send(board, "ready")
        assert board.wait(LONG) and board.view["evaluation"]["on"] and board.view["evaluation"]["text"] == text


def test_a_slow_oracle_is_switched_off(monkeypatch):
    monkeypatch.setattr(play_session, "PATIENCE_AT_FIRST", 0.05)
    board, release = azlab.show.play("tictactoe"), threading.Event()
    board._session._make_oracle = lambda: release.wait(LONG)
    send(board, "ready")
    assert board.wait(LONG)
    release.set()
    assert not board.view["evaluation"]["on"] and "takes long" in board.view["message"]
    click(board, "b2")
    assert board.position.moves == ["b2"]


def test_captured_stones_are_shown_for_a_moment():
    board = azlab.show.play(azlab.game("go", size=5).from_moves("a1 a2 e5"))
    click(board, "b1")
    assert board.view["captured"].count("<circle") == 1
    send(board, "undo")
    assert board.view["captured"] == ""


def test_games_are_saved_and_loaded(tmp_path):
    board = azlab.show.play("connect4", against=Scripted("4"), evaluation=False)
    board.play("3")
    assert board.wait(LONG)
    board.save(tmp_path / "games" / "one.json")
    line = json.loads((tmp_path / "games" / "one.json").read_text())
    assert line["moves"] == ["3", "4"] and line["result"] is None and line["players"] == ["you", "scripted"]
    assert azlab.show.play(tmp_path / "games" / "one.json").position == board.position
    assert azlab.show.play(str(tmp_path / "games" / "one.json")).position.moves == ["3", "4"]
    other = azlab.show.play("connect4", evaluation=False)
    other.load(tmp_path / "games" / "one.json")
    assert other.position == board.position
    send(other, "load", text="{}")
    assert other.view["message"].startswith("This is not a game saved") and other.position == board.position
    with pytest.raises(AzlabError, match="was expected"):
        azlab.show.play("connect4", rows=5).load(tmp_path / "games" / "one.json")
    with pytest.raises(AzlabError, match="There is no file"):
        other.load(tmp_path / "nowhere.json")


def test_a_save_button_offers_a_file(monkeypatch):
    board, sent = azlab.show.play("tictactoe"), []
    monkeypatch.setattr(board, "send", sent.append)
    click(board, "b2")
    send(board, "save")
    assert sent[0]["name"] == "tictactoe-1-moves.json" and from_text(sent[0]["text"]) == board.position


def test_positions_and_records_can_be_played_on():
    record = match("random", "random", games=2, game="tictactoe", openings=0).records[0]
    board = azlab.show.play(record)
    assert board.position.over and board.view["legal"] == [] and board.record.moves == record.moves
    board.undo()
    assert not board.position.over
    diagram = azlab.game("seega").from_diagram("XX...\n.O...\n.....\n..O..\n.X..O")
    start = azlab.show.play(diagram)
    assert start.record.start is not None and from_text_round(start) == diagram


def from_text_round(board):
    from azlab.show.record_file import to_text

    return from_text(to_text(board.position, ("a", "b")))


def test_what_a_notebook_stores_is_stable():
    first, second = azlab.show.play("tictactoe", against="uct:100"), azlab.show.play("tictactoe", against="uct:100")
    (one, _), (other, _) = first._repr_mimebundle_(), second._repr_mimebundle_()
    assert one["text/plain"] == other["text/plain"] == "<board for a person against uct:100: tictactoe, X to move>"
    assert one["image/svg+xml"] == other["image/svg+xml"] == first.position.svg
    assert "application/vnd.jupyter.widget-view+json" in one


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"game": "chess"}, "chess"),
        ({"game": 7}, "A board shows"),
        ({"game": "go", "against": "perfect", "size": 9}, "9"),
        ({"game": "go", "against": "walrus"}, "no agent"),
        ({"game": "go", "against": object()}, "An agent has a name"),
        ({"game": "go", "seat": 2}, "seat"),
        ({"game": azlab.game("tictactoe").start(), "size": 3}, "go with the name"),
    ],
)
def test_what_cannot_be_played_is_refused_with_a_sentence(arguments, sentence):
    with pytest.raises(AzlabError, match=sentence):
        azlab.show.play(**arguments)


def test_boards_share_an_agent_without_asking_it_twice_at_once():
    agent = Scripted("a1", "c3")
    boards = [azlab.show.play("tictactoe", against=agent, evaluation=False) for _ in range(2)]
    agent.may_answer.clear()
    for board in boards:
        board.play("b2")
    assert agent.asked <= 1
    agent.may_answer.set()
    assert all(board.wait(LONG) for board in boards)
    assert sorted(board.position.moves[1] for board in boards) == ["a1", "c3"]

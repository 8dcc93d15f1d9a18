"""GNU Go and other engines as players: what they are told, how games end, and what happens when an engine fails."""

import os
import shlex
import signal
import sys

import pytest

import azlab
from azlab.arena import match
from azlab.arena.gtp_agent import GnuGoAgent, GtpAgent
from azlab.arena.match import AgentFailed
from azlab.arena.terminal import play
from azlab.formats.gtp import GtpError
from azlab.games.game import Position

# Answers genmove by the moves it is given, in turn, and writes down what it is told.
FAKE_ENGINE = r"""
import sys
moves, log = sys.argv[2:], open(sys.argv[1], "a")
for line in sys.stdin:
    if line == "quit\n":
        break
    number, command = line.strip().split(" ", 1)
    print(command, file=log, flush=True)
    answer = moves.pop(0) if command.startswith("genmove") else ""
    print("?" + number + " no such komi" if command == "komi 99" else "=" + number + " " + answer, end="\n\n", flush=True)
"""


@pytest.fixture
def fake(tmp_path):
    """Makes an agent that plays the given moves, and a function that returns what its engine was told since the last call."""
    script, log, agents, read = tmp_path / "fake.py", tmp_path / "log", [], [0]
    script.write_text(FAKE_ENGINE)

    def make(*moves):
        agents.append(azlab.agent("gtp:" + shlex.join([sys.executable, "-I", "-S", str(script), str(log), *moves])))
        return agents[-1]

    def told():
        lines = log.read_text().splitlines()
        new, read[0] = lines[read[0] :], len(lines)
        return new

    yield make, told
    for agent in agents:
        agent.close()


@pytest.fixture
def gnugo(need):
    need("gnugo")
    made = []

    def make(text, seed=0):
        made.append(azlab.agent(text, seed))
        return made[-1]

    yield make
    for agent in made:
        agent.close()


# --- what an engine is told ---------------------------------------------------------------------------------------


def test_a_game_that_goes_on_sends_only_new_moves(fake):
    make, told = fake
    agent, game = make("C3", "PASS"), azlab.game("go", size=5, komi=0.5)
    first = game.start().play("a1")
    assert agent.choose(first) == game.action("c3")
    assert told() == ["boardsize 5", "komi 0.5", "clear_board", "play black A1", "genmove white"]
    assert agent.choose(first.play("c3").play("b2")) == game.action("pass")
    assert told() == ["play black B2", "genmove white"]


def test_another_game_or_a_move_taken_back_starts_anew(fake):
    make, told = fake
    agent, start = make("C3", "E5", "E4"), azlab.game("go", size=5).start()
    agent.choose(start.play("a1"))
    agent.choose(start.play("a1").play("d4").play("b2"))  # White did not play the engine's c3
    assert told()[5:] == ["clear_board", "play black A1", "play white D4", "play black B2", "genmove white"]
    agent.choose(azlab.game("go", size=6).start())
    assert told() == ["boardsize 6", "komi 7", "clear_board", "genmove black"]


def test_positions_without_moves_are_set_up(fake):
    make, told = fake
    agent, game = make("E3", "E4", "E5"), azlab.game("go", size=5)
    diagram = game.from_diagram(".....\n.X...\n..O..\n.....\n.....", to_move=1)
    agent.choose(diagram.play("a1"))
    assert told()[3:] == ["play black B4", "play white C3", "play white A1", "genmove black"]
    passed = diagram.play("pass")
    agent.choose(Position(game, passed.state))
    assert told() == ["clear_board", "play black B4", "play white C3", "play white pass", "genmove black"]
    agent.choose(azlab.game("go", size=9, handicap=2).start())
    assert sorted(told()[3:]) == ["genmove white", "play black C3", "play black G7"]


@pytest.mark.parametrize(("ko", "moves"), [("simple", "a2 d2 b1 c1 b3 c3 c2 b2"), ("positional", "a1")])
def test_positions_whose_past_matters_and_is_not_known_are_refused(fake, ko, moves):
    make, _ = fake
    game = azlab.game("go", size=4, ko=ko)
    with pytest.raises(azlab.AzlabError, match="its moves are not known"):
        make("pass").choose(Position(game, game.from_moves(moves).state))


# --- what an engine answers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("answer", "move"), [("C3", "c3"), ("c3", "c3"), (" \tc3\t ", "c3"), ("PASS", "pass"), ("Pass", "pass")])
def test_moves_in_capitals_and_with_spaces(fake, answer, move):
    make, _ = fake
    game = azlab.game("go", size=5)
    assert make(answer).choose(game.start()) == game.action(move)


@pytest.mark.parametrize("word", ["resign", "RESIGN", " Resign "])
def test_an_engine_that_resigns_passes_and_is_asked_again(fake, word):
    make, told = fake
    agent, game = make(word, "C3"), azlab.game("go", size=5)
    position = game.start()
    position = position.play(agent.choose(position)).play("b2")
    assert position.moves == ["pass", "b2"] and agent.choose(position) == game.action("c3")
    assert told()[4:] == ["play black pass", "play white B2", "genmove black"]


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ("A1", "played a1, which is not legal in"),
        ("I3", "fake.py.* answered genmove by what is no move: 'i3' is no point of a 5x5"),
        ("F1", "'f1' is no point"),
        ("c6", "'c6' is no point"),
        ("", "'' is no point"),
        ("B2 # good", "'b2 # good' is no point"),
        ("B2 C3", "'b2 c3' is no point"),
        ("B2\nC3", "'b2.*nc3' is no point"),
        ("caf\u00e9", "'caf\u00e9' is no point"),
        ("x" * 5000, "'x{200}'... \\(5,000 characters\\) is no point"),
    ],
)
def test_a_move_that_is_none_is_a_failure(fake, answer, sentence):
    make, _ = fake
    with pytest.raises(AgentFailed, match=sentence):
        match(make(answer, answer), "random", 2, azlab.game("go", size=5), openings=["a1"])


@pytest.mark.parametrize(
    ("game", "sentence"),
    [
        (azlab.game("connect4"), "plays go, not connect4"),
        (azlab.game("simple_go"), "plays go, not simple_go"),
        (azlab.game("go", size=5, komi=99), "cannot play go on 5x5 with komi 99: .*'no such komi'"),
    ],
)
def test_games_the_engine_cannot_play_are_named_at_once(fake, game, sentence):
    make, _ = fake
    with pytest.raises(azlab.AzlabError, match=sentence):
        make().prepare(game)


def test_a_program_that_is_no_engine_is_named_at_once():
    agent = azlab.agent("gtp:cat")
    with pytest.raises(azlab.AzlabError, match="gtp:cat cannot play go on 5x5 .*: cat repeats '1 boardsize 5' instead of"):
        agent.prepare(azlab.game("go", size=5))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("gnugo:strong", "a whole number should follow the colon, such as gnugo:10."),
        ("gnugo:2s", "a whole number should follow the colon, such as gnugo:10."),
        ("gnugo:51", "level must be a whole number from 0 to 50"),
        ("gnugo:1,colour=3", "gnugo has no setting 'colour'; it has level, timeout"),
    ],
)
def test_a_wrong_name_gets_one_sentence(text, sentence):
    with pytest.raises(azlab.AzlabError, match=sentence):
        azlab.agent(text)


def test_names_of_engines():
    assert isinstance(azlab.agent("gnugo"), GnuGoAgent) and azlab.agent("gnugo").level == 10
    assert azlab.agent("gnugo:3,timeout=5").timeout == 5 and azlab.agent("gnugo:3").name == "gnugo:3"
    assert isinstance(azlab.agent("gtp:gnugo --mode gtp"), GtpAgent)
    assert azlab.agent("gtp:katago gtp -override-config a=1,b=2").name == "gtp:katago gtp -override-config a=1,b=2"


# --- GNU Go -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ko", ["simple", "positional", "situational"])
def test_gnu_go_is_given_our_rules(ko):
    command = " ".join(GnuGoAgent(level=3, seed=2**40).command(azlab.game("go", ko=ko)))
    assert "--level 3" in command and "--chinese-rules --forbid-suicide" in command
    assert {"simple": "--simple-ko", "positional": "--positional-superko", "situational": "--situational-superko"}[ko] in command


@pytest.mark.parametrize(("size", "komi", "games"), [(4, 0.5, 6), (5, 0.5, 6), (9, 7.0, 2)])
@pytest.mark.slow
def test_gnu_go_beats_a_random_player(gnugo, size, komi, games):
    """Without random openings: where GNU Go believes all its stones to be dead, it passes, whoever the opponent is."""
    result = match(gnugo("gnugo:1"), "random", games, azlab.game("go", size=size, komi=komi), openings=0, seed=1)
    assert result.complete and result.score == 1.0, str(result)


def test_gnu_go_and_uct_play_to_two_passes_on_5x5(gnugo):
    result = match(gnugo("gnugo:1"), "uct:500", 4, azlab.game("go", size=5, komi=24.5), seed=2)
    assert result.complete and all(record.moves[-2:] == ("pass", "pass") for record in result.records)


@pytest.mark.parametrize("ko", ["simple", "positional", "situational"])
@pytest.mark.parametrize("size", [2, 3])
def test_gnu_go_plays_legal_games_on_the_smallest_boards(gnugo, size, ko):
    assert match(gnugo("gnugo:1"), "random", 20, azlab.game("go", size=size, ko=ko, komi=0.5), seed=1).complete


def test_gnu_go_takes_all_of_3x3_from_a_perfect_player_but_gives_2x2_away(gnugo):
    """Black can take all 9 points of 3x3 and wins 2x2 by one; on 2x2 GNU Go passes too early."""
    agent = gnugo("gnugo:10")
    three = match(agent, "perfect", 4, azlab.game("go", size=3, komi=8.5, ko="positional"), openings=0)
    assert [record.result for record in three.records] == [1, 1, 1, 1]
    two = match(agent, "perfect", 4, azlab.game("go", size=2, komi=0.5, ko="positional"), openings=0)
    assert two.score == 0.0


def test_gnu_go_takes_dead_stones_off_before_it_passes(gnugo):
    """White's stone at e3 is dead; counted as it stands it would cost Black the points around it."""
    game = azlab.game("go", size=5, komi=20.5)
    position = game.from_diagram(".X...\n.X.X.\n.X.XO\n.X.X.\n.X...", to_move=1).play("pass")
    agent = gnugo("gnugo:1")
    while not position.over:
        position = position.play(agent.choose(position) if position.to_move == 0 else "pass")
    assert position.scores == (25.0, 20.5)


def test_the_seed_makes_gnu_go_repeatable_and_varied(gnugo):
    position = azlab.game("go", size=9).from_moves("e5 c3 g7")
    assert gnugo("gnugo:1", 5).choose(position) == gnugo("gnugo:1", 5).choose(position)
    games = set()
    for seed in range(4):
        agent, game = gnugo("gnugo:1", seed), position
        for _ in range(6):
            game = game.play(agent.choose(game))
        games.add(game)
    assert len(games) > 1


def test_a_killed_engine_fails_the_match_with_a_sentence_and_can_play_again(gnugo):
    agent, game = gnugo("gnugo:1"), azlab.game("go", size=5)

    class Killer:
        name = "killer"

        def choose(self, position):
            if position.ply > 4 and agent._engine is not None:
                os.kill(agent._engine._pipes.process.pid, signal.SIGKILL)
            return position.legal_actions[0]

    with pytest.raises(AgentFailed, match="gnugo:1 failed while choosing in go after .*gnugo ended by signal SIGKILL") as failure:
        match(agent, Killer(), 2, game)
    assert failure.value.agent is agent and isinstance(failure.value.__cause__, GtpError)
    assert agent.choose(game.start()) in game.start().legal_actions


def test_a_person_plays_gnu_go_and_takes_a_move_back(gnugo, capsys):
    answers = iter(["c3", "undo", "b2", "quit"])
    final = play(azlab.game("go", size=5).start(), gnugo("gnugo:1"), 0, lambda prompt: next(answers))
    assert len(final.moves) == 2 and final.moves[0] == "b2"
    assert "gnugo:1 plays" in capsys.readouterr().out

"""Semi-perfect games: how they are played, what is taken from them, and that no kill and no number of processes changes it."""

import gzip
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from azlab.errors import AzlabError
from azlab.games.connect4 import Connect4
from azlab.oracles import connect4_games
from azlab.oracles.connect4_engines import new_engine
from azlab.oracles.connect4_games import PLIES, Answers, Seen, SemiPerfect, keys_of, label_unit, make, name_of, play_unit
from azlab.oracles.connect4_solver import ILLEGAL, WORSE

GAME = Connect4()


class Opinion:
    """An engine that is quick and wrong: it likes the columns that a number, made of the stones, picks."""

    def find_best(self, state):
        heights = [int(state["stones"].sum() >> np.uint64(7 * col)) & 127 for col in range(7)]
        legal = GAME.legal_mask(np.array(state).reshape(1))[0]
        likes = np.array([(height * 5 + col * 3 + int(state["ply"])) % 4 for col, height in enumerate(heights)])
        score = int(state["ply"]) % 3 - 1
        best = legal & ((likes == likes[legal].max()) | (state["ply"] % 7 == 3))  # every seventh position is trivial
        return np.where(legal, np.where(best, score, WORSE), ILLEGAL).astype(np.int8)

    def first_best(self, state, order):
        return int(order[self.find_best(state)[order].argmax()])


@pytest.fixture
def opinion(monkeypatch):
    answers = Answers(Opinion())
    monkeypatch.setattr(connect4_games, "GAMES", 20)
    monkeypatch.setattr(connect4_games, "_answers", lambda: answers)
    return answers


def made(folder: Path, processes=1, **options) -> list[str]:
    folder.mkdir(exist_ok=True)
    return make(SemiPerfect(**options), folder, processes, lambda done, total: None).decode().splitlines()


def state_after(text: str) -> np.ndarray:
    return GAME.from_moves(text).state


def key(text: str) -> tuple:
    return tuple(state_after(text)["stones"][0].tolist())


# --- games ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("perfect", [0.0, 0.5, 0.9, 1.0])
def test_moves_are_perfect_as_often_as_asked_and_otherwise_any(opinion, perfect):
    options = SemiPerfect(perfect=perfect, seed=4)
    hits, expected, variance, chosen = 0, 0.0, 0.0, Counter()
    for unit in range(10):
        for moves in play_unit(options, unit, opinion):
            state = GAME.new_states(1)
            for move in moves[moves >= 0]:
                row = opinion.scores(state[0])
                best, legal = row == row.max(), row != ILLEGAL
                chance = perfect + (1 - perfect) * best.sum() / legal.sum()
                hits, expected, variance = hits + best[move], expected + chance, variance + chance * (1 - chance)
                if legal.all() and best.sum() == 2:  # which of two equally good ones
                    second = np.flatnonzero(best)[1]
                    chosen[int(move == second) if best[move] else None] += 1
                GAME.kernels.play(state, np.array([move], np.int64))
            assert state["over"][0] and (moves[np.flatnonzero(moves >= 0)[-1] + 1 :] == -1).all()
    assert abs(hits - expected) <= 4 * max(variance, 1e-9) ** 0.5
    assert abs(chosen[0] - chosen[1]) <= 4 * (chosen[0] + chosen[1]) ** 0.5 and chosen[0] > 30


def test_the_games_of_a_unit_depend_on_seed_and_unit_alone(opinion):
    options = SemiPerfect(seed=1)
    games = play_unit(options, 3, opinion)
    again = play_unit(replace(options, one_a_game=True, count=7, players=2), 3, Answers(Opinion()))
    assert games.shape == (20, PLIES) and (games == again).all()
    assert (games != play_unit(options, 4, opinion)).any() and (games != play_unit(SemiPerfect(seed=2), 3, opinion)).any()


def test_keys_tell_positions_apart_and_find_the_same_again(opinion):
    games = play_unit(SemiPerfect(perfect=0.0), 0, opinion)[:20]
    keys = keys_of(games)
    found: dict[int, set] = {}
    for moves, row in zip(games, keys, strict=True):
        length = (moves >= 0).sum()
        assert (row[:length] > 0).all() and (row[length:] == 0).all()
        for ply in range(length):
            text = "".join(str(move + 1) for move in moves[:ply])
            found.setdefault(int(row[ply]), set()).add(key(text))
    assert all(len(positions) == 1 for positions in found.values())
    assert len({next(iter(positions)) for positions in found.values()}) == len(found)


def test_seen_says_what_is_new_once():
    seen = Seen()
    assert seen.add(np.array([[5, 3, 0], [5, 9, 0]], np.uint64)).tolist() == [[True, True, False], [False, True, False]]
    assert seen.add(np.array([9, 4, 2**63, 4], np.uint64)).tolist() == [False, True, True, False]
    assert seen.add(np.array([2**63, 3, 10], np.uint64)).tolist() == [False, False, True]


# --- what is taken ----------------------------------------------------------------------------------------------------


def taken_by_hand(options: SemiPerfect, answers: Answers, units: int) -> list[list[str]]:
    """For each game the moves to its positions that are new to its player and not trivial, straight from the definition."""
    been: list[set] = [set() for _ in range(options.players)]
    found = []
    for unit in range(units):
        for moves in play_unit(options, unit, answers):
            text = "".join(str(move + 1) for move in moves[moves >= 0])
            candidates = []
            for ply in range(len(text)):
                row = answers.scores(state_after(text[:ply])[0])
                is_trivial = (row == row.max()).sum() == (row != ILLEGAL).sum()
                if key(text[:ply]) not in been[unit % options.players] and not is_trivial:
                    candidates.append(text[:ply])
                been[unit % options.players].add(key(text[:ply]))
            found.append(candidates)
    return found


def test_all_positions_that_are_new_and_not_trivial_are_taken_game_after_game(opinion, tmp_path):
    lines = made(tmp_path, count=250, seed=5)
    by_hand = [text for game in taken_by_hand(SemiPerfect(seed=5), opinion, 2) for text in game]
    assert len(by_hand) >= 250 and [line.split(" ")[0] for line in lines] == by_hand[:250]
    for line in lines:
        text, best, result = line.split(" ")
        row = opinion.scores(state_after(text)[0])
        assert best == "".join(str(col + 1) for col in np.flatnonzero(row == row.max()))
        assert int(result) == 1 + row.max()


@pytest.mark.parametrize("players", [1, 3])
def test_one_position_a_game_is_one_of_its_new_ones_at_random(opinion, tmp_path, players):
    options = SemiPerfect(seed=6, players=players, one_a_game=True, count=110)
    lines = made(tmp_path, count=110, seed=6, players=players, one_a_game=True)
    texts = [line.split(" ")[0] for line in lines]
    games = taken_by_hand(options, opinion, 6)
    owners = [{g for g, candidates in enumerate(games) if text in candidates} for text in texts]
    assert all(owners) and len({key(text) for text in texts}) == 110
    # What another player has met is new all the same.
    alone = {text for candidates in taken_by_hand(replace(options, players=1), opinion, 6) for text in candidates}
    assert (not set(texts) <= alone) == (players > 1)
    sure = [next(iter(games_)) for games_ in owners if len(games_) == 1]
    assert len(set(sure)) == len(sure) > 80
    # A candidate's place among those of its game: as often in the first half as in the second.
    halves = [2 * games[g].index(text) + 1 - len(games[g]) for text, g in zip(texts, map(min, owners), strict=True)]
    first, second = sum(half < 0 for half in halves), sum(half > 0 for half in halves)
    assert abs(first - second) <= 4 * (first + second) ** 0.5
    # Early positions are new in early games only; in the file they stand anywhere.
    lengths = np.array([len(text) for text in texts])
    assert abs(lengths[:55].mean() - lengths[55:].mean()) < 4 * lengths.std() * (2 / 55) ** 0.5


def test_games_that_bring_nothing_new_end_with_a_sentence(opinion, tmp_path, monkeypatch):
    monkeypatch.setattr(connect4_games, "play_unit", lambda options, unit, answers: np.full((2, PLIES), -1, np.int8))
    monkeypatch.setattr(connect4_games, "label_unit", lambda *arguments: np.zeros((0, 4), np.int16))
    with pytest.raises(AzlabError, match="no longer bring new positions: there are 0"):
        made(tmp_path)


def test_what_is_finished_is_not_done_again(opinion, tmp_path, monkeypatch):
    whole = made(tmp_path / "whole", count=50, one_a_game=True)
    calls = Counter()
    work = connect4_games.label_unit

    def label_some(options, unit, *arguments):
        calls[unit] += 1
        if unit == 1 and calls[unit] == 1:
            raise KeyboardInterrupt
        return work(options, unit, *arguments)

    monkeypatch.setattr(connect4_games, "label_unit", label_some)
    with pytest.raises(KeyboardInterrupt):
        made(tmp_path / "parts", count=50, one_a_game=True)
    told = []
    options = SemiPerfect(count=50, one_a_game=True)
    content = make(options, tmp_path / "parts", 1, lambda done, total: told.append((done, total)))
    assert content.decode().splitlines() == whole and calls == {0: 1, 1: 2, 2: 1}
    assert len(told) == 2 and 20 < told[0][0] <= 40 and told[1] == (50, 50)  # what was there is not told alone


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"perfect": 1.5}, "from 0 to 1, not 1.5"),
        ({"perfect": "half"}, "perfect must be a number"),
        ({"one_a_game": 1}, "true or false, not 1"),
        ({"count": 0}, "count must be a whole number from 1"),
        ({"seed": -1}, "seed must be a whole number from 0"),
        ({"players": 0}, "players must be a whole number from 1"),
    ],
)
def test_options_are_checked(options, sentence):
    with pytest.raises(AzlabError, match=sentence):
        SemiPerfect(**options)


def test_sets_that_differ_have_different_names():
    options = [{}, {"perfect": 0.9}, {"one_a_game": True}, {"count": 20}, {"seed": 1}, {"players": 4}]
    assert len({name_of(SemiPerfect(**changed)) for changed in options}) == len(options)


# --- with the solver --------------------------------------------------------------------------------------------------


def test_positions_of_real_games_have_the_labels_that_bitbully_gives(need):
    need.package("bitbully_databases")
    need.package("bitbully")
    options = SemiPerfect(perfect=0.5, seed=2)
    answers, other = Answers(new_engine(GAME, "azlab")), new_engine(GAME, "bitbully")
    games = play_unit(options, 0, Answers(Opinion()))[:3]
    labels = label_unit(options, 0, games, keys_of(games) > 0, answers)
    assert len(labels) > 20
    for g, ply, best, result in labels.tolist():
        row = other.score_moves(GAME.from_moves("".join(str(move + 1) for move in games[g, :ply])).state[0])
        assert best == sum(1 << int(col) for col in np.flatnonzero(row == row.max()))
        assert result == 1 + np.sign(row.max())


def start(file: Path, processes: int) -> subprocess.Popen:
    words = f"data make connect4 perfect=0.1 one_a_game=true count=250 seed=8 --out {file} --processes {processes}"
    return subprocess.Popen([sys.executable, "-m", "azlab.cli", *words.split()], stderr=subprocess.PIPE, text=True)


def wait_for(file: Path, process: subprocess.Popen) -> None:
    while not file.exists():
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.02)


@pytest.mark.slow
def test_killed_stopped_and_gone_on_it_is_the_same_byte_for_byte(need, tmp_path):
    need.package("bitbully_databases")
    whole, parts = tmp_path / "whole.txt.gz", tmp_path / "parts.txt.gz"
    assert start(whole, 1).wait() == 0
    folder = tmp_path / "parts.txt.gz.making"
    killed = start(parts, 2)
    wait_for(folder / "games_000000.npz", killed)
    os.kill(killed.pid, signal.SIGKILL)
    killed.communicate()  # its processes hold the same stream: this ends when they have ended
    assert not parts.exists() and json.loads((folder / "settings.json").read_text())["options"]["seed"] == 8
    stopped = start(parts, 2)
    wait_for(folder / "labels_000000.npz", stopped)
    os.kill(stopped.pid, signal.SIGINT)
    assert "the same command goes on" in stopped.communicate()[1] and stopped.returncode == 130
    last = start(parts, 2)
    said = last.communicate()[1]
    assert last.returncode == 0, said
    assert parts.read_bytes() == whole.read_bytes() and not folder.exists()
    described = json.loads((tmp_path / "parts.txt.gz.json").read_text())
    content = gzip.decompress(parts.read_bytes())
    assert described["sha256"] == hashlib.sha256(content).hexdigest() and content.count(b"\n") == 250

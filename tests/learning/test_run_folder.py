import errno
import json
import os
import signal
from pathlib import Path

import numpy as np
import pytest

import azlab
from azlab.errors import AzlabError
from azlab.files import load_arrays, save_arrays
from azlab.learning.run_folder import NEEDED, RunFolder
from azlab.learning.window import no_examples


def begun(path, config):
    folder = RunFolder(path)
    with folder.locked():
        folder.begin(config)
    return folder


def finish(folder, iteration, workers=1, **metrics):
    """An iteration as a run writes it, with a few bytes for an optimiser."""

    def optimiser(path):
        path.write_bytes(b"%d" % iteration)

    unfinished = [{"played": np.array([iteration, worker])} for worker in range(workers)]
    folder.finish(iteration, optimiser, unfinished, row(iteration, **metrics))


def row(iteration, **metrics):
    """The metrics that every iteration has, and more."""
    return {"iteration": iteration} | dict.fromkeys(NEEDED, 1.0) | metrics


def game_row(iteration, *result):
    """A line of matches.jsonl."""
    return {"iteration": iteration, "player": "version 1", "opponent": "random", "result": list(result)}


def test_a_new_run_writes_its_config(tmp_path, tiny):
    folder = begun(tmp_path / "a" / "b", tiny())
    assert folder.config() == tiny() and folder.iteration() == 0 and folder.metrics() == folder.matches() == []
    begun(folder.path, tiny())


def test_a_run_goes_on_only_with_its_own_settings(tmp_path, tiny):
    folder = begun(tmp_path, tiny())
    with pytest.raises(AzlabError, match=r"other settings \(budget.simulations, seed\)"):
        begun(tmp_path, tiny(seed=3, budget__simulations=9))
    assert folder.config() == tiny()
    begun(tmp_path, tiny(iterations=50, hours=2.0))
    assert folder.config() == tiny(iterations=50, hours=2.0)


def test_settings_given_as_lists_are_the_same_settings(tmp_path, tiny):
    import dataclasses

    config = tiny()
    listed = dataclasses.replace(config, training=dataclasses.replace(config.training, rate=[[1, 0.02]]))
    begun(tmp_path, listed)
    begun(tmp_path, listed)
    begun(tmp_path, config)


def test_a_folder_of_something_else_is_left_alone(tmp_path, tiny):
    (tmp_path / "thesis.tex").write_text("text")
    with pytest.raises(AzlabError, match="not empty and is no training run"):
        begun(tmp_path, tiny())
    with pytest.raises(AzlabError, match="is no training run"):
        RunFolder(tmp_path).config()
    with pytest.raises(AzlabError, match="cannot be written"), RunFolder(tmp_path / "thesis.tex").locked():
        pass


def test_finished_iterations(tmp_path, tiny):
    folder = begun(tmp_path, tiny())
    for iteration in range(1, 5):
        finish(folder, iteration, workers=12, loss=iteration / 2)
    assert folder.iteration() == 4 and [row["loss"] for row in folder.metrics()] == [0.5, 1, 1.5, 2]
    assert sorted(path.name for path in (tmp_path / "checkpoint").iterdir()) == ["00003", "00004"]
    assert folder.optimiser_file(4).read_bytes() == b"4"
    assert [load_arrays(file)["played"].tolist() for file in folder.unfinished_files(4)] == [[4, worker] for worker in range(12)]


def test_a_folder_with_a_copy_of_a_checkpoint_goes_on(tmp_path, tiny):
    folder = begun(tmp_path, tiny())
    finish(folder, 1)
    (tmp_path / "checkpoint" / "00001").rename(tmp_path / "checkpoint" / "00001_copy")
    finish(folder, 1)
    finish(folder, 3)
    assert folder.iteration() == 3 and (tmp_path / "checkpoint" / "00001_copy").is_dir()


def test_going_back_forgets_what_was_not_finished(tmp_path, tiny):
    folder = begun(tmp_path, tiny())
    folder.add_match(game_row(1, 1, 0, 0))
    finish(folder, 1)
    folder.add_match(game_row(2, 0, 0, 1))
    metrics = tmp_path / "metrics.jsonl"
    metrics.write_text(metrics.read_text() + json.dumps(row(2)) + "\n")
    with (tmp_path / "matches.jsonl").open("a") as file:
        file.write('{"iteration": 2, "resu')  # cut off
    for name in (".config.99.toml", "games/.00002.99.npz", "nets/.00002.99.safetensors", "checkpoint/.new/games0.npz"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"half")
    folder.go_back(1)
    assert folder.metrics() == [row(1)] and folder.matches() == [game_row(1, 1, 0, 0)]
    assert "resu" not in (tmp_path / "matches.jsonl").read_text().splitlines()[-1].replace("result", "")
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path.read_bytes() == b"half"]
    folder.go_back(0)
    assert folder.matches() == []


def test_the_last_line_of_metrics_is_in_the_checkpoint(tmp_path, tiny):
    """Killed after the checkpoint had its name and before metrics.jsonl was written."""
    folder = begun(tmp_path, tiny())
    finish(folder, 1, loss=1.0)
    before = (tmp_path / "metrics.jsonl").read_bytes()
    finish(folder, 2, loss=2.0)
    (tmp_path / "metrics.jsonl").write_bytes(before)
    folder.go_back(folder.iteration())
    assert [row["loss"] for row in folder.metrics()] == [1.0, 2.0]


def test_examples_come_back(tmp_path, random_examples):
    game = azlab.game("dots_and_boxes", rows=2, cols=2)
    for count in (50, 0):
        examples = random_examples(game, count)
        RunFolder(tmp_path).save_games(7, examples)
        found = RunFolder(tmp_path).load_games(7, game)
        for one, other in zip(examples, found, strict=True):
            assert one.dtype == other.dtype and np.array_equal(one, other)


def test_positions_in_normal_form_come_back(tmp_path, random_examples):
    game = azlab.game("dots_and_boxes", rows=2, cols=2)
    examples = random_examples(game, 50)
    examples = examples._replace(states=game.normal_form(examples.states)[0])
    RunFolder(tmp_path).save_games(1, examples)
    assert np.array_equal(RunFolder(tmp_path).load_games(1, game).states, examples.states)


@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        ("states", lambda states: states[:, :-1], "'states' should be"),
        ("states", lambda states: states.astype(np.int64), "'states' should be"),
        (
            "states",
            lambda states: np.where(np.arange(24) == 16, 77, states).astype(np.uint8),
            "State 0 of 50 is no possible state",
        ),
        ("states", lambda states: states[:40], "'policy' should be float16 .40, 7. "),
        ("policy", lambda policy: policy[:, :3], "'policy' should be"),
        ("policy", lambda policy: policy * np.float16(np.nan), "not finite"),
        ("result", lambda result: result.astype(np.float64), "'result' should be"),
        ("reply", None, "reply"),
    ],
)
def test_examples_of_other_shapes_and_impossible_states_are_refused(tmp_path, random_examples, name, change, reason):
    game = azlab.game("connect4")
    folder = RunFolder(tmp_path)
    folder.save_games(1, random_examples(game, 50))
    path = tmp_path / "games" / "00001.npz"
    arrays = load_arrays(path)
    if change is None:
        del arrays[name]
    else:
        arrays[name] = change(arrays[name])
    save_arrays(path, arrays)
    with pytest.raises(AzlabError, match=f"00001.npz .*{reason}"):
        folder.load_games(1, game)


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "text", "missing"])
def test_damaged_games_are_refused_with_a_sentence(tmp_path, damage):
    path = tmp_path / "games.npz"
    save_arrays(path, {"a": np.random.default_rng(0).random(1000)})
    data = path.read_bytes()
    half = len(data) // 2
    if damage == "missing":
        path.unlink()
    else:
        changed = {"cut": data[:half], "flip": data[:half] + bytes(8) + data[half + 8 :], "empty": b"", "text": b"hello"}
        path.write_bytes(changed[damage])
    with pytest.raises(AzlabError, match="cannot be read"):
        load_arrays(path)


def test_no_pickles(tmp_path):
    path = tmp_path / "games.npz"
    np.savez(path, a=np.array([{"x": 1}], object))
    with pytest.raises(AzlabError, match="cannot be read"):
        load_arrays(path)


def test_one_process_at_a_time_and_a_lock_dies_with_its_process(tmp_path):
    """A child holds the lock and is killed."""
    folder, (reader, writer) = RunFolder(tmp_path), os.pipe()
    child = os.fork()
    if child == 0:
        with folder.locked():
            os.write(writer, b"!")
            signal.pause()
    try:
        assert os.read(reader, 1) == b"!"
        with pytest.raises(AzlabError, match="Another process is training"), folder.locked():
            pass
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(reader)
        os.close(writer)
    with folder.locked(), pytest.raises(AzlabError, match="Another process"), RunFolder(tmp_path).locked():
        pass


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_a_disk_that_refuses_gets_a_sentence_and_the_old_stays(tmp_path, tiny, monkeypatch, number):
    folder = begun(tmp_path, tiny())
    finish(folder, 1, loss=1.0)
    folder.add_match(game_row(1, 1, 0, 0))
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    def refuse(self, *arguments, **options):
        if arguments[:1] and any(letter in str(arguments[0]) for letter in "wa"):
            raise OSError(number, os.strerror(number))
        return real_open(self, *arguments, **options)

    real_open = Path.open
    monkeypatch.setattr(Path, "open", refuse)
    monkeypatch.setattr(Path, "write_bytes", lambda self, data: refuse(self, "w"))
    monkeypatch.setattr(Path, "write_text", lambda self, data: refuse(self, "w"))
    for write in (
        lambda: finish(folder, 2),
        lambda: folder.add_match({"iteration": 2}),
        lambda: folder.save_games(2, no_examples(azlab.game("tictactoe"), 3)),
        lambda: folder.begin(tiny()),
        lambda: folder.locked().__enter__(),
    ):
        with pytest.raises(AzlabError, match=f"cannot be written.*{os.strerror(number)}"):
            write()
    monkeypatch.undo()
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert json.loads((tmp_path / "metrics.jsonl").read_text())["loss"] == 1.0

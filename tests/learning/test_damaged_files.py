"""Every kind of file that a training writes: single flipped bits, files that are cut, contents of wrong types.

What is read is refused with one sentence, or it is what was written.
"""

import json
import shutil

import numpy as np
import pytest

import azlab
from azlab.errors import AzlabError
from azlab.files import data_folder, load_arrays, save_arrays
from azlab.learning.alphazero import AlphaZero, new_learner
from azlab.learning.generations import GenerationsRun, ValueGenerations
from azlab.learning.learner import LossConfig
from azlab.learning.run_folder import RunFolder
from azlab.learning.shipped import load_player, players, save_player
from azlab.learning.table_history import TableHistory, TableRun
from azlab.learning.tabular import MonteCarloControl

GAME = azlab.game("tictactoe")
BOXES = azlab.game("dots_and_boxes", rows=1, cols=2)
NET = {"kind": "dots_and_boxes", "layers": (4,), "dropout": 0.5}


def bits(arrays):
    return [(array.dtype.str, array.shape, array.tobytes()) for array in map(np.asarray, arrays)]


def optimiser(learner):
    if learner.suffix == ".keras":
        return bits(variable.numpy() for variable in [*learner._optimiser.variables, *learner._random])
    return {
        (place, name): value.numpy().tobytes()
        for place, slots in learner._optimiser.state_dict()["state"].items()
        for name, value in slots.items()
        if value is not None
    }


def history():
    game = azlab.game("go", size=2, komi=0)
    oracle = azlab.oracle(game)
    states = oracle.positions()[:20]
    return TableHistory(MonteCarloControl(game, key="board", seed=1), states, oracle.action_scores(states))


class Files:
    """A folder with a file of every kind; `read(kind)` gives what a reader makes of it, as values to compare."""

    def __init__(self, folder, tiny, random_examples):
        self.run = folder / "run"
        self.tiny = tiny(iterations=2, evaluation__earlier=1, evaluation__opponents=["random"])
        AlphaZero.from_config(self.tiny, self.run).train()
        self.trained = AlphaZero.from_config(None, self.run)
        self.player = folder / "player.safetensors"
        save_player(self.trained.learner, self.tiny, self.player)
        self.keras = new_learner(BOXES, NET, LossConfig(optimiser="adam"), 0)
        self.keras.step(random_examples(BOXES, 20), 0.01, 0.9, np.random.default_rng(0))
        self.keras_files = folder / "net.keras", folder / "keras_optimiser.safetensors"
        self.keras.save(*self.keras_files)
        self.table = folder / "table.npz"
        table = MonteCarloControl(azlab.game("go", size=2, ko="simple"), seed=1)
        table.run(30)
        table.save(self.table)
        self.generations = ValueGenerations(GAME, filters=(2,), seed=4)
        self.generations.run([4], 1, folder / "generations")
        self.history = history()
        self.history.run(30, folder=folder / "tables")
        self.folder = folder
        self.paths = {
            "config": self.run / "config.toml",
            "metrics": self.run / "metrics.jsonl",
            "matches": self.run / "matches.jsonl",
            "last metrics": self.run / "checkpoint/00002/metrics.json",
            "games": self.run / "games/00001.npz",
            "unfinished games": self.run / "checkpoint/00002/games0.npz",
            "net": self.run / "nets/00002.safetensors",
            "optimiser": self.run / "checkpoint/00002/optimiser.safetensors",
            "player": self.player,
            "shipped player": shutil.copy(
                data_folder() / "players/dots_and_boxes_3x3.safetensors", folder / "shipped.safetensors"
            ),
            "keras net": self.keras_files[0],
            "keras optimiser": self.keras_files[1],
            "table": self.table,
            "generations": folder / "generations/checkpoint/00001/state.json",
            "generations' optimiser": folder / "generations/checkpoint/00001/optimiser.npz",
            "generations' net": folder / "generations/nets/00001.keras",
            "generations' config": folder / "generations/config.toml",
            "table's values": folder / "tables/values/00001.npz",
            "table's checkpoint": folder / "tables/checkpoint/00001/table.npz",
            "table's config": folder / "tables/config.toml",
        }

    def read(self, kind):
        run = RunFolder(self.run)
        if kind == "config":
            return run.config()
        if kind == "metrics":
            return run.metrics()
        if kind == "matches":
            return run.matches()
        if kind == "last metrics":
            run.go_back(2)
            return run.metrics()[-1]
        if kind == "games":
            return bits(run.load_games(1, GAME))
        if kind in ("net", "optimiser"):
            learner = self.trained.learner
            learner.load(self.paths["net"], self.paths["optimiser"])
            return bits(learner.weights()), optimiser(learner)
        if kind == "unfinished games":
            self.trained.iteration = -1  # so that it takes over all again
            self.trained.resume()
            kept = self.trained.selfplay.workers[0].unfinished()
            return sorted(kept), bits(kept[name] for name in sorted(kept))
        if kind in ("player", "shipped player"):
            learner, config = load_player(self.paths[kind])
            return bits(learner.weights()), config
        if kind.startswith("keras"):
            self.keras.load(*self.keras_files)
            return bits(self.keras.weights()), optimiser(self.keras)
        if kind in ("generations' config", "table's config"):
            return (GenerationsRun if kind[0] == "g" else TableRun)(self.paths[kind].parent).config()
        if kind.startswith("table's"):
            self.history.run(30, folder=self.folder / "tables")
            table, one = self.history.table, self.history
            return (
                one.games,
                one._perfect,
                one.metrics,
                bits([one.q, *one._counts, table.q[np.flatnonzero(table.keys)], table._rng]),
            )
        if kind == "table":
            table = MonteCarloControl(azlab.game("go", size=2, ko="simple"))
            table.load(self.table)
            return table.games, bits([table.keys, table.seats, table.q, table.counts, table._rng, table.results, table._previous])
        learner = self.generations
        learner._take_over(GenerationsRun(self.folder / "generations"), 1)
        numbers = [variable.numpy() for variable in learner._optimiser.variables]
        return learner.metrics, learner.losses, learner._rng.bit_generator.state, bits(learner.net.get_weights()), bits(numbers)


KINDS = [
    "config", "metrics", "matches", "last metrics", "games", "unfinished games", "net", "optimiser", "player", "shipped player",
    "keras net", "keras optimiser", "table", "generations", "generations' optimiser", "generations' net",
    "generations' config", "table's values", "table's checkpoint", "table's config",
]  # fmt: skip


@pytest.fixture(scope="module")
def written(tmp_path_factory, tiny, random_examples):
    return Files(tmp_path_factory.mktemp("files"), tiny, random_examples)


@pytest.fixture
def kept(written):
    """The files, which are as they were after the test."""
    before = {path: path.read_bytes() for path in written.folder.rglob("*") if path.is_file()}
    yield written
    for path, data in before.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def test_no_kind_is_left_out(written):
    assert list(written.paths) == KINDS
    others = {path.name for path in written.folder.rglob("*") if path.is_file() and path not in written.paths.values()}
    # of the same kinds, the lock, and what the run is made of (tests/learning/test_own_objects.py)
    assert others <= {
        ".lock",
        "00001.npz",
        "00002.npz",
        "00001.safetensors",
        "games0.npz",
        "made_of.json",
        "metrics.json",
        "metrics.jsonl",
        "optimiser.safetensors",
    }


@pytest.mark.parametrize("kind", KINDS)
def test_a_flipped_bit_is_refused_or_does_not_matter(kept, many, kind):
    path, rng = kept.paths[kind], np.random.default_rng(len(kind))
    original, data = kept.read(kind), path.read_bytes()
    refused = 0
    for _ in range(many(60)):
        damaged, bit = bytearray(data), int(rng.integers(8 * len(data)))
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        try:
            found = kept.read(kind)
        except AzlabError:
            refused += 1
        else:
            assert found == original, f"bit {bit}"
    assert refused >= many(60) // 4  # a .keras file is mostly HDF5's empty space; of all others nearly every bit matters
    path.write_bytes(data)
    assert kept.read(kind) == original


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_is_cut_is_refused(kept, many, kind):
    path, rng = kept.paths[kind], np.random.default_rng(7)
    original, data = kept.read(kind), path.read_bytes()
    for length in [0, len(data) - 1, *rng.integers(len(data), size=many(10)).tolist()]:
        path.write_bytes(data[:length])
        try:
            found = kept.read(kind)
        except AzlabError:
            continue
        if kind in ("metrics", "matches"):  # whole lines; a match that a crash cut off is left out
            assert found == original[: len(found)]
        else:
            assert found == original and data[length:].isspace()


@pytest.mark.parametrize("kind", KINDS)
def test_random_changes_end_in_a_sentence(kept, many, kind):
    """Bytes replaced, taken out, doubled; what comes out is an AzlabError or something, never another error."""
    path, rng = kept.paths[kind], np.random.default_rng(11)
    data = path.read_bytes()
    for _ in range(many(20)):
        damaged = bytearray(data)
        for _ in range(rng.integers(1, 5)):
            start, length = int(rng.integers(len(damaged) + 1)), int(rng.integers(1, 20))
            piece = [rng.bytes(length), b"", bytes(damaged[start : start + length]) * 2][rng.integers(3)]
            damaged[start : start + length] = piece
        path.write_bytes(damaged)
        try:
            kept.read(kind)
        except AzlabError as error:
            assert "\n" not in str(error)


def test_a_lost_line_of_metrics_is_noticed_when_the_run_goes_on(kept):
    """The gate and the hours count on them."""
    path = kept.paths["metrics"]
    path.write_bytes(path.read_bytes().split(b"\n", 1)[1])
    with pytest.raises(AzlabError, match="metrics.jsonl is damaged: not every iteration has its line"):
        AlphaZero.from_config(None, kept.run).train()


# --- contents of wrong types ------------------------------------------------------------------------------------------------

DEEP = "[" * 100_000
METRICS = {"iteration": 2, "seconds": 1, "total_seconds": 1, "cpu_seconds": 1, "play_seconds": 1, "moves": 1}
MATCH = {"iteration": 1, "player": "a", "opponent": "b", "result": [1, 0, 0]}


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        *(("last metrics", text) for text in ("", "{", "[]", "3", DEEP, "{}", json.dumps(METRICS | {"iteration": 1}))),
        *(("metrics", text) for text in ("3\n", "[]\n", '"x"\n', "{}\n", DEEP + "\n", "\n\n", "\xff\n", '{"iteration": "2"}\n')),
        *(("metrics", json.dumps(METRICS | change) + "\n") for change in ({"loss": []}, {"moves": "x"}, {"seconds": None})),
        *(("matches", text + "\n") for text in ("3", "{}", "[1]", DEEP, json.dumps({"iteration": 1}))),
        *(
            ("matches", json.dumps(MATCH | change) + "\n")
            for change in ({"result": 3}, {"result": [1, 0]}, {"result": [1, 0, -1]}, {"result": [1, 0, 10**12]}, {"player": 3})
        ),
        *(("config", text) for text in ("game = \xff", "game = 3", "[", "a = " + DEEP, 'game = "chess"\n[net]\nblocks = "x"\n')),
        *(("generations", text) for text in ("[]", "3", DEEP, '{"game": 1}', "{}", "\xff")),
    ],
)
def test_wrong_contents_are_named(kept, kind, content):
    path = kept.paths[kind]
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(AzlabError) as raised:
        result = kept.read(kind)
        if kind == "config":
            result.rules()
            new_learner(GAME, result.net, result.loss, 0)
    assert kind == "config" or path.name in str(raised.value)


def test_wrong_states_of_generations_are_named(kept):
    path = kept.paths["generations"]
    content = json.loads(path.read_text())
    del content["sha256"], content["format"]
    changes = [("random", value) for value in (3, {"bit_generator": "PCG64"})]
    for name, value in [*changes, *(("losses", value) for value in (["x"], 3))]:
        path.write_text(json.dumps(content | {name: value}))
        with pytest.raises(AzlabError, match=r"state\.json is damaged"):
            kept.read("generations")


def test_a_command_that_is_no_text_can_be_deleted(tmp_path):
    (tmp_path / "command.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(AzlabError, match=r"command\.txt cannot be read .*delete it"):
        RunFolder(tmp_path).command()


@pytest.mark.parametrize("kind", ["games", "unfinished games", "table", "generations' optimiser", "table's values"])
def test_arrays_that_do_not_fit_are_named(kept, kind):
    path = kept.paths[kind]
    arrays = load_arrays(path)
    for name, array in arrays.items():
        if name == "is_new":  # the first runs did not keep it
            continue
        changes = [{**arrays, name: array[:-1]}, {**arrays, name: array[..., None]}] if array.ndim else []
        without = {other: value for other, value in arrays.items() if other != name}
        for changed in (
            *([] if name == "actions" else [without]),  # older runs did not keep these either
            {**arrays, name: array.astype(np.complex64)},
            {**arrays, name: np.nan_to_num(array).astype(np.int16)},
            *changes,
        ):
            save_arrays(path, changed)
            with pytest.raises(AzlabError, match=path.name):
                kept.read(kind)
    save_arrays(path, arrays | {"more": np.zeros(3)})
    with pytest.raises(AzlabError, match="also holds 'more'|would unpack"):
        kept.read(kind)


def test_numbers_of_moves_that_do_not_fit_are_named(kept):
    path = kept.paths["unfinished games"]
    arrays = load_arrays(path)
    for place, change in ((0, -1), (0, 100), (1, 1), (0, 2**62)):
        played = arrays["played"].copy()
        played[place] = change if change > 1 else played[place] + change - (played[place] + 1) * (change < 0)
        save_arrays(path, arrays | {"played": played})
        with pytest.raises(AzlabError, match="numbers of moves do not fit"):
            kept.read("unfinished games")


def test_a_table_with_impossible_rows_is_refused(kept):
    arrays = load_arrays(kept.table)
    for change in (
        {"keys": arrays["keys"][:1].repeat(len(arrays["keys"]))},
        {"keys": 0 * arrays["keys"]},
        {"seats": arrays["seats"] + 5},
    ):
        save_arrays(kept.table, arrays | change)
        with pytest.raises(AzlabError, match="its rows are no table"):
            kept.read("table")


@pytest.mark.parametrize("kind", ["optimiser", "keras optimiser"])
def test_an_optimiser_that_does_not_fit_is_named_and_nothing_is_taken_over(kept, kind):
    from safetensors.numpy import load, save

    path = kept.paths[kind]
    before = kept.read(kind)
    arrays = load(path.read_bytes())
    first = sorted(arrays)[0]
    for changed in (
        {"x": arrays[first]}, arrays | {"99.x.y": arrays[first]}, {k: v for k, v in arrays.items() if k != first},
        arrays | {first: np.zeros(7, np.float32)}, arrays | {first: arrays[first].astype(np.float64)},
    ):  # fmt: skip
        path.write_bytes(save(changed))  # without marks, as an old one
        with pytest.raises(AzlabError, match=r"optimiser\.safetensors is damaged"):
            kept.read(kind)
        with pytest.raises(AzlabError, match="is no optimiser of azlab"):
            path.write_bytes(save(changed, {"format": "x"}))
            kept.read(kind)
    path.write_bytes(save(arrays))
    assert kept.read(kind) == before  # an old file goes on


@pytest.mark.parametrize(
    ("notes", "says"),
    [
        ({"config": None}, "has no settings"),
        ({"config": "game = "}, "is no TOML file"),
        ({"config": "game = 3"}, "must be a text"),
        ({"config": 'game = "chess"'}, "There is no game 'chess'"),
        ({"config": 'game = "tictactoe"\n[options]\nrows = 3'}, "has no option"),
        ({"config": 'game = "tictactoe"\n[net]\nblocks = "x"'}, "blocks must be a whole number"),
        ({"config": 'game = "tictactoe"\n[net]\nblocks = 200\nfilters = 2048'}, "more than the"),
        ({"config": 'game = "tictactoe"\n[net]\nblocks = 2'}, "more than the|is damaged"),
        ({"config": 'game = "dots_and_boxes"\n[net]\nkind = "dots_and_boxes"\nlayers = [100000, 100000]'}, "more than the"),
        (
            {"config": 'game = "dots_and_boxes"\n[net]\nkind = "dots_and_boxes"\nlayers = "x"'},
            "layers is a list",
        ),
        ({"config": 'game = "dots_and_boxes"\n[net]\nkind = "dots_and_boxes"\nwidth = 3'}, "has no '?width"),
        (
            {"config": 'game = "dots_and_boxes"\n[net]\nkind = "dots_and_boxes"\nlayers = [-4]'},
            "a size in layers",
        ),
    ],
)
def test_a_player_with_wrong_settings_is_named(kept, monkeypatch, notes, says):
    from safetensors.numpy import load, save

    arrays = load(kept.player.read_bytes())
    marks = {"format": "azlab player 1"} | {name: text for name, text in notes.items() if text is not None}
    players_folder = kept.folder / "data" / "players"
    players_folder.mkdir(parents=True, exist_ok=True)
    (kept.folder / "reproductions").mkdir(exist_ok=True)
    path = players_folder / "wrong.safetensors"
    path.write_bytes(save(arrays, marks))
    with pytest.raises(AzlabError, match=says) as raised:
        load_player(path)
    assert "wrong.safetensors" in str(raised.value)
    monkeypatch.setenv("AZLAB_ROOT", str(kept.folder))
    path.write_bytes(b"no player")
    with pytest.raises(AzlabError, match=r"wrong\.safetensors is not a whole safetensors file"):
        players()
    path.unlink()


def test_a_player_from_before_there_were_checksums_is_read(kept):
    from safetensors.numpy import load, save

    before = kept.read("player")
    data = kept.player.read_bytes()
    notes = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])["__metadata__"]
    kept.player.write_bytes(save(load(data), {"format": "azlab player 1", "config": notes["config"]}))
    assert kept.read("player") == before


def test_a_run_from_before_there_were_checksums_goes_on(kept):
    """Its marks are taken away; what comes out is what the marked run gives, and has marks again."""
    from safetensors.numpy import load, save

    before = kept.read("unfinished games"), kept.read("optimiser"), kept.read("metrics")
    for file in [kept.run / "metrics.jsonl", kept.run / "matches.jsonl", *kept.run.glob("checkpoint/*/metrics.json")]:
        rows = map(json.loads, file.read_text().splitlines())
        plain = [{key: value for key, value in row.items() if key not in ("format", "sha256")} for row in rows]
        file.write_text("".join(json.dumps(row) + "\n" for row in plain))
    config = kept.paths["config"]
    config.write_text(config.read_text().partition("\n")[2])
    for file in kept.run.glob("checkpoint/*/optimiser.safetensors"):
        file.write_bytes(save(load(file.read_bytes())))
    AlphaZero.from_config(kept.tiny, kept.run).train()  # nothing is left to do
    assert (kept.read("unfinished games"), kept.read("optimiser"), kept.read("metrics")) == before
    assert config.read_text().startswith("# sha256 ") and '"sha256"' in (kept.run / "matches.jsonl").read_text()


def test_a_run_with_a_damaged_checkpoint_says_how_to_go_on(kept):
    """And goes on so."""
    whole = kept.read("unfinished games")
    kept.paths["optimiser"].write_bytes(b"damaged")
    with pytest.raises(AzlabError, match=r"optimiser.*delete .*00002: the run then goes on after iteration 1\.") as raised:
        AlphaZero.from_config(None, kept.run).train()
    assert "\n" not in str(raised.value)
    shutil.rmtree(kept.run / "checkpoint" / "00002")
    AlphaZero.from_config(None, kept.run).train()
    assert kept.read("unfinished games") == whole


@pytest.mark.parametrize("kind", ["generations", "generations' optimiser", "generations' net", "table's values"])
def test_a_damaged_iteration_of_other_learners_says_how_to_go_on(kept, kind):
    path, before = kept.paths[kind], kept.read(kind)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(AzlabError, match=rf"{path.name}.* begin a new run in another folder\.") as raised:
        kept.read(kind)
    assert "\n" not in str(raised.value)
    path.write_bytes(data)
    assert kept.read(kind) == before

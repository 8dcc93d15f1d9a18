"""What the folders of all learners have in common; AlphaZero's own tests are in test_run_folder.py."""

import pytest

import azlab
from azlab.cli import main
from azlab.errors import AzlabError
from azlab.learning import AlphaZero, MonteCarloControl, RunFolder, TableHistory, ValueGenerations
from azlab.learning.generations import GenerationsRun
from azlab.learning.run_files import NEEDED, RunFiles
from azlab.learning.table_history import TableRun
from azlab.show import curves

TWO = azlab.game("go", size=2, komi=0)
GAME = azlab.game("tictactoe")


def train_alphazero(folder, tiny):
    return AlphaZero.from_config(tiny(iterations=2), folder).train()


def train_generations(folder, tiny):
    net = ValueGenerations(GAME, filters=(2,), seed=4)
    net.run([6, 4], 1, folder)
    return net.metrics


def train_table(folder, tiny):
    oracle = azlab.oracle(TWO)
    states = oracle.positions()
    table = MonteCarloControl(TWO, key="board", seed=1)
    return TableHistory(table, states, oracle.action_scores(states)).run(12_000, folder=folder).metrics


LEARNERS = {
    "AlphaZero": (train_alphazero, RunFolder),
    "ValueGenerations": (train_generations, GenerationsRun),
    "MonteCarloControl": (train_table, TableRun),
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory, tiny):
    """A run of each learner: its folder and the metrics that the learner has."""
    folder = tmp_path_factory.mktemp("runs")
    return {name: (folder / name, train(folder / name, tiny)) for name, (train, _) in LEARNERS.items()}


@pytest.mark.parametrize("name", LEARNERS)
def test_one_reader_reads_the_runs_of_all_learners(runs, name, capsys):
    folder, metrics = runs[name]
    run = RunFiles(folder)
    assert run.metrics() == metrics == list(run.follow()) == run.all_metrics(2) and run.iteration() == run.iterations() == 2
    assert all(row[key] is not None for row in metrics for key in NEEDED)
    assert run.settings().get("learner", "AlphaZero") == name
    assert LEARNERS[name][1](folder).config().iterations == 2
    assert "moves a second" in [axes.get_title() for axes in curves(folder).axes]
    assert main(["run", str(folder)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


@pytest.mark.parametrize("mine", LEARNERS)
@pytest.mark.parametrize("other", LEARNERS)
def test_the_folder_of_another_learner_is_refused_and_left_as_it_was(runs, tiny, mine, other):
    if mine == other:
        return
    folder = runs[other][0]
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with pytest.raises(AzlabError, match=f"holds a run of {other}, not of {mine}: name another folder"):
        LEARNERS[mine][0](folder, tiny)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("name", LEARNERS)
def test_one_process_at_a_time_and_no_folder_of_something_else(name, tiny, tmp_path):
    train, kind = LEARNERS[name]
    with kind(tmp_path / "taken").locked(), pytest.raises(AzlabError, match="Another process is training"):
        train(tmp_path / "taken", tiny)
    (tmp_path / "thesis.tex").write_text("text")
    with pytest.raises(AzlabError, match="is not empty and is no training run"):
        train(tmp_path, tiny)
    with pytest.raises(AzlabError, match="a file stands where a folder has to be"):
        train(tmp_path / "thesis.tex", tiny)  # as a table of before, which was one file


@pytest.mark.parametrize("name", LEARNERS)
def test_a_lost_line_of_metrics_and_a_cut_config_are_noticed(runs, tiny, name):
    folder, _ = runs[name]
    for file, cut, sentence in (
        (folder / "metrics.jsonl", lambda data: data.split(b"\n", 1)[1], "not every iteration has its line"),
        (folder / "metrics.jsonl", lambda data: data[:-9], "Line 2 of .* is damaged"),
        (folder / "config.toml", lambda data: data[:-9], "config.toml is damaged: its checksum is wrong"),
    ):
        data = file.read_bytes()
        file.write_bytes(cut(data))
        with pytest.raises(AzlabError, match=sentence):
            LEARNERS[name][0](folder, tiny)
        file.write_bytes(data)
    assert LEARNERS[name][0](folder, tiny) == runs[name][1]


def test_settings_that_a_learner_does_not_have_are_named(runs):
    file = runs["MonteCarloControl"][0] / "config.toml"
    data = file.read_bytes()
    file.write_bytes(data.split(b"\n", 1)[1] + b"speed = 3\n")
    with pytest.raises(AzlabError, match="there is no setting 'speed'"):
        TableRun(file.parent).config()
    file.write_bytes(data)

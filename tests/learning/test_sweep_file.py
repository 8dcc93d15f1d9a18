"""Sweeps as files, and what `azlab sweep` says before it trains anything."""

import re
from pathlib import Path

import pytest

from azlab.cli import main
from azlab.errors import AzlabError
from azlab.learning.config import preset
from azlab.learning.sweep_file import read

ROOT = Path(__file__).parents[2]
HEAD = '[sweep]\npreset = "tictactoe"\nseeds = [1, 2]\n'
GAME = """
from azlab.games.tictactoe import TicTacToe
open({ran!r}, "a").write("ran ")
class Mine(TicTacToe):
    name = "mine"
"""


def plan(folder, text):
    (folder / "s.toml").write_text(text)
    return read(folder / "s.toml")


def test_settings_of_all_and_of_arms_by_any_of_their_names(tmp_path):
    found = plan(
        tmp_path,
        HEAD + "[settings]\niterations = 3\nsimulations = 20\n[arms.plain]\n[arms.more]\n'budget.simulations' = 100\n"
        "[arms.nested]\nbudget.simulations = 7\n[arms.nested.net]\nblocks = 1\n[arms.many]\nselfplay.workers = 2\n",
    )
    assert found.seeds == [1, 2] and list(found.arms) == ["plain", "more", "nested", "many"]
    assert [arm.budget.simulations for arm in found.arms.values()] == [20, 100, 7, 20]
    assert {arm.iterations for arm in found.arms.values()} == {3} and found.arms["nested"].net["blocks"] == 1
    assert [arm.selfplay.workers for arm in found.arms.values()] == [1, 1, 1, 2]
    assert found.arms["plain"].changed({"selfplay.workers": 2}) == preset("tictactoe").changed(
        {"iterations": 3, "budget.simulations": 20, "selfplay.workers": 2}
    )


def test_the_base_is_a_preset_a_config_beside_the_file_or_a_game(tmp_path):
    (tmp_path / "base.toml").write_text(preset("tictactoe").changed({"iterations": 77}).to_toml())
    assert plan(tmp_path, '[sweep]\nconfig = "base.toml"\nseeds = [1]\n[arms.a]\n').arms["a"].iterations == 77
    assert plan(tmp_path, '[sweep]\ngame = "connect4"\nseeds = [1]\n[arms.a]\ncols = 5\n').arms["a"].options == {"cols": 5}


def test_the_example_of_the_docs_is_a_sweep(tmp_path):
    text = (ROOT / "docs" / "training.md").read_text(encoding="utf-8")
    found = plan(tmp_path, re.search(r"```toml\n(.*?)```", text, re.DOTALL)[1])
    assert found.seeds == [1, 2, 3, 4] and list(found.arms) == ["baseline", "more"]
    assert found.arms["more"].changed({"budget.simulations": found.arms["baseline"].budget.simulations}) == found.arms["baseline"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (HEAD, "has no arms. A sweep looks like this"),
        (HEAD + "[arms]\n", "has no arms"),
        (HEAD + "[arms]\na = 1\n", "[arms]: a is a section, not 1"),
        (HEAD + "[arms.a]\n[arms.a]\n", "is no TOML file: Cannot declare ('arms', 'a') twice"),
        (HEAD + "[arms.a]\n[arms.A]\n", "The arms a and A would have the same folder"),
        (HEAD + "[arms.'a/b']\n", "An arm's name is also that of a folder"),
        (HEAD + "[arms.a]\n'budget.simulation' = 1\n", "arm a: The config, section [budget]: there is no setting 'simulation'"),
        (HEAD + "[arms.a]\nsims = 1\n", "arm a: There is no setting 'sims'"),
        (HEAD + "[settings]\nsims = 1\n[arms.a]\n", "arm a: There is no setting 'sims'"),
        (HEAD + "[arms.a]\n'budget.simulations' = 'many'\n", "arm a: The config, section [budget]: simulations must be"),
        (HEAD + "[arms.a]\nseed = 4\n", "arm a: the seeds stand in [sweep]"),
        (HEAD + "[arms.a]\n'options.size' = 4\n", "arm a: tictactoe has no option 'size'"),
        (HEAD + "[arm.a]\n", "there is no 'arm'; there are sweep, settings, arms"),
        (HEAD + "runs = 3\n[arms.a]\n", "[sweep]: there is no 'runs'"),
        ("[sweep]\npreset = 'tictactoe'\n[arms.a]\n", "needs a list of seeds"),
        ("[sweep]\npreset = 'tictactoe'\nseeds = 3\n[arms.a]\n", "needs a list of seeds, such as [1, 2, 3], not 3"),
        ("[sweep]\nseeds = [1]\n[arms.a]\n", "[sweep] needs one of preset, config, game"),
        ("[sweep]\npreset = 'tictactoe'\ngame = 'go'\nseeds = [1]\n[arms.a]\n", "[sweep] needs one of preset, config, game"),
        ("[sweep]\npreset = 'chess'\nseeds = [1]\n[arms.a]\n", "[sweep]: There is no preset 'chess'"),
        ("[sweep]\nconfig = 'no.toml'\nseeds = [1]\n[arms.a]\n", "no.toml cannot be read"),
        ("[sweep]\ngame = 'chess'\nseeds = [1]\n[arms.a]\n", "arm a: There is no game 'chess'"),
        ("sweep = 1\n", "sweep is a section, not 1"),
        ("x = " + "[" * 3000, "is no TOML file"),
        ("\udcff", "is no TOML file"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_file_gets_a_sentence_with_its_place(tmp_path, text, sentence):
    (tmp_path / "s.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(AzlabError) as caught:
        read(tmp_path / "s.toml")
    assert sentence in str(caught.value) and "s.toml" in str(caught.value)


def test_the_command_lists_what_would_run(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(HEAD + "[arms.plain]\niterations = 3\n[arms.more]\niterations = 4\n")
    assert main(["sweep", "s.toml", "--list"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "plain seed 1: 0 of 3 iterations, to do", "more seed 1: 0 of 4 iterations, to do",
        "plain seed 2: 0 of 3 iterations, to do", "more seed 2: 0 of 4 iterations, to do",
        "4 units in runs/s: 0 done, 4 to do.",
    ]  # fmt: skip
    assert main(["sweep", "s.toml", "--list", "--only", "more", "--out", "other"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "2 units in other: 0 done, 2 to do."
    assert list(tmp_path.iterdir()) == [tmp_path / "s.toml"]
    assert main(["sweep", "no.toml"]) == 2 and "no.toml cannot be read" in capsys.readouterr().err
    assert main(["sweep", "s.toml", "--only", "less"]) == 2 and "no arm 'less'" in capsys.readouterr().err


@pytest.mark.slow
def test_code_is_run_only_if_the_command_names_it(tmp_path, capsys, tiny):
    (tmp_path / "mine.py").write_text(GAME.format(ran=str(tmp_path / "ran.txt")))
    (tmp_path / "base.toml").write_text(tiny(iterations=1).changed({"game": "mine.py:Mine"}).to_toml())
    (tmp_path / "s.toml").write_text('[sweep]\nconfig = "base.toml"\nseeds = [1]\n[arms.a]\n')
    words = ["sweep", str(tmp_path / "s.toml"), "--out", str(tmp_path / "out")]
    assert main(words) == 2 and "is code in a file, which is run only if you name it yourself" in capsys.readouterr().err
    assert not (tmp_path / "ran.txt").exists()
    assert main([*words, "--game", str(tmp_path / "mine.py:Mine")]) == 0
    assert (tmp_path / "ran.txt").read_text() == "ran ran "  # here and in the process of the unit


def test_a_sweep_that_fails_says_so_at_its_end(tmp_path, capsys, tiny):
    (tmp_path / "base.toml").write_text(tiny(iterations=1).to_toml())
    (tmp_path / "s.toml").write_text('[sweep]\nconfig = "base.toml"\nseeds = [1]\n[arms.a]\n"net.blokcs" = 3\n')
    words = ["sweep", str(tmp_path / "s.toml"), "--out", str(tmp_path / "out")]
    assert main(words) == 1
    told = capsys.readouterr()
    assert "a seed 1 failed: A residual net has no blokcs" in told.err and "metrics.csv" in told.out
    assert main([*words, "--list"]) == 0 and "0 of 1 iterations, failed: A residual net" in capsys.readouterr().out

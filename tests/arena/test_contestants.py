"""Who plays in a tournament."""

import pytest

from azlab.arena.contestants import contestants
from azlab.errors import AzlabError

FINE = "def choose(position): return 0"


def folder_with(folder, *names):
    for name in names:
        (folder / name).write_text(FINE)
    return folder


def test_every_file_is_a_player_in_the_order_of_names_and_agents_come_last(tmp_path):
    found = contestants(folder_with(tmp_path, "ben.py", "anna.py", "_shared.py", ".hidden.py", "notes.txt"), ["uct:10", "random"])
    assert [one.name for one in found] == ["anna", "ben", "uct:10", "random"]
    assert [bool(one.path) for one in found] == [True, True, False, False]


def test_a_changed_file_and_a_changed_shared_file_are_noticed(tmp_path):
    before = contestants(folder_with(tmp_path, "anna.py", "ben.py", "_shared.py"))
    (tmp_path / "anna.py").write_text(FINE + " ")
    middle = contestants(tmp_path)
    assert [one.digest == two.digest for one, two in zip(before, middle, strict=True)] == [False, True]
    (tmp_path / "_shared.py").write_text("")
    after = contestants(tmp_path)
    assert [one.digest == two.digest for one, two in zip(middle, after, strict=True)] == [False, False]


def test_an_agent_called_like_a_file_has_another_name(tmp_path):
    assert [one.name for one in contestants(folder_with(tmp_path, "random.py"), ["random"])] == ["random", "random (azlab)"]


@pytest.mark.parametrize(
    ("files", "agents", "words"),
    [
        ((), ("random", "uct:10"), "There is no player in"),
        (("_shared.py",), (), "There is no player in"),
        (("anna.py",), (), "anna is the only player"),
        (("anna.py",), ("uct:many",), "whole number"),
        (("anna.py",), ("nobody",), "There is no agent 'nobody'"),
    ],
)
def test_too_few_or_unknown_players_are_a_sentence(tmp_path, files, agents, words):
    with pytest.raises(AzlabError) as error:
        contestants(folder_with(tmp_path, *files), agents)
    assert words in str(error.value)


def test_a_folder_that_is_none_is_a_sentence(tmp_path):
    with pytest.raises(AzlabError, match="does not exist"):
        contestants(tmp_path / "nowhere")
    with pytest.raises(AzlabError, match="is a file"):
        contestants(folder_with(tmp_path, "anna.py") / "anna.py")

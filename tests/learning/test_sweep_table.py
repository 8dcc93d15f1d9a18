import pytest

from azlab.errors import AzlabError
from azlab.learning.sweep_table import Table

TABLE = Table.of(
    {
        ("one", 1): [{"iteration": 1, "loss": 3.0, "accepted": True}, {"iteration": 2, "loss": 2.0, "accepted": False}],
        ("one", 2): [{"iteration": 1, "loss": 5.0}],
        ("two", 2): [{"iteration": 1, "loss": 4.0}, {"iteration": 2, "loss": 1.0, "network_accuracy": 0.5}],
        ("two", 3): [{"iteration": 1, "loss": None}],
        ("late", 9): [{"iteration": 7, "elo": 100.0}],
    }
)


def test_means_are_over_the_seeds_that_have_the_metric():
    assert TABLE.arms == ["one", "two", "late"] and TABLE.metrics == ["loss", "accepted", "network_accuracy", "elo"]
    assert TABLE.mean("loss", "one").mean == 4.0 and TABLE.iteration("loss", "one") == 1  # seed 2 has no second iteration
    assert (TABLE.mean("loss", "one", 2).mean, TABLE.mean("loss", "one", 2).count) == (2.0, 1)
    assert (TABLE.mean("loss", "two").mean, TABLE.mean("loss", "two").count) == (1.0, 1)  # None is nothing measured


def test_differences_are_between_equal_seeds_at_one_iteration():
    apart = TABLE.difference("loss", "two", "one")
    assert (apart.mean, apart.count) == (-1.0, 1)  # seed 2 at iteration 1
    assert TABLE.difference("loss", "one", "two").mean == 1.0


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda: TABLE.mean("lost", "one"), "no metric 'lost'; there are loss, accepted"),
        (lambda: TABLE.mean("loss", "three"), "no arm 'three'; it has one, two, late"),
        (lambda: TABLE.mean("loss", "one", 3), "no loss of one at iteration 3"),
        (lambda: TABLE.mean("elo", "one"), "no iteration with the elo of one"),
        (lambda: TABLE.difference("loss", "two", "one", 2), "no loss of two and one at a common seed at iteration 2"),
        (lambda: TABLE.difference("loss", "one", "late"), "no iteration with the loss of one and late at a common seed"),
        (lambda: Table(()).mean("loss", "one"), "there are none yet"),
    ],
)
def test_what_is_not_there_gets_a_sentence(ask, sentence):
    with pytest.raises(AzlabError, match=sentence):
        ask()


def test_a_table_comes_back_from_its_file(tmp_path):
    TABLE.save(tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text().splitlines()[:3] == [
        "arm,seed,iteration,loss,accepted,network_accuracy,elo", "one,1,1,3.0,1,,", "one,1,2,2.0,0,,"
    ]  # fmt: skip
    back = Table.load(tmp_path / "t.csv")
    assert back.text() == TABLE.text() and back.rows[1] == {"arm": "one", "seed": 1, "iteration": 2, "loss": 2.0, "accepted": 0}


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "arm,seed,iteration,x\na,1,1\n", "arm,seed,iteration\na,one,1\n", "\0"])
def test_a_file_that_is_no_table_is_named(tmp_path, text):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(AzlabError, match="t.csv is no table of a sweep"):
        Table.load(tmp_path / "t.csv")


def test_the_text_shows_what_people_want_to_see_first_and_differences():
    assert TABLE.text().splitlines() == [
        "arm         seeds  iteration  loss            net    Elo",
        "one         2      1          4.000 ± 12.706  -      -",
        "two         2      1          1.000           50.0%  -",
        "late        1      7          -               -      +100",
        "two - one                     -1.000          -      -",
        "late - one                    -               -      -",
    ]
    plain = Table.of({("a", 1): [{"iteration": 1, "speed": 0.125}], ("b", 1): [{"iteration": 1, "speed": 0.5}]})
    assert plain.text().splitlines()[1:] == [
        "a      1      1          0.125",
        "b      1      1          0.5",
        "b - a                    +0.375",
    ]

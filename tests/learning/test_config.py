import dataclasses
import json
import math
import random
import re
import tomllib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import azlab
from azlab.errors import AzlabError, literal
from azlab.learning.alphazero import new_learner
from azlab.learning.as_toml import differences
from azlab.learning.beginning import BeginConfig
from azlab.learning.config import AlphaZeroConfig, EvaluationConfig, GateConfig, TrainingConfig, preset, presets
from azlab.learning.learner import LossConfig
from azlab.learning.parts import Parts, parts_of
from azlab.learning.selfplay import SelfPlayConfig
from azlab.nets.keras_nets import dots_and_boxes_net
from azlab.search.config import Budget, Explore, Search

# Every field of every section with a value that is not its default.
OTHER = AlphaZeroConfig(
    game="dots_and_boxes",
    options={"rows": 2, "cols": 3, "name": 'a "quoted"\n\\ text'},
    net={"kind": "dots_and_boxes", "layers": (64, 32), "dropout": 0.25},
    search=Search(cpuct=1.75, cpuct_base=100.0, fpu=-0.5, fpu_relative=True, draw_value=0.25, gumbel=4, solve=True),
    explore=Explore(
        noise=0.125, noise_alpha=0.5, noise_alpha_base=10.5, temperature=((0, 1.0), (5, 0.25), (30, 0.0)), forced_playouts=2.0,
        capped_noise=0.5,
    ),
    budget=Budget(7, cap=(0.25, 3), gain=(1e-6, 9), clock=(99, 7)),
    test_search=Search(cpuct=2.0),
    selfplay=SelfPlayConfig(
        games=33, workers=3, positions=77, count_new=True, random_plies=4, search_value=0.5, discount=0.75, cache=11,
        reuse_tree=True, random_least=2, at_horizon="value",
    ),
    loss=LossConfig(
        "adam", value_weight=0.01, reply_weight=0.5, weight_decay=1e-5, decay_biases=False, clip=0.5, symmetries=False, half=True
    ),
    training=TrainingConfig(
        batch=99, passes=((1, 2.0), (5, 0.5)), window=((5, 500), (12, 2000)), merge=0.8, rate=((1, 0.2), (7, 0.02)),
        rate_cycle=((0, 0.02), (0.35, 0.2), (0.7, 0.02)), momentum=0.5, momentum_cycle=((0, 0.95), (0.5, 0.85)),
    ),
    gate=GateConfig(score=0.55, games=20, openings=4, first="untrained", beyond="played"),
    evaluation=EvaluationConfig(
        network_every=2, search_every=3, positions="random", count=50, patience=4, simulations=9,
        opponents=("random", 'gtp:a "b" c\\d'), earlier=2, games=6, openings=3,
    ),
    parts={"program": "s3_dots_and_boxes", "one_hot_from": 5, "in_tests": False},
    begin=BeginConfig(weights="runs/first", games="runs/other"),
    iterations=4,
    hours=0.5,
    seed=12,
)  # fmt: skip


def sections(config):
    """(section, field, value) of everything."""
    for item in dataclasses.fields(config):
        value = getattr(config, item.name)
        if dataclasses.is_dataclass(value):
            yield from ((item.name, part.name, getattr(value, part.name)) for part in dataclasses.fields(value))
        else:
            yield "", item.name, value


def test_this_test_knows_every_setting():
    defaults = list(sections(AlphaZeroConfig()))
    same = {(section, name) for (section, name, value), (*_, other) in zip(defaults, sections(OTHER)) if value == other}
    # these make no sense with others; the presets for 3x3 boxes and for placing stones in Seega have them
    assert {name for section, name in same if section != "test_search"} == {"margin", "bootstrap", "horizon", "judge"}


@pytest.mark.parametrize("config", [AlphaZeroConfig(), OTHER, *map(preset, presets())])
def test_every_setting_comes_back_from_the_file(config):
    again = AlphaZeroConfig.from_toml(config.to_toml())
    assert again == config and differences(again, config) == []
    assert [type(value) for *_, value in sections(again)] == [type(value) for *_, value in sections(config)]
    assert again.to_toml() == config.to_toml()


@given(st.text())
def test_any_text_comes_back(text):
    try:
        text.encode()
    except UnicodeEncodeError:
        return  # half a character cannot be in any file
    config = AlphaZeroConfig(evaluation=EvaluationConfig(opponents=(text,)), options={"name": text})
    assert tomllib.loads(config.to_toml())["options"]["name"] == text
    assert AlphaZeroConfig.from_toml(config.to_toml()) == config


@given(st.one_of(st.floats(0, 1), st.integers(0, 1)), st.floats(allow_nan=False, min_value=0))
def test_any_number_comes_back(share, hours):
    config = AlphaZeroConfig(selfplay=SelfPlayConfig(discount=share), hours=hours)
    assert AlphaZeroConfig.from_toml(config.to_toml()) == config


def test_numbers_of_numpy_and_lists_are_written_as_plain_ones():
    config = AlphaZeroConfig(
        iterations=np.int64(3),
        selfplay=SelfPlayConfig(discount=np.float64(0.5)),
        training=TrainingConfig(rate=[[1, np.float64(0.5)], (3, 0.25)]),
    )
    again = AlphaZeroConfig.from_toml(config.to_toml())
    assert (again.iterations, again.selfplay.discount, again.training.rate) == (3, 0.5, ((1, 0.5), (3, 0.25)))
    with pytest.raises(AzlabError, match="holds numbers, texts and lists"):
        AlphaZeroConfig(options={"size": None}).to_toml()


def test_what_a_file_leaves_out_keeps_its_default():
    config = AlphaZeroConfig.from_toml('game = "go"\n[options]\nsize = 5\n[search]\ncpuct = 3.0\n')
    assert config.search == Search(cpuct=3.0) and config.options == {"size": 5} and config.rules().size == 5
    assert config.training == TrainingConfig()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("iterations = 1.5", "iterations must be a whole number, not 1.5"),
        ("iterations = true", "iterations must be a whole number, not True"),
        ("iterations = 0", "iterations must be a whole number from 1"),
        ("hours = -1", "hours must be a number from 0 on"),
        ("iteration = 3", "The config: there is no setting 'iteration'; there are game,"),
        ("search = 3", "search is a section, not 3"),
        ("[budget]\nsimulation = 3", r"section \[budget\]: there is no setting 'simulation'; there are simulations,"),
        ("[search]\ncpuct = 'a'", r"section \[search\]: cpuct must be a number, not 'a'"),
        ("[explore]\ntemperature = [[0, 1.0, 2]]", "temperature is a tuple"),
        ("[explore]\ntemperature = [[0, 'a']]", "temperature is a tuple"),
        ("[explore]\ntemperature = 1.0", "temperature is a tuple"),
        ("[selfplay]\ncount_new = 1", "count_new must be true or false"),
        ("[training]\nrate = 0.1", "rate is a list of pairs"),
        ("[training]\nwindow = [[1, 0]]", "at least one example"),
        ("[training]\nmerge = 2", "merge must lie between 0 and 1"),
        ("[training]\nmomentum = -0.5", "momentum must lie between 0 and 1"),
        ("[evaluation]\nopponents = 'random'", "opponents is a list of agents"),
        ("[evaluation]\nopponents = [3]", "opponents is a list of agents"),
        ("[evaluation]\ngames = 5", "even in number.*try 6"),
        ("[gate]\ngames = 5", "even in number.*try 6"),
        ("[gate]\nscore = 1.5", "between 0 and 1"),
        ("[net]\nkind = 'transformer'", "the net's kind must be one of 'residual'"),
        ("[net", "is no TOML file"),
    ],
)
def test_a_wrong_file_gets_a_sentence(text, says):
    with pytest.raises(AzlabError, match=says):
        AlphaZeroConfig.from_toml(text)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(AzlabError, match="cannot be read"):
        AlphaZeroConfig.load(tmp_path / "nothing.toml")
    (tmp_path / "bytes.toml").write_bytes(b'game = "\xff"')
    with pytest.raises(AzlabError, match="cannot be read"):
        AlphaZeroConfig.load(tmp_path / "bytes.toml")
    (tmp_path / "wrong.toml").write_text("hours = -1")
    with pytest.raises(AzlabError, match="wrong.toml"):
        AlphaZeroConfig.load(tmp_path / "wrong.toml")


def test_changes_by_name():
    config = preset("tictactoe").changed({"budget.simulations": 9, "iterations": 2, "training.rate": [(1, 0.5)], "net.blocks": 5})
    assert (config.budget.simulations, config.iterations, config.training.rate, config.net["blocks"]) == (9, 2, ((1, 0.5),), 5)
    assert differences(preset("tictactoe"), config) == ["net.blocks", "budget.simulations", "training.rate", "iterations"]
    for wrong in ({"budget.simulation": 9}, {"nothing": 1}, {"a.b.c": 1}):
        with pytest.raises(AzlabError, match="there is no setting"):
            config.changed(wrong)


def test_rates():
    steps = TrainingConfig(rate=((1, 0.2), (7, 0.02)))
    assert [steps.rate_at(at, share) for at, share in ((1, 0), (6, 0.99), (7, 0))] == [0.2, 0.2, 0.02]
    cyclic = TrainingConfig(rate=((1, 1.0), (5, 0.5)), rate_cycle=((0, 0.02), (0.5, 0.2)), momentum_cycle=((0, 0.9), (1, 0.7)))
    assert cyclic.rate_at(3, 0.25) == pytest.approx(0.11 * 0.75)
    assert cyclic.momentum_at(0.5) == pytest.approx(0.8) and steps.momentum_at(0.5) == 0.9


@pytest.mark.parametrize("name", presets())
def test_presets_fit_their_games(name):
    config = preset(name)
    assert math.prod(config.rules().planes_shape) > 0


def test_there_is_no_such_preset():
    with pytest.raises(AzlabError, match="there are .*tictactoe"):
        preset("chess")


def odd_toml(rng, odd_word):
    """A config with odd values for settings that exist, and sometimes for others; now and then not even TOML."""
    names = re.findall(r"^[a-z_]+(?= =)", AlphaZeroConfig().to_toml(), re.M)
    sections = ["options", "net", "search", "explore", "budget", "parts", "selfplay", "loss", "training", "gate", "evaluation"]
    sections += ["begin", "colour"]
    values = ["nan", "inf", "-inf", "[]", "{}", '""', "true", "1979-05-27", "[[1, nan]]", "[[1, 'a']]", "{a = {b = 1}}", "9" * 30]
    lines = []
    for _ in range(rng.randrange(1, 6)):
        word = odd_word(rng)
        value = rng.choice([word, json.dumps(word), rng.choice(values)])
        key = rng.choice(names) if rng.random() < 0.9 else json.dumps(word)
        lines.append(rng.choice([f"{key} = {value}", f"[{rng.choice(sections)}]\n{key} = {value}"]))
    return "\n".join(lines)


def test_odd_configs_are_read_or_get_a_sentence(many, odd_word):
    rng = random.Random(0)
    for _ in range(many(600)):
        text = odd_toml(rng, odd_word)
        try:
            config = AlphaZeroConfig.from_toml(text)
            config.rules()
            again = AlphaZeroConfig.from_toml(config.to_toml())
        except AzlabError as error:
            assert str(error)
        else:
            assert config.to_toml() == again.to_toml(), text


def test_odd_settings_by_name_are_taken_or_get_a_sentence(many, odd_word):
    rng, plain = random.Random(0), AlphaZeroConfig()
    names = [
        "seed",
        "seed.x",
        "search",
        "search.cpuct",
        "net.kind",
        "net.a b",
        "options.size",
        "options",
        ".",
        "a.b.c",
        "hours",
        "game",
        "",
    ]
    for _ in range(many(100)):
        try:
            plain.changed({rng.choice(names): literal(odd_word(rng)) for _ in range(2)}).to_toml()
        except AzlabError as error:
            assert str(error)


@pytest.mark.parametrize("text", ["hours = nan", "[loss]\nclip = nan", "[search]\ncpuct = inf", "[training]\nrate = [[1, nan]]"])
def test_numbers_that_are_none_are_refused(text):
    with pytest.raises(AzlabError):
        AlphaZeroConfig.from_toml(text)


@pytest.mark.parametrize(
    ("game", "net", "sentence"),
    [
        ("dots_and_boxes", {"kind": "dots_and_boxes", "colour": 3}, "has no colour; it has layers, dropout"),
        ("dots_and_boxes", {"kind": "dots_and_boxes", "rows": 3}, "has no rows"),
        ("seega", {"kind": "seega", "blocks": 3}, "has no blocks; it has filters, dense, dropout"),
        ("tictactoe", {"kind": "seega"}, "size must be a whole number from 5"),
    ],
)
def test_sizes_that_a_keras_net_does_not_have_get_a_sentence(game, net, sentence):
    with pytest.raises(AzlabError, match=re.escape(sentence)):
        new_learner(azlab.game(game), net, LossConfig(), 0)


@pytest.mark.parametrize(
    ("sizes", "sentence"),
    [
        ({"layers": "abc"}, "layers is a list"),
        ({"layers": [0]}, "a size in layers must be a whole number from 1"),
        ({"layers": [8.5]}, "a size in layers must be a whole number from 1"),
        ({"dropout": 1}, "dropout is a share"),
        ({"dropout": "much"}, "dropout is a share"),
    ],
)
def test_sizes_that_no_keras_net_can_have_get_a_sentence(sizes, sentence):
    with pytest.raises(AzlabError, match=sentence):
        dots_and_boxes_net(**sizes)


# A config as the versions before [explore] and [budget] wrote it, with the settings of that time.
OLD = """
[search]
simulations = 343
cpuct = 1.545
cpuct_base = 0.0
fpu = 0.8545
fpu_relative = false
draw_value = 0.6913
unit_values = true
noise = 0.25
noise_alpha = 0.3
noise_alpha_base = 20.38
temperature = [[0, 1.0], [30, 0.0]]
gumbel = 0
gumbel_visit_offset = 50.0
gumbel_value_scale = 1.0
forced_playouts = 2.0
cap_probability = 0.25
cap_simulations = 30
kl_threshold = 0.001
kl_step = 25
reuse_tree = true
leaves = 1
solve = false
margin = false
root_values_only = false
to_the_end = false
random_ties = false
drawn_plies = 0

[test_search]
simulations = 99
cpuct_base = 0.0
noise = 0.0
kl_threshold = 0.0
kl_step = 50
cap_probability = 1.0
leaves = 1
drawn_plies = 0

[selfplay]
games = 9
clock_start = 4650
clock_per_turn = 50
flip_every_ply = false
one_hot_from = -1
first_player = ""
first_games = 500

[gate]
score = 0.55
simulations = 0
new_plays = "both"
"""


def test_a_config_of_an_older_version_says_the_same():
    config = AlphaZeroConfig.from_toml(OLD)
    assert config.search == Search(cpuct=3.09, cpuct_base=0.0, fpu=2 * 0.8545 - 1, draw_value=2 * 0.6913 - 1)
    assert config.explore == Explore(0.25, 0.3, 20.38, ((0, 1.0), (30, 0.0)), 2.0)
    assert config.budget == Budget(343, (0.25, 30), (0.001, 25), (4650, 50))
    assert config.test_search == Search(cpuct_base=0.0) and config.evaluation.simulations == 99
    assert config.selfplay == SelfPlayConfig(games=9, reuse_tree=True) and config.gate == GateConfig(0.55)
    few = AlphaZeroConfig.from_toml("[search]\nsimulations = 5\n")  # what it left out was off
    assert (few.budget, few.explore, few.search) == (Budget(5), Explore(), Search())


@pytest.mark.parametrize("text", ["", "[budget]\nsimulations = 5\n", "[search]\nsimulations = 5\n"])
def test_a_test_of_both_kinds_was_one_setting(text):
    old = AlphaZeroConfig.from_toml(text + '[evaluation]\nevery = 5\npositions = "random"\n')
    assert (old.evaluation.network_every, old.evaluation.search_every, old.evaluation.positions) == (5, 5, "random")
    with pytest.raises(AzlabError, match="network_every must be"):
        AlphaZeroConfig.from_toml('[evaluation]\nevery = "x"\n')


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("to_the_end = false", "to_the_end = true", r"search.to_the_end .* stands in \[parts\] now.*s3_dots_and_boxes"),
        ("flip_every_ply = false", "flip_every_ply = true", r"selfplay.flip_every_ply .* stands in \[parts\]"),
        ('new_plays = "both"', 'new_plays = "second"', r"gate.new_plays .* stands in \[parts\]"),
        (
            "gumbel_value_scale = 1.0",
            "gumbel_value_scale = 2.0",
            "no setting search.gumbel_value_scale any more; it can only be 1.0",
        ),
        ("simulations = 0", "simulations = 7", "no setting gate.simulations any more"),
        ("kl_threshold = 0.0\n", "kl_threshold = 0.1\n", "leave out test_search.kl_threshold"),
        ("cpuct_base = 0.0\nfpu", "cpuct_base = 5.0\nfpu", "needs cpuct_base = 0"),
    ],
)
def test_what_an_older_config_says_and_this_version_cannot_is_named(old, new, says):
    assert old in OLD
    with pytest.raises(AzlabError, match=says):
        AlphaZeroConfig.from_toml(OLD.replace(old, new))


def test_parts_are_those_of_a_reproduction_or_the_librarys():
    assert parts_of(AlphaZeroConfig()) == Parts() and Parts().names() == ""
    for name in ("os", "..", "s1_value_generations", "", 3):
        with pytest.raises(AzlabError, match="names a program of azlab's reproductions .s3_dots_and_boxes"):
            parts_of(AlphaZeroConfig(parts={"program": name}))
    with pytest.raises(AzlabError, match=r"section \[parts\]: there is no setting 'one_hot'"):
        parts_of(AlphaZeroConfig(parts={"program": "s3_dots_and_boxes", "one_hot": 3}))

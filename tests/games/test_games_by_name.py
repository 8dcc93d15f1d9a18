"""`azlab.game`: games and their options by name."""

import inspect
import random

import pytest

import azlab
from azlab.errors import literal
from azlab.games import GAMES, game_class


def test_odd_options_make_a_game_or_a_sentence(many, odd_word):
    rng = random.Random(0)
    options_of = {name: [*inspect.signature(game_class(name)).parameters, "name", "self"] for name in GAMES}
    for _ in range(many(400)):
        name = rng.choice(list(GAMES))
        options = {rng.choice(options_of[name]): literal(odd_word(rng)) for _ in range(rng.randrange(1, 4))}
        try:
            game = azlab.game(name, **options)
        except azlab.AzlabError as error:
            assert str(error)
        else:
            assert hash(game) == hash(azlab.game(name, **game.options)) and game.start().text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3), ("-3", -3), ("0.5", 0.5), ("True", True), ("None", None), ("[1, 2.5]", [1, 2.5]), ("(1,)", (1,)),
        ("'a b'", "a b"), ("simple", "simple"), ("", ""), ("\u00b2", "\u00b2"), ("{[]:1}", "{[]:1}"), ("{1: 2}", "{1: 2}"),
        ("1j", "1j"), ("b'x'", "b'x'"), ("9" * 30, "9" * 30), ("[" + "9" * 30 + "]", "[" + "9" * 30 + "]"),
        ("(" * 9999, "(" * 9999), ("1if 1else 2", "1if 1else 2"),
    ],
)  # fmt: skip
def test_a_value_is_read_as_number_list_or_text(text, value, recwarn):
    assert literal(text) == value and type(literal(text)) is type(value) and not recwarn.list

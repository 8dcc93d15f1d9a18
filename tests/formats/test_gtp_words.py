"""The words of commands: what can be read, and the sentence for what cannot."""

import pytest

from azlab.errors import AzlabError
from azlab.formats import gtp_words


def test_colours_points_and_numbers_are_read():
    assert [gtp_words.seat([word]) for word in ("b", "B", "black", "BLACK", "w", "White")] == [0, 0, 0, 0, 1, 1]
    assert gtp_words.point(["x", "J9"], 1, 9) == 8 and gtp_words.point(["PASS"], 0, 9) == 81
    assert gtp_words.whole(["-3"], 0, "a number") == -3
    assert [gtp_words.number([word], 0, "komi") for word in ("6.5", "-7", "+0.5", ".5", "7.")] == [6.5, -7, 0.5, 0.5, 7]
    assert gtp_words.moves(["b", "A1", "white", "pass"], 2) == [(0, 2), (1, 4)]
    assert gtp_words.vertices([0, 8, 81], 9) == "A9 J9 pass"


@pytest.mark.parametrize(
    ("read", "sentence"),
    [
        (lambda: gtp_words.seat([]), "syntax error: a colour, black or white, is missing"),
        (lambda: gtp_words.seat(["green"]), "syntax error: 'green' is not a colour, black or white"),
        (lambda: gtp_words.point(["I5"], 0, 9), "syntax error: 'I5' is not a point from A1 to J9, or pass"),
        (lambda: gtp_words.point(["J10"], 0, 9), "syntax error: 'J10' is not a point from A1 to J9, or pass"),
        (lambda: gtp_words.whole(["1.5"], 0, "a size"), "syntax error: '1.5' is not a size"),
        (lambda: gtp_words.whole(["9" * 5000], 0, "a size"), f"syntax error: '{'9' * 40}' is not a size"),
        (lambda: gtp_words.whole(["\u0663"], 0, "a size"), "syntax error: '\u0663' is not a size"),
        (lambda: gtp_words.number(["nan"], 0, "komi"), "syntax error: 'nan' is not komi"),
        (lambda: gtp_words.number(["1e3"], 0, "komi"), "syntax error: '1e3' is not komi"),
        (lambda: gtp_words.moves(["b"], 9), "syntax error: colours and points come in pairs"),
    ],
)
def test_what_cannot_be_read_is_a_sentence(read, sentence):
    with pytest.raises(AzlabError) as caught:
        read()
    assert str(caught.value) == sentence

"""Boards as SVG: well formed, the same every time, and really visible in a browser in both themes."""

import xml.etree.ElementTree as ElementTree

import pytest

import azlab
from azlab.show.board import COLOURS, draw

POSITIONS = {
    "tictactoe": azlab.game("tictactoe").from_moves("b2 a1 a3 c1"),
    "connect4": azlab.game("connect4").from_moves("4453"),
    "dots_and_boxes": azlab.game("dots_and_boxes").from_moves("aA aB Aa Ab"),
    "go": azlab.game("go", size=9).from_moves("e5 c3 g7"),
    "simple_go": azlab.game("simple_go").from_moves("c3 b2"),
    "seega": azlab.game("seega").from_moves("A1 A2 B1 B2"),
}


@pytest.mark.parametrize("name", POSITIONS)
def test_the_picture_is_well_formed_and_repeatable(name):
    position = POSITIONS[name]
    root = ElementTree.fromstring(position.svg)
    assert root.tag.endswith("svg") and root.attrib["role"] == "img"
    assert root.find("{*}title").text == position.status
    assert position.svg == azlab.game(name, **position.game.options).from_moves(position.moves).svg


@pytest.mark.parametrize(
    ("name", "colour", "count"),
    [("connect4", "disc0", 2), ("connect4", "disc1", 2), ("go", "black", 2), ("go", "white", 1), ("seega", "black", 2)],
)
def test_every_stone_is_drawn(name, colour, count):
    assert POSITIONS[name].svg.count(f'class="azlab-{colour}"') == count


@pytest.mark.parametrize("name", POSITIONS)
def test_the_last_move_is_marked(name):
    marks = POSITIONS[name].svg.count('class="azlab-mark')
    assert marks == 1 and 'class="azlab-mark' not in azlab.game(name).start().svg


def test_a_long_caption_fits_below_a_small_board():
    picture = POSITIONS["dots_and_boxes"].game.picture(POSITIONS["dots_and_boxes"])
    narrow, wide = draw(picture, "short"), draw(picture, "a caption that is much longer than the board is wide")
    assert float(ElementTree.fromstring(wide).attrib["width"]) > float(ElementTree.fromstring(narrow).attrib["width"])
    assert "translate" in wide and "translate" not in narrow


def relative_luminance(colour):
    """As defined by the Web Content Accessibility Guidelines."""
    channels = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", [0, 1])
@pytest.mark.parametrize(("front", "back", "contrast"), [("ink", "paper", 4.5), ("disc0", "disc1", 2), ("black", "white", 10)])
def test_colours_differ_in_brightness_not_only_in_hue(front, back, contrast, theme):
    light, dark = sorted((relative_luminance(COLOURS[c][theme]) for c in (front, back)), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= contrast


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.slow
def test_a_browser_shows_the_boards_in_both_themes(need, theme, tmp_path):
    from playwright.sync_api import sync_playwright

    flags = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=need("chromium"), args=flags)
        page = browser.new_page(color_scheme=theme)
        page.set_content("".join(position.svg for position in POSITIONS.values()))
        for name, expected in (("paper", COLOURS["paper"]), ("ink", COLOURS["ink"])):
            script = f"getComputedStyle(document.querySelector('.azlab-{name}')).fill"
            red, green, blue = (int(expected[theme == "dark"][k : k + 2], 16) for k in (1, 3, 5))
            assert page.evaluate(script) == f"rgb({red}, {green}, {blue})"
        boxes = page.evaluate("[...document.querySelectorAll('svg')].map(s => s.getBoundingClientRect().width)")
        assert len(boxes) == len(POSITIONS) and min(boxes) > 100
        page.screenshot(path=tmp_path / f"boards-{theme}.png")
        browser.close()

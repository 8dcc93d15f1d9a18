"""Makes the pictures of the README in docs/pictures: the widgets in JupyterLab, photographed by Chromium.

.venv/bin/python docs/pictures.py
"""

import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "show"))

from lab import Lab, change_theme, wait_for  # noqa: E402

CELLS = [
    'import azlab.show\nazlab.show.play(azlab.game("connect4").from_moves("4453543262"), against="uct:20000")',
    'azlab.show.play(azlab.game("go", size=9).from_moves("e5 c3 g7 c7 g3 c5 e3 g5 f5 g6 f6 f7 g4"), against="uct:2000")',
    'azlab.show.replay("4444452326677", agents=["uct:100", "uct:10000"], game="connect4")',
]


def save_small(picture: Path, target: Path, colours: int = 64) -> None:
    """A PNG with few colours: a quarter of the size, and nobody sees the difference."""
    image = Image.open(picture).convert("RGB").quantize(colours, dither=Image.Dither.NONE)
    image.save(target, optimize=True)
    print(f"{target.relative_to(ROOT)}: {image.width}x{image.height}, {target.stat().st_size / 1000:.0f} kB")


def main() -> None:
    target = ROOT / "docs" / "pictures"
    target.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        lab = Lab(Path(folder) / "lab")
        try:
            page = lab.open("pictures", CELLS, width=960, height=1100)
            for number, name in enumerate(("play_connect4", "play_go")):
                board = page.locator(".azlab-play").nth(number)
                board.wait_for()
                wait_for(lambda board=board: board.get_attribute("data-state") == "ready")
                board.get_by_role("button", name="Hint").click()
                wait_for(lambda board=board: "Hint of" in board.locator(".azlab-message").inner_text())
                board.evaluate("(board) => { board.style.width = 'fit-content'; document.activeElement.blur(); }")
                page.mouse.move(0, 0)
                photograph(board, Path(folder), target / f"{name}.png")
            replay = page.locator(".azlab-replay")
            wait_for(lambda: replay.get_attribute("data-review") == "done")
            replay.evaluate("(replay) => (replay.style.width = 'fit-content')")
            photograph(replay, Path(folder), target / "replay.png")
            change_theme(page, "dark")
            photograph(page.locator(".azlab-play").first, Path(folder), target / "play_connect4_dark.png")
        finally:
            lab.close()


def photograph(widget, folder: Path, target: Path) -> None:
    widget.scroll_into_view_if_needed()
    widget.screenshot(path=folder / "picture.png")
    save_small(folder / "picture.png", target)


if __name__ == "__main__":
    main()

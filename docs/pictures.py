"""Makes the pictures of the README in docs/pictures: the widgets in JupyterLab, photographed by Chromium.

.venv/bin/python docs/pictures.py
"""

import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "show"))

from lab import Lab, wait_for  # noqa: E402

CELLS = [
    'import azlab.show\nazlab.show.play(azlab.game("connect4").from_moves("444335"), against="uct:3000")',
    'azlab.show.replay("44444525363", agents=["uct:100", "uct:10000"], game="connect4")',
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
            board = page.locator(".azlab-play")
            board.wait_for()
            wait_for(lambda: board.get_attribute("data-state") == "ready")
            if board.get_by_role("button", name="Evaluation").get_attribute("aria-pressed") == "false":  # it took long at first
                board.get_by_role("button", name="Evaluation").click()
            wait_for(
                lambda: "win" in board.locator(".azlab-bar").inner_text() or "even" in board.locator(".azlab-bar").inner_text()
            )
            board.get_by_role("button", name="Hint").click()
            wait_for(lambda: "Hint of" in board.locator(".azlab-message").inner_text())
            board.evaluate("(board) => { board.style.width = 'fit-content'; document.activeElement.blur(); }")
            page.mouse.move(0, 0)
            photograph(board, Path(folder), target / "play_connect4.png")
            replay = page.locator(".azlab-replay")
            wait_for(lambda: replay.get_attribute("data-review") == "done")
            replay.evaluate("(replay) => (replay.style.width = 'fit-content')")
            photograph(replay, Path(folder), target / "replay.png")
        finally:
            lab.close()


def photograph(widget, folder: Path, target: Path) -> None:
    widget.scroll_into_view_if_needed()
    widget.screenshot(path=folder / "picture.png")
    save_small(folder / "picture.png", target)


if __name__ == "__main__":
    main()

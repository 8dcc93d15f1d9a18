"""The widgets in a real JupyterLab and a real browser: whole games by mouse and by keyboard, reruns, restarts, failures.

Screenshots go to the folder test-artefacts/, so that they can be looked at. How fast clicks are answered is printed, not judged.
"""

import importlib.util
import re
import statistics
from pathlib import Path

import pytest

SPEC = importlib.util.spec_from_file_location("azlab_tests_lab", Path(__file__).with_name("lab.py"))
lab_module = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(lab_module)

ARTEFACTS = Path(__file__).parents[2] / "test-artefacts"
pytestmark = pytest.mark.slow

# what is played on the page of all games: name of the variable, how the board is made
BOARDS = {
    "tictactoe": 'azlab.show.play("tictactoe", against="random")',
    "connect4": 'azlab.show.play("connect4", against="uct:200")',
    "dots_and_boxes": 'azlab.show.play("dots_and_boxes", against="random", rows=2, cols=2)',
    "go": 'azlab.show.play("go", against="random", size=5, max_moves=30)',
    "simple_go": 'azlab.show.play("simple_go", against="random", size=3)',
    "seega": 'azlab.show.play("seega", against="random", move_limit=12)',
}
RESPONSES: list[float] = []  # milliseconds from clicks to the next picture


@pytest.fixture(scope="module")
def lab(need, tmp_path_factory):
    chromium = need("chromium")
    ARTEFACTS.mkdir(exist_ok=True)
    running = lab_module.Lab(tmp_path_factory.mktemp("lab"), chromium)
    yield running
    running.close()
    if RESPONSES:
        median, worst = statistics.median(RESPONSES), max(RESPONSES)
        line = f"click to picture: median {median:.0f} ms, longest {worst:.0f} ms, {len(RESPONSES)} clicks"
        (ARTEFACTS / "responses.txt").write_text(line + "\n")
        print(f"\n{line}")


@pytest.fixture(scope="module")
def all_games(lab):
    """One notebook with a board of each game, all by the same kernel."""
    page = lab.open("all_games", ["import azlab.show", *(f"board = {made}\nboard" for made in BOARDS.values())])
    boards = page.locator(".azlab-play")
    lab_module.wait_for(lambda: boards.count() == len(BOARDS))
    yield page
    page.close()


def board_of(page, number):
    board = page.locator(".azlab-play").nth(number)
    board.wait_for()
    lab_module.wait_for(lambda: int(board.get_attribute("data-heard")) > 0)  # Python has answered that the board is there
    lab_module.wait_for(lambda: board.get_attribute("data-state") != "thinking")
    return board


def run_again(page):
    """Run all cells once more, and wait until every board has made way for a new one."""
    count = page.locator(".azlab-play").count()
    page.evaluate("() => document.querySelectorAll('.azlab-play').forEach((board) => board.classList.add('azlab-test-old'))")
    lab_module.run_all(page)
    new, old = page.locator(".azlab-play:not(.azlab-test-old)"), page.locator(".azlab-test-old")
    lab_module.wait_for(lambda: (new.count(), old.count()) == (count, 0))


def ply(board):
    return int(board.get_attribute("data-ply"))


def state(board):
    return board.get_attribute("data-state")


# Clicks what has a label and waits for the picture that answers this click; the time between both is what a person notices.
# Other pictures may come in between, an oracle's evaluation for one, and may replace what is to be clicked: the board finds it.
CLICK = """(board, label) => new Promise((resolve) => {
  const named = (element) => (element.getAttribute("aria-label") ?? element.textContent.trim()) === label;
  const attempt = () => {
    const target = [...board.querySelectorAll("button, [role=button]")].find(named);
    if (!target) return setTimeout(attempt, 10);
    const [begin, before] = [performance.now(), Number(board.dataset.heard)];
    const watcher = new MutationObserver(() => {
      if (Number(board.dataset.heard) === before) return;
      watcher.disconnect();
      resolve(performance.now() - begin);
    });
    watcher.observe(board, { attributes: true, attributeFilter: ["data-heard"] });
    target.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  };
  attempt();
})"""


def settle(board):
    """Wait until a person can do something: move, or begin again."""
    lab_module.wait_for(lambda: state(board) in ("ready", "over", "failed"))


def click_on(board, label):
    RESPONSES.append(board.evaluate(CLICK, label))
    settle(board)


def labels(board):
    return [target.get_attribute("aria-label") for target in board.locator("[data-area]").all()]


def play_to_the_end(board, pick):
    """Click until the game is over; `pick` chooses among the labels of what can be clicked."""
    for _ in range(200):
        settle(board)
        if state(board) == "over":
            return
        before, choice = ply(board), pick(board)
        if choice.startswith("choose "):
            board.get_by_role("button", name=choice, exact=True).click(force=True)
            choice = next(label for label in labels(board) if label.startswith("play "))
        click_on(board, choice)
        assert ply(board) > before or state(board) == "over"
    raise AssertionError("The game does not end.")


def any_move(board):
    """The middle one of what can be clicked; pass or stop where nothing else can."""
    found = [label for label in labels(board) if not label.startswith("let go")]
    return found[len(found) // 2] if found else board.locator(".azlab-extra button").first.inner_text()


@pytest.mark.parametrize("name", BOARDS)
def test_a_whole_game_by_clicks(all_games, name):
    board = board_of(all_games, list(BOARDS).index(name))
    others = [ply(one) for one in all_games.locator(".azlab-play").all()]
    board.scroll_into_view_if_needed()
    play_to_the_end(board, any_move)
    settle(board)
    assert state(board) == "over" and board.locator("[data-area]").count() == 0
    assert re.search("win|lose|Draw", board.locator(".azlab-status").inner_text())
    board.screenshot(path=ARTEFACTS / f"{name}-over.png")
    others[list(BOARDS).index(name)] = ply(board)
    assert [ply(one) for one in all_games.locator(".azlab-play").all()] == others, "another board was disturbed"


def test_a_board_after_the_game_is_played_anew_and_undone(all_games):
    board = board_of(all_games, 0)
    board.get_by_role("button", name="New game").click()
    lab_module.wait_for(lambda: ply(board) == 0)
    click_on(board, "play b2")
    lab_module.wait_for(lambda: ply(board) == 2)
    board.locator(".azlab-board").click(position={"x": 150, "y": 150})  # b2 again
    lab_module.wait_for(lambda: "Nothing can be played at b2" in board.locator(".azlab-message").inner_text())
    board.get_by_role("button", name="Undo").click()
    lab_module.wait_for(lambda: ply(board) == 0)
    board.get_by_role("button", name="Hint").click()
    lab_module.wait_for(lambda: "Hint of uct:1000" in board.locator(".azlab-message").inner_text())
    board.screenshot(path=ARTEFACTS / "tictactoe-hint.png")
    board.get_by_role("button", name="Swap seats").click()
    lab_module.wait_for(lambda: ply(board) == 1 and state(board) == "ready")


def test_games_are_saved_and_loaded_by_buttons(all_games, tmp_path):
    board = board_of(all_games, 1)
    board.get_by_role("button", name="New game").click()
    lab_module.wait_for(lambda: ply(board) == 0)
    click_on(board, "play 3")
    lab_module.wait_for(lambda: ply(board) == 2)
    with all_games.expect_download() as download:
        board.get_by_role("button", name="Save").click()
    download.value.save_as(tmp_path / "game.json")
    board.get_by_role("button", name="New game").click()
    lab_module.wait_for(lambda: ply(board) == 0)
    board.locator("input[type=file]").set_input_files(tmp_path / "game.json")
    lab_module.wait_for(lambda: ply(board) == 2)


# --- keyboard ----------------------------------------------------------------------------------------------------------

KEYBOARD = {
    "tictactoe": 'azlab.show.play("tictactoe", evaluation=False)',
    "connect4": 'azlab.show.play("connect4", evaluation=False)',
    "dots_and_boxes": 'azlab.show.play("dots_and_boxes", rows=1, cols=2, against="random")',
    "seega": 'azlab.show.play("seega", move_limit=4)',
}

FAILING = """
import azlab.show, time
class Moody:
    name = "moody"
    calls = 0
    def choose(self, position):
        self.calls += 1
        if self.calls == 1:
            raise RuntimeError("not in the mood")
        if self.calls == 2:
            time.sleep(1)
        return position.legal_actions[0]
board = azlab.show.play("tictactoe", against=Moody())
board
"""
REPLAY = 'azlab.show.replay("44444525363", agents=["uct:500"], game="connect4")'


@pytest.fixture(scope="module")
def keyboard_page(lab):
    page = lab.open("keyboard", ["import azlab.show", *KEYBOARD.values(), FAILING, REPLAY])
    boards = page.locator(".azlab-play")
    lab_module.wait_for(lambda: boards.count() == len(KEYBOARD) + 1)
    yield page
    page.close()


@pytest.mark.parametrize("name", KEYBOARD)
def test_a_whole_game_by_keyboard(keyboard_page, name):
    page, board = keyboard_page, board_of(keyboard_page, list(KEYBOARD).index(name))
    cells = page.locator(".jp-Cell").count()
    board.locator('[data-area][tabindex="0"]').first.focus()
    for turn in range(200):
        settle(board)
        if state(board) == "over":
            break
        before = ply(board)
        page.keyboard.press(("ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp")[turn % 4])
        focused = page.evaluate("() => document.activeElement.getAttribute('aria-label') ?? ''")
        assert re.match("play |choose |let go", focused), f"the focus left the board: {focused!r}"
        if focused.startswith("choose "):
            page.keyboard.press("Enter")  # the focus goes on to a place where the stone can go
        elif focused.startswith("let go"):
            page.keyboard.press("Home")
            continue
        page.keyboard.press(" " if turn % 2 else "Enter")
        lab_module.wait_for(lambda before=before: ply(board) > before)
    assert state(board) == "over"
    page.keyboard.press("a")  # a shortcut of Lab's; it must not reach the notebook
    page.keyboard.press("ArrowDown")
    assert page.locator(".jp-Cell").count() == cells
    board.screenshot(path=ARTEFACTS / f"{name}-keyboard.png")


def test_tab_reaches_the_board_once_and_then_the_buttons(keyboard_page):
    page, board = keyboard_page, board_of(keyboard_page, 0)
    board.get_by_role("button", name="New game").click()
    lab_module.wait_for(lambda: ply(board) == 0)
    board.locator('[data-area][tabindex="0"]').focus()
    page.keyboard.press("ArrowRight")
    board.screenshot(path=ARTEFACTS / "tictactoe-focus.png")
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.textContent") in ("Undo", "Hint")
    page.keyboard.press("Shift+Tab")
    assert page.evaluate("() => document.activeElement.getAttribute('aria-label')").startswith("play ")


# --- reruns, restarts, failures ------------------------------------------------------------------------------------------


def test_two_boards_rerun_and_kernel_restart(lab):
    page = lab.open("rerun", ['import azlab.show\nazlab.show.play("connect4", evaluation=False)', 'azlab.show.play("connect4")'])
    first, second = board_of(page, 0), board_of(page, 1)
    click_on(first, "play 4")
    assert (ply(first), ply(second)) == (1, 0)
    run_again(page)
    assert (ply(board_of(page, 0)), ply(board_of(page, 1))) == (0, 0)
    click_on(board_of(page, 0), "play 2")
    lab_module.restart(page)
    left_over = page.locator(".azlab-play").nth(0)
    left_over.get_by_role("button", name="New game").click()
    lab_module.wait_for(lambda: "The kernel does not answer" in left_over.locator(".azlab-message").inner_text())
    run_again(page)
    click_on(board_of(page, 1), "play 7")
    assert (ply(board_of(page, 0)), ply(board_of(page, 1))) == (0, 1)
    page.close()


def test_an_agent_that_raises(keyboard_page):
    board = board_of(keyboard_page, len(KEYBOARD))
    click_on(board, "play b2")
    lab_module.wait_for(lambda: state(board) == "failed")
    assert "moody failed (RuntimeError: not in the mood)" in board.locator(".azlab-error").inner_text()
    board.screenshot(path=ARTEFACTS / "agent-failed.png")
    board.get_by_role("button", name="Try again").click()
    lab_module.wait_for(lambda: state(board) == "thinking")
    board.screenshot(path=ARTEFACTS / "thinking.png")
    board.get_by_role("button", name="New game").click()  # while it thinks
    lab_module.wait_for(lambda: ply(board) == 0)
    click_on(board, "play c1")
    lab_module.wait_for(lambda: ply(board) == 2 and state(board) == "ready")


# --- replay and looks ----------------------------------------------------------------------------------------------------


def test_a_replay_is_stepped_through(keyboard_page):
    page = keyboard_page
    replay = page.locator(".azlab-replay")
    replay.wait_for()
    lab_module.wait_for(lambda: replay.get_attribute("data-review") == "done")
    step = lambda: int(replay.get_attribute("data-step"))  # noqa: E731
    assert step() == 11
    replay.get_by_role("button", name="to the start").click()
    lab_module.wait_for(lambda: step() == 0)
    replay.locator("input[type=range]").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    lab_module.wait_for(lambda: step() == 3)
    replay.locator(".azlab-list button").nth(6).click()
    lab_module.wait_for(lambda: step() == 7)
    page.keyboard.press("End")
    lab_module.wait_for(lambda: step() == 11)
    assert replay.locator("circle.azlab-mistake, circle.azlab-slip").count() >= 1
    replay.screenshot(path=ARTEFACTS / "replay.png")


LOOKS = [
    'import azlab.show\nazlab.show.play(azlab.game("go", size=19).from_moves("d4 q16 d16 q4 c10 k10"))',
    'azlab.show.play(azlab.game("connect4").from_moves("445362"), against="uct:200")',
    'azlab.show.play(azlab.game("dots_and_boxes").from_moves("aA aB Aa Ab bB cC"))',
    'azlab.show.play(azlab.game("seega").from_diagram("XX.OO\\nXO.O.\\n..X..\\nOXO.X\\nO.X.O"))',
    'azlab.show.replay("44444525363", agents=["uct:200"], game="connect4")',
]


@pytest.fixture(scope="module")
def looks(lab):
    page = lab.open("looks", LOOKS)
    yield page
    page.close()


@pytest.mark.parametrize(("theme", "width"), [("light", 1000), ("dark", 1000), ("dark", 420), ("light", 420)])
def test_how_it_looks(looks, theme, width):
    looks.set_viewport_size({"width": width, "height": 1000})
    lab_module.change_theme(looks, theme)
    for number, name in enumerate(("go19", "connect4", "dots_and_boxes", "seega")):
        board = board_of(looks, number)
        board.scroll_into_view_if_needed()
        lab_module.wait_for(lambda board=board: f"azlab-{theme}" in board.get_attribute("class"))
        box = board.bounding_box()
        assert box["x"] + box["width"] <= width, "the board is wider than the page"
        if name == "seega" and board.locator(".azlab-selected").count() == 0:
            board.locator("[data-area]").nth(1).click(force=True)
        board.locator("[data-area]").nth(2).hover(force=True)
        board.screenshot(path=ARTEFACTS / f"{name}-{theme}-{width}.png")
    replay = looks.locator(".azlab-replay")
    lab_module.wait_for(lambda: replay.get_attribute("data-review") == "done")
    replay.screenshot(path=ARTEFACTS / f"replay-{theme}-{width}.png")

"""The page of a tournament in a real browser, as a file without a server; screenshots go to test-artefacts/."""

from pathlib import Path

import pytest

import azlab
from azlab.arena.contestants import contestants
from azlab.arena.standings import standings
from azlab.arena.tournament import Tournament
from azlab.arena.tournament_file import Known, Played
from azlab.show.tournament_page import page

pytestmark = pytest.mark.slow
ARTEFACTS = Path(__file__).parents[2] / "test-artefacts"
MOVES = ("4", "4", "3", "3", "5", "5", "2")  # the first player has four in the lowest row
EVIL = "</script><script>document.title = 'run'</script>"


@pytest.fixture(scope="module")
def browser(need):
    from playwright.sync_api import sync_playwright

    ARTEFACTS.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=need("chromium"), args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tournament")
    for name in ("anna", "ben"):
        (folder / f"{name}.py").write_text("")
    tournament = Tournament(contestants(folder), azlab.game("connect4"), "connect4", folder / "out", games=2)
    digests = {one.name: one.digest for one in tournament.players}
    for key in tournament.all_keys():
        tournament.results.games[key] = Played(0, key[1:], (digests[key[1]], digests[key[2]]), 2, MOVES, 1)
    tournament.results.players["anna"] = Known("anna", digests["anna"], EVIL)
    (folder / "index.html").write_text(page(standings(tournament)), encoding="utf-8")
    return folder / "index.html"


@pytest.mark.parametrize(("width", "scheme"), [(1000, "light"), (360, "dark")])
def test_a_game_is_stepped_through(browser, written, width, scheme):
    view = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    faults = []
    view.on("console", lambda message: faults.append(message.text))
    view.on("pageerror", lambda error: faults.append(str(error)))
    view.on("request", lambda request: request.url.startswith("file:") or faults.append(request.url))
    view.goto(written.as_uri())
    view.screenshot(path=ARTEFACTS / f"tournament_{scheme}.png")
    assert view.evaluate("document.documentElement.scrollWidth") <= width
    view.locator(".cross a").first.click()
    assert view.locator("details[open]").count() == 1
    view.locator("details[open] button").first.click()
    discs, status = view.locator("#replay-board circle.azlab-disc0"), view.locator("#replay-status")
    assert status.text_content() == "Move 2 of 7: 4 (Red, opening)" and discs.count() == 1
    view.get_by_label("One move on").click()
    assert status.text_content() == "Move 3 of 7: 3 (Yellow, anna)" and discs.count() == 2
    view.get_by_label("To the end").click()
    assert discs.count() == 4 and view.locator("#replay-end").text_content() == "anna won."
    view.screenshot(path=ARTEFACTS / f"tournament_replay_{scheme}.png")
    view.keyboard.press("ArrowLeft")
    assert status.text_content().startswith("Move 6 of 7") and view.locator("#replay-end").text_content() == ""
    view.keyboard.press("Home")
    assert status.text_content() == "The start." and discs.count() == 0
    view.get_by_label("Play all moves").click()
    view.locator("#replay[data-step='7']").wait_for()
    view.get_by_role("button", name="Close").click()
    assert not view.locator("#replay").is_visible()
    assert faults == [] and "Tournament" in view.title()
    view.close()

"""The search explorer in JupyterLab, used by a real browser: steps, slider, play, clicks, keys."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import nbformat
import pytest

pytestmark = pytest.mark.slow
CHECKOUT = Path(__file__).parents[2]
CELL = 'import azlab\nexplorer = azlab.show.search("tictactoe", "puct:150")\nexplorer'
QUIET = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
PATIENCE = 120_000  # ms; the first search compiles, and the machine may be busy


@contextlib.contextmanager
def jupyter_lab(folder):
    """A JupyterLab of its own, with nothing of the user's in it: its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    private = {
        name: str(folder / name.lower()) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "HOME")
    }
    environment = {**os.environ, **private, "PYTHONPATH": str(CHECKOUT)}
    environment.setdefault("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))  # compiled kernels are those of the other tests
    command = [
        sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root", f"--ServerApp.port={port}",
        "--IdentityProvider.token=", "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.root_dir={folder}", "--LabApp.news_url=", "--LabApp.check_for_updates_class="
        "jupyterlab.NeverCheckForUpdate", "--LabApp.expose_app_in_browser=True",
    ]  # fmt: skip
    with (folder / "lab.log").open("w") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=folder)
        try:
            address = f"http://127.0.0.1:{port}"
            for _ in range(240):
                with contextlib.suppress(OSError), urllib.request.urlopen(f"{address}/api/status", timeout=5) as answer:
                    json.load(answer)
                    break
                assert server.poll() is None, (folder / "lab.log").read_text()[-2000:]
                time.sleep(0.5)
            yield address
        finally:
            server.terminate()
            try:
                server.wait(30)
            except subprocess.TimeoutExpired:
                server.kill()


def wait_for_kernel(address):
    """Until the notebook's kernel is connected and has nothing to do."""
    for _ in range(240):
        with urllib.request.urlopen(f"{address}/api/kernels", timeout=30) as answer:
            kernels = json.load(answer)
        if len(kernels) == 1 and kernels[0]["connections"] > 0 and kernels[0]["execution_state"] == "idle":
            return
        time.sleep(0.5)
    raise AssertionError(f"No kernel became ready: {kernels}")


@pytest.fixture(scope="module")
def page(need, tmp_path_factory):
    """A page with the notebook run, at the widget."""
    chromium = need("chromium")
    from playwright.sync_api import sync_playwright

    folder = tmp_path_factory.mktemp("lab")
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL), nbformat.v4.new_code_cell("")])
    book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}  # else it asks for one
    nbformat.write(book, folder / "explorer.ipynb")
    with jupyter_lab(folder) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=QUIET)
        page = browser.new_page(viewport={"width": 1500, "height": 1000})
        page.set_default_timeout(PATIENCE)
        page.goto(f"{address}/lab/tree/explorer.ipynb")
        page.wait_for_selector(".jp-Notebook .jp-CodeCell")
        wait_for_kernel(address)  # else running the cells starts a second one
        page.click("text=Run >> nth=0")
        page.click("text=Run All Cells")
        try:
            page.wait_for_selector(".azlab-search[data-step='150']")
        except Exception:
            picture(page, "missing", ".jp-Notebook")
            raise
        yield page
        browser.close()


def at(page, step):
    page.wait_for_selector(f".azlab-search[data-step='{step}']")
    return page.inner_text(".azlab-search .azlab-status")


def boxes(page):
    return page.locator(".azlab-tree [data-node]").count()


def picture(page, name, what=".azlab-search"):
    """A screenshot for whoever wants to look: set AZLAB_SCREENSHOTS to a folder."""
    folder = os.environ.get("AZLAB_SCREENSHOTS")
    if folder:
        page.locator(what).screenshot(path=f"{folder}/search_{name}.png")


def test_buttons_step_through_the_search(page):
    picture(page, "end")
    page.click("button[aria-label='First step']")
    assert at(page, 0).startswith("simulation 0 of 150, 1 node") and boxes(page) == 1
    for step in (1, 2, 3):
        page.click("button[aria-label='One step on']")
        assert f"{step + 1} nodes" in at(page, step) and boxes(page) == step + 1
    picture(page, "step_3")
    page.click("button[aria-label='One step back']")
    at(page, 2)
    page.click("button[aria-label='Last step']")
    at(page, 150)


def test_the_slider_and_its_keys(page):
    slider = page.locator(".azlab-search input[type=range]")
    slider.fill("40")
    at(page, 40)
    slider.focus()
    page.keyboard.press("ArrowRight")
    at(page, 41)
    page.keyboard.press("Home")
    at(page, 0)
    page.keyboard.press("End")
    at(page, 150)


def test_a_fast_slider_ends_where_it_was_left(page):
    slider = page.locator(".azlab-search input[type=range]")
    for step in (*range(10, 100, 3), 77):
        slider.evaluate("(it, step) => { it.value = step; it.dispatchEvent(new Event('input')) }", step)
    at(page, 77)
    time.sleep(0.5)
    at(page, 77)


def test_play_and_pause(page):
    page.click("button[aria-label='First step']")
    at(page, 0)
    page.select_option(".azlab-search select", "20")
    page.click("button[aria-label='Play']")
    page.wait_for_function("Number(document.querySelector('.azlab-search').dataset.step) >= 10")
    page.click("button[aria-label='Pause']")
    time.sleep(1)
    step = page.get_attribute(".azlab-search", "data-step")
    time.sleep(1)
    assert page.get_attribute(".azlab-search", "data-step") == step and page.is_visible("button[aria-label='Play']")
    page.select_option(".azlab-search select", "100")
    page.click("button[aria-label='Play']")
    at(page, 150)
    page.wait_for_selector("button[aria-label='Play']")  # it stops by itself


def test_a_click_selects_a_node_and_plus_shows_more(page):
    page.click("button[aria-label='Last step']")
    at(page, 150)
    child = page.locator(".azlab-table tr[data-node]").first
    name = child.locator("td").nth(1).inner_text()
    child.click()
    page.wait_for_function("name => document.querySelector('.azlab-heading').textContent.startsWith('After ' + name)", arg=name)
    page.locator(".azlab-tree [data-node='0']").click()
    page.wait_for_function("document.querySelector('.azlab-heading').textContent.startsWith('At the start')")
    before = boxes(page)
    toggle = page.locator(".azlab-tree [data-toggle]").first
    number, hidden = toggle.get_attribute("data-toggle"), int(toggle.text_content())
    toggle.click()
    page.wait_for_function(f"document.querySelectorAll('.azlab-tree [data-node]').length == {before + hidden}")
    picture(page, "expanded")
    page.locator(f".azlab-tree [data-toggle='{number}']").click()
    page.wait_for_function(f"document.querySelectorAll('.azlab-tree [data-node]').length < {before}")
    page.locator(f".azlab-tree [data-toggle='{number}']").click()
    page.wait_for_function(f"document.querySelectorAll('.azlab-tree [data-node]').length >= {before}")


def test_the_tree_is_used_by_keys_and_the_notebook_does_not_hear_them(page):
    cells = page.locator(".jp-Notebook .jp-Cell").count()
    page.click("button[aria-label='Last step']")
    page.locator(".azlab-tree [data-node='0']").click()
    page.focus(".azlab-tree")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.querySelector('.azlab-heading').textContent.startsWith('After')")
    first = page.inner_text(".azlab-heading")
    page.keyboard.press("ArrowDown")
    page.wait_for_function("text => document.querySelector('.azlab-heading').textContent != text", arg=first)
    picture(page, "keys")
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("document.querySelector('.azlab-heading').textContent.startsWith('At the start')")
    page.keyboard.press("PageUp")
    at(page, 140)
    before = boxes(page)
    page.keyboard.press("Enter")
    page.wait_for_function(f"document.querySelectorAll('.azlab-tree [data-node]').length != {before}")
    page.keyboard.press("Home")
    at(page, 0)
    page.keyboard.press(" ")
    page.wait_for_function("Number(document.querySelector('.azlab-search').dataset.step) > 0")
    page.keyboard.press(" ")
    page.wait_for_selector("button[aria-label='Play']")
    for key in "abdx":  # shortcuts of the notebook: insert, insert, delete, cut
        page.keyboard.press(key)
    assert page.locator(".jp-Notebook .jp-Cell").count() == cells


def test_python_can_turn_the_pages_too(page):
    page.locator(".jp-Notebook .jp-CodeCell .cm-content").last.click()
    page.keyboard.type("explorer.step = 33")
    page.keyboard.press("Shift+Enter")
    at(page, 33)
    assert page.input_value(".azlab-search input[type=range]") == "33"

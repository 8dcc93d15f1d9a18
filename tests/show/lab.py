"""JupyterLab in a real browser, for tests and for the pictures of the README."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import nbformat

ROOT = Path(__file__).parents[2]
BROWSER_ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
PATIENCE = 240  # seconds for whatever a loaded machine may take


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Lab:
    """A JupyterLab server of its own on a free port, and a browser to look at it."""

    def __init__(self, folder: Path, chromium: str | None = None) -> None:
        from playwright.sync_api import sync_playwright

        self.folder, self.url = folder, f"http://127.0.0.1:{free_port()}"
        (folder / "notebooks").mkdir(parents=True)
        self._setting("@jupyterlab/apputils-extension", "notification", {"fetchNews": "false", "checkForUpdates": False})
        places = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "JUPYTERLAB_WORKSPACES_DIR")
        environment = {**os.environ, **{name: str(folder / name.lower()) for name in places}}
        environment["JUPYTERLAB_SETTINGS_DIR"] = str(folder / "settings")
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
        command = [
            sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--ServerApp.port={self.url.rpartition(':')[2]}",
            "--ServerApp.ip=127.0.0.1", "--ServerApp.token=", "--ServerApp.password=", "--ServerApp.port_retries=0",
            "--LabApp.extension_manager=readonly", "--LabApp.expose_app_in_browser=True",
            f"--ServerApp.root_dir={folder / 'notebooks'}",
        ]  # fmt: skip
        with (folder / "server.log").open("w") as log:
            self._server = subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=folder)
        self._wait_for_server()
        self._playwright = sync_playwright().start()
        chromium = chromium or shutil.which("chromium")
        self.browser = self._playwright.chromium.launch(executable_path=chromium, args=BROWSER_ARGUMENTS)

    def _wait_for_server(self) -> None:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self._server.poll() is None:
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"{self.url}/api/status", timeout=5).close()
                return
            time.sleep(0.2)
        self._server.kill()
        raise RuntimeError(f"JupyterLab did not start:\n{(self.folder / 'server.log').read_text()[-2000:]}")

    def _setting(self, extension: str, name: str, values: dict) -> None:
        path = self.folder / "settings" / extension / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))

    def open(self, name: str, cells: list[str], width: int = 1000, height: int = 900):
        """Write a notebook, open it in a page of its own and run all cells."""
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
        notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
        nbformat.write(notebook, self.folder / "notebooks" / f"{name}.ipynb")
        page = self.browser.new_page(viewport={"width": width, "height": height})
        page.set_default_timeout(1000 * PATIENCE)
        page.goto(f"{self.url}/doc/tree/{name}.ipynb")
        page.wait_for_selector(".jp-Notebook .jp-Cell")
        run_all(page)
        return page

    def close(self) -> None:
        self.browser.close()
        self._playwright.stop()
        self._server.terminate()
        try:
            self._server.wait(20)
        except subprocess.TimeoutExpired:
            self._server.kill()


RUN_ALL = """async () => {
  const panel = window.jupyterapp.shell.currentWidget;
  await panel.sessionContext.ready;
  await panel.sessionContext.session.kernel.info;
  await window.jupyterapp.commands.execute("notebook:run-all-cells");
}"""


def run_all(page) -> None:
    """Run all cells, and wait until they are done."""
    page.wait_for_function("() => window.jupyterapp?.shell?.currentWidget?.sessionContext !== undefined")
    page.evaluate(RUN_ALL)


def restart(page) -> None:
    """Restart the kernel; nothing is run."""
    page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")


def change_theme(page, theme: str) -> None:
    """Light or dark, on a page that is open."""
    page.evaluate(f"() => window.jupyterapp.commands.execute('apputils:change-theme', {{theme: 'JupyterLab {theme.title()}'}})")


def wait_for(condition, seconds: float = PATIENCE) -> None:
    """Wait until `condition()` holds."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"This did not come true in {seconds:g} s.")
        time.sleep(0.02)

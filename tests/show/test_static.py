"""Boards in notebooks that run by themselves: what is stored shows a picture where no widget can be shown."""

import os
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter

pytestmark = pytest.mark.slow
CELLS = [
    'import azlab.show\nazlab.show.play("connect4", against="uct:100", seat=1)',
    'azlab.show.replay("4453", game="connect4", agents=["uct:100"])',
]


def test_a_stored_notebook_shows_pictures_of_its_boards(monkeypatch):
    root = Path(__file__).parents[2]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH", "")])))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in CELLS])
    NotebookClient(notebook, timeout=300, kernel_name="python3", store_widget_state=False).execute()
    shown = [output.data for cell in notebook.cells for output in cell.outputs if output.output_type == "execute_result"]
    assert shown[0]["text/plain"] == "<board for a person against uct:100: connect4, Yellow to move>"
    assert shown[1]["text/plain"] == "<replay of connect4: 4 moves, Yellow to move>"
    assert all(data["image/svg+xml"].startswith("<svg") for data in shown)
    page, _ = HTMLExporter().from_notebook_node(notebook)
    assert len(re.findall(r'<img[^>]+src="?data:image/svg', page)) == len(CELLS)

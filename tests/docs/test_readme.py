"""The README's Python examples run as shown."""

import re
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"


def test_the_examples_of_the_readme_run():
    names: dict = {}
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert len(blocks) >= 2
    for block in blocks:
        exec(block.replace("games=200", "games=4"), names)
    assert names["position"].legal_moves == list("1234567")
    assert names["oracle"].best_moves(names["game"].start()) == ["4"]

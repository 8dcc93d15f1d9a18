"""The README's Python examples run as shown, and it names every lesson and every source."""

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"


def test_the_examples_of_the_readme_run():
    names: dict = {}
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert len(blocks) >= 2
    for block in blocks:
        exec(block.replace("games=200", "games=4"), names)
    assert names["position"].legal_moves == list("1234567")
    assert names["oracle"].best_moves(names["game"].start()) == ["4"]


def test_every_lesson_has_a_line():
    lines = re.findall(r"^- \[(\d\d) .+\]\(notebooks/(.+)\): .+\.$", README.read_text(encoding="utf-8"), re.MULTILINE)
    assert [name for _, name in lines] == sorted(file.name for file in (ROOT / "notebooks").glob("*.ipynb"))
    assert all(name.startswith(number) for number, name in lines)


def test_every_source_is_named_as_in_the_citation_file():
    works = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["references"]
    folders = sorted(file.parent.name for file in (ROOT / "reproductions").glob("*/claims.toml"))
    rows = re.findall(r"^\| (S\d) \| (.*) \| (.*) \|$", README.read_text(encoding="utf-8"), re.MULTILINE)
    assert [number.lower() for number, _, _ in rows] == [name.split("_")[0] for name in folders] and len(works) == len(rows)
    for work, (_, title, author) in zip(works, rows, strict=True):
        who = work["authors"][0]
        known = who.get("alias") or f"{who['given-names']} {who['family-names']}" if "name" not in who else "not named"
        assert known in author and str(work.get("year", "")) in author
        assert ("year" in work) == bool(re.search(r"\b20\d\d\b", author))
        assert f"*{work['title']}*" in title or "alias" in who  # the title of that one is not known

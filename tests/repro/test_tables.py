"""Tables in README and docs say what the results say."""

import pytest

from azlab.errors import AzlabError
from azlab.repro import tables

from .test_results import number, result


def test_every_generated_table_is_up_to_date():
    marked = [file for file in tables.files() if "<!-- verdicts -->" in file.read_text()]
    assert "README.md" in [file.name for file in marked]
    for file in marked:
        text = file.read_text()
        assert tables.with_tables(text) == text, f"{file.name}: run python -m azlab.repro.tables"


def test_a_table_follows_its_results(toy):
    toy.source()
    (toy.folder / "README.md").write_text("before\n<!-- verdicts -->\nold\n<!-- end -->\nafter\n")
    for seed in (0, 1):
        number(1.0, seed=seed).keep()
    result(experiment="other", profile="laptop").keep()
    assert tables.main() == 0
    assert "| none yet |" in (toy.folder / "README.md").read_text()  # the notebook is to come
    toy.notebook()
    assert tables.main() == 0
    text = (toy.folder / "README.md").read_text()
    row = "| S9 A toy | `other` at laptop, `toy` at smoke, 2 seeds | `01_toy` | 1 reproduced, 2 not run at this scale |"
    assert (
        row in text
        and "old" not in text
        and text.startswith("before\n<!-- verdicts -->\n")
        and text.endswith("<!-- end -->\nafter\n")
    )
    with pytest.raises(AzlabError, match="no table 'numbers'; there are verdicts"):
        tables.with_tables("<!-- numbers -->\n<!-- end -->")

"""docs/interop.md works as printed."""

import contextlib
import io
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "interop.md"
CODE = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("number", "package"), [(0, "open_spiel"), (1, "pettingzoo")])
def test_the_code_runs(number, package, need):
    need.package(package)
    names, printed = {}, io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(CODE[number], names)
    if package == "open_spiel":
        assert printed.getvalue().splitlines()[-1] == "True" and "Second to move" in printed.getvalue()
    else:
        assert not names["env"].agents  # the game was played to its end

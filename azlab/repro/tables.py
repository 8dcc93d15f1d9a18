"""Tables in README and docs that are made from results, between two marks: `<!-- verdicts -->` and `<!-- end -->`.

python -m azlab.repro.tables        # writes them anew; a test compares
"""

import re
import sys
from collections.abc import Callable
from pathlib import Path

from azlab.errors import AzlabError
from azlab.files import checkout, write_aside
from azlab.repro import experiments, report, results
from azlab.repro.rows import counts_line
from azlab.repro.sources import has_notebook

MARKED = re.compile(r"(?P<begin><!-- (?P<name>[a-z ]+) -->\n).*?(?P<end><!-- end -->)", re.DOTALL)
PLACES = ("README.md", "docs/*.md", "reproductions/README.md")


def verdicts() -> str:
    """Each source: the experiments whose results are kept, their notebooks, and what became of its claims."""
    lines = ["| source | kept results | notebooks | claims |", "|---|---|---|---|"]
    committed = results.committed()
    for section in report.gather().sections:
        name = section.source.name
        own = [one for one in committed if one.source == name]
        known = [one for one in experiments.load(name) if has_notebook(one.notebook)]  # one may be to come
        shown = sorted({one.notebook for one in known if any(one.name == kept.experiment for kept in own)})
        kept = [f"`{experiment}` at {profile}{_seeds(own, experiment, profile)}" for experiment, profile in _kinds(own)]
        cells = [f"{section.source.short.upper()} {section.source.title}", ", ".join(kept) or "none"]
        cells += [", ".join(f"`{notebook}`" for notebook in shown) or "none yet", counts_line(section.counts)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _kinds(own: list[results.Result]) -> list[tuple[str, str]]:
    return list(dict.fromkeys((one.experiment, one.profile) for one in own))


def _seeds(own: list[results.Result], experiment: str, profile: str) -> str:
    count = sum((one.experiment, one.profile) == (experiment, profile) for one in own)
    return f", {count} seeds" if count > 1 else ""


TABLES: dict[str, Callable[[], str]] = {"verdicts": verdicts}


def with_tables(text: str) -> str:
    """`text` with what stands between marks made anew."""

    def fill(match: re.Match) -> str:
        if match["name"] not in TABLES:
            raise AzlabError(f"There is no table {match['name']!r}; there are {', '.join(TABLES)}.")
        return f"{match['begin']}{TABLES[match['name']]()}\n{match['end']}"

    return MARKED.sub(fill, text)


def files() -> list[Path]:
    """The files that may have marks."""
    return [file for place in PLACES for file in sorted(checkout("Pages with tables are").glob(place))]


def main() -> int:
    for file in files():
        old = file.read_text(encoding="utf-8")
        new = with_tables(old)
        if new != old:
            write_aside(file, lambda aside, new=new: aside.write_text(new, encoding="utf-8"))  # type: ignore[misc]
            print(f"{file.name}: written anew")
    return 0


if __name__ == "__main__":
    sys.exit(main())

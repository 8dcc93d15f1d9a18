"""What a source claimed: `reproductions/<source>/claims.toml`.

    title = "Value networks by generations"            # of the source's section in the report
    summary = "One or two sentences on what was done."

    [[group]]                                          # claims that share keys; a claim may override any of them
    where = "Task 1, game result"
    profile = "laptop"
    experiment = "tictactoe"
    tolerance = 0.02
    claims = [
        { id = "s1.tictactoe.black.wins", metric = "share of 384 lines won as black", value = 0.9896 },
    ]

Keys of a claim:

    id          starts with the short name of the source: s1.tictactoe.black.wins
    where       table, figure or section of the source
    metric      what was measured, in a few words
    value       a number, text, true or false; several parts: a list or a table of numbers; left out where the source lost it
    x           the list of x values that makes a list `value` a curve; ours is held to it at each of them
    table       instead of `value` and `x`: a file in data/sources and the names of its columns,
                table = { file = "s3_training_curve.csv", value = "loss", x = "epoch" }
    unit        behind the numbers, e.g. "%"
    profile     the smallest profile at which the claim is checked: smoke, laptop or paper
    experiment  the experiment of this source that checks it
    unchecked   instead of a criterion: why it cannot be checked here

and one criterion, except for text, true and false, which have to be equal:

    tolerance   largest absolute difference from the source
    relative    largest difference as a share of the source's value
    direction   "at least", "at most", "above", "below": than the source's value, or
                than = "another.id": than what *we* measured for another claim at the same profile, `margin` apart (default 0)
                "rises", "falls": our curve ends above or below where it starts, by more than `margin`

With `sure = true` a criterion of numbers has to hold for the whole interval around ours, from value - spread to value + spread:

    sure        reproduced: at both ends of the interval; partly: for the value alone, or there is no interval; else not
                The spread is half the width of a 95 % interval: as recorded, or of the mean over several results (Student's t).
                In a comparison by `than` the interval of the difference counts. Its half width is the root of the sum of both
                squares, unless the experiment recorded that of differences taken seed by seed (`paired`). A claim may also be
                a difference itself, held to a number: direction = "above", value = 0. Then its own spread counts.
                Of lists and tables each part is judged by itself, with its own spread.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from azlab.errors import AzlabError
from azlab.repro.reading import is_name, is_number, read_toml
from azlab.repro.sources import PROFILES, short_name, source_folder, source_names, source_table

COMPARISONS = ("at least", "at most", "above", "below")
TRENDS = ("rises", "falls")
CRITERIA = ("tolerance", "relative", "direction")  # a claim's own replaces that of its group; text, true and false take none
Value = float | int | str | bool | list | dict | None


@dataclass(frozen=True)
class Claim:
    """One claim; the keys are described at the top of this file."""

    id: str
    where: str
    metric: str
    value: Value = None
    x: list | None = None
    unit: str = ""
    profile: str = ""
    experiment: str = ""
    unchecked: str = ""
    tolerance: float | None = None
    relative: float | None = None
    direction: str = ""
    than: str = ""
    margin: float = 0.0
    sure: bool = False

    @property
    def is_curve(self) -> bool:
        return self.x is not None or self.direction in TRENDS

    @property
    def kind(self) -> str:
        """What an experiment has to record for it: number, text, truth, list, table or curve."""
        if self.is_curve:
            return "curve"
        kinds: dict[type, str] = {bool: "truth", str: "text", list: "list", dict: "table"}
        return kinds.get(type(self.value), "number")

    def takes(self, value: object) -> str:
        """What has to be recorded for it, if `value` has another form; empty if it fits. None stands for no finite number."""
        kind = self.kind
        wanted = {"number": "a number", "text": "text", "truth": "True or False", "curve": "a curve"}.get(kind, "")
        number = lambda part: part is None or is_number(part)  # noqa: E731
        if isinstance(self.value, list) and kind == "list":
            wanted = f"a list of {len(self.value)} numbers"
            fits = isinstance(value, list) and len(value) == len(self.value) and all(map(number, value))
        elif isinstance(self.value, dict) and kind == "table":
            wanted = f"a number for each of {', '.join(self.value)}"
            fits = isinstance(value, dict) and set(value) == set(self.value) and all(map(number, value.values()))
        else:
            forms = {"number": number(value), "text": isinstance(value, str), "truth": isinstance(value, bool)}
            fits = forms.get(kind, False)
        return "" if fits else wanted


@dataclass(frozen=True)
class Source:
    """A source and its claims, in the order of the file."""

    name: str
    title: str
    summary: str
    claims: tuple[Claim, ...]

    @property
    def short(self) -> str:
        return short_name(self.name)

    def claim(self, claim_id: str) -> Claim:
        found = next((claim for claim in self.claims if claim.id == claim_id), None)
        if found is None:
            raise AzlabError(f"{self.name} has no claim {claim_id!r}.{_similar(claim_id, [claim.id for claim in self.claims])}")
        return found


def load_all() -> list[Source]:
    """Every source, in order."""
    return [load(name) for name in source_names()]


def load(name: str) -> Source:
    """One source by its short or full name. A mistake in its file raises a sentence that names the claim."""
    file = source_folder(name) / "claims.toml"
    content = read_toml(file, "Mend it, or restore it with git.")
    _only(content, ("title", "summary", "group"), file)
    _need(content, ("title", "summary", "group"), file)
    if not isinstance(content["title"], str) or not isinstance(content["summary"], str):
        _complain(file, "title and summary have to be text")
    claims: list[Claim] = []
    for group in _tables(content["group"], "[[group]]", file):
        shared = {key: value for key, value in group.items() if key != "claims"}
        for own in _tables(group.get("claims") or _complain(file, f"a group without claims: {shared}"), "claims", file):
            own_criterion = set(own) & set(CRITERIA) or isinstance(own.get("value"), str | bool)
            inherited = {key: value for key, value in shared.items() if key not in CRITERIA or not own_criterion}
            claims.append(_claim({**inherited, **own}, file))
    source = Source(file.parent.name, content["title"], content["summary"], tuple(claims))
    _check_together(source, file)
    return source


def _tables(value: Any, name: str, file: Path) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(part, dict) for part in value):
        _complain(file, f"{name} has to be a list of tables")
    return value


def _claim(keys: dict[str, Any], file: Path) -> Claim:
    place = f"{file}, claim {keys['id'] if is_name(keys.get('id')) else '(without a proper id)'}"
    if isinstance(keys.get("table"), dict):
        keys = _with_table(dict(keys), place)
    _only(keys, [field.name for field in fields(Claim)], place)
    _need(keys, ("id", "where", "metric"), place)
    claim = Claim(**keys)
    for name in ("id", "where", "metric", "unit", "profile", "experiment", "unchecked", "direction", "than"):
        if not isinstance(getattr(claim, name), str):
            _complain(place, f"{name} has to be text")
    if not is_name(claim.id):
        _complain(place, "an id is made of letters, digits, points, dashes and underscores")
    if not isinstance(claim.sure, bool):
        _complain(place, "sure has to be true or false")
    _check_value(claim, place)
    if claim.unchecked:
        return claim
    _check_criterion(claim, place)
    if claim.profile not in PROFILES:
        _complain(place, f"profile has to be one of {', '.join(PROFILES)}, not {claim.profile!r}")
    if not claim.experiment:
        _complain(place, "it names no experiment; a claim that cannot be checked here says so with `unchecked`")
    return claim


def _with_table(keys: dict[str, Any], place: str) -> dict[str, Any]:
    """Replace `table` by the `value` and `x` it stands for. Rows with an empty cell are left out."""
    table = keys.pop("table")
    if "value" in keys or "x" in keys:
        _complain(place, "it has a `table`, so `value` and `x` are its columns' names there")
    _only(table, ("file", "value", "x"), place)
    _need(table, ("file", "value"), place)
    if not all(isinstance(name, str) for name in table.values()):
        _complain(place, "a `table` names a file and its columns, all of them text")
    columns = source_table(table["file"])
    for name in (table["value"], table.get("x", table["value"])):
        if name not in columns:
            _complain(place, f"{table['file']} has no column {name!r}; it has {', '.join(columns)}")
    rows = list(zip(columns[table["value"]], columns[table.get("x", table["value"])]))
    rows = [row for row in rows if all(row)]
    try:
        keys["value"] = [float(value) for value, _ in rows]
        if "x" in table:
            keys["x"] = [float(x) for _, x in rows]
    except ValueError as error:
        _complain(place, f"{table['file']} holds something that is no number: {error}")
    return keys


def _check_value(claim: Claim, place: str) -> None:
    value = claim.value
    if isinstance(value, list | dict):
        parts = list(value.values()) if isinstance(value, dict) else value
        if not parts or not all(is_number(part) for part in parts):
            _complain(place, "a list or table as `value` holds numbers, at least one")
    elif not (value is None or isinstance(value, str | bool) or is_number(value)):
        _complain(place, "`value` has to be a number, text, true, false, a list or a table of numbers")
    if claim.x is not None:
        if not isinstance(value, list) or not isinstance(claim.x, list) or len(claim.x) != len(value):
            _complain(place, "`x` needs a list `value` of the same length")
        if not all(map(is_number, claim.x)):
            _complain(place, "`x` holds numbers")
        if any(b <= a for a, b in zip(claim.x, claim.x[1:])):
            _complain(place, "`x` has to increase")


def _check_criterion(claim: Claim, place: str) -> None:
    if claim.sure and claim.kind not in ("number", "list", "table"):
        _complain(place, "`sure` asks for an interval, which only numbers have")
    given = [name for name in CRITERIA if getattr(claim, name) not in (None, "")]
    if isinstance(claim.value, str | bool):
        if given or claim.than:
            _complain(place, f"text, true and false have to be equal, so it takes no {given[0] if given else 'than'}")
        return
    if len(given) != 1:
        _complain(place, f"it needs exactly one of tolerance, relative and direction, and has {' and '.join(given) or 'none'}")
    for name in ("tolerance", "relative", "margin"):
        number = getattr(claim, name)
        if number is not None and not (is_number(number) and number >= 0):
            _complain(place, f"{name} has to be a number from 0 on")
    if claim.direction and claim.direction not in COMPARISONS + TRENDS:
        _complain(place, f"direction has to be one of {', '.join(COMPARISONS + TRENDS)}, not {claim.direction!r}")
    if (claim.than or claim.margin) and not claim.direction:
        _complain(place, "`than` and `margin` go with a direction")
    if claim.than and (claim.direction in TRENDS or claim.kind != "number"):
        _complain(place, "`than` compares two numbers")
    if claim.margin and not (claim.than or claim.direction in TRENDS):
        _complain(place, "`margin` goes with `than`, rises or falls")
    if claim.value is None and not (claim.than or claim.direction in TRENDS):
        _complain(place, "without a `value` it can only be compared by `than`, rises or falls")


def _check_together(source: Source, file: Path) -> None:
    seen: set[str] = set()
    for claim in source.claims:
        if claim.id in seen:
            _complain(file, f"the id {claim.id} is used twice")
        if not claim.id.startswith(source.short + "."):
            _complain(file, f"the id {claim.id} has to start with {source.short}.")
        seen.add(claim.id)
    for claim in source.claims:
        if claim.than and claim.than not in seen:
            _complain(file, f"{claim.id} is compared with another claim, and there is no claim {claim.than!r}")
        if claim.than and source.claim(claim.than).kind != "number":
            _complain(file, f"{claim.id} is compared with {claim.than}, which is no number")


def _similar(word: str, names: list[str]) -> str:
    import difflib

    close = difflib.get_close_matches(word, names, 3, 0.5)
    return f" Did you mean {' or '.join(close)}?" if close else ""


def _only(keys: Iterable[str], allowed: Iterable[str], place: object) -> None:
    allowed = list(allowed)
    for key in keys:
        if key not in allowed:
            _complain(place, f"there is no key {key!r}.{_similar(key, allowed)} The keys are {', '.join(allowed)}")


def _need(keys: dict[str, Any], needed: Iterable[str], place: object) -> None:
    for key in needed:
        if not keys.get(key):
            _complain(place, f"it has no {key}")


def _complain(place: object, what: str) -> Any:
    raise AzlabError(f"{place}: {what}.")

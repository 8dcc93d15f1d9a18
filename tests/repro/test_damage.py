"""Files that a crash, an editor or a stranger spoiled: every one ends in a sentence that names it, never in a traceback."""

import copy
import json
import os
import random
import shutil
import tomllib

import pytest

from azlab.errors import AzlabError
from azlab.repro import experiments, page, report, results, runner

from .conftest import CLAIMS, SMOKE
from .test_results import result

PROFILES = SMOKE + ("[toy.probe]\ngames = 10\n[toy.laptop]\ngames = 100\n[toy.work]\nsmoke = 3\nprobe = 10\nlaptop = 100\n")
MORE_CLAIMS = """
[[group]]
where = "Table 2"
profile = "smoke"
experiment = "toy"
claims = [
    { id = "s9.list", metric = "a list", value = [1, 2.5], relative = 0.5, unit = "%" },
    { id = "s9.table", metric = "a table", value = { a = 1, b = 2 }, tolerance = 1.0 },
    { id = "s9.than", metric = "more", direction = "above", than = "s9.number", margin = 0.5 },
    { id = "s9.trend", metric = "a trend", direction = "rises" },
    { id = "s9.csv", metric = "a table of its own", tolerance = 1, table = { file = "t.csv", value = "y", x = "x" } },
    { id = "s9.no", metric = "lost", unchecked = "the drawing is lost" },
]
"""
MEASURED = {
    "claims": {
        "s9.number": {"value": 1.05, "spread": 0.1, "runs": 3, "note": "so"},
        "s9.word": {"value": "yes"}, "s9.list": {"value": [1, None], "spread": [0.1, 0.2]},
        "s9.table": {"value": {"a": 1, "b": 2.5}}, "s9.than": {"value": 7},
    },
    "curves": {
        "s9.curve": [{"label": "", "x": [1, 2, 3], "y": [1.0, 2.0, 3.0]}], "s9.trend": [{"label": "b", "x": [1, 2], "y": [1, 2]}]
    },
    "data": {"a line": [1, None, 2.5], "words": {"a": "b"}},
}  # fmt: skip
KINDS = ["claims", "profiles", "result", "run"]


class Files:
    """One of each kind of file, good; `use` reads one as the commands do, and returns the sentences about it."""

    def __init__(self, toy):
        self.toy = toy
        self.home = toy.source(CLAIMS + MORE_CLAIMS, PROFILES)
        (toy.folder / "data" / "sources" / "t.csv").write_text("x,y\n1,5\n2,\n3,7\n")
        toy.notebook()
        self.folder = toy.folder / "runs" / "a"
        run = runner.new_run(experiments.select([])[0], "smoke", 0, self.folder)
        run.experiments[0].began = run.started
        run.save()
        self.paths = {
            "claims": self.home / "claims.toml", "profiles": self.home / "profiles.toml", "run": self.folder / "run.json",
            "result": result(**MEASURED).keep(),
        }  # fmt: skip
        self.good = {kind: path.read_bytes() for kind, path in self.paths.items()}

    def use(self, kind):
        try:
            if kind in ("claims", "result"):
                return self.reported()
            if kind == "profiles":
                experiments.select([])
                runner.old_run(self.folder)
            if kind == "run":
                runner.old_run(self.folder)
        except AzlabError as error:
            return [str(error)]
        return []

    def reported(self, runs=()):
        content = report.gather(runs)
        text = page.html(content.sections, content.faults)
        assert "<script" not in text and page.markdown(content.sections, content.faults)
        return content.faults


@pytest.fixture
def files(toy):
    return Files(toy)


@pytest.mark.parametrize("kind", KINDS)
def test_undamaged_files_are_good(kind, files):
    assert files.use(kind) == []


DAMAGE = {
    "empty": b"", "not UTF-8": b"\xff\xfe\x00{", "no object": b"[1, 2]", "cut off": b'{"a": [1, 2', "nested": b"[" * 100_000,
    "text": b"hello", "half a character": b'{"source": "\\ud800"}', "digits": b'{"seed": ' + b"9" * 5000 + b"}",
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("damage", [*DAMAGE, "a folder", "a pipe", "huge"])
def test_a_spoiled_file_gets_one_sentence_that_names_it(damage, kind, files):
    path = files.paths[kind]
    path.unlink()
    if damage == "a folder":
        path.mkdir()
    elif damage == "a pipe":
        os.mkfifo(path)
    elif damage == "huge":
        path.write_bytes(files.good[kind] + b" " * 50_000_000)
    else:
        path.write_bytes(DAMAGE[damage] if damage != "nested" or kind not in ("claims", "profiles") else b"a = " + DAMAGE[damage])
    if damage == "empty" and kind == "profiles":
        assert (
            "There is no experiment 's9.toy'" in files.use(kind)[0]
        )  # an empty table is good TOML: the source has no experiments then
        return
    said = files.use(kind)
    assert said and str(path) in said[0] and "\n" not in said[0] and said[0].endswith(".")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "1e301", "true", '"1"', "null", "[]", "{}", "-1"])
@pytest.mark.parametrize("field", ["seed", "seconds", "x", "runs"])
def test_a_number_that_is_none_is_refused(field, number, files):
    text = files.good["result"].decode()
    old = {"seed": '"seed": 0', "seconds": '"seconds": 1.0', "x": "[ 1, 2, 3 ]", "runs": '"runs": 3'}[field]
    assert old in text
    new = {"x": f"[{number}, 2, {number}]"}.get(field, f'"{field}": {number}')
    files.paths["result"].write_text(text.replace(old, new))
    with pytest.raises(AzlabError, match="toy-smoke-seed0.json"):
        results.read(files.paths["result"])


def test_a_bad_result_is_named_in_the_report_and_hides_no_other(toy, files):
    files.paths["result"].write_text("{")
    result(seed=1, **MEASURED).keep()
    result(seed=2, claims={"s9.number": {"value": "a word"}}).keep()  # in order, but not what the claim takes
    code, output = toy.azlab("report", "--out", "here")
    assert code == 1 and "Traceback" not in output
    html, markdown = ((toy.folder / "here" / name).read_text() for name in ("report.html", "report.md"))
    for name in ("toy-smoke-seed0.json", "toy-smoke-seed2.json"):
        assert name in output and name in html and name in markdown
    assert "seed1" in html and "s9.number takes a number" in output


def test_bad_claims_of_one_source_hide_no_other(toy, files):
    toy.source("title = 3", name="s8_other")
    code, output = toy.azlab("report", "--out", "here")
    assert code == 1 and "s8_other/claims.toml" in output and "s9_toy: " in output
    assert "s8_other/claims.toml" in (toy.folder / "here" / "report.html").read_text()


def test_a_spoiled_run_is_passed_over_when_the_newest_is_looked_for(toy, files):
    for name in ("b", "c", "d"):
        shutil.copytree(files.folder, files.folder.parent / name)
    (files.folder.parent / "b" / "run.json").write_bytes(b"\xff")
    (files.folder.parent / "c" / "run.json").write_text('{"profile": 1}')
    newest = json.loads((files.folder / "run.json").read_text()) | {"started": "2999-01-01T00:00:00+00:00"}
    (files.folder.parent / "d" / "run.json").write_text(json.dumps(newest))
    said = []
    assert runner.newest_unfinished(files.folder.parent, said.append).folder.name == "d"
    assert len(said) == 2 and "b/run.json" in said[0] and "c/run.json" in said[1]


# --- random damage ----------------------------------------------------------------------------------------------------


def bitten(random, data):
    """Some bytes flipped, cut out, doubled or put in."""
    data = bytearray(data)
    for _ in range(random.randint(1, 4)):
        place, length = random.randrange(len(data) + 1), random.choice((1, 1, 2, 8, 100))
        kind = random.choice(("flip", "cut", "insert", "double", "end"))
        if kind == "flip" and place < len(data):
            data[place] ^= 1 << random.randrange(8)
        elif kind == "cut":
            del data[place : place + length]
        elif kind == "insert":
            data[place:place] = random.choice(
                (random.randbytes(length), b'"', b"{", b"]", b"9" * length, b"-", b"\n", b"e9", b"\\u")
            )
        elif kind == "double":
            data[place:place] = data[place : place + length]
        elif random.random() < 0.2:
            del data[place:]
    return bytes(data)


OTHERS = [
    None, True, False, 0, -1, 1, 3.5, 10**30, 10**300, -(10**300), 1e300, 5e-324, "", "x", "../../x", "<script>", "\x00",
    "s9.number",
    "smoke", "paper", "done", [], [[]], [1, 2], [2, 1], ["a"], {}, {"a": 1}, {"value": 1}, [{}], {"x": {"y": [None]}}, "at least",
    "rises",
    "2026-01-01T00:00:00", "01_toy", "s9_toy", [None], "é" * 300, "text\nwith lines",
]  # fmt: skip


def reshaped(random, content):
    """Some values replaced by others, keys dropped, added or renamed, anywhere in nested lists and tables."""
    content = copy.deepcopy(content)
    for _ in range(random.randint(1, 3)):
        holders, waiting = [], [content]
        while waiting:
            one = waiting.pop()
            if isinstance(one, dict | list) and one:
                holders.append(one)
                waiting += one.values() if isinstance(one, dict) else one
        if not holders:
            break
        holder = random.choice(holders)
        key = random.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        kind = random.random()
        if kind < 0.7:
            holder[key] = copy.deepcopy(random.choice(OTHERS))
        elif kind < 0.85:
            del holder[key]
        elif isinstance(holder, dict):
            holder[random.choice(("x", "value", "id", "", "a b", "../y", "table"))] = holder.pop(key)
        else:
            holder.append(copy.deepcopy(random.choice([*holder, *OTHERS])))
    return content


def as_toml(value, top=True):
    """TOML has no null; a key of it is left out."""
    if isinstance(value, dict):
        pairs = [f"{json.dumps(key)} = {as_toml(part, False)}" for key, part in value.items() if part is not None]
        return "\n".join(pairs) if top else "{ " + ", ".join(pairs) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(as_toml(part, False) for part in value if part is not None) + "]"
    return json.dumps(value)


@pytest.mark.parametrize("kind", KINDS)
def test_bytes_damaged_at_random(kind, files, many):
    chance, refused = random.Random(1), 0
    for _ in range(many(150)):
        data = bitten(chance, files.good[kind])
        files.paths[kind].write_bytes(data)
        refused += bool(files.use(kind))
    assert refused > 0


@pytest.mark.parametrize("kind", KINDS)
def test_values_replaced_at_random(kind, files, many):
    chance, refused = random.Random(2), 0
    text = files.good[kind].decode()
    toml = files.paths[kind].suffix == ".toml"
    content = tomllib.loads(text) if toml else json.loads(text)
    assert not toml or tomllib.loads(as_toml(content)) == content
    for _ in range(many(150)):
        other = reshaped(chance, content)
        files.paths[kind].write_text(as_toml(other) if toml else json.dumps(other), encoding="utf-8")
        refused += bool(files.use(kind))
    assert refused > 0

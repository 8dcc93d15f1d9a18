"""Data sets: finding, verifying, downloading from a server on this computer, reading."""

import functools
import gzip
import hashlib
import http.server
import io
import os
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from azlab.formats import datasets
from azlab.formats.datasets import CATALOGUE, DamagedData, MissingData

TEXT = b" 4 2\n4 4 0\n42 26 2 4266 426611\n"
GAMES = {"000108.sgf": b"(;SZ[9];B[ee])", "TW.sgf": b"(;SZ[9];B[dd])"}
RATED = {"2014-12-14T05-08-24.684Z_8wbaam6rlzhc.sgf": b"(;SZ[9]RE[B+2])"}


def packed_text(content: bytes = TEXT, level: int = 9) -> bytes:
    return gzip.compress(content, compresslevel=level, mtime=123)


def packed_tar(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return stream.getvalue()


def zipped(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def put(file: Path, content: bytes) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    return file


@pytest.fixture(autouse=True)
def elsewhere(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Point everything at an empty folder and at small contents, except in the tests of the real files."""
    if "need" in request.fixturenames:
        return
    monkeypatch.setenv("AZLAB_DATA", str(tmp_path / "cache"))
    monkeypatch.delenv("AZLAB_DATA_MIRROR", raising=False)
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(datasets, "_verified", {})
    for name, checksum in (
        ("connect4/hard_test.txt.gz", hashlib.sha256(TEXT).hexdigest()),
        ("go/9x9_pro.tar.gz", datasets._members_checksum(GAMES)),
        ("go/9x9_rated.tar.gz", datasets._members_checksum(RATED)),
        ("go/kgs_2003.tar.gz", datasets._members_checksum(GAMES)),
    ):
        monkeypatch.setitem(CATALOGUE, name, replace(CATALOGUE[name], sha256=checksum))


HARD = "connect4/hard_test.txt.gz"


# Finding and verifying


def test_the_catalogue_is_complete():
    assert len(CATALOGUE) == 10
    for name, dataset in CATALOGUE.items():
        assert name == dataset.name
        assert dataset.description and dataset.origin and dataset.size > 0 and len(dataset.sha256) == 64
        assert bool(dataset.address) == (name != "connect4/source_curves.json")


def test_missing_data_says_how_to_get_it():
    with pytest.raises(MissingData) as caught:
        datasets.path(HARD)
    for part in (HARD, "github.com/ColaColin/MasterThesis", f"azlab data get {HARD}", "AZLAB_DATA_MIRROR"):
        assert part in str(caught.value)


def test_data_without_a_download_says_so():
    for call in (datasets.path, datasets.get):
        with pytest.raises(MissingData, match="no download.*AZLAB_DATA_MIRROR"):
            call("connect4/source_curves.json")


def test_an_unknown_name_lists_the_names():
    with pytest.raises(ValueError, match="no data set called 'go/10x10'.*go/9x9_pro.tar.gz"):
        datasets.path("go/10x10")


def test_the_mirror_comes_before_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    cached = put(tmp_path / "cache" / HARD, packed_text())
    assert datasets.path(HARD) == cached
    mirrored = put(tmp_path / "mirror" / HARD, packed_text())
    monkeypatch.setenv("AZLAB_DATA_MIRROR", str(tmp_path / "mirror"))
    assert datasets.path(HARD) == mirrored
    assert datasets.get(HARD, web="http://127.0.0.1:9/") == mirrored
    mirrored.unlink()
    assert datasets.path(HARD) == cached


def test_the_cache_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.delenv("AZLAB_DATA")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert datasets.cache_folder() == tmp_path / "azlab" / "data"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert datasets.cache_folder() == tmp_path / "home" / ".cache" / "azlab" / "data"


def test_the_checksum_is_of_the_content_not_of_the_packing(tmp_path: Path):
    for level in (1, 9):
        put(tmp_path / "cache" / HARD, packed_text(level=level))
        assert datasets.path(HARD)
    for folder, names in (("a", list(GAMES)), ("b/c", list(reversed(GAMES)))):
        archive = packed_tar({f"{folder}/{name}": GAMES[name] for name in names})
        put(tmp_path / "cache" / "go/9x9_pro.tar.gz", archive)
        assert datasets.path("go/9x9_pro.tar.gz")


@pytest.mark.parametrize(
    "content",
    [packed_text(b"other"), packed_text()[:-9], b"<html>not found</html>", b""],
    ids=["other", "cut", "html", "empty"],
)
def test_a_damaged_file_is_refused(tmp_path: Path, content: bytes):
    put(tmp_path / "cache" / HARD, content)
    with pytest.raises(DamagedData, match="Delete it and get it again"):
        datasets.path(HARD)


def test_a_damaged_archive_is_refused(tmp_path: Path):
    for content in (packed_tar(RATED), packed_tar(GAMES)[:-30], packed_tar({**GAMES, "x/TW.sgf": b"(;)"})):
        put(tmp_path / "cache" / "go/9x9_pro.tar.gz", content)
        with pytest.raises(DamagedData):
            datasets.path("go/9x9_pro.tar.gz")


def test_a_file_is_read_once_until_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = put(tmp_path / "cache" / HARD, packed_text())
    reads = []
    checksum = datasets.content_checksum
    monkeypatch.setattr(datasets, "content_checksum", lambda path, dataset: reads.append(path) or checksum(path, dataset))
    datasets.path(HARD)
    # As in a new process: only the stamp on disk remembers.
    datasets._verified.clear()
    datasets.path(HARD)
    assert len(reads) == 1
    os.utime(file, ns=(1, 1))
    datasets.path(HARD)
    assert len(reads) == 2
    put(file, packed_text(b"changed"))
    with pytest.raises(DamagedData):
        datasets.path(HARD)


def test_a_cache_that_cannot_be_written_is_tolerated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    put(tmp_path / "mirror" / HARD, packed_text())
    monkeypatch.setenv("AZLAB_DATA_MIRROR", str(tmp_path / "mirror"))
    # A file where the folder should be: nobody can write there, not even an administrator.
    monkeypatch.setenv("AZLAB_DATA", str(put(tmp_path / "a_file", b"")))
    assert datasets.path(HARD) == tmp_path / "mirror" / HARD
    put(tmp_path / "cache" / "verified.json", b"{ broken")
    monkeypatch.setenv("AZLAB_DATA", str(tmp_path / "cache"))
    datasets._verified.clear()
    assert datasets.path(HARD)


def test_status(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AZLAB_DATA_MIRROR", str(tmp_path / "mirror"))
    put(tmp_path / "mirror" / HARD, packed_text())
    put(tmp_path / "cache" / "go/9x9_pro.tar.gz", packed_tar(GAMES))
    put(tmp_path / "cache" / "go/kgs_2003.tar.gz", b"broken")
    where = {row.name: row.where for row in datasets.status()}
    assert where.pop(HARD) == "mirror"
    assert where.pop("go/9x9_pro.tar.gz") == "cache"
    assert where.pop("go/kgs_2003.tar.gz") == "damaged"
    assert set(where.values()) == {"missing"} and len(where) == 7


def test_every_data_set_says_its_licence_or_that_none_is_stated():
    for dataset in CATALOGUE.values():
        known = "Apache-2.0" if "michaelnny/alpha_zero" in dataset.origin else "none stated"
        assert dataset.licence == known, dataset.name


# Downloading


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        pass

    def do_GET(self) -> None:
        if "/cut/" not in self.path:
            return super().do_GET()
        # A connection that ends early: ten bytes of a promised thousand.
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"x" * 10)


@pytest.fixture
def web(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The address of a web server and the folder that it shows."""
    folder = tmp_path / "web"
    folder.mkdir()
    handler = functools.partial(QuietHandler, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/", folder
    server.shutdown()
    thread.join()
    server.server_close()


def left_over(tmp_path: Path) -> list[str]:
    return [str(file) for file in (tmp_path / "cache").rglob("*") if file.is_file()]


def test_get_a_zip(web, tmp_path: Path):
    address, folder = web
    put(folder / CATALOGUE[HARD].address, zipped({"testset.txt": TEXT, "__MACOSX/._testset.txt": b"x"}))
    seen = []
    file = datasets.get(HARD, progress=lambda done, total: seen.append((done, total)), web=address)
    assert file == tmp_path / "cache" / HARD
    assert gzip.decompress(file.read_bytes()) == TEXT
    assert seen[-1][0] == seen[-1][1] > 0
    assert [position.moves for position in datasets.connect4_positions(HARD)] == ["", "4", "42"]
    # The second time nothing is fetched: the server has lost the file.
    (folder / CATALOGUE[HARD].address).unlink()
    assert datasets.get(HARD, web=address) == file


def test_the_same_content_packs_to_the_same_bytes(web, tmp_path: Path):
    address, folder = web
    put(folder / CATALOGUE[HARD].address, zipped({"testset.txt": TEXT}))
    put(folder / CATALOGUE["go/kgs_2003.tar.gz"].address, packed_tar({f"KGS2003/{n}": c for n, c in GAMES.items()}))
    for name in (HARD, "go/kgs_2003.tar.gz"):
        first = datasets.get(name, web=address).read_bytes()
        (tmp_path / "cache" / name).unlink()
        assert datasets.get(name, web=address).read_bytes() == first


def test_get_the_right_games_of_a_repository(web):
    address, folder = web
    root = "alpha_zero-01e6d4ad/games/pro_games/go/9x9"
    files = {f"{root}/{name}": content for name, content in {**GAMES, **RATED}.items()}
    files[f"{root}/1518192589-minigo-player-m5q8h.sgf"] = b"(;)"
    files["alpha_zero-01e6d4ad/games/9x9_matches/game_1.sgf"] = b"(;)"
    files["alpha_zero-01e6d4ad/README.md"] = b"# Alpha Zero"
    put(folder / CATALOGUE["go/9x9_pro.tar.gz"].address, packed_tar(files))
    datasets.get("go/9x9_pro.tar.gz", web=address)
    assert dict(datasets.sgf_games("go/9x9_pro.tar.gz")) == {name: text.decode() for name, text in GAMES.items()}
    datasets.get("go/9x9_rated.tar.gz", web=address)
    assert dict(datasets.sgf_games("go/9x9_rated.tar.gz")) == {name: text.decode() for name, text in RATED.items()}


def test_get_from_a_folder_instead_of_a_server(tmp_path: Path):
    put(tmp_path / "web" / CATALOGUE[HARD].address, zipped({"testset.txt": TEXT}))
    assert datasets.get(HARD, web=(tmp_path / "web").as_uri() + "/").is_file()


def test_get_replaces_a_damaged_file_of_the_cache(web, tmp_path: Path):
    address, folder = web
    put(folder / CATALOGUE[HARD].address, zipped({"testset.txt": TEXT}))
    put(tmp_path / "cache" / HARD, b"damaged")
    assert gzip.decompress(datasets.get(HARD, web=address).read_bytes()) == TEXT


def test_get_does_not_hide_a_download_behind_a_damaged_mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AZLAB_DATA_MIRROR", str(tmp_path / "mirror"))
    put(tmp_path / "mirror" / HARD, b"damaged")
    with pytest.raises(DamagedData, match="mirror"):
        datasets.get(HARD, web="http://127.0.0.1:9/")


@pytest.mark.parametrize(
    "content",
    [
        zipped({"testset.txt": b"other content"}),
        zipped({"a.txt": TEXT, "b.txt": TEXT}),
        zipped({"testset.txt": TEXT})[:40],
        b"<html>",
    ],
    ids=["other", "two files", "cut", "html"],
)
def test_a_wrong_download_is_not_kept(web, tmp_path: Path, content: bytes):
    address, folder = web
    put(folder / CATALOGUE[HARD].address, content)
    with pytest.raises(DamagedData, match="nothing was kept"):
        datasets.get(HARD, web=address)
    assert left_over(tmp_path) == []


def test_failed_downloads_are_one_sentence_and_leave_nothing(web, tmp_path: Path):
    address, _ = web
    for base, reason in (
        (address, "404"),
        (address + "cut/", "10 of 1000 bytes|10 bytes read"),
        ("http://127.0.0.1:9/", "refused"),
        ("http://no-such-host.invalid/", "urlopen error"),
    ):
        with pytest.raises(MissingData, match=rf"Could not download .*({reason}).*check the internet connection") as caught:
            datasets.get(HARD, web=base)
        assert "\n" not in str(caught.value)
    assert left_over(tmp_path) == []


def test_an_interrupted_download_leaves_nothing(web, tmp_path: Path):
    address, folder = web
    put(folder / CATALOGUE[HARD].address, zipped({"testset.txt": TEXT}))

    def interrupt(done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        datasets.get(HARD, progress=interrupt, web=address)
    assert left_over(tmp_path) == []


def test_a_cache_that_cannot_hold_a_download_says_so(web, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    address, folder = web
    put(folder / CATALOGUE[HARD].address, zipped({"testset.txt": TEXT}))
    monkeypatch.setenv("AZLAB_DATA", str(put(tmp_path / "a_file", b"")))
    with pytest.raises(MissingData, match="set AZLAB_DATA to a folder"):
        datasets.get(HARD, web=address)


# Reading


def test_connect4_lines(tmp_path: Path):
    put(tmp_path / "cache" / HARD, packed_text())
    assert list(datasets.connect4_positions(HARD)) == [("", (4,), 2), ("4", (4,), 0), ("42", (2, 6), 2)]


def test_readers_refuse_the_other_kind(tmp_path: Path):
    put(tmp_path / "cache" / HARD, packed_text())
    put(tmp_path / "cache" / "go/9x9_pro.tar.gz", packed_tar(GAMES))
    with pytest.raises(ValueError, match="holds no Go games; choose one of go/"):
        datasets.sgf_games(HARD)
    with pytest.raises(ValueError, match="holds no Connect 4 positions; choose one of connect4/"):
        datasets.connect4_positions("go/9x9_pro.tar.gz")


def test_a_game_that_is_not_utf8_is_still_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    games = {"a.sgf": "(;PB[Jürgen])".encode("latin-1"), "b.sgf": "(;PB[Jürgen])".encode()}
    name = "go/9x9_pro.tar.gz"
    monkeypatch.setitem(CATALOGUE, name, replace(CATALOGUE[name], sha256=datasets._members_checksum(games)))
    put(tmp_path / "cache" / name, packed_tar(games))
    assert [text for _, text in datasets.sgf_games(name)] == ["(;PB[Jürgen])"] * 2


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("connect4/hard_test.txt.gz", 10_000),
        ("connect4/easy_test.txt.gz", 10_000),
        ("connect4/perfect_test.txt.gz", 10_000),
        ("connect4/train_100k.txt.gz", 100_000),
        ("connect4/train_1m_hard.txt.gz", 1_000_000),
    ],
)
@pytest.mark.slow
def test_the_real_connect4_sets(need, name: str, count: int):
    need.data(name)
    found = 0
    for moves, best, result in datasets.connect4_positions(name):
        found += 1
        assert result in (0, 1, 2)
        assert best and min(best) >= 1 and max(best) <= 7
        # A best move must fit: no column holds more than six men.
        assert all(moves.count(str(column)) < 6 for column in best)
    assert found == count


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("go/9x9_pro.tar.gz", 384),
        ("go/9x9_rated.tar.gz", 5_046),
        ("go/kgs_2003.tar.gz", 7_582),
        ("go/kgs_2015.tar.gz", 8_133),
    ],
)
def test_the_real_go_sets(need, name: str, count: int):
    need.data(name)
    names = [member for member, _ in datasets.sgf_games(name)]
    assert len(names) == count
    assert names == sorted(set(names))
    assert all(member.endswith(".sgf") and "/" not in member for member in names)


def test_the_real_curves(need):
    need.data("connect4/source_curves.json")
    assert datasets.path("connect4/source_curves.json").stat().st_size == CATALOGUE["connect4/source_curves.json"].size

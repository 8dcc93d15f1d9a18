"""Arrays and rows that are damaged, or larger than they look."""

import json
import subprocess
import sys
import warnings
import zipfile

import numpy as np
import pytest

from azlab.errors import AzlabError
from azlab.files import load_arrays, save_arrays
from azlab.intact import check_arrays, checksum, sealed, unsealed

ARRAYS = {
    "a": np.random.default_rng(0).random((3, 4)),
    "is_new": np.array(True),
    "empty": np.zeros((0, 5), np.int8),
    "turned": np.asfortranarray(np.arange(12, dtype=np.int16).reshape(3, 4)),
    "keys": np.arange(3, dtype=np.uint64),
}


def same(one, other):
    return one.keys() == other.keys() and all(one[k].dtype == other[k].dtype and np.array_equal(one[k], other[k]) for k in one)


def test_arrays_come_back(tmp_path):
    save_arrays(tmp_path / "a.npz", ARRAYS)
    found = load_arrays(tmp_path / "a.npz")
    assert same(found, ARRAYS)
    found["a"][0] = 1  # may be written to


@pytest.mark.slow
def test_every_single_bit_of_a_file_of_arrays_is_guarded(tmp_path):
    """All 10,000 of them: refused, or the arrays are the same. Plain np.load loses arrays when the directory is damaged."""
    path = tmp_path / "a.npz"
    save_arrays(path, ARRAYS)
    data = path.read_bytes()
    refused = 0
    for bit in range(8 * len(data)):
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        try:
            assert same(load_arrays(path), ARRAYS), bit
        except AzlabError:
            refused += 1
    assert refused > 4 * len(data)  # most bits matter


def test_a_file_of_arrays_is_refused_wherever_it_is_cut(tmp_path):
    path = tmp_path / "a.npz"
    save_arrays(path, ARRAYS)
    data = path.read_bytes()
    for length in range(len(data)):
        path.write_bytes(data[:length])
        with pytest.raises(AzlabError, match="a.npz cannot be read"):
            load_arrays(path)


def header(shape, descr="'<f8'"):
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


@pytest.mark.parametrize(
    "content",
    [
        header("(1000000000000,)") + bytes(8),
        header("(2,)") + bytes(8),
        header("(1,)") + bytes(16),
        header("(-1,)"),
        header("(1,)", "'|O'") + bytes(8),
        header("(1,)", "[('x', '<f8')]") + bytes(8),
        header("(1,)", "'<f7'") + bytes(7),
        header("(" * 90) + bytes(8),
        b"\x93NUMPY\x03\x00" + header("(1,)")[8:] + bytes(8),
        b"\x93NUMPY\x01\x00\xff\xff" + bytes(100),
        b"",
        b"no array",
    ],
)
def test_headers_that_lie_are_refused(tmp_path, content):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("a.npy", content)
    with pytest.raises(AzlabError, match="a.npz cannot be read"):
        load_arrays(tmp_path / "a.npz")


def test_other_things_in_a_zip_are_refused(tmp_path):
    for names in (["a.npy", "b.txt"], ["a.npy", "a.npy"]):
        with (
            warnings.catch_warnings(action="ignore"),
            zipfile.ZipFile(tmp_path / "a.npz", "w") as archive,
        ):  # of the same name twice
            for name in names:
                archive.writestr(name, header("(1,)") + bytes(8))
        with pytest.raises(AzlabError, match="something else than arrays"):
            load_arrays(tmp_path / "a.npz")


def test_the_reader_says_how_large_arrays_can_be(tmp_path):
    save_arrays(tmp_path / "a.npz", {"a": np.zeros(1000)})
    assert load_arrays(tmp_path / "a.npz", 8000)["a"].size == 1000
    with pytest.raises(AzlabError, match="at most 4,000 are expected"):
        load_arrays(tmp_path / "a.npz", 4000)


PEAK = """
import resource, sys
from pathlib import Path
import numpy as np
from azlab.files import load_arrays
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    load_arrays(Path(sys.argv[1]))
    print("read")
except ValueError as error:
    print("refused")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.parametrize("lies", [False, True], ids=["true sizes", "sizes that lie"])
def test_a_bomb_is_refused_before_memory_is_taken(tmp_path, lies):
    """400 MB of zeros in 2 MB. In a child, whose memory can be measured."""
    size, path = 400_000_000, tmp_path / "bomb.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive, archive.open("a.npy", "w") as stream:
        stream.write(header(f"({size // 8},)"))
        for _ in range(size // 1_000_000):
            stream.write(bytes(1_000_000))
    if lies:  # the directory says that there is little; the array's header says the truth
        data = path.read_bytes()
        size_field = data.rindex(b"PK\1\2") + 24
        path.write_bytes(data[:size_field] + (1000).to_bytes(4, "little") + data[size_field + 4 :])
    child = subprocess.run([sys.executable, "-c", PEAK, path], capture_output=True, text=True, check=True)
    word, kilobytes = child.stdout.split()
    assert word == "refused" and int(kilobytes) < 100_000


def test_what_packs_too_well_is_written_unpacked_and_can_be_read(tmp_path, monkeypatch):
    """As if arrays over 1 MB were large."""
    monkeypatch.setattr("azlab.intact.SMALL", 1 << 20)
    for count in (100_000, 1_000_000):
        save_arrays(tmp_path / "a.npz", {"a": np.zeros(count)})
        assert load_arrays(tmp_path / "a.npz")["a"].size == count
    assert (tmp_path / "a.npz").stat().st_size > 8_000_000
    np.savez_compressed(tmp_path / "a.npz", a=np.zeros(1_000_000))
    with pytest.raises(AzlabError, match="would unpack to 8,000,128 bytes"):
        load_arrays(tmp_path / "a.npz")


def test_rows_with_a_checksum():
    row = {"iteration": 3, "loss": 0.1, "elo": None, "x": float("inf"), "name": "é"}
    text = json.dumps(sealed(row))
    assert unsealed(json.loads(text)) == row == unsealed(row)  # the last is a row of an old run
    for bit in range(8 * len(text)):
        damaged = bytearray(text.encode())
        damaged[bit // 8] ^= 1 << bit % 8
        try:
            assert unsealed(json.loads(damaged)) == row
        except ValueError:
            continue


def test_the_checksum_is_that_of_nets_written_before():
    """Weights of old runs have it: text, then each name and its bytes, by name."""
    import hashlib

    expected = hashlib.sha256(b"text" + b"a" + bytes(8) + b"b" + np.arange(3, dtype=np.int16).tobytes()).hexdigest()
    assert checksum("text", {"b": np.arange(3, dtype=np.int16), "a": np.zeros(1), "": np.zeros(0)}) == expected


def test_arrays_that_do_not_fit_are_named():
    wanted = {"a": (np.float32, ("B", 3)), "b": (np.int8, ("B",)), "c": (np.bool_, ())}
    right = {"a": np.zeros((2, 3), np.float32), "b": np.zeros(2, np.int8)}
    check_arrays("x.npz", right, wanted, optional=("c",))
    for change, says in (
        ({"b": np.zeros(3, np.int8)}, r"x.npz is damaged: its 'b' should be int8 \[2\] and is int8 \[3\]"),
        ({"a": np.zeros((2, 3))}, r"its 'a' should be float32 \[B, 3\] and is float64"),
        ({"a": np.zeros(3, np.float32)}, "its 'a' should be"),
        ({"d": np.zeros(1)}, "it also holds 'd'"),
    ):
        with pytest.raises(AzlabError, match=says):
            check_arrays("x.npz", right | change, wanted, optional=("c",))
    with pytest.raises(AzlabError, match="it has no 'c'"):
        check_arrays("x.npz", right, wanted)

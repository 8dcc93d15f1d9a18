"""Archives that are larger than they look; in children, whose memory can be measured."""

import gzip
import io
import subprocess
import sys
import tarfile
import zipfile
import zlib

import numpy as np
import pytest

from azlab.formats.archives import READ_ERRORS, Limits, TooLarge, members, only_text, unpacked

LIMITS = Limits(wanted=10_000, unpacked=50_000, files=20)


def tar(*files, compress=True):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, content in files:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return gzip.compress(stream.getvalue()) if compress else stream.getvalue()


def read(data, limits=LIMITS):
    return members(io.BytesIO(data), r".*\.sgf", limits)


def test_files_come_back():
    games = [("x/a.sgf", b"(;)"), ("x/b.sgf", bytes(5000)), ("x/readme", b"text")]
    assert read(tar(*games)) == {"a.sgf": b"(;)", "b.sgf": bytes(5000)}
    assert unpacked(io.BytesIO(gzip.compress(b"text")), 4).read() == b"text"


@pytest.mark.parametrize(
    "data",
    [
        tar(("a.sgf", bytes(10_001))),
        tar(("a.sgf", bytes(9000)), ("b.sgf", bytes(9000))),
        tar(("other", bytes(50_000))),
        tar(*((f"{k}", b"") for k in range(21))),
    ],
    ids=["file", "files", "others", "number"],
)
def test_more_than_there_should_be_is_refused(data):
    with pytest.raises(TooLarge):
        read(data)


def test_a_sparse_file_has_a_size_without_content():
    header = tarfile.TarInfo("a.sgf")
    header.type, header.size = tarfile.GNUTYPE_SPARSE, 0
    block = bytearray(header.tobuf(tarfile.GNU_FORMAT)[:512])
    block[386:410] = b"00000000000\0" * 2  # one piece: nothing, at the start
    block[483:495] = b"77777777777\0"  # the size it claims: 8 GB
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    with pytest.raises(TooLarge):
        read(gzip.compress(bytes(block) + bytes(1024)))


def test_the_text_of_a_zip():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.txt", bytes(5000))
    assert only_text(stream, 5000) == bytes(5000)
    with pytest.raises(TooLarge):
        only_text(stream, 4999)


def test_damaged_archives_raise_nothing_unexpected(many):
    rng = np.random.default_rng(0)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.txt", b"4 4 0\n" * 100)
    plain = tar(("x/a.sgf", b"(;B[aa])" * 20), ("x/" + "b" * 200 + ".sgf", b"(;)"), compress=False)
    readers = [
        (plain, lambda data: read(gzip.compress(data, 1))),  # damage inside, where gzip's checksum does not see it
        (gzip.compress(plain), read),
        (packed.getvalue(), lambda data: only_text(io.BytesIO(data), 10_000)),
        (gzip.compress(b"4 4 0\n" * 100), lambda data: unpacked(io.BytesIO(data), 10_000).read()),
    ]
    refused = 0
    for data, reader in readers:
        for _ in range(many(300)):
            damaged = bytearray(data)
            for place in rng.integers(len(data), size=rng.integers(1, 4)):
                damaged[place] = rng.integers(256)
            if rng.random() < 0.3:
                del damaged[rng.integers(len(data)) :]
            try:
                reader(bytes(damaged))
            except READ_ERRORS:
                refused += 1
    assert refused > many(300)


PEAK = """
import resource, sys
from azlab.formats import datasets
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    datasets.path(sys.argv[1])
except datasets.DamagedData:
    print("refused")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def zeros(megabytes, start):
    """Gzip of `start` and so many megabytes of zeros, made without packing them all: the same packed piece again and again."""
    packer = zlib.compressobj(1, wbits=31)
    yield packer.compress(start) + packer.flush(zlib.Z_FULL_FLUSH)
    for _ in range(megabytes):
        yield packer.compress(bytes(1 << 20))
    yield packer.flush()


@pytest.mark.parametrize("kind", ["a large file", "a header that claims a length"])
def test_a_bomb_is_refused_in_little_memory(tmp_path, kind):
    """300 MB in 1.3 MB; the set has 160 kB."""
    member = tarfile.TarInfo("x/a.sgf")
    member.size = 300 << 20
    if kind != "a large file":
        member.type = tarfile.XHDTYPE  # names longer than a header holds; tarfile reads them whole
    file = tmp_path / "go" / "9x9_pro.tar.gz"
    file.parent.mkdir()
    with file.open("wb") as stream:
        stream.writelines(zeros(300, member.tobuf(tarfile.USTAR_FORMAT)))
    environment = {"AZLAB_DATA": str(tmp_path), "PYTHONPATH": ":".join(sys.path)}
    child = subprocess.run(
        [sys.executable, "-c", PEAK, "go/9x9_pro.tar.gz"], capture_output=True, text=True, check=True, env=environment
    )
    word, kilobytes = child.stdout.split()
    assert word == "refused" and int(kilobytes) < 60_000

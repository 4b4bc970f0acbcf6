"""Archives of strangers: as `tarfile` reads them, or an error, in time that does not grow with the square of a header."""

from __future__ import annotations

import io
import tarfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr.core.boundedtar import BROKEN, BoundedTarFile
from tests.bounded import bounded
from tests.cases import cases

BLOCK = 512


def header(kind: bytes, size: int, name: str = "a.tex") -> bytes:
    entry = tarfile.TarInfo(name)
    entry.type = kind
    made = bytearray(entry.tobuf(tarfile.USTAR_FORMAT))
    digits = b"%011o\0" % size if size >= 0 else b"\xff" + (256**11 + size).to_bytes(11, "big")
    made[124:136] = digits
    made[148:156] = b" " * 8
    made[148:156] = b"%06o\0 " % sum(made)
    return bytes(made)


def member(kind: bytes, content: bytes, name: str = "a.tex") -> bytes:
    return header(kind, len(content), name) + content + b"\0" * (-len(content) % BLOCK)


def packed(format: int, **files: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=format) as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime = len(content), 1.5
            archive.addfile(entry, io.BytesIO(content))
    return out.getvalue()


def read(content: bytes, mode: str = "r:") -> dict[str, bytes]:
    with BoundedTarFile.open(fileobj=io.BytesIO(content), mode=mode) as archive:  # type: ignore[call-overload]
        return {entry.name: archive.extractfile(entry).read() for entry in archive if entry.isreg()}


@cases("mode", ["r:", "r|"])
@cases("format", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_archives_are_read_as_they_were_packed(format: int, mode: str) -> None:
    names = ["a.tex", "é" * 20 + ".tex"] + (["x" * 3000] if format != tarfile.USTAR_FORMAT else [])
    files = {name: name.encode() * 100 for name in names}
    assert read(packed(format, **files), mode) == files


def test_a_thousand_files_with_extended_headers_are_read() -> None:
    files = {f"{'d' * 120}/{number}.tex": b"text" for number in range(1000)}
    assert read(packed(tarfile.PAX_FORMAT, **files)) == files


FILE, PAX, GLOBAL, LONG = member(b"0", b"text"), b"x", b"g", b"L"
BOMBS = {
    "digits": member(PAX, b"1" * 80_000) + FILE,
    "digits in many headers": member(PAX, b"1" * 8_000) * 200 + FILE,
    "digits for all": member(GLOBAL, b"1" * 80_000) + FILE,
    "a long name": member(LONG, b"a" * (64 << 20)) + FILE,
    "a chain of names": member(LONG, b"a") * 20_000 + FILE,
    "a chain of headers": member(PAX, b"6 a=b\n") * 20_000 + FILE,
    "records of one letter": member(PAX, b"1 " * 8_000 + b"=") * 4 + FILE,
    "a number without end": member(PAX, b"9" * 5_000 + b" size=1\n") + FILE,
    "a header of negative size": header(PAX, -BLOCK - 1) + b"1" * (8 << 20),
    "a file of negative size": header(b"0", -4 * BLOCK) + FILE,
    "a size below zero": member(PAX, b"14 size=-4096\n") + FILE,
    "a sparse file": member(PAX, b"22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n")
    + member(b"0", b"1" * (8 << 20)),
    "a sparse map": member(PAX, b"18 GNU.sparse.map=" + b"1," * 4_000 + b"\n") + FILE,
    "an old sparse file": header(b"S", 512) + b"\1" * 4096,
}
READ = """
import sys
from mathamr.core.boundedtar import BROKEN, BoundedTarFile
for mode in ("r:", "r|"):
    try:
        with open(sys.argv[1], "rb") as file, BoundedTarFile.open(fileobj=file, mode=mode) as archive:
            print(sum(entry.size for entry in archive))
    except BROKEN as error:
        print(error)
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_a_header_costs_no_more_than_its_length(tmp_path: Path, name: str) -> None:
    path = tmp_path / "bomb.tar"
    path.write_bytes(BOMBS[name] + b"\0" * 2 * BLOCK)
    ended = bounded(READ, str(path), seconds=10, megabytes=512)
    assert ended.returncode == 0, ended.stderr


@given(
    st.binary(max_size=3 * BLOCK),
    st.sampled_from([b"x", b"g", b"L", b"K", b"S", b"0", b"1", b"5"]),
    st.integers(-2000, 2000),
)
def test_any_header_is_read_or_refused(content: bytes, kind: bytes, size: int) -> None:
    for mode in ("r:", "r|"):
        with suppress(BROKEN):
            read(header(kind, size) + content + FILE, mode)

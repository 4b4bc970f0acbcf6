from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.core.zstd import zstd
from mathamr.posts import inputs as files
from mathamr.posts.inputs import (
    STDIN,
    Input,
    bare_name,
    each_observed,
    head,
    observing,
    read_bytes,
    read_text,
    walk,
)
from mathamr.posts.report import Report
from tests.cases import cases
from tests.folders import write_files
from tests.posts.hostile import read_bounded

PACKERS = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstd.compress,
    "plain": bytes,
}
TEXT = b"".join(b"line %d of a long text\n" % n for n in range(50_000))


@pytest.mark.parametrize("kind", PACKERS)
def test_a_compressed_file_reads_as_the_plain_one(tmp_path, kind):
    path = tmp_path / "notes.txt"  # the name does not tell: the first bytes do
    path.write_bytes(PACKERS[kind](TEXT))
    report = Report()
    assert read_bytes(path, report) == TEXT
    assert report.bytes_read == path.stat().st_size
    assert not report.skipped
    assert head(path).start == TEXT[: files.HEAD_BYTES]


@cases("kind", ["gz", "bz2", "xz", "zst"])
def test_archives_put_after_one_another_read_as_one(tmp_path, kind):
    path = tmp_path / f"notes.{kind}"
    path.write_bytes(PACKERS[kind](b"one ") + PACKERS[kind](b"two"))
    assert read_bytes(path, Report()) == b"one two"


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zst"])
def test_a_truncated_archive_gives_what_was_readable_and_one_problem(tmp_path, kind):
    noise = bytes((n * n * 7919 >> 5) & 255 for n in range(400_000))
    path = tmp_path / f"notes.{kind}"
    packed = PACKERS[kind](noise)
    path.write_bytes(packed[: len(packed) - 40])
    report = Report()
    report.at(str(path))
    got = read_bytes(path, report)
    assert got is not None
    assert noise.startswith(got)
    assert len(got) > 100_000 or kind in ("bz2", "zst")  # which give whole blocks only
    assert dict(report.skipped) == {"damaged archive": 1}
    assert report.examples["damaged archive"][0].file == str(path)


def test_a_bomb_stops_at_the_limit_of_a_text_file(tmp_path):
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(bytes(8 << 20)))
    report = Report()
    assert read_text(path, report, largest=1 << 20) is None
    assert dict(report.skipped) == {"file too large": 1}


def test_text_that_is_not_utf8_is_repaired_and_counted(tmp_path):
    path = tmp_path / "a.md"
    path.write_bytes(b"na\xefve \x00")
    report = Report()
    assert read_text(path, report) == "na\ufffdve \ufffd"
    assert dict(report.repaired) == {"invalid UTF-8": 1, "control character": 1}


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_is_obeyed_and_removed(tmp_path, encoding):
    path = tmp_path / "a.md"
    path.write_bytes("Poincaré".encode(encoding))
    report = Report()
    assert read_text(path, report) == "Poincaré"
    assert not report.repaired


@pytest.mark.parametrize("kind", ["plain", "gz", "zst"])
def test_standard_input_is_looked_at_without_losing_a_byte(monkeypatch, kind):
    stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(PACKERS[kind](TEXT))))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert head(STDIN).start[:20] == TEXT[:20]
    assert read_bytes(STDIN, Report()) == TEXT
    assert not stdin.closed


def test_what_is_seen_of_a_pipe_does_not_depend_on_how_it_was_written(monkeypatch):
    class Drops(io.RawIOBase):
        data = io.BytesIO(TEXT)

        def readable(self) -> bool:
            return True

        def readinto(self, buffer) -> int:
            drop = self.data.read(min(7, len(buffer)))
            buffer[: len(drop)] = drop
            return len(drop)

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Drops())))
    assert head(STDIN).start == TEXT[: files.HEAD_BYTES]
    assert read_bytes(STDIN, Report()) == TEXT


def test_an_index_among_the_notes_is_told_and_not_read(tmp_path):
    inside = [f"notes.index/{name}" for name in ("manifest.json", "catalogue.db", "vectors/b.md")]
    write_files(tmp_path, dict.fromkeys(["a.md", "z/manifest.json", *inside], "x"))
    report = Report()
    found = [path.relative_to(tmp_path).as_posix() for path in walk(tmp_path, report)]
    assert found == ["a.md", "z/manifest.json"]
    assert report.ignored == {"an index": 1}
    assert not report.skipped


def test_a_walk_is_sorted_and_stays_inside_the_folder(tmp_path):
    outside = tmp_path / "outside.md"
    outside.write_text("secret")
    names = ("z.md", "a.md", "b/c.md", ".hidden.md", ".git/config")
    root = write_files(tmp_path / "notes", dict.fromkeys(names, "x"))
    (root / "inside.md").symlink_to(root / "a.md")
    (root / "outside.md").symlink_to(outside)
    (root / "broken.md").symlink_to(root / "nowhere")
    (root / "up").symlink_to(tmp_path, target_is_directory=True)
    report = Report()
    assert [path.relative_to(root).as_posix() for path in walk(root, report)] == [
        "a.md",
        "inside.md",
        "z.md",
        "b/c.md",
    ]
    assert dict(report.skipped) == {"link out of the folder": 1, "not a file": 1}


def test_a_bare_name_has_no_suffix_of_compression():
    assert [bare_name(Path(name)) for name in ("Posts.XML.GZ", "a.jsonl.zst", "b.md")] == [
        "posts.xml",
        "a.jsonl",
        "b.md",
    ]


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zst"])
@pytest.mark.parametrize("piped", [False, True])
def test_an_archive_that_unpacks_as_no_text_does_is_not_read_on(tmp_path, monkeypatch, kind, piped):
    path, report = tmp_path / "dump.xml", Report()
    path.write_bytes(PACKERS[kind](bytes(16 << 20)))
    if piped:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(path.read_bytes()))))
    with Input(STDIN if piped else path, report, freely_unpacked=1 << 20) as stream:
        read = sum(len(block) for block in iter(lambda: stream.read(1 << 16), b""))
    assert read < 4 << 20
    assert report.skipped == {"archive too dense": 1}


def test_an_archive_of_text_is_read_whole_however_long_it_is(tmp_path):
    path, report = tmp_path / "dump.xml", Report()
    path.write_bytes(gzip.compress(TEXT))
    with Input(path, report, freely_unpacked=1 << 10) as stream:
        assert stream.readall() == TEXT
    assert not report.skipped


def test_links_that_lead_to_themselves_are_passed_over(tmp_path):
    (tmp_path / "a.md").write_text("text")
    (tmp_path / "loop.md").symlink_to("loop.md")
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")
    (tmp_path / "here").symlink_to(".")
    report = Report()
    assert [path.name for path in walk(tmp_path, report)] == ["a.md"]
    assert report.skipped["not a file"] == 3


def asking_for_gigabytes(kind: str) -> bytes:
    """A short archive whose header says that unpacking it takes two gigabytes."""
    if kind == "zst":
        packed = bytearray(zstd.compress(b"text", options={zstd.CompressionParameter.content_size_flag: 0}))
        assert packed[4] & 0x20 == 0, "the frame must have a window of its own"
        packed[5] = 21 << 3  # 2^(10 + 21) bytes
        return bytes(packed)
    packed = bytearray(lzma.compress(b"text", lzma.FORMAT_XZ))
    length = (packed[12] + 1) * 4
    assert packed[14:16] == b"\x21\x01", "the one filter must be LZMA2"
    packed[16] = 38  # 2^31 bytes
    packed[12 + length - 4 : 12 + length] = zlib.crc32(packed[12 : 12 + length - 4]).to_bytes(4, "little")
    return bytes(packed)


@pytest.mark.parametrize("kind", ["xz", "zst"])
def test_a_header_that_asks_for_gigabytes_gets_none(tmp_path, kind):
    path = tmp_path / "notes.md"
    path.write_bytes(asking_for_gigabytes(kind))
    posts, report = read_bounded(path, megabytes=1500)
    assert not any(length for _, _, length, _ in posts)
    assert "damaged archive" in str(report)
    assert "emory" in str(report)


def test_xz_streams_with_padding_between_them_read_as_one(tmp_path):
    path = tmp_path / "notes.xz"
    path.write_bytes(lzma.compress(b"one ") + bytes(8) + lzma.compress(TEXT) + lzma.compress(b"") + bytes(4))
    assert read_bytes(path, Report()) == b"one " + TEXT


def test_a_file_that_cannot_be_opened_leaves_nothing_half_open(tmp_path, monkeypatch):
    """Python 3.13 reports what a finalizer raises: the file that was never opened was closed."""
    raised = []
    monkeypatch.setattr(sys, "unraisablehook", raised.append)
    with pytest.raises(MathAMRError, match=r"missing\.md: cannot be read \(No such file"):
        Input(tmp_path / "missing.md", Report())
    made = Input.__new__(Input)
    with pytest.raises(MathAMRError):
        made.__init__(tmp_path / "missing.md", Report())
    made.close()
    assert raised == []


def test_threads_that_read_at_the_same_time_are_told_of_their_own_files_alone(tmp_path: Path) -> None:
    write_files(tmp_path, {name: name for name in "ab"})
    both_observe = threading.Barrier(2, timeout=60)
    told: dict[str, list[str]] = {"a": [], "b": []}

    def read(name: str) -> None:
        with observing(lambda path: told[name].append(path.name)):
            both_observe.wait()
            read_text(tmp_path / name, Report())
            both_observe.wait()

    threads = [threading.Thread(target=read, args=(name,)) for name in told]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert told == {"a": ["a"], "b": ["b"]}


def test_a_stream_is_observed_while_it_makes_an_item_and_not_while_its_reader_uses_it(tmp_path: Path) -> None:
    write_files(tmp_path, {name: name for name in "abc"})

    def stream() -> Iterator[str]:
        for name in "ab":
            yield read_text(tmp_path / name, Report()) or ""

    told: list[str] = []
    for _ in each_observed(stream(), lambda path: told.append(path.name)):
        read_text(tmp_path / "c", Report())
    assert told == ["a", "b"]

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.core.storage.writerlock import WriterLock

HOLD = """
import sys, time
from pathlib import Path
from mathamr.core.storage.writerlock import WriterLock
lock = WriterLock(Path(sys.argv[1]), "holding on")
print("held", flush=True)
sys.stdin.read()
"""


POLL = """
import sys
from pathlib import Path
from mathamr.core.storage.writerlock import holder_of
print("polling", flush=True)
while True:
    holder_of(Path(sys.argv[1]))
"""


@pytest.mark.slow
def test_readers_that_ask_who_holds_the_lock_hinder_no_writer(tmp_path: Path) -> None:
    WriterLock(tmp_path, "me").release()
    poller = subprocess.Popen([sys.executable, "-c", POLL, str(tmp_path)], stdout=subprocess.PIPE)
    assert poller.stdout is not None
    try:
        assert poller.stdout.readline() == b"polling\n"
        for _ in range(2000):
            WriterLock(tmp_path, "me").release()
    finally:
        poller.kill()
        poller.wait()
        poller.stdout.close()


def test_a_second_writer_learns_who_holds_the_lock(tmp_path: Path) -> None:
    with (
        WriterLock(tmp_path, "mathamr index"),
        pytest.raises(MathAMRError, match=r"this process \(mathamr index\)"),
    ):
        WriterLock(tmp_path, "another")


def test_a_lock_is_free_again_after_release(tmp_path: Path) -> None:
    lock = WriterLock(tmp_path, "one")
    lock.release()
    lock.release()
    assert not lock.held
    with WriterLock(tmp_path, "two") as second:
        assert second.held


def test_a_killed_holder_hinders_nobody(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    assert holder.stdin is not None
    assert holder.stdout.readline() == b"held\n"
    with pytest.raises(MathAMRError, match=rf"process {holder.pid} on .* \(holding on\)"):
        WriterLock(tmp_path, "me")
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    holder.stdin.close()
    holder.stdout.close()
    WriterLock(tmp_path, "me").release()


def test_what_stands_in_the_file_does_not_matter(tmp_path: Path) -> None:
    (tmp_path / "lock").write_bytes(b"\xff not json" * 1000)
    with WriterLock(tmp_path, "me"):
        assert b"not json" not in (tmp_path / "lock").read_bytes()
        (tmp_path / "lock").write_bytes(b"rubbish")
        with pytest.raises(MathAMRError, match="another process"):
            WriterLock(tmp_path, "you")


def test_a_folder_that_is_not_there_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(MathAMRError, match=r"cannot write in .*nowhere"):
        WriterLock(tmp_path / "nowhere", "me")

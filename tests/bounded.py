"""Code under the limits of an operating system: on processor time and memory, and on the size of files."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from mathamr.core.workers import ONE_THREAD


def bounded(
    code: str, *arguments: str, seconds: int = 20, megabytes: int = 4096, command: Sequence[str] = ("-c",)
) -> subprocess.CompletedProcess[str]:
    """What a Python program printed; one that uses more than these limits is ended and has another return code."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    return subprocess.run(
        [sys.executable, *command, code, *arguments],
        capture_output=True,
        text=True,
        timeout=60 * seconds,  # what a busy machine leaves of a processor may be a small part
        check=False,
        preexec_fn=limit,
        # numpy's libraries map memory for every processor, and the limit on memory counts it.
        env={**os.environ, **ONE_THREAD},
    )


@contextmanager
def full_disk() -> Iterator[None]:
    """No file of this process can grow meanwhile: the operating system refuses it, as on a disk without room."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

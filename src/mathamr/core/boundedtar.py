"""`BoundedTarFile`: tar archives of strangers, with bounded work for their extended headers.

Python's `tarfile` takes time in the square of an extended header's length (CVE-2024-6232; repaired in Python 3.11.10,
3.12.6 and 3.13), and reads maps of sparse files without a bound. Headers are measured here before it sees their content.
"""

from __future__ import annotations

import tarfile
from typing import Any, Self

MOST_WORK = 1 << 26
"""The sum of the squared lengths of an archive's extended headers: one of 8 kB, or 1,000 of 256 bytes."""
_EXTENDED = (
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)


class BoundedTarInfo(tarfile.TarInfo):
    """A header that raises `tarfile.ReadError` if reading on would take too long."""

    def _proc_member(self, archive: BoundedTarFile) -> Self:
        # tarfile names this method as the one to override.
        archive.work += self.size**2 if self.type in _EXTENDED else 0
        if archive.work > MOST_WORK:
            raise tarfile.ReadError("its extended headers are too long")
        if self.type == tarfile.GNUTYPE_SPARSE:
            self._no_sparse_files()
        # A number below zero would mean all that follows; an extended header may set another one.
        found: Self = super()._proc_member(archive) if self.size >= 0 else self  # type: ignore[misc]
        if found.size < 0:
            raise tarfile.ReadError("a file has a negative size")
        return found

    def _no_sparse_files(self, *_arguments: Any) -> None:
        raise tarfile.ReadError("it contains a sparse file")

    _proc_gnusparse_00 = _proc_gnusparse_01 = _proc_gnusparse_10 = _no_sparse_files


class BoundedTarFile(tarfile.TarFile):
    """An archive; open it with `BoundedTarFile.open`. Broken headers raise what `BROKEN` lists."""

    tarinfo = BoundedTarInfo
    work = 0


BROKEN = (tarfile.TarError, OSError, EOFError, ValueError, RecursionError)
"""What reading a damaged or hostile archive may raise."""

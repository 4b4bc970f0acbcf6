"""Where an index lies: beside the notes it was made from, and on a disk of this machine."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path, PurePath

MOUNTS = Path("/proc/mounts")
_SYNCHRONISED = {
    "iCloud": re.compile(r"Mobile Documents|com~apple~CloudDocs"),
    "Dropbox": re.compile(r"Dropbox(-.+| \(.+\))?"),
    "OneDrive": re.compile(r"OneDrive( ?- ?.+)?"),
    "Google Drive": re.compile(r"Google ?Drive(-.+)?"),
    "Nextcloud": re.compile(r"Nextcloud\d*"),
}
"""What the folders of these programs are called."""
_MARKS = {
    ".stfolder": "Syncthing",
    ".dropbox.cache": "Dropbox",
    ".nextcloudsync.log": "Nextcloud",
}
"""What these programs keep in the folder that they synchronise."""
_NETWORK = frozenset(
    [
        "9p",
        "afs",
        "cifs",
        "davfs",
        "fuse.rclone",
        "fuse.sshfs",
        "ncpfs",
        "nfs",
        "nfs4",
        "smb2",
        "smb3",
        "smbfs",
        "vboxsf",
    ]
)
"""File systems of other machines, whose locks and mapped files are not those of a disk."""


def index_beside(notes: Path) -> Path:
    """Return the index that `mathamr index NOTES` makes: `NOTES.index`, beside the notes."""
    full = notes.expanduser().resolve()
    return full.with_name(f"{full.name}.index")


def is_index(folder: Path) -> bool:
    """Return True if a folder holds an index."""
    from mathamr.index.manifest import MANIFEST  # not needed to say what a command does

    return (folder.expanduser() / MANIFEST).is_file()


def found_index(named: Path) -> Path:
    """Return the index that a user means: the folder itself, or the index of the notes that were named instead."""
    return index_beside(named) if not is_index(named) and is_index(index_beside(named)) else named


def place_warning(folder: Path) -> str:
    """Return what is wrong with the place of an index, and what to do; empty if nothing is known to be."""
    full = folder.expanduser().resolve()
    what_to_do = "keep it on a disk of this machine: mathamr index NOTES --out FOLDER"
    if program := synchronised_by(full):
        return (
            f"{folder} lies in a folder that {program} synchronises: copies of an index that is being changed are damaged ones,"
            f" and two machines would change the same files; exclude it there, or {what_to_do}"
        )
    if kind := network_file_system(full):
        return (
            f"{folder} lies on a network file system ({kind}), where readers may see half of a change;"
            f" use it from one machine at a time, or {what_to_do}"
        )
    return ""


def synchronised_by(folder: Path) -> str:
    """Return the program that synchronises a folder with other machines, if it is one of those that are known.

    >>> synchronised_by(Path("/home/ann/Dropbox (Work)/notes.index"))
    'Dropbox'
    """
    for parent in folder.parents:
        for name, pattern in _SYNCHRONISED.items():
            if pattern.fullmatch(parent.name):
                return name
        for mark, name in _MARKS.items():
            if (parent / mark).exists():
                return name
    return ""


def network_file_system(folder: Path, mounts: Path = MOUNTS) -> str:
    """Return the kind of network file system that a folder lies on; empty if it lies on none, or the system does not tell."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ""
    kind = _kind_of_mount(folder, (line.split(" ") for line in lines))
    return kind if kind in _NETWORK else ""


def _kind_of_mount(folder: Path, rows: Iterable[list[str]]) -> str:
    """Return the kind of the file system that is mounted nearest above a folder; that of `/` is the machine's own."""
    nearest, kind = PurePath("/"), ""
    for _, place, found, *_ in rows:
        mounted = PurePath(re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), place))
        is_nearer = len(mounted.parts) >= len(nearest.parts) > 0 and mounted != PurePath("/")
        if is_nearer and (mounted == folder or mounted in folder.parents):
            nearest, kind = mounted, found
    return kind

"""Counts and checksums of an index for its manifest, and its size on disk."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from mathamr.core.integrity import file_hash
from mathamr.index.manifest import Manifest
from mathamr.index.storage import IndexStorage

FIXED_FILES = ("graphs/vocabulary.txt", "graphs/relations.txt")
"""The files of an index that change only with its model."""


def update_manifest(archive: IndexStorage, manifest: Manifest | None = None) -> None:
    """Update the counts and checksums of the manifest (or of the one that is passed), and store a copy in the catalogue."""
    catalogue = archive.catalogue
    counts = {
        "posts": len(catalogue),
        **{f"{kind}s": count for kind, count in sorted(catalogue.kinds().items())},
        "formulas": catalogue.count_formulas(),
        "visual_classes": archive.lexical.formulas.count(),
        **{f"{field.name} vectors": archive.engine[field.name].count() for field in archive.engine.fields},
        "unfiled": catalogue.inputs()[""],
    }
    checksums = {"posts": catalogue.checksum()}
    for name in FIXED_FILES:
        if (archive.folder / name).is_file():
            checksums[name] = file_hash(archive.folder / name)
    stock = replace(
        manifest or archive.manifest,
        finished=True,
        revision=catalogue.revision,
        counts=counts,
        checksums=checksums,
    )
    with catalogue.transaction():
        catalogue.set_meta("manifest", stock.to_json())
    archive.manifest = stock.write(archive.folder)


def size_on_disk(path: Path) -> int:
    """Return the bytes of a file and its auxiliary SQLite files, or of all files in a folder."""
    if path.is_dir():
        return sum(each.stat().st_size for each in path.rglob("*") if each.is_file())
    return sum(each.stat().st_size for each in path.parent.glob(path.name + "*"))

"""Packages that Python itself finds: a folder on the path, with the metadata and entry points that pip would write."""

from __future__ import annotations

from pathlib import Path


def install(site: Path, name: str, entry_points: str) -> Path:
    """Writes the metadata of a package into a folder of installed packages; returns the file of its entry points."""
    about = site / f"{name.replace('-', '_')}-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    points = about / "entry_points.txt"
    points.write_text(entry_points, encoding="utf-8")
    return points

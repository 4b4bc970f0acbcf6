"""Lake, the build tool of Lean: the packages that a project depends on, from its `lake-manifest.json`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mathamr.core.errors import MathAMRError

MANIFEST = "lake-manifest.json"
PACKAGES = ".lake/packages"
LARGEST_MANIFEST = 4 << 20


@dataclass(frozen=True, slots=True)
class LakePackage:
    """A package that a project depends on: its name, its folder, and whether it was fetched at a fixed revision."""

    name: str
    folder: Path
    is_fixed: bool


def lake_packages(project: Path) -> list[LakePackage]:
    """Return the packages of a project that Lake has fetched, in the order of its manifest; none if the folder is not such a project.

    A package that Lake has not fetched yet has no folder and is left out: `lake exe cache get` or `lake build` fetches it.
    """
    manifest = project / MANIFEST
    if not manifest.is_file():
        return []
    try:
        if manifest.stat().st_size > LARGEST_MANIFEST:
            raise MathAMRError(
                f"{manifest}: larger than {LARGEST_MANIFEST >> 20} MB, so it is not a manifest of Lake"
            )
        row = json.loads(manifest.read_text(encoding="utf-8"))
        listed = row["packages"]
        folder = project / str(row.get("packagesDir") or PACKAGES)
        found = [_package(project, folder, each) for each in listed]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise MathAMRError(
            f"{manifest}: not a manifest of Lake ({error}); `lake update` writes it again"
        ) from error
    return [package for package in found if package is not None and package.folder.is_dir()]


def _package(project: Path, folder: Path, row: dict[str, Any]) -> LakePackage | None:
    """Return one package; older manifests wrap it by its type. A folder outside of the project and its packages is not followed."""
    if len(row) == 1:
        kind, row = next(iter(row.items()))
    else:
        kind = row.get("type", "git")
    name = str(row["name"]).strip("«»")
    is_fixed = kind == "git"
    place = folder / name if is_fixed else project / str(row["dir"])
    if is_fixed and row.get("subDir"):
        place = place / str(row["subDir"])
    if is_fixed and not place.resolve().is_relative_to(project.resolve()):
        return None
    return LakePackage(name, place, is_fixed)

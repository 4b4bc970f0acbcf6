"""Prints what the default installation consists of, as a CycloneDX bill of materials.

    python scripts/sbom.py [--advisories]

With `--advisories` it asks PyPI instead which of the installed releases have known vulnerabilities, one line each, and ends
with code 1 if there is one. Releases that PyPI does not describe are counted: nothing is known about them.
"""

from __future__ import annotations

import json
import re
import sys
import urllib.error
import urllib.request
from importlib import metadata
from typing import Any

from packaging.requirements import Requirement


def installed(root: str = "mathamr") -> dict[str, metadata.Distribution]:
    """Return the installed packages that one needs, without extras, by normalised name."""
    found: dict[str, metadata.Distribution] = {}
    waiting = [Requirement(root)]
    while waiting:
        needed = waiting.pop()
        name = re.sub(r"[-_.]+", "-", needed.name).lower()
        if name in found:
            continue
        found[name] = metadata.distribution(needed.name)
        for line in found[name].requires or ():
            other = Requirement(line)
            extras = [{"extra": extra} for extra in ("", *needed.extras)]
            if other.marker is None or any(other.marker.evaluate(extra) for extra in extras):
                waiting.append(other)
    return dict(sorted(found.items()))


def bill(packages: dict[str, metadata.Distribution]) -> dict[str, Any]:
    """Return the packages as a CycloneDX document."""
    components = [
        {"type": "library", "name": name, "version": each.version, "purl": f"pkg:pypi/{name}@{each.version}"}
        for name, each in packages.items()
    ]
    return {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "components": components}


def advisories(name: str, version: str) -> list[str] | None:
    """Return the vulnerabilities of a release that PyPI knows, or None if it does not describe the release."""
    for address in (f"{name}/{version}", name):
        try:
            with urllib.request.urlopen(f"https://pypi.org/pypi/{address}/json", timeout=30) as answer:
                row = json.load(answer)
        except urllib.error.URLError:
            continue
        if row["info"]["version"] == version:
            return [
                f"{each['id']} (fixed in {', '.join(each['fixed_in'])})" for each in row["vulnerabilities"]
            ]
    return None


def main(*arguments: str) -> int:
    """Print the bill, or the advisories."""
    packages = installed()
    if "--advisories" not in arguments:
        print(json.dumps(bill(packages), indent=2))
        return 0
    known = {name: advisories(name, each.version) for name, each in packages.items() if name != "mathamr"}
    for name, found in known.items():
        for each in found or ():
            print(f"{name} {packages[name].version}: {each}")
    unknown = sorted(name for name, found in known.items() if found is None)
    print(
        f"{len(known)} packages, {len(unknown)} not described by PyPI: {', '.join(unknown)}", file=sys.stderr
    )
    return int(any(known.values()))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

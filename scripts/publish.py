"""Write what needs a public address, once there is one: `python scripts/publish.py https://github.com/OWNER/mathamr`.

The address goes into `[project.urls]` of pyproject.toml, CITATION.cff and `server.json`, with which registries of MCP servers
find `mathamr mcp`. `--tags` prints the commands that tag the commits which brought each version into CHANGELOG.md.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
_VERSION = re.compile(r"^## (\d+\.\d+\.\d+)", re.M)


def with_urls(project: str, address: str) -> str:
    """Return a pyproject.toml with the addresses of the project.

    >>> print(with_urls("[project.scripts]\\nx = 1\\n", "https://e.org/m"))
    [project.urls]
    Source = "https://e.org/m"
    Documentation = "https://e.org/m/tree/main/docs"
    Changelog = "https://e.org/m/blob/main/CHANGELOG.md"
    Issues = "https://e.org/m/issues"
    <BLANKLINE>
    [project.scripts]
    x = 1
    <BLANKLINE>
    """
    project = re.sub(r"\[project\.urls\]\n(?:[^\[\n].*\n)*\n?", "", project)
    table = (
        f'[project.urls]\nSource = "{address}"\nDocumentation = "{address}/tree/main/docs"\n'
        f'Changelog = "{address}/blob/main/CHANGELOG.md"\nIssues = "{address}/issues"\n\n'
    )
    return project.replace("[project.scripts]", f"{table}[project.scripts]", 1)


def with_address(citation: str, address: str) -> str:
    """Return a CITATION.cff that names the repository."""
    kept = re.sub(r"^repository-code: .*\n", "", citation, flags=re.M)
    return f"{kept}repository-code: {address}\n"


def server(address: str, version: str) -> str:
    """Return the description of the MCP server for registries.

    >>> json.loads(server("https://github.com/ada/mathamr", "0.2.0"))["name"]
    'io.github.ada/mathamr'
    """
    owner, name = address.rstrip("/").split("/")[-2:]
    package = {
        "registryType": "pypi",
        "identifier": "mathamr",
        "version": version,
        "transport": {"type": "stdio"},
        "runtimeHint": "uvx",
        "packageArguments": [
            {"type": "positional", "value": "mcp"},
            {
                "type": "positional",
                "valueHint": "notes",
                "description": "the notes, or their index",
                "isRequired": True,
            },
        ],
    }
    row = {
        "$schema": SCHEMA,
        "name": f"io.github.{owner}/{name}",
        "description": "Search mathematical notes, papers and Lean libraries by words and formulas",
        "version": version,
        "repository": {"url": address, "source": "github"},
        "packages": [package],
    }
    return json.dumps(row, indent=2) + "\n"


def versions(changelog: str) -> list[str]:
    """Return the released versions of a changelog, the newest first.

    >>> versions("## Unreleased\\n## 0.2.0 (2026-11-18)\\n## 0.1.0")
    ['0.2.0', '0.1.0']
    """
    return _VERSION.findall(changelog)


def commit_of(version: str) -> str:
    """Return the commit that brought the heading of a version into the changelog."""
    command = ["git", "log", "--format=%H", "--reverse", f"-S## {version}", "--", "CHANGELOG.md"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    return found[0]


def main() -> None:
    """Write the files, or print the tags."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address", nargs="?")
    parser.add_argument("--tags", action="store_true")
    options = parser.parse_args()
    released = versions((ROOT / "CHANGELOG.md").read_text("utf-8"))
    if options.tags:
        for version in reversed(released):
            print(f"git tag -a v{version} -m 'mathamr {version}' {commit_of(version)}")
        print("git push --tags")
    if options.address:
        address = options.address.rstrip("/")
        for name, change in (("pyproject.toml", with_urls), ("CITATION.cff", with_address)):
            file = ROOT / name
            file.write_text(change(file.read_text("utf-8"), address), "utf-8")
        (ROOT / "server.json").write_text(server(address, released[0]), "utf-8")


if __name__ == "__main__":
    main()

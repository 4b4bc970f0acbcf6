"""Other readers of LaTeX: which commands their sources name, and the MathML that they make of a formula."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from latex2mathml.converter import convert

from mathamr.core.errors import MissingExtraError

INSTALL = "npm install --prefix FOLDER katex temml mathjax-full@3, and set MATHAMR_PEERS=FOLDER (outside the project)"
_SCRIPT = Path(__file__).with_name("_peers.cjs")
_QUOTED = re.compile(r"""["'`]\\\\([A-Za-z]+\*?)["'`]""")
_RAW = re.compile(r"""r["']\\([A-Za-z]+\*?)["']""")
_KEY = re.compile(r"""^\s*["']?([A-Za-z]+\*?)["']?:\s*[\['"(]""", re.MULTILINE)
_UNREAD = re.compile(r">[^<]*(?:\\|&#x0005C;)[a-zA-Z]")
"""A command that latex2mathml prints as it is."""
_NAMES = re.compile(r"""names:\s*\[([^\]]*)\]""")
_ENVIRONMENT = re.compile(r"""["']([A-Za-z]+\*?)["']""")


@dataclass(frozen=True)
class Peer:
    """Another reader of LaTeX: where its sources are, and how they name a command."""

    name: str
    sources: tuple[Path, ...]
    named: tuple[re.Pattern[str], ...]
    folder: Path | None = None

    def commands(self) -> list[str]:
        """Return the commands that the sources name; some of the names are not commands."""
        return sorted(
            {name for text in self._texts() for pattern in self.named for name in pattern.findall(text)}
        )

    def environments(self) -> list[str]:
        """Return the environments that the sources name."""
        found = {
            name
            for text in self._texts()
            for names in _NAMES.findall(text)
            for name in _ENVIRONMENT.findall(names)
        }
        if self.name == "mathjax":
            found |= set(self.commands())
        return sorted(found)

    def _texts(self) -> Iterable[str]:
        for path in self.sources:
            yield path.read_text(encoding="utf-8", errors="replace")

    def read(self, formulas: Sequence[str]) -> list[str | None]:
        """Return the MathML of every formula; None for what the peer refuses."""
        if self.folder is None:
            return [_converted(formula) for formula in formulas]
        asked = "".join(json.dumps(formula) + "\n" for formula in formulas)
        command = ["node", str(_SCRIPT), str(self.folder), self.name]
        done = subprocess.run(command, input=asked, capture_output=True, text=True, check=True)
        return [json.loads(line).get("mathml") for line in done.stdout.splitlines()]


def _converted(formula: str) -> str | None:
    try:
        markup: str = convert(formula)
    except Exception:  # whatever the other converter raises
        return None
    return None if _UNREAD.search(markup) else markup


def peers() -> list[Peer]:
    """Return all installed readers; if only latex2mathml is, raises an error that says how to install the others."""
    folder = Path(os.environ.get("MATHAMR_PEERS", ""))
    modules = folder.resolve() / "node_modules"
    if shutil.which("node") is None or not os.environ.get("MATHAMR_PEERS") or not modules.is_dir():
        raise MissingExtraError("node with KaTeX, Temml and MathJax", INSTALL)
    found = [
        Peer("katex", _under(modules / "katex/src", "*.ts"), (_QUOTED,), folder.resolve()),
        Peer("temml", _under(modules / "temml/src", "*.js"), (_QUOTED,), folder.resolve()),
        Peer("mathjax", _under(modules / "mathjax-full/js/input/tex", "*Mappings.js", "*Configuration.js"), (_KEY,),
             folder.resolve()),
    ]  # fmt: skip
    specification = find_spec("latex2mathml")
    if specification is not None and specification.origin is not None:
        found.append(Peer("latex2mathml", _under(Path(specification.origin).parent, "*.py"), (_QUOTED, _RAW)))
    return [peer for peer in found if peer.sources]


def _under(folder: Path, *patterns: str) -> tuple[Path, ...]:
    return tuple(sorted(path for pattern in patterns for path in folder.rglob(pattern)))

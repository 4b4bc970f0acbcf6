"""The state of this installation, printed by `mathamr doctor`: versions, models, optional parts, settings."""

from __future__ import annotations

import os
import platform
import shlex
import sys
from dataclasses import asdict, dataclass, field
from importlib import metadata
from importlib.util import find_spec
from typing import Any, Literal

from mathamr.core.errors import MathAMRError
from mathamr.core.settings import DATA, MINILM, SETTINGS, Setting
from mathamr.core.telemetry import SWITCHES, find_onnxruntime_reports
from mathamr.core.version import __version__

State = Literal["ok", "missing", "optional"]

_FOLDERS = (DATA, MINILM)
"""Settings that name a folder that must exist to be of use."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor's report; `help` says what to do about it."""

    topic: str
    name: str
    state: State
    value: str
    help: str = ""


@dataclass(frozen=True, slots=True)
class Checkup:
    """All findings of `examine`."""

    findings: tuple[Finding, ...] = field(default=())

    @property
    def healthy(self) -> bool:
        """True if no required part is missing."""
        return all(finding.state != "missing" for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        """Return the findings as JSON values."""
        return {"healthy": self.healthy, "findings": [asdict(finding) for finding in self.findings]}


def examine() -> Checkup:
    """Examine this installation without changing or downloading anything."""
    return Checkup((*_machine(), *_dependencies(), *_models(), *_optional(), *_privacy(), *_settings()))


def _machine() -> list[Finding]:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30 if hasattr(os, "sysconf") else 0
    return [
        Finding("machine", "mathamr", "ok", __version__),
        Finding("machine", "python", "ok", f"{platform.python_version()} ({sys.executable})"),
        Finding("machine", "platform", "ok", f"{platform.system()} {platform.machine()}"),
        Finding("machine", "cores and memory", "ok", f"{os.cpu_count()} cores, {memory:.1f} GiB"),
    ]


def _dependencies() -> list[Finding]:
    """Return the installed versions of the required packages."""
    findings = []
    for requirement in metadata.requires("mathamr") or []:
        if "extra ==" in requirement:
            continue
        name = requirement.split(";")[0].split("[")[0]
        for sign in "<>=!~ ":
            name = name.split(sign)[0]
        version = _version(name)
        help_text = "" if version else f"pip install '{requirement}'"
        findings.append(
            Finding("package", name, "ok" if version else "missing", version or "not installed", help_text)
        )
    return findings


def _models() -> list[Finding]:
    from mathamr.amr.builtin import describe

    found = describe()
    again = "reinstall mathamr: its weights are part of the package"
    parser = Finding(
        "model",
        "AMR parser builtin",
        "ok" if found.ready else "missing",
        found.text,
        "" if found.ready else again,
    )
    return [parser, _box(again), _further_models()]


def _box(again: str) -> Finding:
    """Return the default model: its name and size, after its files were checked."""
    from mathamr.systems.models import checked_model

    try:
        found = checked_model()
    except MathAMRError as error:
        return Finding("model", "post encoder", "missing", str(error), again)
    text = f"{found.name}: {found.system.kind}, {found.bytes / 1e6:.1f} MB"
    return Finding("model", "post encoder", "ok", text)


def _further_models() -> Finding:
    """Return the finding on the further models: how many are installed, or which are missing."""
    from mathamr.systems.models import IN_MORE, MORE, boxed

    missing = sorted(set(IN_MORE) - set(boxed()))
    if not missing:
        return Finding("model", "further models", "ok", f"{len(IN_MORE)} installed (mathamr models)")
    help_text = f"for {', '.join(missing)}: pip install {MORE}"
    return Finding("model", "further models", "optional", f"{len(missing)} not installed", help_text)


_OPTIONAL = (
    ("torch", "torch", "other systems, training and accelerators", "'mathamr[torch]'"),
    ("mathamr-lab", "mathamr_lab", "training and the papers' experiments", "./lab (in a checkout of the repository)"),
    ("mcp", "mcp.server.mcpserver", "mathamr mcp, tools for assistants", "'mathamr[mcp]'"),
    ("langchain-core", "langchain_core.retrievers", "the retriever of LangChain", "'mathamr[langchain]'"),
    ("resvg-py", "resvg_py", "mathamr explain --png", "'mathamr[png]'"),
    ("qdrant-client", "qdrant_client", "the engine qdrant, a server for vectors", "'mathamr[qdrant]'"),
    ("psycopg", "psycopg", "the engine postgres", "'mathamr[postgres]'"),
    ("ray", "ray", "indexing on a cluster", "'mathamr[ray]'"),
    ("amrlib", "amrlib", "AMR parsing with its pretrained models", "amrlib"),
)  # fmt: skip
"""Optional packages: the module that is used of each, what for, and what to install."""


def _optional() -> list[Finding]:
    return [_optional_package(*each) for each in _OPTIONAL]


def _optional_package(package: str, module: str, purpose: str, wanted: str) -> Finding:
    """Return the finding on an optional package; it counts as installed only if the module that we import from it can be
    found.
    """
    version = _version(package)
    if _has_module(module):
        return Finding("optional", package, "ok", version or "installed")
    value = f"{version} lacks {module}" if version else "not installed"
    return Finding("optional", package, "optional", value, f"for {purpose}: pip install {wanted}")


def _has_module(module: str) -> bool:
    """Return True if a module can be found; its parents are imported, but not the module itself."""
    try:
        found = find_spec(module)
    except ImportError:
        return False
    return found is not None and found.origin is not None


def _privacy() -> list[Finding]:
    """Return the findings on the telemetry switches, and on event files that ONNX Runtime has queued."""
    findings = [
        Finding(
            "privacy", switch.name, "ok", os.environ.get(switch.name, "not set"), f"otherwise {switch.help}"
        )
        for switch in SWITCHES
    ]
    reports = find_onnxruntime_reports()
    if reports is not None:
        help_text = f"written by another program, or by an earlier mathamr; to remove it: rm -r {shlex.quote(str(reports))}"
        findings.append(
            Finding("privacy", "queued events of ONNX Runtime", "optional", str(reports), help_text)
        )
    return findings


def _settings() -> list[Finding]:
    return [_setting(setting) for setting in SETTINGS]


def _setting(setting: Setting) -> Finding:
    """Return the finding on a setting, which is in force if it has a value and a folder that it names exists."""
    if not setting.value:
        return Finding("setting", setting.name, "optional", "not set", setting.help)
    if setting in _FOLDERS and not setting.path.is_dir():
        return Finding("setting", setting.name, "optional", f"{setting.shown} does not exist", setting.help)
    return Finding("setting", setting.name, "ok", setting.shown, setting.help)


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None

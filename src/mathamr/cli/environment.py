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
from mathamr.core.settings import SETTINGS
from mathamr.core.telemetry import SWITCHES, find_onnxruntime_reports
from mathamr.core.version import __version__

State = Literal["ok", "missing", "optional"]


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
        """The findings as JSON values."""
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
    """The installed versions of the required packages."""
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
    return [parser, _box(again)]


def _box(again: str) -> Finding:
    """The default model: its name and size, after its files were checked."""
    from mathamr.systems.models import checked_model

    try:
        found = checked_model()
    except MathAMRError as error:
        return Finding("model", "post encoder", "missing", str(error), again)
    text = f"{found.name}: {found.system.kind}, {found.bytes / 1e6:.1f} MB"
    return Finding("model", "post encoder", "ok", text)


def _optional() -> list[Finding]:
    findings = []
    for package, module, purpose, wanted in (
        ("torch", "torch", "other systems, training and accelerators", '"mathamr[torch]"'),
        ("amrlib", "amrlib", "AMR parsing with its pretrained models", "amrlib"),
        (
            "transition-neural-parser",
            "transition_amr_parser",
            "AMR parsing with IBM's transition parser",
            "transition-neural-parser",
        ),
    ):
        found = find_spec(module) is not None
        findings.append(
            Finding(
                "optional",
                package,
                "ok" if found else "optional",
                _version(package) or "installed" if found else "not installed",
                "" if found else f"for {purpose}: pip install {wanted}",
            )
        )
    return findings


def _privacy() -> list[Finding]:
    """The switches that keep libraries silent, and what ONNX Runtime wrote for its maker before or elsewhere."""
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
    return [Finding("setting", setting.name, "ok", setting.shown, setting.help) for setting in SETTINGS]


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None

# ruff: noqa: D103
"""The attacks by folders that others may write to: models of a stranger, a cache that is shared; see scripts/attacks.py."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from hashlib import sha256
from pathlib import Path

from attacked import Outcome, Scene, attack, outcome, patched

OTHER = 54321
"""The user and the group of somebody else; only root can act as them."""
_LOAD = "import sys\nfrom mathamr.systems.models import load_system\nlist(load_system(sys.argv[1], 'cpu').encode([]))"
_SEEN = (
    "import os, sys\nfrom mathamr.core.storage.seen import SeenFiles\n"
    "sys.exit(os.stat(sys.argv[1]) in SeenFiles(smallest=1))"
)


def _model(scene: Scene) -> Path:
    """Return a copy of a model of the checkout."""
    folder = Path(tempfile.mkdtemp(dir=scene.room)) / "model"
    shutil.copytree(scene.checkout / "src/mathamr/systems/box/mathamr-3", folder)
    return folder


@attack
def pipes_and_devices_in_a_model(scene: Scene) -> Outcome:
    said, held = [], True
    for name in ("config.json", "weights.safetensors", "wordpieces.txt"):
        for kind in ("pipe", "device"):
            path = _model(scene) / "text" / name
            path.unlink()
            if kind == "pipe":
                os.mkfifo(path)
            else:
                path.symlink_to("/dev/zero")
            try:
                done = scene.python("-c", _LOAD, str(path.parent.parent), seconds=20, patience=60)
            except subprocess.TimeoutExpired:
                held = False
                said.append(f"{name} as a {kind} waited for ever")
                continue
            held &= done.returncode == 1 and "MathAMRError" in done.stderr
            said.append(f"{name} as a {kind} {outcome(done)[1][:60]}")
    return held, "; ".join(said)


@attack
def sparse_files_in_a_model(scene: Scene) -> Outcome:
    said, held = [], True
    for name in ("config.json", "wordpieces.txt"):
        path = _model(scene) / "text" / name
        with path.open("wb") as file:
            file.truncate(1 << 31)
        config = path.with_name("config.json")
        if path != config:
            with path.open("rb") as file:
                digest = sha256()
                while block := file.read(1 << 20):
                    digest.update(block)
            patched(
                config, lambda row, digest=digest, name=name: row["sha256"].update({name: digest.hexdigest()})
            )
        done = scene.python("-c", _LOAD, str(path.parent.parent), megabytes=2000)
        held &= done.returncode == 1 and "MathAMRError" in done.stderr
        said.append(f"{name} of 2 GB {outcome(done)[1][-70:]}")
    return held, "; ".join(said)


@attack
def graphs_of_operations_in_a_model(scene: Scene) -> Outcome:
    folder = _model(scene)
    for name in ("model.onnx", "model.onnx.data"):
        os.mkfifo(folder / "text" / name)
    (folder / "model.onnx").write_bytes(b"\x08\x08:\xff\xff\xff\xff\x07")  # a graph of 2 GB that is cut off
    out = folder.parent / "index"
    done = scene.run(
        "index", str(scene.notes), "--out", str(out), "--model", str(folder), seconds=200, megabytes=0
    )
    return done.returncode == 0, f"index with such a model {outcome(done)[1]}: no file of operations was read"


@attack
def a_model_that_names_a_path(scene: Scene) -> Outcome:
    own, folder = _model(scene), _model(scene)
    shutil.rmtree(folder / "text")
    patched(folder / "config.json", lambda row: row.update(text=str(own)))
    done = scene.python("-c", _LOAD, str(folder))
    return done.returncode == 1 and "unknown model" in done.stderr, outcome(done)[1]


@attack
def a_header_of_tensors_without_end(scene: Scene) -> Outcome:
    folder = _model(scene)
    path, header = folder / "text" / "weights.safetensors", b'{"a":[' + b"[]," * 30_000_000 + b"[]]}"
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    patched(
        folder / "text" / "config.json",
        lambda row: row["sha256"].update({path.name: sha256(path.read_bytes()).hexdigest()}),
    )
    done = scene.python("-c", _LOAD, str(folder), megabytes=2000)
    return done.returncode == 1 and "safetensors" in done.stderr, f"90 MB of lists: {outcome(done)[1]}"


def _as_another(folder: Path, command: str) -> None:
    """Run a shell command as another user, who is in no other group."""
    if os.getuid() != 0:
        raise PermissionError("only root can act as a second user")
    subprocess.run(["sh", "-ec", command], cwd=folder, user=OTHER, group=OTHER, extra_groups=[], check=True)


def _shared_cache(scene: Scene, mode: int) -> Path:
    cache = Path(tempfile.mkdtemp(dir=scene.room)) / "cache"
    cache.mkdir()
    os.chown(cache, 0, OTHER)
    cache.chmod(mode)
    return cache


@attack
def a_cache_of_a_group(scene: Scene) -> Outcome:
    """Return a member of the group vouches for a large file that nobody verified."""
    large = scene.room / "unverified"
    large.write_bytes(b"y" * 20)
    found = large.stat()
    line = f"{found.st_dev} {found.st_ino} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"
    said, held = [], True
    for mode in (0o770, 0o777, 0o1777):
        cache = _shared_cache(scene, mode)
        _as_another(cache, f"echo '{line}' > seen-files.txt; chmod 644 seen-files.txt")
        for after in (mode, 0o755):
            cache.chmod(after)
            done = scene.python("-c", _SEEN, str(large), MATHAMR_CACHE=str(cache))
            held &= done.returncode == 0
            said.append(f"{mode:o}, then {after:o}: {'not ' if done.returncode == 0 else ''}believed")
    return held, "; ".join(said)


@attack
def links_in_a_shared_cache(scene: Scene) -> Outcome:
    """Return a member of the group plants links where `demo` and the caches write."""
    victim, cache = scene.room / "my-file", _shared_cache(scene, 0o770)
    victim.write_text("mine")
    _as_another(
        cache,
        f"mkdir demo; for f in demo/posts.jsonl demo/why.png seen-files.txt; do ln -s {victim} $f; done",
    )
    demo = scene.run("demo", "--limit", "2", "-j", "1", MATHAMR_CACHE=str(cache), seconds=200, megabytes=0)
    parsed = scene.run("amr", "A zebra runs.", MATHAMR_CACHE=str(cache), megabytes=0)
    kept = victim.read_bytes() == b"mine"
    held = kept and demo.returncode != 0 and outcome(demo)[0] and parsed.returncode == 0
    return held, f"the file of the links is {'as it was' if kept else 'changed'}; demo {outcome(demo)[1]}"

"""Model folders from a stranger, by machine: each has one damage from a seed, and hashes that fit it.

Every folder is loaded, encodes notes into an index and is searched. It is *refused* with an error that names the model, or
*harmless*: finite vectors within the limits. Anything else is a finding. See scripts/campaigns.py.
"""

from __future__ import annotations

import json
import math
import os
import random
import shutil
import signal
import struct
from collections import Counter, defaultdict
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from mathamr.core.modelfolder import CONFIG, WEIGHTS
from mathamr.index.indexing.builder import BuildOptions, build_index
from mathamr.search.searcher import Index
from mathamr.systems.models import boxed_folder

MODELS = ("mathamr-3", "mathamr-plus", "mathamr-2")
"""Text alone, graphs alone, and text with graphs: the kinds of models that need no torch."""
SECONDS = 60
MEGABYTES = 3000
ODD: tuple[Any, ...] = (
    None, True, -1, 0, 1, 2, 7, 255, 257, 99_999, 100_001, 2**31, 2**63, 2**70, 0.5, -0.0, math.inf, math.nan, "", "x", "\0", "..", "../..", "/dev/zero",
    [], [1], {}, {"x": 1}, "a" * 10_000, [[]] * 100,
)  # fmt: skip
EXTREME = (0.0, -1.0, 1e30, -1e30, 3.4e38, 1e-45, math.nan, math.inf)
_FORMATS = {"F32": "<f", "F16": "<e", "I8": "<b", "F64": "<d"}

Damage = Callable[[random.Random, Path], str]


def _config(chance: random.Random, folder: Path) -> str:
    """Change a value of a configuration."""
    path = chance.choice(sorted(folder.rglob(CONFIG)))
    row = json.loads(path.read_text(encoding="utf-8"))
    row.pop("measured", None)
    owner, name = row, chance.choice(sorted(row))
    while isinstance(owner[name], dict) and owner[name] and chance.random() < 0.8:
        owner, name = owner[name], chance.choice(sorted(owner[name]))
    value = chance.choice(ODD)
    if chance.random() < 0.1:
        del owner[name]
        value = "deleted"
    else:
        owner[name] = value
    if chance.random() < 0.2:
        for part in ("text", "graph", "base", "system", "encoder"):
            if chance.random() < 0.2:
                row[part] = chance.choice(ODD)
    path.write_text(json.dumps(row), encoding="utf-8")
    return f"{path.relative_to(folder)} {name} = {str(value)[:40]}"


def _header(chance: random.Random, folder: Path) -> str:
    """Change the header of a file of tensors."""
    path = chance.choice(sorted(folder.rglob(WEIGHTS)))
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    name = chance.choice(sorted(header))
    row = header[name]
    kind = chance.choice(("dtype", "shape", "offsets", "drop", "row", "rename", "twice", "empty", "swapped"))
    if kind == "dtype":
        row["dtype"] = chance.choice(["F32", "I8", "F16", "BF16", "I64", "F64", "BOOL", "x", 7, []])
    elif kind == "shape":
        row["shape"] = chance.choice(
            [
                [*row["shape"], 1],
                row["shape"][::-1],
                [],
                [0],
                [2**40, 2**40],
                [-1],
                "x",
                [1.5],
                [10**400] * 50,
            ]
        )
    elif kind == "offsets":
        row["data_offsets"] = chance.choice([[0, 0], [0, 2**62], [-1, 4], [5], "ab", None, [1.0, 2.0]])
    elif kind == "drop":
        del header[name]
    elif kind == "row":
        header[name] = chance.choice(ODD)
    elif kind == "rename":
        header[name + "x"] = header.pop(name)
    elif kind == "twice":
        header[name + "x"] = row
    elif kind == "empty":
        header["x"] = {"dtype": "F32", "shape": [0, 2**60], "data_offsets": [len(data) - 8 - size] * 2}
    else:
        other = header[chance.choice(sorted(header))]
        row["data_offsets"], other["data_offsets"] = other["data_offsets"], row["data_offsets"]
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data[8 + size :])
    return f"{path.relative_to(folder)} {name} {kind}"


def _bytes(chance: random.Random, folder: Path) -> str:
    """Cuts a file, or changes some of its first bytes."""
    path = chance.choice(sorted(each for each in folder.rglob("*") if each.is_file()))
    data = bytearray(path.read_bytes())
    if chance.random() < 0.4:
        place = chance.randrange(len(data))
        path.write_bytes(data[:place])
        return f"{path.relative_to(folder)} cut at {place}"
    place = chance.randrange(min(len(data), 4000))
    data[place : place + 8] = chance.choice(
        [b"\xff" * 8, b"\0" * 8, b"[" * 100_000, b"\n", b"", os.urandom(8)]
    )
    path.write_bytes(data)
    return f"{path.relative_to(folder)} changed at {place}"


def _numbers(chance: random.Random, folder: Path) -> str:
    """Write extreme numbers into a tensor, or into all of a kind."""
    path = chance.choice(sorted(folder.rglob(WEIGHTS)))
    data = bytearray(path.read_bytes())
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    header.pop("__metadata__", None)
    names = sorted(header)
    if chance.random() < 0.6:
        names = [name for name in names if header[name]["dtype"] != "I8"]
    chosen = [chance.choice(names)] if chance.random() < 0.6 else names
    value = chance.choice(EXTREME)
    for name in chosen:
        form = _FORMATS[header[name]["dtype"]]
        if form == "<b":
            value = chance.choice([-128.0, 127.0, 0.0])
        elif form == "<e" and abs(value) > 6e4 and math.isfinite(value):
            value = math.copysign(65504.0, value)
        begin, end = (8 + size + place for place in header[name]["data_offsets"])
        one = struct.pack(form, int(value) if form == "<b" else value)
        count = (end - begin) // len(one)
        if chance.random() < 0.5:
            data[begin:end] = one * count
        else:
            place = begin + chance.randrange(count) * len(one)
            data[place : place + len(one)] = one
    path.write_bytes(data)
    return f"{path.relative_to(folder)} {chosen[0] if len(chosen) == 1 else 'all'} = {value}"


def _lines(chance: random.Random, folder: Path) -> str:
    """Change lines of a vocabulary."""
    path = chance.choice(sorted(folder.rglob("*.txt")))
    lines = path.read_text(encoding="utf-8").split("\n")
    place = chance.randrange(len(lines))
    kind = chance.choice(("drop", "repeat", "long", "odd", "shuffled", "all the same"))
    if kind == "drop":
        del lines[place]
    elif kind == "repeat":
        lines.insert(place, lines[place - 1])
    elif kind == "long":
        lines[place] = "a" * 3_000_000
    elif kind == "odd":
        lines[place] = chance.choice(["", "##", "\0", "\r", "\u202e", "[UNK]", "\\", " "])
    elif kind == "shuffled":
        chance.shuffle(lines)
    else:
        lines = [lines[0]] * len(lines)
    path.write_text("\n".join(lines), encoding="utf-8")
    return f"{path.relative_to(folder)} line {place} {kind}"


def _special(chance: random.Random, folder: Path) -> str:
    """Put something that is not a file of its own in the place of a file, or beside it."""
    path = chance.choice(sorted(each for each in folder.rglob("*") if each.is_file()))
    kind = chance.choice(("pipe", "zero", "loop", "folder", "sparse", "onnx"))
    if kind == "onnx":
        for name in ("model.onnx", "model.onnx.data"):
            os.mkfifo(path.with_name(name))
        return f"{path.relative_to(folder)} has a pipe model.onnx beside it"
    size = path.stat().st_size
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "zero":
        path.symlink_to("/dev/zero")
    elif kind == "loop":
        path.symlink_to(path)
    elif kind == "folder":
        path.mkdir()
    else:
        with path.open("wb") as file:
            file.truncate(size + (1 << 34))
    return f"{path.relative_to(folder)} is a {kind}"


DAMAGES: tuple[Damage, ...] = (_config, _header, _bytes, _numbers, _lines, _special)


def seal(folder: Path) -> None:
    """Write the right hashes into every configuration that has any: the stranger can compute them, too."""
    for path in folder.rglob(CONFIG):
        try:
            row = (
                json.loads(path.read_text(encoding="utf-8"))
                if path.is_file() and path.stat().st_size < 1 << 20
                else None
            )
        except (OSError, ValueError, RecursionError):
            continue
        hashes = row.get("sha256") if isinstance(row, dict) else None
        if not isinstance(hashes, dict):
            continue
        for name in hashes:
            file = path.with_name(name) if name and "/" not in name and "\0" not in name else None
            if file and file.is_file() and file.stat().st_size < 1 << 30:
                hashes[name] = sha256(file.read_bytes()).hexdigest()
        path.write_text(json.dumps(row), encoding="utf-8")


def models(
    count: int,
    seed: int,
    room: Path,
    in_child: Callable[[Callable[[], str], int, int | None], tuple[str, float, float]],
) -> list[str]:
    """Damages models in turn; the findings."""
    notes = room / "notes"
    notes.mkdir()
    for number in range(2):
        (notes / f"n{number}.md").write_text(
            f"The group of order $n^{number}$ is a zebra. " * 60, encoding="utf-8"
        )
    _used(boxed_folder(MODELS[-1]), notes, room / "warm")
    signal.alarm(0)
    outcomes: dict[str, Counter[str]] = defaultdict(Counter)
    findings: list[str] = []
    for number in range(count):
        chance = random.Random(f"{seed} {number}")
        source, folder = boxed_folder(chance.choice(MODELS)), room / "model"
        shutil.copytree(source, folder)
        damage = DAMAGES[number % len(DAMAGES)]
        what = damage(chance, folder)
        seal(folder)
        said, took, grew = in_child(
            lambda folder=folder: _used(folder, notes, room / "index"), SECONDS, MEGABYTES
        )
        if not said.startswith("finding") and grew > MEGABYTES:
            said = f"finding: {took:.1f} s, {grew:.0f} MB"
        outcomes[damage.__name__.strip("_")][said.partition(":")[0]] += 1
        if said.startswith("finding"):
            findings.append(f"{source.name} {what}: {said}")
        shutil.rmtree(folder)
        shutil.rmtree(room / "index", ignore_errors=True)
    for name, counted in outcomes.items():
        print(f"{name}: {dict(counted)}")
    return findings


def _used(model: Path, notes: Path, out: Path) -> str:
    signal.alarm(10 * SECONDS)  # a pipe costs no processor time, and a busy machine much of the clock
    build_index([notes], out, BuildOptions(workers=1, model=model))
    with Index.open(out, device="cpu", model=model) as index:
        for query, strategy in (("zebra group $n^1$", "maxsim"), ("zebra", "hybrid")):
            found = list(index.search(query, strategy=strategy))
            if not all(math.isfinite(hit.score) for hit in found):
                return f"finding: scores {[hit.score for hit in found]}"
    return "harmless"

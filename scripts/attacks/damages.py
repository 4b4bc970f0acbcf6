"""Damages to model folders of a stranger, each from a seed, and the hashes that fit them."""
# fmt: off

from __future__ import annotations

import copy
import json
import math
import os
import random
import struct
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from corpus import VALUES

from mathamr.core.modelfolder import CONFIG, WEIGHTS

EXTREME = (0.0, -1.0, 1e30, -1e30, 3.4e38, 1e-45, math.nan, math.inf)
FORMATS = {"F32": "<f", "F16": "<e", "I8": "<b", "F64": "<d"}
PARTS = ("text", "graph", "base", "system", "encoder")


def change_value(chance: random.Random, row: dict[str, Any], values: tuple[Any, ...]) -> None:
    """Change or delete a value somewhere in JSON."""
    owner: Any = row
    while True:
        name = chance.choice(sorted(owner) if isinstance(owner, dict) else range(len(owner)))
        if not (isinstance(owner[name], dict | list) and owner[name] and chance.random() < 0.8):
            break
        owner = owner[name]
    if chance.random() < 0.1:
        del owner[name]
    else:
        owner[name] = copy.deepcopy(chance.choice(values))


def _file(chance: random.Random, folder: Path, pattern: str = "*") -> Path:
    return chance.choice(sorted(each for each in folder.rglob(pattern) if each.is_file()))


def _config(chance: random.Random, folder: Path) -> None:
    path = _file(chance, folder, CONFIG)
    row = json.loads(path.read_text(encoding="utf-8"))
    row.pop("measured", None)
    change_value(chance, row, VALUES)
    if chance.random() < 0.2:
        row |= {part: chance.choice(VALUES) for part in PARTS if chance.random() < 0.2}
    path.write_text(json.dumps(row), encoding="utf-8")


def _tensors(path: Path) -> tuple[bytearray, dict[str, Any], int]:
    data = bytearray(path.read_bytes())
    size = int.from_bytes(data[:8], "little")
    return data, json.loads(data[8 : 8 + size]), size


def _header(chance: random.Random, folder: Path) -> None:
    path = _file(chance, folder, WEIGHTS)
    data, header, size = _tensors(path)
    name, other = (chance.choice(sorted(header)) for _ in range(2))
    row = header[name]
    change: dict[str, Callable[[], object]] = {
        "dtype": lambda: row.update(dtype=chance.choice(["F32", "I8", "F16", "BF16", "I64", "F64", "BOOL", "x", 7, []])),
        "shape": lambda: row.update(shape=chance.choice([[*row["shape"], 1], row["shape"][::-1], [], [0], [2**40, 2**40], [-1], "x", [1.5], [10**400] * 50])),
        "offsets": lambda: row.update(data_offsets=chance.choice([[0, 0], [0, 2**62], [-1, 4], [5], "ab", None, [1.0, 2.0]])),
        "drop": lambda: header.pop(name),
        "row": lambda: header.update({name: chance.choice(VALUES)}),
        "rename": lambda: header.update({f"{name}x": header.pop(name)}),
        "twice": lambda: header.update({f"{name}x": row}),
        "empty": lambda: header.update(x={"dtype": "F32", "shape": [0, 2**60], "data_offsets": [len(data) - 8 - size] * 2}),
        "swapped": lambda: (header[other].update(data_offsets=row["data_offsets"]), row.update(data_offsets=header[other]["data_offsets"])),
    }
    change[chance.choice(sorted(change))]()
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data[8 + size :])


def _bytes(chance: random.Random, folder: Path) -> None:
    data = bytearray((path := _file(chance, folder)).read_bytes())
    if chance.random() < 0.4:
        del data[chance.randrange(len(data)) :]
    else:
        place = chance.randrange(min(len(data), 4000))
        data[place : place + 8] = chance.choice([b"\xff" * 8, b"\0" * 8, b"[" * 100_000, b"\n", b"", chance.randbytes(8)])
    path.write_bytes(data)


def _numbers(chance: random.Random, folder: Path) -> None:
    path = _file(chance, folder, WEIGHTS)
    data, header, size = _tensors(path)
    names = sorted(name for name in header if name != "__metadata__")
    value = chance.choice(EXTREME)
    for name in [chance.choice(names)] if chance.random() < 0.6 else names:
        form = FORMATS[header[name]["dtype"]]
        if form == "<b":
            one = struct.pack(form, chance.choice([-128, 127, 0]))
        else:
            one = struct.pack(form, math.copysign(min(abs(value), 65504.0), value) if form == "<e" and math.isfinite(value) else value)
        begin, end = (8 + size + place for place in header[name]["data_offsets"])
        count = (end - begin) // len(one)
        place, times = (begin, count) if chance.random() < 0.5 else (begin + chance.randrange(count) * len(one), 1)
        data[place : place + times * len(one)] = one * times
    path.write_bytes(data)


def _lines(chance: random.Random, folder: Path) -> None:
    path = _file(chance, folder, "*.txt")
    lines = path.read_text(encoding="utf-8").split("\n")
    place, kind = chance.randrange(len(lines)), chance.random()
    odd = chance.choice(["a" * 3_000_000, "", "##", "\0", "\r", "\u202e", "[UNK]", "\\", " ", lines[place - 1]])
    lines[place : place + (kind < 0.7)] = [odd] if kind > 0.1 else []
    if kind > 0.9:
        chance.shuffle(lines)
    path.write_text("\n".join(lines if kind < 0.97 else [lines[0]] * len(lines)), encoding="utf-8")


def special(path: Path, kind: str) -> None:
    """Put a pipe, a device, a link to itself, a folder or a file of nothing in the place of a file."""
    size = path.stat().st_size
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind in ("device", "loop"):
        path.symlink_to("/dev/zero" if kind == "device" else path)
    elif kind == "folder":
        path.mkdir()
    else:
        with path.open("wb") as file:
            file.truncate(size + (1 << 34))


def _special(chance: random.Random, folder: Path) -> None:
    path, kind = _file(chance, folder), chance.choice(("pipe", "device", "loop", "folder", "sparse", "onnx"))
    if kind != "onnx":
        special(path, kind)
        return
    for name in ("model.onnx", "model.onnx.data"):
        os.mkfifo(path.with_name(name))


DAMAGES = {"config": _config, "header": _header, "bytes": _bytes, "numbers": _numbers, "lines": _lines, "special": _special}
"""Damages by name: to a configuration, the header, bytes, numbers, a vocabulary, or to what kind of file it is."""


def seal(folder: Path) -> None:
    """Write the right hashes into every configuration that has any: the stranger can compute them, too."""
    for path in folder.rglob(CONFIG):
        try:
            row = json.loads(path.read_text(encoding="utf-8")) if path.is_file() and path.stat().st_size < 1 << 20 else None
        except (OSError, ValueError, RecursionError):
            continue
        hashes = row.get("sha256") if isinstance(row, dict) else None
        for name in hashes if isinstance(hashes, dict) else ():
            file = path.with_name(name) if name and "/" not in name and "\0" not in name else None
            if file and file.is_file() and file.stat().st_size < 1 << 30:
                hashes[name] = sha256(file.read_bytes()).hexdigest()
        if isinstance(hashes, dict):
            path.write_text(json.dumps(row), encoding="utf-8")

"""`Manifest`: the description of an index directory, which is checked before anything else is read."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any

from mathamr.core.choices import MANIFEST as MANIFEST_CHOICES
from mathamr.core.errors import MathAMRError
from mathamr.core.rules import choose
from mathamr.core.storage.durable import write_whole
from mathamr.core.storage.plainfiles import DAMAGED, read_description
from mathamr.core.version import __version__
from mathamr.systems.field import Field
from mathamr.systems.ranking import QueryKind

FORMAT = 3
MANIFEST = "manifest.json"
CHECKSUM = "checksum"


def _checksum(row: Mapping[str, Any]) -> str:
    content = json.dumps(row, sort_keys=True).encode("utf-8", "surrogatepass")
    return blake2b(content, digest_size=16).hexdigest()


def build_time() -> datetime:
    """Return the current time, or `SOURCE_DATE_EPOCH` if that is set for reproducible builds."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    return datetime.fromtimestamp(int(epoch), UTC) if epoch.isdecimal() else datetime.now(UTC)


_TEXT = (str, type(None))


def _typed(row: dict[str, Any], **kinds: type | tuple[type, ...]) -> dict[str, Any]:
    """Return the row if its values have these types; raise `TypeError` if not."""
    for name, kind in kinds.items():
        if not isinstance(row[name], kind):
            raise TypeError(f"{name} is {str(row[name])[:100]!r}")
    return row


class OutdatedFormatError(MathAMRError):
    """Raised for an intact index of another version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRecord:
    """The model that computed the vectors: its system (a name among `SYSTEMS`), and its fields in the engine.

    `folder` is the path of the model, `None` for a built-in model, which is found by its name. `text_backend` is the backend of the
    text encoder (`mathamr.text.backend`), for both posts and queries. `default_rankings` are the names of the model's own, by task;
    that of any other task is the first of its system. `weights` are those that `mathamr tune` chose for the parts of its fusion, by
    part and kind of query.
    """

    name: str
    system: str
    fingerprint: str
    fields: tuple[Field, ...]
    folder: str | None = None
    text_backend: str = "onnx"
    default_rankings: dict[str, str] = field(default_factory=dict)
    weights: dict[str, dict[QueryKind, float]] = field(default_factory=dict)

    @property
    def vectors_by(self) -> tuple[object, ...]:
        """What the vectors depend on: equal values mean that a reader's model fits them."""
        return self.system, self.fingerprint, self.text_backend, self.fields


@dataclass(frozen=True, slots=True)
class ParserRecord:
    """The AMR parser that computed the graphs."""

    name: str
    fingerprint: str
    model: str | None = None


@dataclass(frozen=True, slots=True)
class EngineRecord:
    """The engine that stores the vectors, and its options."""

    name: str
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class InputRecord:
    """A file or folder that posts came from."""

    path: str
    format: str | None = None
    beside: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    """Patterns of files that are left out, in the syntax of `.gitignore`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """Everything on which the content of an index depends, and how much there is of it.

    `parser` is `None` if the model's system uses no graphs. `finished` is false until the first build has ended: before that it cannot be searched.
    The counts belong to the catalogue's `revision`, which is updated after single changes only when the index is closed.
    """

    model: ModelRecord
    engine: EngineRecord
    parser: ParserRecord | None = None
    finished: bool = False
    inputs: tuple[InputRecord, ...] = ()
    revision: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    created: str = ""
    updated: str = ""
    made_by: str = f"mathamr {__version__}"
    format: int = FORMAT

    def incompatibility(self, now: Manifest) -> str:
        """Return what a reader that loaded this manifest cannot read since the index has another; empty if it can go on.

        It can go on with other weights of the fusion, another place of the model, or other inputs.
        """
        if self.model.vectors_by != now.model.vectors_by:
            other = "" if self.model.name == now.model.name else f" ({now.model.name}, not {self.model.name})"
            return f"another model{other}"
        if self.parser != now.parser:
            return "another AMR parser"
        if self.engine != now.engine:
            return f"another engine ({now.engine.name})"
        return ""

    def to_json(self) -> str:
        """Return the text of the file; it ends with a checksum of the rest."""
        row = asdict(self)
        return json.dumps(row | {CHECKSUM: _checksum(row)}, indent=2, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str, where: str = MANIFEST) -> Manifest:
        """Parse the text of `to_json`; raise `OutdatedFormatError` for a manifest of another format."""
        try:
            row = json.loads(text)
            checksum = row.pop(CHECKSUM, None)
            found = row["format"]
            if found == FORMAT:
                if checksum != _checksum(row):
                    raise ValueError("its checksum is wrong")
                return cls._of(row)
        except (MathAMRError, *DAMAGED) as error:
            raise MathAMRError(
                f"{where} is damaged ({type(error).__name__}: {error}); repair it with: mathamr index --check --out DIR"
            ) from error
        raise OutdatedFormatError(
            f"{where} was written by another version of mathamr (index format {str(found)[:20]}, this version reads"
            f" {FORMAT}); build the index again with: mathamr index PATH --out NEW_FOLDER"
        )

    @classmethod
    def _of(cls, row: dict[str, Any]) -> Manifest:
        """Return the manifest in a row of JSON, with checked types."""
        choose(row, MANIFEST_CHOICES, "the manifest")
        model, parser, engine = row["model"], row["parser"], row["engine"]
        model["fields"] = tuple(map(Field.from_json, model["fields"]))
        row["model"] = ModelRecord(**_typed(model, name=str, system=str, fingerprint=str, folder=_TEXT))
        for own in row["model"].weights.values():
            _typed(own, **dict.fromkeys(own, (int, float)))
        if parser is not None:
            row["parser"] = ParserRecord(**_typed(parser, name=str, fingerprint=str, model=_TEXT))
        row["engine"] = EngineRecord(**_typed(engine, name=str, options=dict))
        row["inputs"] = tuple(
            InputRecord(
                item["path"],
                item["format"],
                tuple(map(str, item["beside"])),
                tuple(map(str, item["exclude"])),
            )
            for item in (
                _typed({"exclude": []} | each, path=str, format=_TEXT, beside=list, exclude=list)
                for each in row["inputs"]
            )
        )
        _typed(row, finished=bool, revision=int, counts=dict, format=int)
        _typed(row, created=str, updated=str, made_by=str)
        _typed(row["counts"], **dict.fromkeys(row["counts"], int))
        return cls(**{each.name: row[each.name] for each in fields(cls)})

    def write(self, folder: Path) -> Manifest:
        """Write the manifest into the folder atomically, and return it as written."""
        now = build_time().isoformat(timespec="seconds")
        written = replace(self, created=self.created or now, updated=now)
        write_whole(folder / MANIFEST, written.to_json().encode("utf-8", "surrogateescape"))
        return written

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Return the manifest of an index directory."""
        path = folder / MANIFEST
        try:
            text = read_description(path).decode("utf-8", "surrogateescape")
        except FileNotFoundError as error:
            if folder.is_dir():
                raise MathAMRError(
                    f"{folder} is not an index: it has no {MANIFEST}; if it holds your notes, index them with:"
                    f" mathamr index {folder}"
                ) from error
            raise MathAMRError(
                f"{folder} does not exist; create an index with: mathamr index PATH --out {folder}"
            ) from error
        except OSError as error:
            raise MathAMRError(f"cannot read {path}: {error.strerror}") from error
        return cls.from_json(text, str(path))

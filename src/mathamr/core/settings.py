"""Every setting, declared once: its environment variable, its key in `config.toml`, its option, default and purpose.

An option counts more than the environment, the environment more than the user's file, and the file more than the default.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from stat import S_ISREG
from typing import Any

from mathamr.core.errors import MathAMRError, did_you_mean

PREFIX = "MATHAMR_"
FOLDER_FILE = "mathamr.toml"
"""The file in a folder of notes that says how these notes are indexed."""
LARGEST_FILE = 1 << 20


@dataclass(frozen=True)
class Setting:
    """One setting; `mathamr doctor` and the docs list them all.

    `option` is an option that it is the default of, in the commands of `verbs`; a `local` one may also stand in the
    `mathamr.toml` of a folder of notes.
    """

    name: str
    default: str
    help: str
    secret: bool = False
    option: str = ""
    verbs: tuple[str, ...] = ()
    local: bool = False

    @property
    def key(self) -> str:
        """The name in a configuration file."""
        return self.name.removeprefix(PREFIX).lower()

    @property
    def given(self) -> str | None:
        """The value of the environment, or else of the user's file; `None` if neither has one."""
        if (found := os.environ.get(self.name)) is not None:
            return found
        return None if self is CONFIG or self.secret else user_settings().get(self.key)

    @property
    def value(self) -> str:
        """The value in force: that of the environment, of the user's file, or the default."""
        return self.default if (found := self.given) is None else found

    @property
    def values(self) -> tuple[str, ...]:
        """The value as a list."""
        return listed(self.value)

    @property
    def shown(self) -> str:
        """The value for a report that others may see."""
        return ("set" if self.value else "not set") if self.secret else self.value

    @property
    def path(self) -> Path:
        """The value as a path, with `~` expanded."""
        return Path(self.value).expanduser()


CONFIG = Setting(
    "MATHAMR_CONFIG",
    "",
    "the user's configuration file; empty is ~/.config/mathamr/config.toml, or that of XDG_CONFIG_HOME",
)
MODEL = Setting(
    "MATHAMR_MODEL",
    "",
    "model of new indexes, as --model names it; an existing index keeps its own",
    option="--model",
    verbs=("index",),
    local=True,
)
EXCLUDE = Setting(
    "MATHAMR_EXCLUDE",
    "",
    "patterns of files that are left out of every folder, as in .gitignore: a list, in the environment with commas",
    option="--exclude",
    verbs=("index", "serve", "posts"),
    local=True,
)
DEVICE = Setting(
    "MATHAMR_DEVICE",
    "auto",
    "where models run: auto, cpu, cuda or cuda:NUMBER",
    option="--device",
    verbs=("index", "search", "serve", "explain", "run", "mcp"),
)
WORKERS = Setting(
    "MATHAMR_WORKERS",
    "",
    "worker processes of mathamr index; empty is one per processor",
    option="--workers",
    verbs=("index",),
)
EDITOR = Setting(
    "MATHAMR_EDITOR",
    "",
    "editor in which the places of hits in the terminal are links",
    option="--editor",
    verbs=("search",),
)
PORT = Setting(
    "MATHAMR_PORT", "8080", "port of mathamr serve; 0 chooses a free one", option="--port", verbs=("serve",)
)
DATA = Setting(
    "MATHAMR_DATA", "../shared/data", "folder of evaluation data for tests, benchmarks and training"
)
CACHE = Setting("MATHAMR_CACHE", "~/.cache/mathamr", "folder for caches that may be deleted at any time")
ENCODER = Setting(
    "MATHAMR_ENCODER",
    "",
    "encoder of other people that indexes made with it may use, as --model names it (st:NAME, pylate:NAME, http://HOST#NAME)",
)
MINILM = Setting(
    "MATHAMR_MINILM", "", "folder with all-MiniLM-L6-v2; empty takes the one of the installed package"
)

API_KEY = Setting(
    "MATHAMR_API_KEY", "", "key that clients of `mathamr serve` need to add or delete posts", secret=True
)
READ_KEY = Setting(
    "MATHAMR_READ_KEY",
    "",
    "key that clients of `mathamr serve` need to search; empty asks for none",
    secret=True,
)
QDRANT_URL = Setting(
    "MATHAMR_QDRANT_URL", "", "Qdrant server for the engine `qdrant`, like http://localhost:6333"
)
QDRANT_API_KEY = Setting(
    "MATHAMR_QDRANT_API_KEY", "", "API key of that server; it is never written to disk", secret=True
)
POSTGRES_URL = Setting(
    "MATHAMR_POSTGRES_URL",
    "",
    "Postgres server with pgvector for the engine `postgres`, like postgresql://user:password@host/database; it is never"
    " written to disk",
    secret=True,
)

TEXT = Setting(
    "MATHAMR_TEXT",
    "auto",
    "backend of the text encoder: onnx (ONNX Runtime, eight bits) or float (torch); auto is the one that an index was built with, and"
    " for a new index float on a GPU, onnx otherwise",
)
TREES = Setting(
    "MATHAMR_TREES",
    "latex",
    "where the trees of formulas come from: latex, or mathml, which takes them from the MathML of a collection where it has some, as the thesis"
    " does; use another folder for each",
)

SETTINGS = (
    CONFIG,
    MODEL,
    EXCLUDE,
    DEVICE,
    WORKERS,
    EDITOR,
    PORT,
    DATA,
    CACHE,
    ENCODER,
    MINILM,
    TEXT,
    TREES,
    API_KEY,
    READ_KEY,
    QDRANT_URL,
    QDRANT_API_KEY,
    POSTGRES_URL,
)


def listed(value: str) -> tuple[str, ...]:
    """Return the parts of a list: lines, or of a single line what commas separate.

    >>> listed("drafts/, *.log"), listed("a,b/\\n")
    (('drafts/', '*.log'), ('a,b/',))
    """
    parts = value.split("\n" if "\n" in value else ",")
    return tuple(filter(None, (each.strip() for each in parts)))


def user_file() -> Path:
    """Return where the user's configuration file is, or would be."""
    if CONFIG.value:
        return CONFIG.path
    home = os.environ.get("XDG_CONFIG_HOME", "")
    return (Path(home) if Path(home).is_absolute() else Path.home() / ".config") / "mathamr" / "config.toml"


def user_settings() -> dict[str, str]:
    """Return the settings of the user's configuration file; none if there is no file."""
    return _read(user_file(), tuple(each for each in SETTINGS if each is not CONFIG))


def folder_settings(folder: Path) -> dict[str, str]:
    """Return the settings in the `mathamr.toml` of a folder of notes; none if there is no file."""
    return _read(folder / FOLDER_FILE, tuple(each for each in SETTINGS if each.local), "macros")


def _read(file: Path, known: tuple[Setting, ...], *others: str) -> dict[str, str]:
    try:
        state = file.stat()
    except (OSError, ValueError):
        return {}
    if not S_ISREG(state.st_mode):
        raise MathAMRError(f"{file}: not a plain file, so it is not read")
    return _read_state(file, (state.st_mtime_ns, state.st_size), known, others)


@lru_cache(maxsize=64)
def _read_state(
    file: Path, state: tuple[int, int], known: tuple[Setting, ...], others: tuple[str, ...]
) -> dict[str, str]:
    """Return the settings in a file of this time and size; raise an error for what is not one."""
    if state[1] > LARGEST_FILE:
        raise MathAMRError(f"{file}: larger than {LARGEST_FILE >> 20} MB, so it is not a list of settings")
    from mathamr.core.toml import load_toml  # most commands have no file to read

    try:
        rows = load_toml(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise MathAMRError(f"{file}: cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise MathAMRError(f"{file}: not TOML ({error})") from error
    by_key = {each.key: each for each in known}
    return {
        name: _text(file, by_key, name, value, others) for name, value in rows.items() if name not in others
    }


def _text(file: Path, known: dict[str, Setting], name: str, value: Any, others: tuple[str, ...]) -> str:
    """Return the value of a setting in a file as the environment would have it."""
    setting = known.get(name)
    if setting is None:
        elsewhere = next((each for each in SETTINGS if each.key == name), None)
        if elsewhere is not None:
            raise MathAMRError(
                f"{file}: {name} is set in your own configuration file or the environment ({elsewhere.name}), not beside notes"
            )
        if name == "macros":
            raise MathAMRError(
                f"{file}: macros belong to notes; write them into the {FOLDER_FILE} of their folder"
            )
        names = [*known, *others]
        raise MathAMRError(
            f"{file}: no setting {name!r}; known: {', '.join(names)}{did_you_mean(name, names)}"
        )
    if setting.secret:
        raise MathAMRError(f"{file}: {name} is a secret; set {setting.name} in the environment instead")
    if setting is EXCLUDE and isinstance(value, list) and all(isinstance(each, str) for each in value):
        return "".join(f"{each}\n" for each in value)
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise MathAMRError(
            f"{file}: {name} must be a {'list of texts' if setting is EXCLUDE else 'text or a whole number'}"
        )
    return str(value)

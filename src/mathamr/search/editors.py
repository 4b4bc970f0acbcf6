"""Links and commands that open the file of a hit at its line in an editor."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from shutil import which
from urllib.parse import quote

from mathamr.core.errors import MathAMRError, UnknownNameError
from mathamr.posts.post import Post

EDITORS = {
    "vscode": "vscode://file/{path}:{line}",
    "vscodium": "vscodium://file/{path}:{line}",
    "cursor": "cursor://file/{path}:{line}",
    "zed": "zed://file/{path}:{line}",
    "idea": "idea://open?file={path}&line={line}",
    "sublime": "subl://open?url=file://{path}&line={line}",
    "textmate": "txmt://open?url=file://{path}&line={line}",
    "emacs": "emacs://open?url=file://{path}&line={line}",
    "obsidian": "obsidian://open?path={path}",
    "file": "file://{path}",
}
"""The link templates that `--editor` knows by name; it also takes a template with `{path}` and, optionally, `{line}`."""


_AFTER_SLASH = re.compile(r"[^/]/\{path\}")


def check_editor(editor: str) -> str:
    """Return the link template of an editor, by its name or given as it is."""
    if editor in EDITORS:
        return EDITORS[editor]
    if "{path}" in editor and editor.count("{") == editor.count("{path}") + editor.count("{line}"):
        return editor
    raise UnknownNameError("editor", editor, [*EDITORS, "or an address with {path} and {line}"])


def address_in(editor: str, source: str, line: int = 1) -> str | None:
    """Return the link that opens a source at a line; `None` if the source is not an absolute path.

    >>> address_in("vscode", "/home/ada/My notes/limits.md", 12)
    'vscode://file/home/ada/My%20notes/limits.md:12'
    >>> address_in("obsidian", "/home/ada/limits.md"), address_in("vscode", "https://example.org")
    ('obsidian://open?path=%2Fhome%2Fada%2Flimits.md', None)
    """
    template = check_editor(editor)
    path = PurePath(source)
    if not path.is_absolute():
        return None
    in_query = "={path}" in template and "file://{path}" not in template
    written = quote(path.as_posix(), safe="" if in_query else "/:")
    if _AFTER_SLASH.search(template):
        written = written.lstrip("/")
    return template.replace("{path}", written).replace("{line}", str(line))


_AT_LINE: tuple[tuple[frozenset[str], tuple[str, ...]], ...] = (
    (
        frozenset(["code", "code-insiders", "codium", "vscodium", "cursor", "windsurf"]),
        ("-g", "{file}:{line}"),
    ),
    (
        frozenset(
            [
                "vi",
                "vim",
                "nvim",
                "gvim",
                "view",
                "nano",
                "pico",
                "emacs",
                "emacsclient",
                "micro",
                "kak",
                "joe",
                "jed",
                "mg",
                "ne",
                "mcedit",
                "gedit",
                "less",
                "gnome-text-editor",
            ]
        ),
        ("+{line}", "{file}"),
    ),
    (frozenset(["subl", "sublime_text", "hx", "helix", "zed", "zeditor"]), ("{file}:{line}",)),
    (frozenset(["kate", "kwrite"]), ("-l", "{line}", "{file}")),
    (frozenset(["idea", "pycharm", "texstudio"]), ("--line", "{line}", "{file}")),
    (frozenset(["mate"]), ("-l", "{line}", "{file}")),
)
"""How editors take a line, by the names of their commands; any other one is given the file alone."""


def file_of(post: Post) -> tuple[Path, int]:
    """Return the file of a post and its line; raise an error if it is not a text file of this machine that can be opened.

    What an index says about a file is not trusted: the path must be absolute, which no option of an editor is, without
    control characters, and lead to a regular file.
    """
    line = post.place.line if post.place else 1
    where = f"{post.source!r}"[:300]
    path = Path(post.source)
    if not path.is_absolute():
        raise MathAMRError(f"{post.id!r} comes from {where}, which is not a file of this machine")
    if not post.source.isprintable():
        raise MathAMRError(
            f"{post.id!r} comes from {where}, a path with control characters; it is not opened"
        )
    if not path.is_file():
        raise MathAMRError(f"{where} is not there any more; update the index with: mathamr index")
    with path.open("rb") as stream:
        if b"\0" in stream.read(4096):
            raise MathAMRError(
                f"{where} is not a text file; {post.id!r} stands at {post.place or 'its beginning'}"
            )
    return path, max(1, line)


def editor_command(named: str | None, environment: Mapping[str, str] = os.environ) -> list[str]:
    """Return the command of the editor with its own arguments: the one named, `$VISUAL`, `$EDITOR`, or VS Code if it is installed."""
    for chosen in (named, environment.get("VISUAL"), environment.get("EDITOR")):
        if chosen and chosen.strip():
            try:
                return shlex.split(chosen)
            except ValueError as error:
                raise MathAMRError(f"{chosen!r} is not the command of an editor ({error})") from error
    if which("code", path=environment.get("PATH")):
        return ["code"]
    raise MathAMRError(
        "no editor is known; set EDITOR, name one with --editor, or see the place with --print"
    )


def arguments_for(editor: Sequence[str], file: Path, line: int) -> list[str]:
    """Return the command that opens a file at a line; no shell ever reads it.

    >>> arguments_for(["vim", "-R"], Path("/a b.md"), 7), arguments_for(["/usr/bin/code"], Path("/a.md"), 7)
    (['vim', '-R', '+7', '/a b.md'], ['/usr/bin/code', '-g', '/a.md:7'])
    """
    name = PurePath(editor[0]).name.lower().removesuffix(".exe").removesuffix(".cmd")
    form = next((form for names, form in _AT_LINE if name in names), ("{file}",))
    return [*editor, *(each.replace("{line}", str(line)).replace("{file}", str(file)) for each in form)]


def open_in(editor: Sequence[str], file: Path, line: int) -> None:
    """Open a file in an editor and wait for its command to end."""
    try:
        ended = subprocess.run(arguments_for(editor, file, line), check=False).returncode
    except OSError as error:
        raise MathAMRError(
            f"the editor {editor[0]!r} does not start ({error}); name another with --editor"
        ) from error
    if ended:
        raise MathAMRError(f"the editor {editor[0]!r} ended with {ended}")

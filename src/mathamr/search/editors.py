"""Links that open the file of a hit at its line in an editor."""

from __future__ import annotations

import re
from pathlib import PurePath
from urllib.parse import quote

from mathamr.core.errors import UnknownNameError

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
    """The link template of an editor, by its name or given as it is."""
    if editor in EDITORS:
        return EDITORS[editor]
    if "{path}" in editor and editor.count("{") == editor.count("{path}") + editor.count("{line}"):
        return editor
    raise UnknownNameError("editor", editor, [*EDITORS, "or an address with {path} and {line}"])


def address_in(editor: str, source: str, line: int = 1) -> str | None:
    """The link that opens a source at a line; `None` if the source is not an absolute path.

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

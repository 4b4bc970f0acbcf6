"""Where people define macros: what a file of any kind defines, uses and includes, as far as formulas need it."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from html import unescape
from pathlib import Path
from typing import Any, TypedDict

import yaml

from mathamr.core.settings import FOLDER_FILE
from mathamr.core.toml import load_toml
from mathamr.formulas.latex.commands import COMMANDS, ENVIRONMENTS, TRANSPARENT
from mathamr.formulas.latex.definitions import may_have_definitions
from mathamr.formulas.latex.reader import is_predefined
from mathamr.formulas.latex.symbols import SYMBOLS
from mathamr.posts.formats.latex.definitions import commands_in, macros_in

STYLES = (".sty", ".cls", ".def")
LARGEST = 4 << 20
"""Bytes of a file in which definitions are looked for."""
MOST_USES = 2000
"""Commands of a file that are remembered; of one with more it counts as using all."""
MOST_INCLUDES = 300
_CONFIGURATIONS = frozenset(
    ["_config.yml", "_config.yaml", "_quarto.yml", "_quarto.yaml", "_metadata.yml", "_output.yml", "_bookdown.yml", "myst.yml",
     "mkdocs.yml", "conf.py", "preamble.sty", FOLDER_FILE]
)  # fmt: skip
_CONFIGURES = re.compile(r"macro|mathjax|katex", re.I)
_MOST_VALUES = 20_000
"""Values of a configuration that are looked at."""
_MOST_SCRIPTS = 20
_IN_SCRIPT = re.compile(r"\bmacros[\"']?\s*+:\s*+\{", re.I)
_PAIR = re.compile(
    r"""["']?\\*+(?P<name>[A-Za-z]++)["']?\s*+:\s*+(?:
        \[\s*+(?P<quote>["'])(?P<body>(?:\\.|(?!(?P=quote))[^\\])*+)(?P=quote)\s*+(?:,\s*+(?P<count>\d)\s*+)?+
          (?:,\s*+(?P<mark>["'])(?P<default>(?:\\.|(?!(?P=mark))[^\\])*+)(?P=mark)\s*+)?+\]
        |(?P<sign>["'])(?P<text>(?:\\.|(?!(?P=sign))[^\\])*+)(?P=sign))""",
    re.X | re.S,
)
_FRONT_MATTER = re.compile(r"\ufeff?---[ \t\r]*\n(.{0,65536}?)^(?:---|\.\.\.)[ \t\r]*$", re.S | re.M)
_INCLUDED_PATH = re.compile(r"[\w./\\-]{1,200}\.(?:tex|sty|html?|js|jax|ya?ml)")
_MAY_CONFIGURE = re.compile(r"\\|\b(?:macros|math)\b|\.(?:tex|sty|html?|js|jax|ya?ml)\b", re.I)
_INCLUDES_LATEX = re.compile(
    r"\\(?:input|include|subfile|usepackage|RequirePackage|documentclass|LoadClass)\s*+(?:\[([^\[\]]{0,1000}+)\])?+\s*+\{([^{}\n]{1,1000}+)\}"
)
_INCLUDES_MARKDOWN = re.compile(
    r"\{\{<\s*+include\s++([^\s<>]{1,300}+)\s*+>\}\}|^[`:~]{3,}\s*+\{include\}\s*+(\S{1,300}+)", re.M
)
_PROBE = r"""<macros>\newcommand{\a}[1]{\b#1}\let\c\d\def\e#1.{f}\DeclareMathOperator*{\g}{h}</macros>
macros = {"i": "\\mathbb{R}"} # \NewDocumentCommand{\j}{s m}{k} \usepackage{l} macros: {m: "\\n", o: ["\\p#1", 1]}"""
_HREF = re.compile(r"href\s*=\s*[\"']([^\"'<>]{1,300})[\"']")


class MacroSource(TypedDict, total=False):
    """What one file defines, by name; the commands it uses that are not LaTeX's own; the files it includes; what version learned it."""

    defines: dict[str, str]
    uses: list[str]
    includes: list[str]
    by: str


def is_setting(name: str) -> bool:
    """Return True if a file of this name speaks for all that lies below its folder.

    >>> is_setting("_config.yml"), is_setting("mathjax-macros.js"), is_setting("notes.yml")
    (True, True, False)
    """
    suffix = Path(name).suffix
    return name in _CONFIGURATIONS or (
        suffix in (".js", ".jax", ".yml", ".yaml", ".json") and _CONFIGURES.search(name) is not None
    )


def may_define(name: str) -> bool:
    """Return True if a file that holds no posts may define macros."""
    return name.endswith(STYLES) or is_setting(name)


def learn_macros(name: str, text: str, *, uses: bool = False) -> MacroSource:
    r"""Return what a file tells of macros, given its name and text; with `uses` also which commands it needs.

    >>> learn_macros("_config.yml", "macros:\n  R: '\\mathbb{R}'\n  ip: ['\\langle #1,#2\\rangle', 2]")["defines"]
    {'R': '\\newcommand{\\R}{\\mathbb{R}}', 'ip': '\\newcommand{\\ip}[2]{\\langle #1,#2\\rangle}'}
    """
    found: dict[str, str] = {}
    includes: list[str] = []
    suffix = Path(name).suffix
    if suffix in (".yml", ".yaml"):
        _learn_settings(_yaml(text), found, includes)
    elif suffix == ".toml":
        _learn_settings(_toml(text), found, includes)
    elif suffix == ".py":
        _learn_settings(_literals(text), found, includes)
    elif suffix in (".xml", ".ptx"):
        for part in _between(text, "<macros", "</macros>"):
            macros_in(unescape(part.partition(">")[2].replace("<![CDATA[", "").replace("]]>", "")), found)
            includes += _HREF.findall(part)
    else:
        if suffix == ".ipynb" and ("newcommand" in text or "DeclareMath" in text or "\\\\def\\\\" in text):
            text = _markdown_of(text)
        elif suffix != ".ipynb":
            if front := _FRONT_MATTER.match(text):
                _learn_settings(_yaml(front[1]), found, includes)
            if "macros" in text.lower():
                macros_in("\n".join(_scripted(text)), found)
        if may_have_definitions(text) and (suffix != ".ipynb" or "\\\\" not in text):
            macros_in(
                _without_comments(text) if suffix in (".tex", ".ltx", ".latex", *STYLES) else text, found
            )
        for options, names in _INCLUDES_LATEX.findall(text):
            includes += [options] if names == "subfiles" else names.split(",")
        if "include" in text:
            includes += (one or other for one, other in _INCLUDES_MARKDOWN.findall(text))
    learned: MacroSource = {}
    if found:
        learned["defines"] = found
    if includes:
        learned["includes"] = list(dict.fromkeys(each.strip() for each in includes if each.strip()))[
            :MOST_INCLUDES
        ]
    if uses and (
        used := sorted(each for each in commands_in(text.replace("\\\\", "\\")) if not keeps_meaning(each))
    ):
        learned["uses"] = used if len(used) <= MOST_USES else ["*"]
    return learned


@cache
def learning_fingerprint() -> str:
    """Return a fingerprint of how files are searched for macros."""
    learned = [
        learn_macros(name, _PROBE, uses=True) for name in ("a.md", "a.tex", "a.xml", "a.yml", "conf.py")
    ]
    known = sorted(filter(is_predefined, [*COMMANDS, *SYMBOLS])) + sorted([*ENVIRONMENTS, *TRANSPARENT])
    return blake2b(json.dumps([learned, known]).encode(), digest_size=8).hexdigest()


def keeps_meaning(name: str) -> bool:
    r"""Return True for a command or environment of LaTeX, which no other document redefines: `frac`, `begin{cases}`."""
    if name.startswith(("begin{", "end{")):
        environment = name.partition("{")[2][:-1]
        return environment in ENVIRONMENTS or environment in TRANSPARENT
    return is_predefined(f"\\{name}")


def _without_comments(text: str) -> str:
    """Return LaTeX without what stands behind `%`; definitions that are commented out are none."""
    return re.sub(r"(?<!\\)((?:\\\\)*+)%[^\n]*+", r"\1%", text)


def _between(text: str, opening: str, closing: str) -> Iterator[str]:
    start = text.find(opening)
    while start >= 0 and (end := text.find(closing, start)) >= 0:
        yield text[start + len(opening) : end]
        start = text.find(opening, end)


def _learn_settings(tree: Any, found: dict[str, str], includes: list[str]) -> None:
    """Add the macros of a configuration: mappings called `macros` (`math` in MyST), and LaTeX in its texts."""
    waiting, seen, own = [("", tree)], set[int](), dict[str, str]()
    while waiting and len(seen) < _MOST_VALUES:
        name, value = waiting.pop()
        if isinstance(value, str):
            if "\\" in value:
                macros_in("\n".join([*_scripted(value), value]), found)
            if _INCLUDED_PATH.fullmatch(value):
                includes.append(value)
        elif id(value) in seen:
            continue
        elif isinstance(value, Mapping):
            if name.lower() in ("macros", "math"):
                macros_in("\n".join(_defined((str(key), each) for key, each in value.items())), own)
            waiting += reversed([(str(key), each) for key, each in value.items()])
        elif isinstance(value, list):
            waiting += reversed([(name, each) for each in value])
        seen.add(id(value))
    found |= own  # what pages show counts more than what is printed


def _defined(settings: Iterable[tuple[str, Any]]) -> Iterator[str]:
    r"""Yield definitions for the settings of MathJax: `"R": "\\mathbb{R}"`, `"ip": ["\\langle #1, #2\\rangle", 2]`."""
    for name, value in settings:
        body, *more = value if isinstance(value, list) and value else [value]
        if isinstance(body, Mapping):
            body = body.get("macro", "")
        command = name.lstrip("\\")
        if not isinstance(body, str) or not command.isalpha():
            continue
        places = max((int(digit) for digit in re.findall(r"#([1-9])", body)), default=0)
        count = str(more[0]) if more and str(more[0]).isdecimal() else str(places)
        default = f"[{more[1]}]" if len(more) > 1 and isinstance(more[1], str) else ""
        yield f"\\newcommand{{\\{command}}}{f'[{count}]{default}' if count != '0' else ''}{{{body}}}"


def _scripted(text: str) -> Iterator[str]:
    """Yield definitions for the macros in the settings of MathJax or KaTeX in a script."""
    for _, start in zip(range(_MOST_SCRIPTS), _IN_SCRIPT.finditer(text), strict=False):
        position = start.end()
        while (pair := _PAIR.search(text, position, position + 4_000)) and "}" not in text[
            position : pair.start()
        ]:
            body, default = (
                None if each is None else re.sub(r"\\(.)", r"\1", each, flags=re.S)
                for each in (pair["text"] if pair["body"] is None else pair["body"], pair["default"])
            )
            yield from _defined([(pair["name"], [body, *filter(None, (pair["count"], default))])])
            position = pair.end()


def _literals(text: str) -> Any:
    """Return the literal values that a `conf.py` assigns; nothing of it runs."""
    try:
        tree = ast.parse(text[:LARGEST])
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    found: dict[str, Any] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            with suppress(ValueError, TypeError, RecursionError):
                found[node.targets[0].id] = ast.literal_eval(node.value)
    return found


def _yaml(text: str) -> Any:
    if not _MAY_CONFIGURE.search(text):
        return {}
    try:
        return yaml.load(text[: 1 << 18], Loader=yaml.BaseLoader)
    except (yaml.YAMLError, RecursionError, ValueError):
        return {}


def _toml(text: str) -> Any:
    try:
        return load_toml(text)
    except ValueError:
        return {}  # an index says what is wrong when it asks for the settings of the folder


def _markdown_of(notebook: str) -> str:
    """Return the Markdown of a notebook; nothing of a damaged one."""
    try:
        cells = json.loads(notebook)["cells"]
        return "\n\n".join("".join(cell["source"]) for cell in cells if cell.get("cell_type") == "markdown")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return ""

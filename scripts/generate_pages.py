"""Pages of the docs that the code says itself: `python scripts/generate_pages.py` writes them, `--check` tells what is out of date."""

from __future__ import annotations

import argparse
import runpy
import sys
from dataclasses import Field, fields, is_dataclass
from pathlib import Path
from typing import Any

from mathamr.cli import LABORATORY, SECTIONS, LazyVerbs
from mathamr.cli.models import PURPOSES
from mathamr.cli.shorthelp import first_sentence, names
from mathamr.core.settings import FOLDER_FILE, SETTINGS, Setting
from mathamr.evaluation.measures import MEASURES
from mathamr.posts.format import BUILT_IN
from mathamr.serve.app import application
from mathamr.serve.errors import ERRORS
from mathamr.serve.limits import Limits
from mathamr.systems import ranking

DOCS = Path(__file__).parents[1] / "docs"
MARK = "<!-- written by scripts/generate_pages.py -->"


def settings_page() -> str:
    """Return the page of all settings."""
    lines = [
        "# Settings",
        "",
        MARK,
        "",
        "Defaults of your own stand in `~/.config/mathamr/config.toml` (or under `XDG_CONFIG_HOME`):",
        "",
        '    device = "cpu"',
        '    exclude = ["drafts/", "*.log"]',
        "",
        f"How one folder of notes is read stands in its `{FOLDER_FILE}`, which others may share with you, so it chooses only what is"
        " excluded, macros, and a model among the installed ones:",
        "",
        '    exclude = ["solutions/"]',
        "    [macros]",
        "    RR = '\\mathbb{R}'",
        "    norm = ['\\lVert #1 \\rVert', 1]",
        "",
        "An option counts most, then the environment, the file of the notes, your own file, and the default. Patterns that"
        " exclude files are joined: those of the notes are asked before yours. Keys and passwords stand in the environment alone. `mathamr doctor` shows what is in force.",
        "",
        "| in a file | in the environment | option | default | what it is |",
        "|---|---|---|---|---|",
        *map(_setting, SETTINGS),
        f"| `macros` | | | | macros of the formulas, in `{FOLDER_FILE}` alone |",
    ]
    return "\n".join(lines) + "\n"


def _setting(setting: Setting) -> str:
    key = "" if setting.secret or setting.name == "MATHAMR_CONFIG" else f"`{setting.key}`"
    option = f"`{setting.option}` ({', '.join(setting.verbs)})" if setting.option else ""
    default = f"`{setting.default}`" if setting.default else ""
    return f"| {key} | `{setting.name}` | {option} | {default} | {_cell(setting.help)} |"


def commands_page() -> str:
    """Return the page of all commands with their options."""
    lines = [
        "# Commands",
        "",
        MARK,
        "",
        "`mathamr VERB -h` prints this on one screen, `--help` says more; `mathamr --install-completion` lets your shell complete verbs and"
        " options. Data go to standard output, messages to standard error. Exit codes: 0 done, 1 an error, 2 wrong usage, 130 stopped.",
    ]
    for section, verbs in SECTIONS.items():
        lines += ["", f"## {section}"]
        for verb, line in verbs.items():
            lines += ["", f"### {verb}", "", line]
            lines += [] if verb in LABORATORY else ["", *_options(verb)]
    return "\n".join(lines) + "\n"


def _options(verb: str) -> list[str]:
    command: Any
    group = LazyVerbs(name="mathamr")
    group._called = verb
    command = group.get_command(None, verb)
    context = command.make_context(verb, [], resilient_parsing=True)
    rows = [
        f"| `{names(each, context)}` | {_cell(first_sentence(each.help or ''))} |"
        for each in command.params
        if not getattr(each, "hidden", False)
    ]
    return ["| | |", "|---|---|", *rows]


def api_page() -> str:
    """Return the page of the routes, errors and limits of the HTTP API."""
    paths = application(None).openapi()["paths"]  # type: ignore[arg-type]  # no service is asked
    routes = [
        f"| `{method.upper()} {path}` | {_cell(' '.join(route['description'].split()))} |"
        for path, methods in paths.items()
        for method, route in methods.items()
    ]
    lines = [
        "# Routes, errors and limits of the HTTP API",
        "",
        MARK,
        "",
        "[The HTTP API](api.md) says what requests and answers look like; `/v1/openapi.json` has every field.",
        *("", "## Routes", "", "| route | does |", "|---|---|"),
        *routes,
        *("", "## Parameters of a search", "", "| parameter | default | meaning |", "|---|---|---|"),
        *map(_parameter, paths["/v1/search"]["get"]["parameters"]),
        *("", "## Errors", "", "| code | status | when |", "|---|---|---|"),
        *(f"| `{code}` | {status} | {_cell(when)} |" for code, (status, when) in ERRORS.items()),
        *("", "## Limits", ""),
        "On by default; each is set with `mathamr serve DIR --limit NAME=VALUE` (may be repeated). `GET /v1/index` tells them.",
        *("", "| limit | default | what it bounds |", "|---|---|---|"),
        *map(_limit, fields(Limits)),
    ]
    return "\n".join(lines) + "\n"


def _parameter(parameter: dict[str, Any]) -> str:
    default = parameter["schema"].get("default")
    shown = "" if default in (None, [], ()) else f"`{str(default).lower()}`"
    return f"| `{parameter['name']}` | {shown} | {parameter.get('description', '')} |"


def reference_page() -> str:
    """Return the page of formats, models, rankings and measures."""
    classes = [
        each
        for each in vars(ranking).values()
        if isinstance(each, type)
        and is_dataclass(each)
        and each.__module__ == ranking.__name__
        and each is not ranking.Adjust
    ]
    lines = [
        "# Formats, models, rankings, measures",
        "",
        MARK,
        "",
        "More about them: [formats](formats.md), [models](models.md), [systems](systems.md), [evaluate](evaluate.md).",
        *("", "## Formats", "", "| `--format` | what it reads | a post is | its id |", "|---|---|---|---|"),
        *(
            f"| `{name}` | {each.description} | {each.post} | {each.names} |"
            for name, each in BUILT_IN.items()
        ),
        *("", "## Models", "", "| model | for |", "|---|---|"),
        *(f"| `{name}` | {_cell(purpose)} |" for name, purpose in PURPOSES.items()),
        *("", "## Rankings", "", "| ranking | orders by |", "|---|---|"),
        *(f"| `{_signature(each)}` | {_cell(_docstring(each))} |" for each in classes),
        *("", "## Measures", "", "| measure | |", "|---|---|"),
        *(f"| `{name}` | {_cell(_docstring(MEASURES[name]))} |" for name in MEASURES),
    ]
    return "\n".join(lines) + "\n"


def _signature(kind: type[Any]) -> str:
    return f"{kind.__name__}({', '.join(each.name for each in fields(kind))})"


def _docstring(kind: object) -> str:
    return " ".join((kind.__doc__ or "").split())


def cite_page() -> str:
    """Return the page on citing: the toolkit, and the papers as the laboratory names them."""
    papers = runpy.run_path(str(DOCS.parent / "lab" / "src" / "mathamr_lab" / "papers.py"))["PAPERS"]
    lines = [
        "# Cite",
        "",
        MARK,
        "",
        "If mathamr is of use to your research, cite the toolkit and the paper whose system or experiment you use: `mathamr experiment` lists"
        " experiments by paper.",
        "",
        "```bibtex",
        "@software{mathamr,",
        "  author = {{the mathamr authors}},",
        "  title = {{mathamr: a math-aware search engine and research toolkit}},",
        "  year = {2026},",
        "  license = {Apache-2.0},",
        "}",
        "```",
        "",
        "`CITATION.cff` says the same for programs. Name the version as well (`mathamr --version`): figures change between versions.",
        *("", "## The papers", ""),
        "As the papers cite themselves. The texts of MaRF and SSEmb that we worked from name no venue and no DOI; look for them where you found"
        " the papers.",
        *("", "```bibtex"),
        "\n\n".join(paper.bibtex for paper in papers.values()),
        *("```", "", "## Licences", ""),
        "The toolkit and the weights in the box are under Apache-2.0. `NOTICE` says what each was made from; `mathamr models NAME --card` has"
        " the licence, base and data of a model.",
    ]
    return "\n".join(lines) + "\n"


def _limit(limit: Field[Any]) -> str:
    default = (
        "as many as cores, at most 4" if limit.name == "workers" else f"{limit.default:,}".removesuffix(".0")
    )
    return f"| `{limit.name}` | {default} | {_cell(limit.metadata['help'])} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("$", "\\$")


PAGES = {
    "settings.md": settings_page,
    "commands.md": commands_page,
    "api-reference.md": api_page,
    "reference.md": reference_page,
    "cite.md": cite_page,
}


def main() -> None:
    """Write the pages, or check that they are as they would be written."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    outdated = [
        name
        for name, page in PAGES.items()
        if not (DOCS / name).exists() or (DOCS / name).read_text("utf-8") != page()
    ]
    if check and outdated:
        sys.exit(f"out of date: {', '.join(outdated)}; write them with: python scripts/generate_pages.py")
    for name in () if check else outdated:
        (DOCS / name).write_text(PAGES[name](), "utf-8")


if __name__ == "__main__":
    main()

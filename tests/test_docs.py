"""The documentation: every link and command resolves, and every page is on the site."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import typer
import yaml

from mathamr.cli import GROUP, LABORATORY, VERBS, _command

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))
NOTES = sorted((ROOT / "lab").rglob("*.md"))
LINK = re.compile(r"\]\(([^)\s]+)\)")
COMMAND = re.compile(r"python -m ((?:benchmarks|mathamr_lab)[\w.]*)(?: ([a-z]\w*))?")
PATH = re.compile(
    r"(?<![\w/.-])((?:tests|scripts|src|lab|docs|packages|deploy|benchmarks|examples|plugins|sample)/[\w./-]*[\w/])"
    r"(?!\w*[<{*…]|[\w/.]|(?:`| [^`\n|]*)? ?(?:of revision|until |of \w+, revision))"
)
INVOKED = re.compile(r"(?:^ {4,}|`|(?:&&|;) )mathamr ([a-z]+)\b([^`\n|;&]*)", re.M)
OPTION = re.compile(r"(?<!\S)(--[a-z][a-z-]+|-[a-z])(?![\w-])")
PAST = {"conclusions.md"}
"""Pages that name commands of earlier versions."""
ALL = [*PAGES, *NOTES, ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"]
NOW = [page for page in ALL if page.name not in PAST]


def _found(pattern: re.Pattern[str]) -> Iterator[tuple[Path, Any]]:
    """What the pages say that describe this version."""
    return ((page, found) for page in NOW for found in pattern.findall(page.read_text("utf-8")))


def anchors(page: Path) -> set[str]:
    """The names of a page's headings, as the site and code forges make them."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.S), re.M)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading) for heading in headings]
    return {re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", name.lower()).strip()) for name in plain}


def test_every_link_leads_to_a_file_and_a_heading_that_are_there() -> None:
    for page in ALL:
        text = re.sub(r"(?m)^(    |\t).*$|`[^`\n]*`", "", page.read_text("utf-8"))
        for link in LINK.findall(text):
            if re.match(r"[a-z]+:", link):
                continue
            name, _, anchor = unquote(link).partition("#")
            target = (page.parent / name) if name else page
            assert target.exists(), f"{page.name}: {link}"
            assert not anchor or anchor in anchors(target), f"{page.name}: {link} has no such heading"


def test_every_benchmark_and_study_that_a_page_names_is_there() -> None:
    for page, (module, argument) in _found(COMMAND):
        place = (ROOT if module.startswith("benchmarks") else ROOT / "lab/src").joinpath(*module.split("."))
        assert place.is_dir() or place.with_suffix(".py").exists(), f"{page.name}: {module}"
        if argument and module == "benchmarks":
            assert (place / f"{argument}.py").exists(), f"{page.name}: {module} {argument}"


def test_every_path_of_the_repository_that_a_page_names_is_there() -> None:
    package = ROOT / "lab/src/mathamr_lab"  # some notes count paths of the laboratory from there
    missing = [
        (page.name, path)
        for page, path in _found(PATH)
        if not (ROOT / path.rstrip("./")).exists()
        and not (package / path.rstrip("./").removeprefix("lab/")).exists()
    ]
    assert not missing


def test_every_command_and_option_that_a_page_names_is_there() -> None:
    for page, (verb, rest) in _found(INVOKED):
        assert verb in VERBS, f"{page.name}: mathamr {verb}"
        if verb in LABORATORY and not entry_points(group=GROUP, name=verb):
            continue
        known = {"-h", "--help", *_options(verb)}
        wrong = set(OPTION.findall(re.sub(r"\$\(.*|'[^']*'|\"[^\"]*\"|#.*", "", rest))) - known
        assert not wrong, f"{page.name}: mathamr {verb} {sorted(wrong)}"


@cache
def _options(verb: str) -> list[str]:
    app = typer.Typer(add_completion=False)
    app.command(name=verb)(_command(verb))
    options = typer.main.get_command(app).params
    return [name for each in options for name in (*each.opts, *each.secondary_opts)]


def test_pages_that_the_code_writes_are_up_to_date() -> None:
    command = [sys.executable, "scripts/generate_pages.py", "--check"]
    checked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr


def test_the_site_has_every_page_once_and_no_other() -> None:
    def pages(entry: object) -> list[str]:
        if isinstance(entry, dict):
            return [name for value in entry.values() for name in pages(value)]
        return [name for each in entry for name in pages(each)] if isinstance(entry, list) else [str(entry)]

    navigation = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))["nav"]
    examples = [f"examples/{path.stem}.md" for path in (ROOT / "examples").glob("*.ipynb")]
    assert sorted(pages(navigation)) == sorted([*examples, *(page.name for page in PAGES)])

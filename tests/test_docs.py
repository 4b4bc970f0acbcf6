"""The documentation: every link and command resolves, and every page is on the site."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

import pytest
import yaml

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))
NOTES = sorted((ROOT / "lab").rglob("*.md"))
LINK = re.compile(r"\]\(([^)\s]+)\)")
COMMAND = re.compile(r"python -m ((?:benchmarks|mathamr_lab)[\w.]*)(?: ([a-z]\w*))?")
PAST = {"history.md", "tried.md"}
"""Pages that name commands of earlier versions."""


def anchors(page: Path) -> set[str]:
    """The names of a page's headings, as the site and code forges make them."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.S), re.M)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading) for heading in headings]
    return {re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", name.lower()).strip()) for name in plain}


@pytest.mark.parametrize(
    "page",
    [*PAGES, *NOTES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_every_link_leads_to_a_file_and_a_heading_that_are_there(page: Path) -> None:
    text = re.sub(r"(?m)^(    |\t).*$|`[^`\n]*`", "", page.read_text("utf-8"))
    for link in LINK.findall(text):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = unquote(link).partition("#")
        target = (page.parent / name) if name else page
        assert target.exists(), f"{page.name}: {link}"
        assert not anchor or anchor in anchors(target), f"{page.name}: {link} has no such heading"


@pytest.mark.parametrize(
    "page",
    [
        *PAGES,
        *(note for note in NOTES if note.name not in PAST),
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
    ],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_every_benchmark_and_study_that_a_page_names_is_there(page: Path) -> None:
    for module, argument in COMMAND.findall(page.read_text("utf-8")):
        place = (ROOT if module.startswith("benchmarks") else ROOT / "lab/src").joinpath(*module.split("."))
        assert place.is_dir() or place.with_suffix(".py").exists(), f"{page.name}: {module}"
        if argument and module == "benchmarks":
            assert (place / f"{argument}.py").exists(), f"{page.name}: {module} {argument}"


def test_the_site_has_every_page_once_and_no_other() -> None:
    def pages(entry: object) -> list[str]:
        if isinstance(entry, dict):
            return [name for value in entry.values() for name in pages(value)]
        return [name for each in entry for name in pages(each)] if isinstance(entry, list) else [str(entry)]

    navigation = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))["nav"]
    examples = [f"examples/{path.stem}.md" for path in (ROOT / "examples").glob("*.ipynb")]
    assert sorted(pages(navigation)) == sorted([*examples, *(page.name for page in PAGES)])

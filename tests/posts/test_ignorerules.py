"""Ignore rules: git decides the same, the nearest file counts, defaults can be brought back, every rule is named."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.posts.ignorerules import DEFAULTS, GITIGNORE, IGNORE_FILE, NO_GITIGNORE, IgnoreRules
from mathamr.posts.inputs import walk
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from tests.cases import cases
from tests.folders import write_files

FILES = [
    "a.md",
    "b.log",
    "notes/a.md",
    "notes/b.log",
    "notes/keep.log",
    "drafts/a.md",
    "drafts/good/a.md",
    "deep/x/y/z.md",
    "deep/x/a.md",
    "_static/a.md",
    "docs/_static/a.md",
    "docs/_sources/a.md",
    "docs/build/a.md",
    "node_modules/m/README.md",
    ".hidden/a.md",
    ".dot.md",
    "star*name.md",
    "notes/#hash.md",
    "site-packages/p/a.md",
    "genindex.html",
]


def _written(root: Path, ignored: dict[str, str], name: str = IGNORE_FILE) -> Path:
    rules = {f"{folder}/{name}".lstrip("/"): text for folder, text in ignored.items()}
    return write_files(root, {name: f"In {name} stands $x^2$." for name in FILES} | rules)


def _walked(root: Path, exclude: tuple[str, ...] = (), report: Report | None = None) -> set[str]:
    return {file.relative_to(root).as_posix() for file in walk(root, report or Report(), exclude)}


@pytest.mark.skipif(shutil.which("git") is None, reason="git is the oracle and is not installed")
@pytest.mark.parametrize("name", [IGNORE_FILE, GITIGNORE])
@pytest.mark.parametrize(
    ("ignored", "exclude"),
    [
        ({}, ()),
        ({"": "*.log\n!keep.log\n"}, ()),
        ({"": "*.log\n", "notes": "!keep.log\n"}, ()),
        ({"": "# comment\n\n/a.md\ndrafts/*\n!drafts/good/\n"}, ()),
        ({"": "drafts/\n!drafts/good/a.md\n"}, ()),
        ({"": "deep/**/z.md\n", "deep": "/x/a.md\n"}, ()),
        ({"": "!_static/\n!node_modules/\n!.hidden/\n", "docs": "_static\n!build\n"}, ()),
        ({"": "star\\*name.md\nnotes/\\#hash.md\n"}, ()),
        ({"": "!*.log\n"}, ("*.log", "/notes/a.md")),
        ({"notes": "*\n"}, ("!notes/b.log",)),
        ({"": "a.md   \n**/x\n"}, ("[bc].log",)),
        ({"": "*****.log\ndeep/***/z.md\nstar\\***\n"}, ()),
        ({"": "****\n!n***s/\n!**/b.log\n"}, ()),
        ({"": "*\n!*/\n!*.md\n"}, ()),
        ({"": "*\n!notes/\n!/deep/\n!/deep/**\n"}, ()),
        ({"": "/\n/*\n!/notes/\nnotes/*.md\n"}, ()),
    ],
)
def test_git_leaves_out_the_same_files(
    tmp_path: Path, ignored: dict[str, str], exclude: tuple[str, ...], name: str
) -> None:
    root = _written(tmp_path / "notes of mine", ignored, name)
    defaults = tmp_path / "defaults"
    defaults.write_text("\n".join(DEFAULTS), encoding="utf-8")
    for command in (
        ["init", "-q"],
        [
            "ls-files", "-z", "--others", f"--exclude-per-directory={name}", f"--exclude-from={defaults}",
            *(f"--exclude={pattern}" for pattern in exclude),
        ],
    ):  # fmt: skip
        found = subprocess.run(["git", *command], cwd=root, check=True, capture_output=True, text=True).stdout
    assert _walked(root, exclude) == set(filter(None, found.split("\0")))


def test_every_rule_is_named_with_its_source_and_its_count(tmp_path: Path) -> None:
    root = _written(tmp_path, {"": "*.log\n", "deep": "x/\n"})
    report = Report()
    list(read_posts(root, report, exclude=["drafts/"]))
    assert report.excluded == {
        "*.log (.mathamrignore)": 3,
        "x/ (deep/.mathamrignore)": 1,
        "drafts/ (--exclude)": 1,
        ".* (a default)": 2,
        "_static/ (a default)": 2,
        "_sources/ (a default)": 1,
        "build/ (a default)": 1,
        "node_modules/ (a default)": 1,
        "site-packages/ (a default)": 1,
        "genindex.html (a default)": 1,
    }
    assert report.to_dict()["excluded"] == 14
    assert report.to_dict()["excluded_by_rule"]["x/ (deep/.mathamrignore)"] == 1
    assert any("excluded 3: *.log (.mathamrignore)" in line for line in report.lines())


def test_a_folder_that_is_named_itself_is_read_whatever_its_name_is(tmp_path: Path) -> None:
    _written(tmp_path, {})
    assert _walked(tmp_path / "docs" / "_static") == {"a.md"}


def test_a_folder_with_excluded_files_alone_says_which_rules_left_them_out(tmp_path: Path) -> None:
    write_files(tmp_path, {"_build/a.md": "Text"})
    with pytest.raises(MathAMRError, match=r"left out by _build/ \(a default\)"):
        read_posts(tmp_path, Report())


def test_a_line_that_is_no_pattern_is_reported_and_the_others_count(tmp_path: Path) -> None:
    report = Report()
    root = _written(tmp_path, {"": "[z-a]\n*a*a*a*a*a*b\ndrafts/\n"})
    assert "drafts/a.md" not in _walked(root, report=report)
    assert report.skipped["pattern not understood"] == 2
    with pytest.raises(MathAMRError, match=r"as in \.gitignore"):
        _walked(root, ("[z-a]",))


@cases("pattern", ["*" * 111 + "$", "[a]*" * 200, "**/a/" * 30 + "b", "?*" * 100, "***/a/" * 30 + "b"])
def test_no_pattern_is_matched_for_longer_than_its_length_allows(tmp_path: Path, pattern: str) -> None:
    path = write_files(tmp_path, {"a/" * 60 + "a" * 100 + ".md": "Text $x^2$"})
    code = f"from pathlib import Path\nfrom mathamr.posts.ignorerules import IgnoreRules\nfrom mathamr.posts.report import Report\nroot = Path({str(path)!r})\nwrong = Report()\nIgnoreRules(root, wrong).rule_for(next(root.rglob('*.md')))"
    (tmp_path / ".gitignore").write_text(pattern)
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_file_in_a_folder_that_is_left_out_is_left_out(tmp_path: Path) -> None:
    rules = IgnoreRules(_written(tmp_path, {"": "deep/x/\n"}), Report())
    assert rules.leaves_out(tmp_path / "deep" / "x" / "y" / "z.md")
    assert not rules.leaves_out(tmp_path / "deep" / "new.md")


@pytest.mark.skipif(shutil.which("git") is None, reason="git is the oracle and is not installed")
def test_rules_of_the_repository_above_a_folder_hold_in_it(tmp_path: Path) -> None:
    above = _written(tmp_path / "repository", {"": "*.log\n/notes/sub/\n", "notes": "!b.log\n"}, GITIGNORE)
    notes = above / "notes"
    (tmp_path / GITIGNORE).write_text("*.md\n", encoding="utf-8")  # no repository's
    subprocess.run(["git", "init", "-q"], cwd=above, check=True)
    listing = ["git", "ls-files", "-z", "--others", "--exclude-standard"]
    listed = subprocess.run(listing, cwd=notes, check=True, capture_output=True, text=True).stdout
    there = {name for name in listed.split("\0") if name and not name.startswith(".")}
    assert _walked(notes) == there
    assert "b.log" in there


def test_what_gitignore_leaves_out_is_counted_and_can_be_read(tmp_path: Path) -> None:
    root = _written(tmp_path, {"": "drafts/\n*.log\n"}, GITIGNORE)
    (root / IGNORE_FILE).write_text("!b.log\n", encoding="utf-8")
    report = Report()
    kept = _walked(root, report=report)
    assert report.excluded["drafts/ (.gitignore)"] == 1
    everything = _walked(root, (NO_GITIGNORE,))
    hidden = everything - kept
    assert hidden
    assert all(name.startswith("drafts/") or name.endswith(".log") for name in hidden)
    assert "b.log" in kept
    assert GITIGNORE not in everything

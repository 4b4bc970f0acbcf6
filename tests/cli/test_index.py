from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from mathamr.cli import app
from mathamr.core.errors import MathAMRError
from mathamr.index.storage import IndexStorage
from tests.cases import cases
from tests.folders import write_files
from tests.index.small import PARSER, note, write_posts
from tests.models import sample_posts

PLAIN = ("--engine", "flat", "--parser", PARSER, "--device", "cpu")


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["index", *map(str, arguments)])


@pytest.fixture
def posts(tmp_path: Path) -> Path:
    return write_posts(tmp_path / "posts.jsonl", sample_posts(4))


def build(posts: Path, out: Path, model: Path, *more: object) -> Result:
    return run(posts, "--out", out, "--model", model, *PLAIN, *more)


def test_a_build_prints_what_it_did_as_one_json_object(
    posts: Path, model_folder: Path, tmp_path: Path
) -> None:
    result = build(posts, tmp_path / "index", model_folder, "--json")
    assert result.exit_code == 0, result.output
    row = json.loads(result.stdout)
    assert row["counts"]["posts"] == row["posts"]["new"] == 4
    assert {"read", "lexical", "vectors"} <= row["seconds_by_stage"].keys()
    assert row["peak_memory_bytes"] > 2**20
    assert sum(row["bytes"].values()) > 1000
    assert list(row["reading"]) == [str(posts)]
    with IndexStorage.open(tmp_path / "index") as archive:
        assert len(archive.catalogue) == 4


def test_a_build_prints_one_line_for_people_and_more_with_v(
    posts: Path, model_folder: Path, tmp_path: Path
) -> None:
    first = build(posts, tmp_path / "index", model_folder).stdout
    assert "4 entries" in first
    assert "(4 new)" in first
    assert "posts/s" not in first
    assert "memory" in build(posts, tmp_path / "index", model_folder, "-v").stdout
    write_posts(posts, [*sample_posts(3), note("n", "new $x$")])
    assert "1 new, 1 deleted, 3 unchanged" in build(posts, tmp_path / "index", model_folder).stdout


def test_what_was_skipped_is_reported_on_stderr(model_folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "posts.jsonl"
    path.write_text('{"id": "1", "body": "RAISE an error in the parser"}\nnot json\n')
    result = build(path, tmp_path / "index", model_folder)
    assert result.exit_code == 0
    assert "left out: 1 × " in result.stderr
    assert "left out" not in result.stdout
    more = build(path, tmp_path / "other", model_folder, "-v").stderr
    assert "skipped 1: " in more
    assert "1 × sentence: exception" in more


def test_without_out_the_index_lies_beside_the_notes(posts: Path, model_folder: Path, tmp_path: Path) -> None:
    assert run(posts, "--model", model_folder, *PLAIN).exit_code == 0
    beside = posts.with_name(f"{posts.name}.index")
    with IndexStorage.open(beside) as archive:
        assert len(archive.catalogue) == 4
    asked = ["search", str(posts), "series", "--strategy", "lexical"]  # by the notes, not by their index
    assert CliRunner().invoke(app, asked).exit_code == 0
    again = run(beside)
    assert again.exit_code == 0
    assert "4 unchanged" in again.stdout


def test_check_reports_and_repairs(posts: Path, model_folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "index"
    build(posts, out, model_folder)
    assert run("--check", "--out", out).exit_code == 0
    (out / "manifest.json").write_text("{")
    looked = run("--check", "--no-repair", "--out", out, "--json")
    assert looked.exit_code == 1
    assert not json.loads(looked.stdout)["sound"]
    mended = run("--check", out)
    assert mended.exit_code == 0
    assert "repaired: manifest.json" in mended.stdout
    assert f"{out} is whole: 4 posts" in mended.stdout


def test_engine_options_are_read_as_values(posts: Path, model_folder: Path, tmp_path: Path) -> None:
    result = build(posts, tmp_path / "index", model_folder, "--engine-option", "dtype=float16", "--json")
    assert json.loads(result.stdout)["engine"] == {"name": "flat", "options": {"dtype": "float16"}}
    wrong = build(posts, tmp_path / "other", model_folder, "--engine-option", "dtype")
    assert wrong.exit_code == 2


@cases(
    "arguments",
    [["a.jsonl", "b.jsonl"], ["-"], ["a", "--check", "--ray", "local", "--out", "c"], ["--workers", "0"]],
)
def test_wrong_usage_ends_with_2(arguments: list[str]) -> None:
    assert run(*arguments).exit_code == 2


def test_a_missing_input_is_a_clear_error(tmp_path: Path) -> None:
    result = run(tmp_path / "nowhere", "--out", tmp_path / "index")
    assert isinstance(result.exception, MathAMRError)
    assert "no such file or folder" in str(result.exception)
    done = subprocess.run(
        [sys.executable, "-m", "mathamr", "index", "--out", str(tmp_path / "index")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("mathamr: ")
    assert "is not an index; create one with" in done.stderr


def test_an_index_remembers_what_was_excluded_until_it_is_told_otherwise(
    model_folder: Path, tmp_path: Path
) -> None:
    notes, out = tmp_path / "notes", tmp_path / "index"
    write_files(notes, {name: f"In {name} stands $x^2$." for name in ("a.md", "drafts/b.md")})

    def ids() -> set[str]:
        with IndexStorage.open(out) as archive:
            return set(archive.catalogue.ids())

    first = build(notes, out, model_folder, "--exclude", "drafts/")
    assert first.exit_code == 0, first.output
    assert "1 × drafts/ (--exclude)" in first.output
    (notes / "drafts" / "c.md").write_text("Text", encoding="utf-8")
    for again in ([notes, "--out", out], ["--out", out]):  # by its path, and as an input that the index knows
        assert run(*again).exit_code == 0
        assert ids() == {"a.md"}
    assert run("--out", out, "--exclude", "").exit_code == 0
    assert ids() == {"a.md", "drafts/b.md", "drafts/c.md"}
    assert run("--out", out, "--exclude", "c.md").exit_code == 0
    assert ids() == {"a.md", "drafts/b.md"}


def test_what_gitignore_hides_is_named_and_can_be_indexed(model_folder: Path, tmp_path: Path) -> None:
    notes, out = tmp_path / "notes", tmp_path / "index"
    write_files(
        notes, {".gitignore": "drafts/\n", **dict.fromkeys(("a.md", "drafts/b.md", "c.md"), "It is $x^2$.")}
    )

    def ids() -> set[str]:
        with IndexStorage.open(out) as archive:
            return set(archive.catalogue.ids())

    first = build(notes, out, model_folder, "--exclude", "c.md")
    assert "1 × drafts/ (.gitignore)" in first.output
    assert ids() == {"a.md"}
    assert run(notes, "--out", out, "--no-gitignore").exit_code == 0
    assert ids() == {"a.md", "drafts/b.md"}, "the patterns of before hold"
    assert run("--out", out).exit_code == 0
    assert ids() == {"a.md", "drafts/b.md"}
    assert run("--out", out, "--exclude", "").exit_code == 0
    assert ids() == {"a.md", "c.md"}


def test_words_that_reach_no_entry_are_counted_of_new_and_of_unchanged_files(
    model_folder: Path, tmp_path: Path
) -> None:
    notes = write_files(
        tmp_path / "notes",
        {f"{n}.typ": "Let every bounded sequence converge. // a remark\n" for n in range(3)},
    )
    for changed in (3, 0, 1):
        if changed == 1:
            (notes / "0.typ").write_text("Let every sequence converge.\n")
        result = build(notes, tmp_path / "index", model_folder, "--json")
        assert result.exit_code == 0, result.output
        (row,) = json.loads(result.stdout)["reading"].values()
        wanted = (18, 3) if changed != 1 else (16, 2)
        assert (row["words_read"], row["words_left_out"]) == wanted
    assert "of 16 words read are in no entry" in build(notes, tmp_path / "index", model_folder, "-v").stdout


def test_unknown_commands_are_said_each_time(model_folder: Path, tmp_path: Path) -> None:
    folder = write_files(
        tmp_path / "notes", {"a.md": "Let $\\Deduce x$ and $\\Deduce y$ be.", "b.md": "Let $\\alpha$."}
    )
    for _ in range(2):
        result = build(folder, tmp_path / "index", model_folder)
        assert "unknown commands in 2 formulas: \\Deduce (2); -v tells more" in result.stderr
    assert "unknown command \\Deduce: 2 formulas in 1 entry, as in a.md: " in build(
        folder, tmp_path / "index", model_folder, "-v"
    ).stderr.replace("\n", " ")

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mathamr.cli import app
from mathamr.core.errors import MathAMRError
from mathamr.posts.post import Post

DUMP = """<?xml version="1.0" encoding="utf-8"?>
<posts>
  <row Id="1" PostTypeId="1" Title="Is $2^n &gt; n$?" Body="&lt;p&gt;For all $n$ in [1, 2]?&lt;/p&gt;" Tags="|limits|" Score="3" />
  <row Id="2" PostTypeId="2" ParentId="1" Body="&lt;p&gt;Yes, by \\(\\text{induction}\\).&lt;/p&gt;" />
  <row PostTypeId="2" ParentId="1" Body="no id" />
  <row Id="4" PostTypeId="5" Body="a wiki" />
</posts>
"""


@pytest.fixture
def dump(tmp_path) -> Path:
    path = tmp_path / "Posts.xml"
    path.write_text(DUMP)
    return path


def run(*arguments: object, input: str | None = None):
    return CliRunner().invoke(app, ["posts", *map(str, arguments)], input=input)


def test_json_is_one_object_with_the_counts_of_the_contract(dump):
    result = run(dump, "--json")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    counts = {name: found[name] for name in ("posts", "questions", "answers", "notes", "formulas", "skipped")}
    assert counts == {"posts": 2, "questions": 1, "answers": 1, "notes": 0, "formulas": 3, "skipped": 2}
    assert found["skipped_by_cause"] == {"no id": 1, "post type 5 (tag wiki)": 1}
    assert {(problem["cause"], problem["row"]) for problem in found["examples"]} == {
        ("no id", 3),
        ("post type 5 (tag wiki)", 4),
    }
    assert found["tags"] == {"limits": 1}


def test_jsonl_gives_the_posts_on_stdout_and_the_problems_on_stderr(dump):
    result = run(dump, "--jsonl")
    posts = [Post.from_json(line) for line in result.stdout.splitlines()]
    assert [post.id for post in posts] == ["1", "2"]
    assert posts[1].formulas[0].latex == "\\text{induction}"
    assert f"skipped 1: no id (as in {dump}, row 3: a row without Id)" in result.stderr


def test_people_see_counts_problems_and_samples_with_their_formulas(dump):
    result = run(dump)
    assert "posts: 1 question, 1 answer" in result.stdout
    assert "2 skipped" in result.stdout
    assert "a row without Id" in " ".join(result.stdout.split())
    assert "Is $2^n > n$?" in result.stdout
    assert "For all $n$ in [1, 2]?" in result.stdout  # what looks like rich's markup is text
    assert "Yes, by $\\text{induction}$." in result.stdout
    assert "#limits" in result.stdout
    assert "tags: limits 1" in " ".join(result.stdout.split())


@pytest.mark.parametrize(("count", "shown"), [(12, 12), (13, 12)])
def test_the_commonest_tags_are_shown_and_whether_there_are_more(tmp_path, count, shown):
    file = tmp_path / "posts.jsonl"
    tags = [f"t{number:02}" for number in range(count)]
    file.write_text(json.dumps({"id": "1", "body": "x", "tags": tags}) + "\n")
    line = " ".join(run(file).stdout.split())
    assert f"{count} tags: t00 1" in line
    assert [f"{tag} 1" in line for tag in tags].count(True) == shown
    assert ("…" in line) is (count > shown)


def test_a_limit_stops_early(dump):
    assert json.loads(run(dump, "--json", "--limit", 1).stdout)["posts"] == 1
    assert run(dump, "--jsonl", "--limit", 0).stdout == ""


def test_standard_input_is_read(dump):
    command = [sys.executable, "-m", "mathamr", "posts", "-", "--json"]
    finished = subprocess.run(command, input=DUMP, capture_output=True, text=True, check=True)
    found = json.loads(finished.stdout)
    assert found["posts"] == 2
    assert found["examples"][0]["file"] == "standard input"
    assert finished.stderr == ""


def test_a_pipe_made_by_the_shell_is_read(dump):
    command = f"{sys.executable} -m mathamr posts <(cat {dump}) --json"
    finished = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert json.loads(finished.stdout)["posts"] == 2


def test_wrong_usage_ends_with_2_and_a_clear_error_with_1(dump):
    assert run(dump, "--json", "--jsonl").exit_code == 2
    assert run().exit_code == 2
    with pytest.raises(MathAMRError, match="unknown format 'words'"):
        CliRunner().invoke(app, ["posts", str(dump), "--format", "words"], catch_exceptions=False)
    command = [sys.executable, "-m", "mathamr", "posts", str(dump.parent / "none.xml")]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode == 1
    assert finished.stdout == ""
    assert finished.stderr == f"mathamr: {dump.parent / 'none.xml'}: no such file or folder\n"


def test_a_reader_that_closes_the_pipe_ends_it_quietly(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"id": n, "body": "x" * 1000}) + "\n" for n in range(2000)))
    command = f"{sys.executable} -m mathamr posts {path} --jsonl | head -n 1"
    finished = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert json.loads(finished.stdout)["id"] == "0"
    assert "Traceback" not in finished.stderr


def test_only_posts_of_a_kind_are_shown(tmp_path):
    path = tmp_path / "a.tex"
    path.write_text("Words.\n\\begin{lemma}\\label{l}$x$\\end{lemma}\\begin{definition}$y$\\end{definition}")
    result = run(path, "--kind", "lemma", "--jsonl")
    (post,) = map(Post.from_json, result.stdout.splitlines())
    assert (post.id, post.kind) == ("a.tex#l", "lemma")
    shown = run(path, "--kind", "lemma", "--kind", "definition").stdout
    assert "2 posts: 1 lemma, 1 definition" in " ".join(shown.split())
    assert "lemma · a.tex#l · a.tex:2 · 1 formula" in shown

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError, UnknownNameError
from mathamr.posts.post import Place, Post
from mathamr.search.editors import EDITORS, address_in, arguments_for, editor_command, file_of, open_in
from tests.cases import cases


@cases("editor", EDITORS)
def test_every_editor_opens_the_file_and_no_sign_of_its_name_is_taken_for_the_address(editor):
    address = address_in(editor, "/home/ada/a b&line=9#c?.md", 7)
    assert address is not None
    assert " " not in address
    assert "#" not in address
    assert "&line=9" not in address
    assert "ada" in address
    assert ("7" in address) == ("{line}" in EDITORS[editor])


def test_an_address_of_ones_own_will_do_and_an_unknown_name_lists_the_known():
    assert address_in("my://{path}@{line}", "/a/b.tex", 3) == "my:///a/b.tex@3"
    with pytest.raises(UnknownNameError, match="vscode"):
        address_in("vscod", "/a/b.tex")
    with pytest.raises(UnknownNameError):
        address_in("x://{path}{evil}", "/a")


def test_what_is_no_file_has_no_address():
    assert address_in("vscode", "forum") is None


def post_at(source: object, line: int = 7) -> Post:
    return Post("a", "note", "x", source=str(source), place=Place("a.md", line))


def test_a_file_is_opened_at_its_line_whatever_its_name(tmp_path):
    file = tmp_path / "-c 'rm x'; $(touch y) é.md"
    file.write_text("text")
    editor, seen = tmp_path / "vim", tmp_path / "seen"
    editor.write_text(f'#!/bin/sh\nfor each in "$@"; do echo "<$each>"; done > {seen}\n')
    editor.chmod(0o755)
    open_in([str(editor), "-R"], *file_of(post_at(file)))
    assert seen.read_text() == f"<-R>\n<+7>\n<{file}>\n"
    assert not (tmp_path / "y").exists()


@cases(
    ("source", "said"),
    [
        ("-c:q.md", "not a file of this machine"),
        ("https://example.org", "not a file of this machine"),
        ("/tmp/a\nb.md", "control characters"),
        ("/tmp/\x1b[2Ja.md", "control characters"),
        ("/nowhere/a.md", "not there any more"),
        ("/dev/zero", "not there any more"),
        ("/", "not there any more"),
    ],
)
def test_what_is_no_file_is_not_opened(source, said):
    with pytest.raises(MathAMRError, match=said) as error:
        file_of(post_at(source))
    assert str(error.value).isprintable()


def test_a_file_that_is_not_text_is_not_opened(tmp_path):
    (tmp_path / "a.pdf").write_bytes(b"%PDF\0\1")
    with pytest.raises(MathAMRError, match="not a text file"):
        file_of(post_at(tmp_path / "a.pdf"))


def test_the_editor_is_the_one_named_or_that_of_the_environment(tmp_path):
    environment = {"VISUAL": "code --wait", "EDITOR": "vi", "PATH": ""}
    assert editor_command("emacs -nw", environment) == ["emacs", "-nw"]
    assert editor_command(None, environment) == ["code", "--wait"]
    assert editor_command(None, environment | {"VISUAL": " "}) == ["vi"]
    with pytest.raises(MathAMRError, match="--print"):
        editor_command(None, {"PATH": ""})
    with pytest.raises(MathAMRError, match="No closing quotation"):
        editor_command("vi '", environment)


@cases(
    ("editor", "arguments"),
    [
        ("code", ["code", "-g", "/a.md:7"]),
        ("nvim", ["nvim", "+7", "/a.md"]),
        ("hx", ["hx", "/a.md:7"]),
        ("kate", ["kate", "-l", "7", "/a.md"]),
        ("unknown", ["unknown", "/a.md"]),
    ],
)
def test_each_editor_is_given_the_line_as_it_takes_it(editor, arguments):
    assert arguments_for([editor], Path("/a.md"), 7) == arguments


def test_an_editor_that_fails_is_named(tmp_path):
    (tmp_path / "a.md").write_text("x")
    with pytest.raises(MathAMRError, match="does not start"):
        open_in([str(tmp_path / "none")], tmp_path / "a.md", 1)
    with pytest.raises(MathAMRError, match="ended with 1"):
        open_in(["false"], tmp_path / "a.md", 1)

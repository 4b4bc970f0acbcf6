"""Descriptions by a program of the user's choice: real scripts and a real server say what theorems and declarations state."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.index.admin.backup import backup, restore
from mathamr.index.indexing.builder import BuildSummary, build_index
from mathamr.index.indexing.describing import LONGEST_ANSWER, describer
from mathamr.index.storage import IndexStorage
from mathamr.posts.description import PostDescription, describer_of, with_description, without_description
from mathamr.posts.markup import formulas_of
from mathamr.posts.passage import passage
from mathamr.posts.post import Markup, Post
from mathamr.search.searcher import Index
from tests.folders import write_files
from tests.index.small import options

LEAN = """
/-- Swaps the arguments. -/
theorem swap_add (a b : ℕ) : a + b = b + a := sorry

theorem swap_mul (a b : ℕ) : a * b = b * a := sorry

structure Wug where
  size : ℕ
"""
BOOK = r"""\documentclass{article}
\begin{document}
\section{On wugs}
Some words about wugs that nobody describes.
\begin{theorem}[Wug]\label{thm:wug}
Every wug has $n$ legs.
\end{theorem}
\end{document}
"""
SCRIPT = r"""#!/bin/sh
text=$(cat)
echo "$text" | head -n 1 >> "%s"
case "$text" in
    *swap_add*) echo 'Blickets commute: $x + y = y + x$. It is called the flummox law.' ;;
    *"Theorem (Wug)"*) echo 'A zorbicular creature with {braces}, 50%% & <b>signs</b>.' ;;
    *) echo 'Nothing is known of this one.' ;;
esac
"""


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    """The first lines of what the script was asked, one a line."""
    return tmp_path / "asked.txt"


@pytest.fixture
def script(tmp_path: Path, asked: Path) -> Path:
    return write_script(tmp_path / "describe.sh", SCRIPT % asked)


def write_script(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


def lines(asked: Path) -> list[str]:
    return asked.read_text().splitlines() if asked.exists() else []


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_files(tmp_path / "notes", {"A.lean": LEAN, "book.tex": BOOK})


def build(folder: Path, model: Path, describe: object = None) -> BuildSummary:
    asked = None if describe is None else str(describe)
    return build_index([folder], folder.with_name("index"), options(model, describe=asked))


def described(out: Path) -> dict[str, str]:
    with IndexStorage.open(out) as archive:
        return {post.title: describer_of(post) for post in archive.catalogue.every_post()}


def test_what_a_program_says_is_found_and_shown_as_what_it_is(
    folder: Path, script: Path, asked: Path, model_folder: Path
) -> None:
    counts = build(folder, model_folder, script).descriptions
    assert counts is not None
    assert (counts.by, counts.asked, counts.failed) == ("describe.sh", len(lines(asked)), 0)
    assert "theorem swap_add" in lines(asked)
    assert "theorem Theorem (Wug)" in lines(asked)
    assert not [line for line in lines(asked) if line.startswith(("section", "note", "page"))]
    with Index.open(folder.with_name("index")) as index:
        for words, title, shown in (
            ("blickets", "swap_add", "Described by describe.sh: Blickets commute: $x + y = y + x$."),
            ("flummox law", "swap_add", "Described by describe.sh: It is called the flummox law."),
            (
                "zorbicular",
                "Theorem (Wug)",
                "Described by describe.sh: A zorbicular creature with {braces}, 50% & <b>signs</b>.",
            ),
        ):
            hits = index.search(words, strategy="lexical").hits
            assert str(hits[0].title) == title
            assert str(hits[0].snippet).startswith(shown)
        (formula, *_) = index.search("$x + y = y + x$", task="formulas").hits
        assert formula.formula is not None
        assert formula.formula.latex == "x + y = y + x"


def test_each_sentence_has_a_vector_of_its_own(folder: Path, script: Path, model_folder: Path) -> None:
    build(folder, model_folder)
    with IndexStorage.open(folder.with_name("index")) as archive:
        rows = dict(archive.catalogue.post_rows())
    build(folder, model_folder, script)
    with IndexStorage.open(folder.with_name("index")) as archive:
        now = dict(archive.catalogue.post_rows())
    (name,) = (each for each in now if each.endswith("#swap_add"))
    assert now[name] == rows[name] + 3  # two sentences, one of them with a formula


def test_an_entry_is_asked_about_once_and_keeps_its_description(
    folder: Path, script: Path, asked: Path, model_folder: Path
) -> None:
    first = build(folder, model_folder, script).descriptions
    assert first is not None
    again = build(folder, model_folder, script)
    assert again.descriptions is not None
    assert (again.descriptions.asked, again.descriptions.kept) == (0, first.asked)
    assert again.log.posts["vectors"] == 0
    before, count = described(folder.with_name("index")), len(lines(asked))
    # Without the option nobody is asked: lines that move keep their descriptions, and what is new has none.
    (folder / "A.lean").write_text(f"-- a comment\n{LEAN}\ntheorem other_one : 1 + 1 = 2 := sorry\n")
    summary = build(folder, model_folder)
    assert (summary.descriptions, summary.intake.undescribed) == (None, 1)
    assert described(folder.with_name("index")) == before | {"other_one": ""}
    (folder / "A.lean").rename(folder / "B.lean")
    build(folder, model_folder)
    assert described(folder.with_name("index")) == before | {"other_one": ""}
    assert len(lines(asked)) == count
    build(folder, model_folder, script)
    assert lines(asked)[count:] == ["theorem other_one"]
    assert described(folder.with_name("index"))["other_one"] == "describe.sh"


def test_nobody_is_asked_unless_the_user_says_so(
    folder: Path, script: Path, asked: Path, model_folder: Path
) -> None:
    build(folder, model_folder)
    assert not any(described(folder.with_name("index")).values())
    assert not lines(asked)
    assert not (folder.with_name("index") / "descriptions.db").exists()


def test_another_program_takes_the_place_of_the_first(
    folder: Path, script: Path, tmp_path: Path, model_folder: Path
) -> None:
    build(folder, model_folder, script)
    other = write_script(tmp_path / "better.sh", "#!/bin/sh\necho 'Quonset thing.'\n")
    build(folder, model_folder, other)
    found = described(folder.with_name("index"))
    assert found["swap_add"] == found["Wug"] == "better.sh"
    with Index.open(folder.with_name("index")) as index:
        assert not index.search("flummox", strategy="lexical").hits
        assert index.search("quonset", strategy="lexical").hits


def test_what_fails_is_counted_and_asked_about_again(
    folder: Path, tmp_path: Path, asked: Path, model_folder: Path
) -> None:
    failing = write_script(
        tmp_path / "describe.sh",
        "#!/bin/sh\ngrep -q swap_add && echo Fine. && exit 0\necho 'no \033[1mroom' >&2; exit 3\n",
    )
    summary = build(folder, model_folder, failing)
    counts = summary.descriptions
    assert counts is not None
    assert counts.asked == 1
    assert counts.failed + counts.left == 4
    assert "describe.sh failed with status 3" in counts.failure
    assert summary.manifest.finished
    write_script(failing, SCRIPT % asked)
    again = build(folder, model_folder, failing).descriptions
    assert again is not None
    assert (again.kept, again.failed, again.left) == (1, 0, 0)
    assert again.asked == counts.failed + counts.left
    assert "theorem swap_add" not in lines(asked)


def test_after_three_failures_nobody_is_asked_any_more(
    folder: Path, tmp_path: Path, asked: Path, model_folder: Path
) -> None:
    failing = write_script(tmp_path / "describe.sh", f"#!/bin/sh\necho once >> '{asked}'\nexit 1\n")
    counts = build(folder, model_folder, failing).descriptions
    assert counts is not None
    assert (counts.asked, counts.failed, counts.left) == (0, 3, 2)
    assert len(lines(asked)) == 3


def test_a_backup_holds_the_descriptions(
    folder: Path, script: Path, tmp_path: Path, asked: Path, model_folder: Path
) -> None:
    out = folder.with_name("index")
    build(folder, model_folder, script)
    before, count = described(out), len(lines(asked))
    backup(out, tmp_path / "backup.tar")
    restore(tmp_path / "backup.tar", tmp_path / "restored")
    assert described(tmp_path / "restored") == before
    build_index([folder], tmp_path / "restored", options(model_folder, describe=str(script)))
    assert len(lines(asked)) == count


def test_a_program_that_is_not_there_is_an_error_before_anything_is_made(
    folder: Path, model_folder: Path
) -> None:
    with pytest.raises(MathAMRError, match="there is no program 'no-such-program'"):
        build(folder, model_folder, "no-such-program --fast")
    assert not folder.with_name("index").exists()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("sleep 60", "no whole answer within 0.5 s"),
        ("sleep 60 & echo Late.; wait", "no whole answer within 0.5 s"),
        ("exec yes", f"longer than {LONGEST_ANSWER:,} bytes"),
        ("exit 7", "failed with status 7"),
        ("echo bad luck >&2; exit 1", "status 1: bad luck"),
        ("kill -9 $$", "status -9"),
    ],
)
def test_a_program_that_hangs_or_floods_is_ended(tmp_path: Path, text: str, why: str) -> None:
    asked = describer(
        str(write_script(tmp_path / "bad.sh", f"#!/bin/sh\n{text}\n")), 0.5 if "sleep" in text else 60
    )
    with pytest.raises(MathAMRError, match=why):
        asked.ask("theorem")


def test_a_program_may_answer_without_reading(tmp_path: Path) -> None:
    asked = describer(str(write_script(tmp_path / "quick.sh", "#!/bin/sh\nexec echo Fine.\n")))
    assert asked.ask("x" * 200_000) == "Fine.\n"


HOSTILE = (
    "A claim.\n\n```lean\ntheorem evil : False\n```\n\n> quoted </blockquote><script>alert(1)</script> \\end{quote}\\input{x}"
    " ![p](http://tracker.example/p.png) \x1b]0;title\x07 \u202eback FORMULA_0 $\\evil$ 100% # *b* _i_ &lt; $\\end{quote}\\input{y}$ $![q](http://tracker.example/)$ $"
)


@pytest.mark.parametrize("markup", ["markdown", "declaration", "html", "latex", "text"])
def test_a_hostile_answer_is_plain_text_and_comes_off_again(markup: Markup) -> None:
    body = "Said <by> its author $a$." if markup == "text" else "Said by its author $a$."
    post = Post("p", "theorem", body, title="T", markup=markup, formulas=formulas_of("p", "T", body, markup))
    description = PostDescription.of("describe.sh", HOSTILE)
    found = with_description(post, description)
    assert without_description(found) == post
    assert describer_of(found) == "describe.sh"
    assert with_description(found, description) == found
    said = [sentence for sentence in passage(found).sentences if sentence.start >= len(body)]
    assert {sentence.kind for sentence in said} == {"prose"}
    shown = " ".join(sentence.text for sentence in said)
    assert "<script>alert(1)</script>" in shown
    assert "![p](http://tracker.example/p.png)" in shown
    assert not {"\x1b", "\x07", "\u202e"} & {*shown}
    if markup not in ("html", "text"):  # where nothing inside a formula acts on what is around it
        assert [formula.latex for formula in found.formulas] == ["a", "\\evil"]
    assert all(sentence.text.startswith("Described by describe.sh: ") for sentence in said)


def test_what_somebody_wrote_into_the_file_of_descriptions_is_plain_text_too(
    folder: Path, script: Path, model_folder: Path
) -> None:
    out = folder.with_name("index")
    build(folder, model_folder, script)
    with sqlite3.connect(out / "descriptions.db") as database:
        database.execute("UPDATE descriptions SET by = ?, text = ?", ("x`*\n> y", HOSTILE * 100))
    with (folder / "book.tex").open("a") as book:
        book.write("% changed\n")
    build(folder, model_folder)
    with IndexStorage.open(out) as archive:
        (post,) = (each for each in archive.catalogue.every_post() if each.title == "Theorem (Wug)")
    assert describer_of(post) == "x y"
    assert "\\input{x}" not in post.body
    assert "\x1b" not in post.body
    assert len(post.body) < 3_000


def test_a_long_answer_is_cut() -> None:
    found = PostDescription.of("a", "word " * 100_000)
    assert sum(map(len, found.sentences)) <= 600
    assert len(PostDescription.of("a", "So. It is. " * 100).sentences) == 3
    assert PostDescription.of("a", " \n\x00 ").sentences == ()


def test_finding_a_description_takes_linear_time() -> None:
    body = "\n\n> Described by a: b" * 100_000 + "\nx"
    post = Post("p", "theorem", body, markup="markdown")
    assert describer_of(post) == ""


class _Server(ThreadingHTTPServer):
    """Answers ``/v1/chat/completions`` as the common servers do; `answer` replaces the body."""

    answer: bytes | None = None
    status = 200

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[dict[str, Any]] = []
        self.headers: dict[str, str] = {}

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append({"path": self.path, **body})
        said = f"Grommet number {len(self.server.asked)}."
        content = self.server.answer or json.dumps({"choices": [{"message": {"content": said}}]}).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(content)))
        for name, value in self.server.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def chats() -> Iterator[_Server]:
    server = _Server()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_server_is_asked_with_the_model_behind_the_sign(folder: Path, model_folder: Path) -> None:
    with chats() as server:
        counts = build(folder, model_folder, f"{server.address}/v1#gemma:4b").descriptions
        assert counts is not None
        assert (counts.by, counts.asked) == ("gemma 4b", len(server.asked))
        assert {(row["path"], row["model"]) for row in server.asked} == {("/v1/chat/completions", "gemma:4b")}
        assert any("theorem swap_add" in row["messages"][0]["content"] for row in server.asked)
    with Index.open(folder.with_name("index")) as index:
        (hit, *_) = index.search("grommet", strategy="lexical").hits
        assert str(hit.snippet).startswith("Described by gemma 4b: Grommet number ")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (b"hello", "did not answer as a server of chats"),
        (b'{"choices": []}', "choices"),
        (b'{"choices": [{"message": {"content": 5}}]}', r"choices\.0\.message\.content"),
        (b'{"choices": [{"message": {"content": null}}]}', r"choices\.0\.message\.content"),
        (b"[" * 10_000, "did not answer as a server of chats"),
        (b'"' + b"a" * (LONGEST_ANSWER + 1) + b'"', "longer than"),
    ],
)
def test_an_answer_that_is_none_is_a_clear_error(answer: bytes, why: str) -> None:
    with chats() as server:
        server.answer = answer
        with pytest.raises(MathAMRError, match=why):
            describer(server.address).ask("theorem")


def test_a_redirect_of_a_server_is_not_followed() -> None:
    with chats() as server, chats() as other:
        server.status, server.headers = 307, {"Location": f"{other.address}/v1/chat/completions"}
        with pytest.raises(MathAMRError, match="names another address, which is not asked"):
            describer(server.address).ask("theorem")
        assert not other.asked


@pytest.mark.parametrize("address", ["http://", "https://user:secret@host/v1"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(MathAMRError, match="write it like"):
        describer(address)

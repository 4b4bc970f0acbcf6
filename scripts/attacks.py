# ruff: noqa: D103
"""The attacks of docs/attacks.md against one checkout, each through its command line, its API or its readers.

    python scripts/attacks.py CHECKOUT [NAME…]

prints one line for each attack: `held` or `OPEN`, and what happened. docs/attacks.md has the results for the first
release (065ca40) and names the tests that repeat each attack. Programs run in their own folders with limits on processor
time and memory, so that an attack that succeeds does no damage.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import fileattacks  # noqa: F401  (registers its attacks)
import folderattacks  # noqa: F401
import indexattacks  # noqa: F401
import serverattacks  # noqa: F401
from attacked import ATTACKS, Outcome, Scene, attack, outcome

# Bombs


@attack
def bombs_in_formulas(scene: Scene) -> Outcome:
    bombs = ["\\pdv[" * 20, "\\ketbra{" * 20, "\\ev{a}{" * 18]
    code = "import sys; from mathamr.formulas.parse import parse\ntry: parse(sys.argv[1])\nexcept Exception as e: print(type(e).__name__)"
    ended = [scene.python("-c", code, bomb, seconds=3, megabytes=600) for bomb in bombs]
    return all(done.returncode == 0 for done in ended), ", ".join(
        f"{bomb[:6]}… rc {done.returncode} {done.stderr[-30:].strip()}"
        for bomb, done in zip(bombs, ended, strict=True)
    )


# Slow text


@attack
def dots_in_a_post(scene: Scene) -> Outcome:
    code = "from mathamr.posts.sentences import sentences; print(len(list(sentences('.' * 40000 + 'a'))))"
    return outcome(scene.python("-c", code, seconds=15))


@attack
def superlinear_readers(scene: Scene) -> Outcome:
    texts = {
        "spaces.md": "a" + " " * 300_000 + "b",
        "fences.md": "```\n" * 60_000,
        "front.md": "---\n" + "a: b\n" * 100_000,
        "brackets.md": "[" * 200_000,
        "pictures.md": "![" * 200_000,
        "joined.bib": "@article{a, title = " + '"a" # ' * 50_000 + '"b"}',
        "comments.lean": "/-- a -/\n" * 40_000 + "theorem a : True := trivial\n",
        "spaces.tex": "\\section" + " " * 300_000 + "x",
        "braces.tex": "\\textbf{" * 40_000,
        "rows.xml": '<posts>\n<row Id="1" PostTypeId="1" Title="t" Body="b" />\n' + "<1" * 400_000 + ">",
    }
    code = (
        "import sys\nfrom mathamr.posts.reader import read_posts\nfrom mathamr.posts.report import Report\n"
        "print(len(list(read_posts(sys.argv[1], Report()))))"
    )
    slow = []
    for name, text in texts.items():
        folder = Path(tempfile.mkdtemp(dir=scene.room))
        path = folder / ("Posts.xml" if name.endswith("xml") else name)
        path.write_text(text)
        done = scene.python("-c", code, str(path), seconds=20)
        if done.returncode:
            slow.append(f"{name} {outcome(done)[1]}")
    return not slow, "; ".join(slow) or "all within 20 s"


@attack
def a_dense_archive(scene: Scene) -> Outcome:
    path = scene.room / "Posts.xml"
    row = b'<row Id="%d" PostTypeId="1" Title="t" Body="' + b"a" * 2000 + b'" />\n'
    path.write_bytes(
        gzip.compress(b"<posts>\n" + b"".join(row % number for number in range(125_000)) + b"</posts>", 9)
    )
    code = (
        "import sys\nfrom mathamr.posts.reader import read_posts\nfrom mathamr.posts.report import Report\n"
        "print(sum(len(post.body) for post in read_posts(sys.argv[1], Report())) >> 20)"
    )
    size = path.stat().st_size
    done = scene.python("-c", code, str(path), seconds=120)
    read = int(done.stdout or -1)
    return 0 <= read < 150, f"of {size >> 10} kB {read} MB were read"


@attack
def many_folders(scene: Scene) -> Outcome:
    code = (
        "import sys, time\nfrom types import SimpleNamespace\nfrom mathamr.index.engines.entry import Filter\n"
        "from mathamr.search.locations import within\n"
        "paths = {f'/home/ada/vault/part{n % 60}/section{n % 7}/note{n}.md': 1 for n in range(6164)}\n"
        "folders = [f'vault/part{n}' for n in range(50)]\n"
        "print(len(within(SimpleNamespace(sources=lambda: paths), folders, Filter()).sources))"
    )
    return outcome(scene.python("-c", code, seconds=8))


@attack
def half_a_surrogate_for_mcp(scene: Scene) -> Outcome:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        r'{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params":'
        r' {"name": "search", "arguments": {"query": "\ud800"}}}',
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "mathamr", "mcp", str(scene.copy())],
        env=scene.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("".join(f"{line}\n" for line in lines).encode())
    process.stdin.flush()
    watchdog = threading.Timer(60, process.kill)
    watchdog.start()
    answers = [process.stdout.readline() for _ in range(2)]
    watchdog.cancel()
    process.kill()
    process.wait()
    return b'"id":2' in answers[1], f"answered {answers[1][:80]!r}"


# Crashes and entry points


@attack
def loops_of_links_and_files(scene: Scene) -> Outcome:
    folder = scene.room / "loops"
    folder.mkdir()
    (folder / "loop.md").symlink_to("loop.md")
    (folder / "one").symlink_to("two")
    (folder / "two").symlink_to("one")
    (folder / "a.tex").write_text(
        "\\documentclass{article}\\usepackage{own}\\begin{document}\\input{"
        + "x" * 300
        + "}Hello $x$.\\end{document}"
    )
    (folder / "own.sty").symlink_to("own.sty")
    return outcome(scene.run("posts", str(folder), seconds=60))


@attack
def names_that_are_no_utf8(scene: Scene) -> Outcome:
    folder = scene.room / "names"
    folder.mkdir()
    (Path(os.fsdecode(os.fsencode(folder) + b"/bad\xff.md"))).write_text("A zebra with a bad name.")
    out = scene.room / "bad-index"
    made = scene.run("index", str(folder), "--out", str(out), megabytes=0, seconds=200)
    found = scene.search(out)
    return (
        made.returncode == 0 and found.returncode == 0,
        f"index rc {made.returncode}; search {outcome(found)[1]}",
    )


@attack
def escapes_for_a_terminal(scene: Scene) -> Outcome:
    folder = scene.room / "escapes"
    folder.mkdir()
    (folder / "evil\x1b]0;owned\x07.md").write_text("A zebra.")
    out = scene.room / "escapes-index"
    scene.run("index", str(folder), "--out", str(out), megabytes=0, seconds=200)
    found = scene.search(out)
    reached = "\x1b]0;owned" in found.stdout + found.stderr
    return not reached, "the escape reached the terminal" if reached else "it is spelt out"


@attack
def libraries_of_the_current_folder(scene: Scene) -> Outcome:
    folder = scene.room / "current"
    folder.mkdir()
    (folder / "typer.py").write_text(f"open({str(folder / 'pwned')!r}, 'w')\nraise SystemExit")
    (folder / "mcp.py").write_text((folder / "typer.py").read_text())
    scene.run(str(scene.base), module="mathamr.adapters.mcp", cwd=folder)
    scene.run("mcp", "--help", cwd=folder)
    ran = (folder / "pwned").exists()
    return not ran, "a file of the current folder ran" if ran else "nothing of the current folder ran"


# The machine


@attack
def a_clock_that_is_set_back(scene: Scene) -> Outcome:
    notes = scene.room / "clock"
    shutil.copytree(scene.notes, notes)
    folder = scene.room / "clock-index"
    made = scene.run("index", str(notes), "--out", str(folder), megabytes=0, seconds=200)
    later = time.time() + 400 * 86400  # everything was written in what is now the future
    for path in [*folder.rglob("*"), *notes.rglob("*")]:
        os.utime(path, (later, later))
    (notes / "n3.md").write_text("# Note 3\n\nAn okapi, written today.\n")
    again = scene.run("index", str(notes), "--out", str(folder), megabytes=0, seconds=200)
    found = scene.run("search", str(folder), "okapi", "--strategy", "lexical", "--json")
    checked = scene.check(folder, "--no-repair")
    steps = (made, again, found, checked)
    held = all(done.returncode == 0 for done in steps) and "n3.md" in found.stdout
    return (
        held,
        f"index, update, search, check: {[done.returncode for done in steps]}; the new text is {'' if held else 'not '}found",
    )


@attack
def a_folder_that_may_only_be_read(scene: Scene) -> Outcome:
    folder = scene.copy()
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        found = scene.search(folder, humbly=True)
        written = scene.run("index", str(scene.notes), "--out", str(folder), megabytes=0, humbly=True)
    finally:
        for path in [folder, *folder.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)
    held = found.returncode == 0 and written.returncode != 0 and outcome(written)[0]
    return held, f"search {outcome(found)[1]}; index {outcome(written)[1]}"


@attack
def two_writers(scene: Scene) -> Outcome:
    with scene.serving() as server:
        refused = scene.run("index", str(scene.notes), "--out", str(server.folder), megabytes=0)
        status, _ = server.request("PUT", "/v1/posts/kept", {"body": "A quagga."})
        folder = server.folder
    after = scene.run("index", str(scene.notes), "--out", str(folder), megabytes=0, seconds=200)
    found = scene.run("search", str(folder), "quagga", "--strategy", "lexical", "--json")
    held = refused.returncode != 0 and outcome(refused)[0] and status == 201 and after.returncode == 0
    kept = '"kept"' in found.stdout
    return (
        held and kept,
        f"index beside a server: {outcome(refused)[1]}; killed, then rc {after.returncode}, its write is {'' if kept else 'not '}kept",
    )


# By machine


@attack
def flipped_bits(scene: Scene) -> Outcome:
    return _campaign(scene, "flips", 24)


@attack
def fuzzed_documents(scene: Scene) -> Outcome:
    return _campaign(scene, "readers", 120)


@attack
def models_by_machine(scene: Scene) -> Outcome:
    return _campaign(scene, "models", 60)


def _campaign(scene: Scene, name: str, count: int) -> Outcome:
    script = str(Path(__file__).with_name("campaigns.py"))
    done = scene.python(script, name, "--count", str(count), seconds=600, megabytes=0, patience=4000)
    return done.returncode == 0, (done.stdout.strip() or done.stderr.strip()).splitlines()[-1][:200]


def main(checkout: str, *names: str) -> int:
    """Run the attacks; the number of those that are open."""
    opened = 0
    with tempfile.TemporaryDirectory() as room:
        scene = Scene(Path(checkout).resolve(), Path(room))
        for name in names or ATTACKS:
            try:
                held, what = ATTACKS[name](scene)
            except Exception as error:  # an attack that could not be run has no result
                print(f"{name} | not run | {type(error).__name__}: {error}", flush=True)
                continue
            opened += not held
            print(f"{name} | {'held' if held else 'OPEN'} | {what}", flush=True)
    return opened


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

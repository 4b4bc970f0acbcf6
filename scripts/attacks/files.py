# ruff: noqa: D103
"""Attacks by documents, archives, formulas, the current folder and the machine; and what libraries send by themselves."""
# fmt: off

from __future__ import annotations

import gzip
import io
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from corpus import SLOW_TEXTS
from scene import ATTACKS, Done, Files, Outcome, Scene, attack, outcome

GOOD = "# A good note\n\nIts zebra has $s^2$ stripes.\n"
READ = """import sys
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
posts = list(read_posts(sys.argv[1], Report()))
print(sum(len(post.body) for post in posts) >> 20, "MB:", sorted(post.id for post in posts))"""


# Folders that are read within limits


def _read(scene: Scene, path: Path, **limits: int) -> Done:
    return scene.python("-c", READ, str(path), **limits)


def _reads(scene: Scene, files: Callable[[], Files], wanted: str = "", most: int = 1, **limits: int) -> Outcome:
    """Return whether each of these files, or a folder of all if one post is wanted, is read within limits and without many megabytes."""
    given = files()
    folder = scene.folder(given)
    done = {name: _read(scene, path, **limits) for name, path in ({"": folder} if wanted else {name: folder / name for name in given}).items()}
    held = all(each.returncode == 0 and wanted in each.stdout and int(each.stdout.split()[0]) < most for each in done.values())
    return held, "; ".join(f"{name} {outcome(each)[1][:60]}" for name, each in done.items())


def _long_front_matter() -> Files:
    return {f"{value[:2]}.md": f"+++\ntitle = {value}\n+++\n{GOOD}" for value in ("9" * 5_000, "0x" + "f" * 5_000)}


def _archive() -> Files:
    row = b'<row Id="%d" PostTypeId="1" Title="t" Body="' + b"a" * 2000 + b'" />\n'
    return {"Posts.xml": gzip.compress(b"<posts>\n" + b"".join(row % number for number in range(125_000)) + b"</posts>", 9)}


def _book() -> Files:
    book, pages = io.BytesIO(), range(60)
    items = "".join(f'<item id="{n}" href="{n}.xhtml" media-type="application/xhtml+xml"/>' for n in pages)
    files = {"mimetype": "application/epub+zip", "META-INF/container.xml": '<a><rootfile full-path="list.opf"/></a>',
             "list.opf": f"<package>{items}<spine>{''.join(f'<itemref idref={n!r}/>' for n in map(str, pages))}</spine></package>"}
    with zipfile.ZipFile(book, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, text in (files | {f"{number}.xhtml": "<p>a $x_1$ b</p>" * 60_000 for number in pages}).items():
            packed.writestr(name, text)
    return {"book.epub": book.getvalue()}


def _grid() -> Files:
    rule, row = "+-" * 1000 + "+\n", "| " * 1000 + "|\n"
    return {"bad.rst": rule + row * 200 + rule, "good.rst": "Good\n====\n\nA zebra.\n"}


ATTACKS |= {
    "dots_in_a_post": partial(_reads, files=lambda: {"a.md": "." * 40_000 + "a"}, seconds=15),
    "superlinear_readers": partial(_reads, files=lambda: SLOW_TEXTS, seconds=20),
    "a_dense_archive": partial(_reads, files=_archive, most=150, seconds=120),
    "a_dense_book": partial(_reads, files=_book, most=150, seconds=25),
    "a_grid_table": partial(_reads, files=_grid, wanted="good.rst", seconds=12),
    "front_matter_that_ends_a_run": partial(_reads, files=_long_front_matter, seconds=20),
    "dots_in_front_matter": partial(_reads, files=lambda: {"bad.md": "+++\n" + ".".join("a" * 30_000) + f" = 1\n+++\n{GOOD}"}, wanted="bad.md", seconds=20, megabytes=1024),
}


@attack
def bombs_in_formulas(scene: Scene) -> Outcome:
    code = "import sys; from mathamr.formulas.parse import parse\ntry: parse(sys.argv[1])\nexcept Exception as e: print(type(e).__name__)"
    ended = {bomb[:6]: scene.python("-c", code, bomb, seconds=3, megabytes=600).returncode for bomb in ("\\pdv[" * 20, "\\ketbra{" * 20, "\\ev{a}{" * 18)}
    return not any(ended.values()), f"return codes {ended}"


@attack
def many_folders(scene: Scene) -> Outcome:
    code = (
        "from types import SimpleNamespace\nfrom mathamr.index.engines.entry import Filter\nfrom mathamr.search.locations import within\n"
        "paths = {f'/home/ada/vault/part{n % 60}/section{n % 7}/note{n}.md': 1 for n in range(6164)}\n"
        "print(len(within(SimpleNamespace(sources=lambda: paths), [f'vault/part{n}' for n in range(50)], Filter()).sources))"
    )
    return outcome(scene.python("-c", code, seconds=8))


# Names, links, and what stands in the current folder


@attack
def loops_of_links_and_files(scene: Scene) -> Outcome:
    folder = scene.folder({"a.tex": "\\documentclass{article}\\usepackage{own}\\begin{document}\\input{" + "x" * 300 + "}Hello $x$.\\end{document}"})
    for name, target in (("loop.md", "loop.md"), ("one", "two"), ("two", "one"), ("own.sty", "own.sty")):
        (folder / name).symlink_to(target)
    return outcome(scene.run("posts", str(folder)))


@attack
def names_that_are_no_utf8(scene: Scene) -> Outcome:
    folder = scene.folder()
    Path(os.fsdecode(os.fsencode(folder) + b"/bad\xff.md")).write_text("A zebra with a bad name.")
    done = scene.search(scene.indexed(folder))
    return done.returncode == 0, f"search {outcome(done)[1]}"


@attack
def escapes_for_a_terminal(scene: Scene) -> Outcome:
    found = scene.search(scene.indexed(scene.folder({"evil\x1b]0;owned\x07.md": "A zebra."})))
    reached = "\x1b]0;owned" in found.stdout + found.stderr
    return not reached, "the escape reached the terminal" if reached else "it is spelt out"


@attack
def libraries_of_the_current_folder(scene: Scene) -> Outcome:
    folder = scene.folder()
    for name in ("typer.py", "mcp.py"):
        (folder / name).write_text(f"open({str(folder / 'pwned')!r}, 'w')\nraise SystemExit")
    scene.run(str(scene.base), module="mathamr.adapters.mcp", cwd=folder)
    scene.run("mcp", "--help", cwd=folder)
    ran = (folder / "pwned").exists()
    return not ran, "a file of the current folder ran" if ran else "nothing of the current folder ran"


# Files that change, clocks, rights


@attack
def a_note_while_a_watcher_runs(scene: Scene) -> Outcome:
    notes, lines = scene.folder({"good.md": GOOD}), list[str]()

    def changed(change: Callable[[int], object]) -> bool:
        """Repeats a change, which a watcher that listens too late would miss, until a line reports it."""
        before = len(lines)
        for number in range(600):
            if number % 10 == 0:
                change(number)
            time.sleep(0.2)
            if len(lines) > before or process.poll() is not None:
                return len(lines) > before and "entr" in lines[-1]
        return False

    command = [sys.executable, "-m", "mathamr", "index", str(notes), "--out", f"{notes}.index", "--watch"]
    log, bad = notes.with_suffix(".log"), f"+++\ntitle = {'9' * 5_000}\n+++\n{GOOD}"
    with log.open("w") as errors, subprocess.Popen(command, env=scene.environment, stdout=subprocess.PIPE, stderr=errors, text=True) as process:
        assert process.stdout is not None
        threading.Thread(target=lines.extend, args=(iter(process.stdout.readline, ""),), daemon=True).start()
        held = changed(lambda _: None) and changed(lambda n: (notes / "bad.md").write_text(f"{bad}\n{n}"))
        (notes / "bad.md").unlink(missing_ok=True)
        (notes / "good.md").unlink()
        time.sleep(5)  # it finds no posts
        held = held and changed(lambda n: (notes / "good.md").write_text(f"{GOOD}\n{n}")) and process.poll() is None
        process.terminate()  # a shell lets what it starts in the background ignore the keyboard's interrupt
        process.wait(timeout=60)
    return held, "it watches on" if held else f"the watcher ended: {log.read_text()[-90:]}"


@attack
def files_that_change_while_they_are_read(scene: Scene) -> Outcome:
    notes = scene.folder({f"{n}.md": GOOD * 200 for n in range(40)})
    out, done = notes.with_name("index"), threading.Event()

    def disturb() -> None:
        number = 0
        while not done.is_set():
            path, number = notes / f"{number % 40}.md", number + 1
            path.write_text(GOOD * (number % 300)) if number % 3 else path.unlink(missing_ok=True)

    thread = threading.Thread(target=disturb)
    thread.start()
    first = scene.index(notes, out)
    done.set()
    thread.join()
    (notes / "last.md").write_text("An okapi.")
    again, checked, found = scene.index(notes, out), scene.check(out, "--no-repair"), scene.search(out, words="okapi")
    held = outcome(first)[0] and outcome(again)[0] and not (again.returncode or checked.returncode or found.returncode)
    return held, f"index meanwhile {outcome(first)[1]}; afterwards {outcome(again)[1]}; check rc {checked.returncode}"


@attack
def a_clock_that_is_set_back(scene: Scene) -> Outcome:
    notes = scene.folder({path.name: path.read_bytes() for path in scene.notes.iterdir()})
    folder, later = scene.indexed(notes), time.time() + 400 * 86400  # everything was written in what is now the future
    for path in [*folder.rglob("*"), *notes.rglob("*")]:
        os.utime(path, (later, later))
    (notes / "n3.md").write_text("# Note 3\n\nAn okapi, written today.\n")
    again, found, checked = scene.index(notes, folder), scene.search(folder, "--json", words="okapi"), scene.check(folder, "--no-repair")
    codes = [done.returncode for done in (again, found, checked)]
    return not any(codes) and "n3.md" in found.stdout, f"update, search, check: {codes}"


@attack
def a_folder_that_may_only_be_read(scene: Scene) -> Outcome:
    folder = scene.copy()
    for path in (paths := [folder, *folder.rglob("*")]):
        path.chmod(path.stat().st_mode & ~0o222)
    try:
        found, written = scene.search(folder, humbly=True), scene.index(scene.notes, folder, humbly=True)
    finally:
        for path in paths:
            path.chmod(path.stat().st_mode | 0o200)
    held = found.returncode == 0 and written.returncode != 0 and outcome(written)[0]
    return held, f"search {outcome(found)[1]}; index {outcome(written)[1]}"


@attack
def reports_of_libraries(scene: Scene) -> Outcome:
    """Look for files that commands leave in a home, and for names that they look up, where strace is installed."""
    home, folder = scene.folder({"calls": ""}), str(scene.copy())
    trace = ("strace", "-f", "-s", "200", "-o", str(home / "calls"), "-e", "trace=connect,sendto,sendmmsg")
    prefix = [*(trace if shutil.which("strace") else ()), sys.executable, "-m", "mathamr"]
    environment = {**scene.environment, "HOME": str(home), "ORT_DISABLE_TELEMETRY": "0"}
    environment.pop("XDG_CACHE_HOME", None)
    subprocess.run([*prefix, "search", folder, "zebra"], env=environment, check=True, capture_output=True)
    with subprocess.Popen([*prefix, "serve", folder, "--port", "0"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True) as server:
        assert server.stdout is not None
        server.stdout.readline()
        time.sleep(40)  # ONNX Runtime sends what it queued after a while
        os.killpg(server.pid, signal.SIGTERM)
    left = sorted(path.name for path in home.rglob("*") if path.is_file() and path.name != "calls")
    calls = (home / "calls").read_text(errors="replace").splitlines()
    away = [line for line in calls if "AF_INET" in line and '"127.0.0.1"' not in line and '"::1"' not in line]
    how = f"{len(away)} look-ups and connections" if len(prefix) > 3 else "look-ups not traced, no strace"
    return not left and not away, f"{how}; left in the home: {', '.join(left) or 'nothing'}"

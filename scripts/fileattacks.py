# ruff: noqa: D103
"""The attacks by documents, databases and archives, and what libraries send by themselves; see scripts/attacks.py."""

from __future__ import annotations

import gzip
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

from attacked import Outcome, Scene, attack, outcome

GOOD = "# A good note\n\nIts zebra has $s^2$ stripes.\n"
COUNT = "import sys\nfrom mathamr.posts.reader import read_posts\nfrom mathamr.posts.report import Report\n" \
    "print(sorted(post.id for post in read_posts(sys.argv[1], Report())))"  # fmt: skip


def _folder(scene: Scene) -> Path:
    return Path(tempfile.mkdtemp(dir=scene.room))


@attack
def reports_of_libraries(scene: Scene) -> Outcome:
    """Return the files that commands leave in a home, and the names that they look up, where strace is installed."""
    home = _folder(scene)
    (home / "calls").touch()
    trace = ("strace", "-f", "-s", "200", "-o", str(home / "calls"), "-e", "trace=connect,sendto,sendmmsg")
    environment = {**scene.environment, "HOME": str(home), "ORT_DISABLE_TELEMETRY": "0"}
    environment.pop("XDG_CACHE_HOME", None)
    folder = scene.copy()
    prefix = trace if shutil.which("strace") else ()
    search = (sys.executable, "-m", "mathamr", "search", str(folder), "zebra")
    subprocess.run([*prefix, *search], env=environment, check=True, capture_output=True)
    with subprocess.Popen(
        [*prefix, sys.executable, "-m", "mathamr", "serve", str(folder), "--port", "0"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as server:
        assert server.stdout is not None
        server.stdout.readline()
        time.sleep(40)  # ONNX Runtime sends what it queued after a while
        os.killpg(server.pid, signal.SIGTERM)
    left = sorted(path.name for path in home.rglob("*") if path.is_file() and path.name != "calls")
    calls = (home / "calls").read_text(errors="replace").splitlines()
    away = [line for line in calls if "AF_INET" in line and '"127.0.0.1"' not in line and '"::1"' not in line]
    how = f"{len(away)} look-ups and connections" if prefix else "look-ups not traced, no strace"
    return not left and not away, f"{how}; left in the home: {', '.join(left) or 'nothing'}"


@attack
def a_computed_column(scene: Scene) -> Outcome:
    folder = scene.copy()
    with sqlite3.connect(folder / "catalogue.db") as database:
        database.execute("PRAGMA writable_schema=ON")
        database.execute(
            "UPDATE sqlite_master SET sql = replace(sql, 'post BLOB NOT NULL', 'post BLOB AS"
            " (zeroblob(999000000)) VIRTUAL') WHERE name = 'posts'"
        )
    database.close()
    done = scene.search(folder, megabytes=3000)
    refused = done.returncode == 1 and "'posts' is not as mathamr creates it" in done.stderr
    return refused, outcome(done)[1]


@attack
def headers_of_archives(scene: Scene) -> Outcome:
    folder = _folder(scene)
    entry = tarfile.TarInfo("a.tex")
    entry.type, entry.size = tarfile.XHDTYPE, 80_000
    content = entry.tobuf(tarfile.USTAR_FORMAT) + b"1" * 80_384
    document = tarfile.TarInfo("a.tex")
    document.size = len(GOOD)
    content += document.tobuf(tarfile.USTAR_FORMAT) + GOOD.encode().ljust(512, b"\0") + b"\0" * 1024
    (folder / "index.tar").write_bytes(content)
    restored = scene.run("restore", str(folder / "index.tar"), str(folder / "again"), seconds=20)
    packed = gzip.compress(content)
    (folder / "paper.tar.gz").write_bytes(packed)
    read = scene.python("-c", COUNT, str(folder / "paper.tar.gz"), seconds=20)
    held = restored.returncode == 1 and read.returncode == 0
    return held, f"restore {outcome(restored)[1]}; {len(packed)} bytes read: {outcome(read)[1]}"


@attack
def front_matter_that_ends_a_run(scene: Scene) -> Outcome:
    said, held = [], True
    for name, value in (("digits", "9" * 5_000), ("hexadecimal", "0x" + "f" * 5_000)):
        folder = _folder(scene)
        (folder / "bad.md").write_text(f"+++\ntitle = {value}\n+++\n{GOOD}")
        (folder / "good.md").write_text(GOOD)
        done = scene.run("index", str(folder), "--out", str(folder) + ".index", seconds=100, megabytes=0)
        held &= done.returncode == 0 and "2 entries" in done.stdout
        said.append(f"{name}: {outcome(done)[1][-60:]}")
    return held, "; ".join(said)


@attack
def dots_in_front_matter(scene: Scene) -> Outcome:
    folder = _folder(scene)
    (folder / "bad.md").write_text("+++\n" + ".".join("a" * 30_000) + f" = 1\n+++\n{GOOD}")
    done = scene.python("-c", COUNT, str(folder), seconds=20, megabytes=1024)
    return done.returncode == 0 and "bad.md" in done.stdout, outcome(done)[1]


@attack
def a_note_while_a_watcher_runs(scene: Scene) -> Outcome:
    notes = _folder(scene)
    (notes / "good.md").write_text(GOOD)
    command = ("index", str(notes), "--out", f"{notes}.index", "--watch")
    lines: list[str] = []

    def changed(change: Callable[[int], object]) -> bool:
        """Repeats a change, which a watcher that listens too late would miss, until a line reports it."""
        before = len(lines)
        for number in range(60):
            change(number)
            for _ in range(20):
                if len(lines) > before or process.poll() is not None:
                    return len(lines) > before and "entr" in lines[-1]
                time.sleep(0.1)
        return False

    log = notes.with_suffix(".log")
    with (
        log.open("w") as errors,
        subprocess.Popen(
            [sys.executable, "-m", "mathamr", *command],
            env=scene.environment,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process,
    ):
        assert process.stdout is not None
        threading.Thread(target=lines.extend, args=(iter(process.stdout.readline, ""),), daemon=True).start()
        started = changed(lambda _: None)
        bad = f"+++\ntitle = {'9' * 5_000}\n+++\n{GOOD}"
        second = started and changed(lambda n: (notes / "bad.md").write_text(bad + f"\n{n}"))
        (notes / "bad.md").unlink(missing_ok=True)
        (notes / "good.md").unlink()
        time.sleep(5)  # it finds no posts
        third = second and changed(lambda n: (notes / "good.md").write_text(f"{GOOD}\n{n}"))
        held = third and process.poll() is None
        process.terminate()  # a shell lets what it starts in the background ignore the keyboard's interrupt
        process.wait(timeout=60)
    last = (log.read_text().strip().splitlines() or [""])[-1]
    return held, "it watches on" if held else f"the watcher ended: {last[:90]}"


@attack
def a_grid_table(scene: Scene) -> Outcome:
    folder = _folder(scene)
    rule, row = "+-" * 1000 + "+\n", "| " * 1000 + "|\n"
    (folder / "bad.rst").write_text(rule + row * 200 + rule)
    (folder / "good.rst").write_text("Good\n====\n\nA zebra.\n")
    done = scene.python("-c", COUNT, str(folder), seconds=12)
    return done.returncode == 0 and "good.rst" in done.stdout, outcome(done)[1]


@attack
def a_dense_book(scene: Scene) -> Outcome:
    path, pages = _folder(scene) / "book.epub", range(60)
    items = "".join(f'<item id="{n}" href="{n}.xhtml" media-type="application/xhtml+xml"/>' for n in pages)
    spine = "".join(f'<itemref idref="{n}"/>' for n in pages)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("mimetype", "application/epub+zip")
        book.writestr("META-INF/container.xml", '<a><rootfile full-path="list.opf"/></a>')
        book.writestr("list.opf", f"<package>{items}{spine}</package>")
        for number in pages:
            book.writestr(f"{number}.xhtml", "<p>a $x_1$ b</p>" * 60_000)
    done = scene.python("-c", COUNT, str(path), seconds=25)
    size = path.stat().st_size
    return done.returncode == 0, f"{size >> 10} kB that unpack to 55 MB: {outcome(done)[1][:60]}"


@attack
def a_killed_backup(scene: Scene) -> Outcome:
    room = _folder(scene)
    code = (
        "import os, sys\nfrom pathlib import Path\nfrom mathamr.index.admin import backup\n"
        "backup._pack = lambda *arguments: os.kill(os.getpid(), 9)\nbackup.backup(Path(sys.argv[1]), Path(sys.argv[2]))"
    )
    scene.python("-c", code, str(scene.base), str(room / "monday.tar"), megabytes=0)
    done = scene.run("backup", str(scene.base), str(room / "tuesday.tar"), megabytes=0)
    left = sorted(path.name for path in room.iterdir() if path.name != "tuesday.tar")
    return done.returncode == 0 and not left, f"left after the next backup: {', '.join(left) or 'nothing'}"

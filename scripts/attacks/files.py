# ruff: noqa: D103
"""Attacks by documents, archives, formulas, the current folder and the machine; and what libraries send by themselves."""

from __future__ import annotations

import gzip
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import threading
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

from corpus import SLOW_TEXTS
from scene import Outcome, Scene, attack, outcome

GOOD = "# A good note\n\nIts zebra has $s^2$ stripes.\n"
READ = "import sys\nfrom mathamr.posts.reader import read_posts\nfrom mathamr.posts.report import Report\nposts = list(read_posts(sys.argv[1], Report()))\n"  # fmt: skip
COUNT = READ + "print(sorted(post.id for post in posts))"


@attack
def bombs_in_formulas(scene: Scene) -> Outcome:
    code = "import sys; from mathamr.formulas.parse import parse\ntry: parse(sys.argv[1])\nexcept Exception as e: print(type(e).__name__)"
    bombs = ("\\pdv[" * 20, "\\ketbra{" * 20, "\\ev{a}{" * 18)
    ended = {bomb[:6]: scene.python("-c", code, bomb, seconds=3, megabytes=600).returncode for bomb in bombs}
    return not any(ended.values()), f"return codes {ended}"


@attack
def dots_in_a_post(scene: Scene) -> Outcome:
    code = "from mathamr.posts.sentences import sentences; print(len(list(sentences('.' * 40000 + 'a'))))"
    return outcome(scene.python("-c", code, seconds=15))


@attack
def superlinear_readers(scene: Scene) -> Outcome:
    ended = {name: scene.python("-c", COUNT, str(scene.folder({name: text}) / name), seconds=20) for name, text in SLOW_TEXTS.items()}  # fmt: skip
    slow = [f"{name} {outcome(done)[1]}" for name, done in ended.items() if done.returncode]
    return not slow, "; ".join(slow) or "all within 20 s"


@attack
def a_dense_archive(scene: Scene) -> Outcome:
    row = b'<row Id="%d" PostTypeId="1" Title="t" Body="' + b"a" * 2000 + b'" />\n'
    content = gzip.compress(
        b"<posts>\n" + b"".join(row % number for number in range(125_000)) + b"</posts>", 9
    )
    path = scene.folder({"Posts.xml": content}) / "Posts.xml"
    done = scene.python(
        "-c", READ + "print(sum(len(post.body) for post in posts) >> 20)", str(path), seconds=120
    )
    return 0 <= int(done.stdout or -1) < 150, f"of {len(content) >> 10} kB {done.stdout.strip()} MB were read"


@attack
def many_folders(scene: Scene) -> Outcome:
    code = (
        "from types import SimpleNamespace\nfrom mathamr.index.engines.entry import Filter\nfrom mathamr.search.locations import within\n"
        "paths = {f'/home/ada/vault/part{n % 60}/section{n % 7}/note{n}.md': 1 for n in range(6164)}\n"
        "folders = [f'vault/part{n}' for n in range(50)]\n"
        "print(len(within(SimpleNamespace(sources=lambda: paths), folders, Filter()).sources))"
    )
    return outcome(scene.python("-c", code, seconds=8))


@attack
def loops_of_links_and_files(scene: Scene) -> Outcome:
    folder = scene.folder({"a.tex": "\\documentclass{article}\\usepackage{own}\\begin{document}\\input{" + "x" * 300 + "}Hello $x$.\\end{document}"})  # fmt: skip
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


@attack
def headers_of_archives(scene: Scene) -> Outcome:
    entry, document = tarfile.TarInfo("a.tex"), tarfile.TarInfo("a.tex")
    entry.type, entry.size, document.size = tarfile.XHDTYPE, 80_000, len(GOOD)
    content = entry.tobuf(tarfile.USTAR_FORMAT) + b"1" * 80_384 + document.tobuf(tarfile.USTAR_FORMAT) + GOOD.encode().ljust(512, b"\0") + b"\0" * 1024  # fmt: skip
    folder = scene.folder({"index.tar": content, "paper.tar.gz": gzip.compress(content)})
    restored = scene.run("restore", str(folder / "index.tar"), str(folder / "again"), seconds=20)
    read = scene.python("-c", COUNT, str(folder / "paper.tar.gz"), seconds=20)
    return (
        restored.returncode == 1 and read.returncode == 0,
        f"restore {outcome(restored)[1]}; read {outcome(read)[1]}",
    )


@attack
def front_matter_that_ends_a_run(scene: Scene) -> Outcome:
    said = {}
    for value in ("9" * 5_000, "0x" + "f" * 5_000):
        folder = scene.folder({"bad.md": f"+++\ntitle = {value}\n+++\n{GOOD}", "good.md": GOOD})
        said[value[:2]] = scene.index(folder, folder.with_name("index"))
    held = all(done.returncode == 0 and "2 entries" in done.stdout for done in said.values())
    return held, "; ".join(f"{name}: {outcome(done)[1][-60:]}" for name, done in said.items())


@attack
def dots_in_front_matter(scene: Scene) -> Outcome:
    folder = scene.folder({"bad.md": "+++\n" + ".".join("a" * 30_000) + f" = 1\n+++\n{GOOD}"})
    done = scene.python("-c", COUNT, str(folder), seconds=20, megabytes=1024)
    return done.returncode == 0 and "bad.md" in done.stdout, outcome(done)[1]


@attack
def a_note_while_a_watcher_runs(scene: Scene) -> Outcome:
    notes, lines = scene.folder({"good.md": GOOD}), list[str]()
    bad = f"+++\ntitle = {'9' * 5_000}\n+++\n{GOOD}"

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
    log = notes.with_suffix(".log")
    with log.open("w") as errors, subprocess.Popen(command, env=scene.environment, stdout=subprocess.PIPE, stderr=errors, text=True) as process:  # fmt: skip
        assert process.stdout is not None
        threading.Thread(target=lines.extend, args=(iter(process.stdout.readline, ""),), daemon=True).start()
        held = changed(lambda _: None) and changed(lambda n: (notes / "bad.md").write_text(f"{bad}\n{n}"))
        (notes / "bad.md").unlink(missing_ok=True)
        (notes / "good.md").unlink()
        time.sleep(5)  # it finds no posts
        held = (
            held
            and changed(lambda n: (notes / "good.md").write_text(f"{GOOD}\n{n}"))
            and process.poll() is None
        )
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
            if number % 3:
                path.write_text(GOOD * (number % 300))
            else:
                path.unlink(missing_ok=True)

    thread = threading.Thread(target=disturb)
    thread.start()
    first = scene.index(notes, out)
    done.set()
    thread.join()
    (notes / "last.md").write_text("An okapi.")
    again, checked, found = (
        scene.index(notes, out),
        scene.check(out, "--no-repair"),
        scene.search(out, words="okapi"),
    )
    held = all(outcome(each)[0] for each in (first, again)) and not (
        again.returncode or checked.returncode or found.returncode
    )
    return (
        held,
        f"index meanwhile {outcome(first)[1]}; afterwards {outcome(again)[1]}; check rc {checked.returncode}",
    )


@attack
def a_grid_table(scene: Scene) -> Outcome:
    rule, row = "+-" * 1000 + "+\n", "| " * 1000 + "|\n"
    folder = scene.folder({"bad.rst": rule + row * 200 + rule, "good.rst": "Good\n====\n\nA zebra.\n"})
    done = scene.python("-c", COUNT, str(folder), seconds=12)
    return done.returncode == 0 and "good.rst" in done.stdout, outcome(done)[1]


@attack
def a_dense_book(scene: Scene) -> Outcome:
    path, pages = scene.folder() / "book.epub", range(60)
    items = "".join(f'<item id="{n}" href="{n}.xhtml" media-type="application/xhtml+xml"/>' for n in pages)
    spine = "".join(f'<itemref idref="{n}"/>' for n in pages)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("mimetype", "application/epub+zip")
        book.writestr("META-INF/container.xml", '<a><rootfile full-path="list.opf"/></a>')
        book.writestr("list.opf", f"<package>{items}{spine}</package>")
        for number in pages:
            book.writestr(f"{number}.xhtml", "<p>a $x_1$ b</p>" * 60_000)
    done = scene.python("-c", COUNT, str(path), seconds=25)
    return (
        done.returncode == 0,
        f"{path.stat().st_size >> 10} kB that unpack to 55 MB: {outcome(done)[1][:60]}",
    )


@attack
def reports_of_libraries(scene: Scene) -> Outcome:
    """Look for files that commands leave in a home, and for names that they look up, where strace is installed."""
    home, folder = scene.folder({"calls": ""}), str(scene.copy())
    trace = ("strace", "-f", "-s", "200", "-o", str(home / "calls"), "-e", "trace=connect,sendto,sendmmsg")
    prefix = [*(trace if shutil.which("strace") else ()), sys.executable, "-m", "mathamr"]
    environment = {**scene.environment, "HOME": str(home), "ORT_DISABLE_TELEMETRY": "0"}
    environment.pop("XDG_CACHE_HOME", None)
    subprocess.run([*prefix, "search", folder, "zebra"], env=environment, check=True, capture_output=True)
    with subprocess.Popen([*prefix, "serve", folder, "--port", "0"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True) as server:  # fmt: skip
        assert server.stdout is not None
        server.stdout.readline()
        time.sleep(40)  # ONNX Runtime sends what it queued after a while
        os.killpg(server.pid, signal.SIGTERM)
    left = sorted(path.name for path in home.rglob("*") if path.is_file() and path.name != "calls")
    calls = (home / "calls").read_text(errors="replace").splitlines()
    away = [line for line in calls if "AF_INET" in line and '"127.0.0.1"' not in line and '"::1"' not in line]
    how = f"{len(away)} look-ups and connections" if len(prefix) > 3 else "look-ups not traced, no strace"
    return not left and not away, f"{how}; left in the home: {', '.join(left) or 'nothing'}"


@attack
def a_clock_that_is_set_back(scene: Scene) -> Outcome:
    notes = scene.folder({path.name: path.read_bytes() for path in scene.notes.iterdir()})
    folder = scene.indexed(notes)
    later = time.time() + 400 * 86400  # everything was written in what is now the future
    for path in [*folder.rglob("*"), *notes.rglob("*")]:
        os.utime(path, (later, later))
    (notes / "n3.md").write_text("# Note 3\n\nAn okapi, written today.\n")
    again, found, checked = scene.index(notes, folder), scene.search(folder, "--json", words="okapi"), scene.check(folder, "--no-repair")  # fmt: skip
    codes = [done.returncode for done in (again, found, checked)]
    return not any(codes) and "n3.md" in found.stdout, f"update, search, check: {codes}"


@attack
def a_folder_that_may_only_be_read(scene: Scene) -> Outcome:
    folder = scene.copy()
    paths = [folder, *folder.rglob("*")]
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        found, written = scene.search(folder, humbly=True), scene.index(scene.notes, folder, humbly=True)
    finally:
        for path in paths:
            path.chmod(0o755 if path.is_dir() else 0o644)
    held = found.returncode == 0 and written.returncode != 0 and outcome(written)[0]
    return held, f"search {outcome(found)[1]}; index {outcome(written)[1]}"

# ruff: noqa: D103
"""Attacks by an index: somebody else's, a damaged one, one that is written or made again under a reader."""

from __future__ import annotations

import io
import json
import os
import shutil
import sqlite3
import tarfile
import threading
import zlib
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

from attacked import Outcome, Scene, attack, outcome, patched

# Somebody's index


@attack
def code_in_a_manifest(scene: Scene) -> Outcome:
    folder, pwned = scene.copy(), scene.room / "pwned"

    def name_it(row: dict[str, Any]) -> None:
        row["parser"] = {
            "fingerprint": "x",
            **(row["parser"] or {}),
            "name": "os:system",
            "model": f"touch {pwned}",
        }

    patched(folder / "manifest.json", name_it)
    scene.run("search", str(folder), "zebra", "--strategy", "maxsim")
    checked = scene.check(folder, "--no-repair")
    ran = pwned.exists()
    return not ran, f"{'the command ran' if ran else 'nothing ran'}; check: {outcome(checked)[1]}"


@attack
def key_for_a_foreign_server(scene: Scene) -> Outcome:
    seen: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            seen.extend(value for name, value in self.headers.items() if "secret" in value and name)
            self.send_response(404)
            self.end_headers()

        do_GET = do_POST = do_PUT = _answer  # noqa: N815

        def log_message(self, format: str, *args: Any) -> None:
            """Says nothing."""

    listener = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    folder = scene.copy()
    shutil.rmtree(folder / "vectors")
    (folder / "vectors").mkdir()
    url = f"http://127.0.0.1:{listener.server_port}"
    head = {
        "engine": "qdrant",
        "format": 1,
        "size": 256,
        "options": {"url": url, "collection": "x"},
        "fields": [],
    }
    for number in range(1, 5):
        (folder / "vectors" / "engine.json").write_text(json.dumps(head | {"format": number}))
        patched(
            folder / "manifest.json",
            lambda row: row.update(engine={"name": "qdrant", "options": head["options"]}),
        )
        scene.run("search", str(folder), "zebra", "--strategy", "maxsim", MATHAMR_QDRANT_API_KEY="secret-key",
                  MATHAMR_QDRANT_URL="http://127.0.0.1:9")  # fmt: skip
    listener.shutdown()
    return not seen, f"the key was sent {len(seen)} times"


@attack
def links_in_an_index(scene: Scene) -> Outcome:
    folder, victim = scene.copy(), scene.room / "victim"
    victim.write_text("mine")
    for name in ("lock", "manifest.json.new"):
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(victim)
    (scene.notes / "extra.md").write_text("One more.")
    scene.run("index", str(scene.notes), "--out", str(folder), megabytes=0, seconds=200)
    (scene.notes / "extra.md").unlink()
    kept = victim.read_text() == "mine"
    return (
        kept,
        "the file outside is as it was" if kept else f"the file outside is now {victim.read_text()[:40]!r}",
    )


@attack
def triggers_in_a_database(scene: Scene) -> Outcome:
    folder = scene.copy()
    with sqlite3.connect(folder / "catalogue.db") as database:
        database.execute("CREATE TRIGGER evil AFTER INSERT ON posts BEGIN DELETE FROM meta; END")
    done = scene.search(folder)
    return done.returncode != 0 and "Traceback" not in done.stderr, outcome(done)[1]


@attack
def inputs_that_a_manifest_names(scene: Scene) -> Outcome:
    folder, pipe = scene.copy(), scene.room / "pipe"
    os.mkfifo(pipe)
    patched(folder / "manifest.json", lambda row: [each.update(path=str(pipe)) for each in row["inputs"]])
    (folder / "catalogue.db").write_bytes(b"broken")
    packed = _packed(scene.room / "named.tar", {name: (folder / name).read_bytes() for name in _FILES})
    restored = scene.run("restore", str(packed), str(scene.room / "named"), megabytes=0)
    checked = scene.check(folder)
    held = all(done.returncode and outcome(done)[0] for done in (checked, restored))
    return held, f"check {outcome(checked)[1]}; restore {outcome(restored)[1]}"


_FILES = ("manifest.json", "catalogue.db")


def _packed(path: Path, files: dict[str, bytes]) -> Path:
    """Return a backup with the right hashes that somebody else made."""
    listing = {"format": 1, "files": {name: sha256(content).hexdigest() for name, content in files.items()}}
    with tarfile.open(path, "w") as archive:
        for name, content in {"backup.json": json.dumps(listing).encode(), **files}.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return path


@attack
def segments_that_lead_outside(scene: Scene) -> Outcome:
    folder, pipe = scene.copy(), scene.room / "segment"
    os.mkfifo(pipe)
    listed = folder / "lexical/posts/segments.json"
    row = json.loads(listed.read_text())
    for each in row["segments"]:
        each["file"] = f"../../../{pipe.name}"
    listed.write_text(json.dumps(row))
    done = scene.search(folder)
    return done.returncode != 0 and outcome(done)[0], f"search {outcome(done)[1]}"


@attack
def a_sparse_backup(scene: Scene) -> Outcome:
    files = {"manifest.json": (scene.base / "manifest.json").read_bytes(), "catalogue.db": b"x" * 512}
    packed = _packed(scene.room / "sparse.tar", files)
    with tarfile.open(packed) as archive:
        start = archive.getmember("catalogue.db").offset
    content = bytearray(packed.read_bytes())
    head = content[start : start + 512]
    head[156:157] = b"S"  # an old sparse entry of GNU tar: 512 bytes that become 1 GB
    head[386:410], head[482:495] = b"%011o\0%011o\0" % (0, 512), b"\0%011o\0" % (1 << 30)
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % sum(head)
    content[start : start + 512] = head
    packed.write_bytes(content)
    done = scene.run("restore", str(packed), str(scene.room / "sparse"), megabytes=0)
    left = [path.name for path in scene.room.glob("*sparse*") if path != packed]
    return done.returncode != 0 and outcome(done)[
        0
    ] and not left, f"restore {outcome(done)[1]}; left behind: {left}"


@attack
def rows_that_unpack_to_100_megabytes(scene: Scene) -> Outcome:
    folder = scene.copy()
    dense = zlib.compress(b'{"id": "a", "kind": "note", "body": "' + b"a" * (100 << 20) + b'"}', 1)
    with sqlite3.connect(folder / "catalogue.db") as database:
        database.execute("UPDATE posts SET post = ?", (dense,))
    done = scene.search(folder, megabytes=3000)  # which shows previews
    shown = scene.run("explain", str(folder), "zebra", "n1.md", megabytes=3000)
    held = outcome(done)[0] and shown.returncode != 0 and outcome(shown)[0]
    return held, f"search {outcome(done)[1]}; explain {outcome(shown)[1]}"


_PREVIEWS = """
import random, sqlite3, struct, sys, zlib
from mathamr import Index

folder, rng, short = sys.argv[1], random.Random(7), 0
with sqlite3.connect(f"{folder}/catalogue.db") as database:
    stored = database.execute("SELECT post, passage FROM passages").fetchall()
for _ in range(60):
    with sqlite3.connect(f"{folder}/catalogue.db") as database:
        for post, passage in stored:
            start = 4 + int.from_bytes(passage[:4], "little")
            content = bytearray(zlib.decompress(passage[start:]))
            sizes = struct.unpack_from("5i", content)
            for _ in range(rng.choice((1, 1, 2))):
                place = rng.randrange(5 + sum(sizes[:3]) if rng.random() < 0.9 else 5 + sum(sizes))
                number = rng.choice((-(2**31), -1, 0, 1, 2, 3, 50, 2**31 - 1))
                struct.pack_into("i", content, 4 * place, number)
            database.execute("UPDATE passages SET passage = ? WHERE post = ?", (passage[:start] + zlib.compress(content), post))
    with Index.open(folder) as index:
        for task, text in (("answers", "zebra group"), ("answers", "zebra of order $n^2$"), ("formulas", "$n^3$")):
            short += len(index.search(text, task)) < 8 if task in index.tasks else 0
print("all hits are there" if not short else f"{short} searches lack hits")
sys.exit(short > 0)
"""


@attack
def numbers_in_previews(scene: Scene) -> Outcome:
    done = scene.python("-c", _PREVIEWS, str(scene.copy()), seconds=300)
    return done.returncode == 0, (done.stdout.strip() or done.stderr.strip()).splitlines()[-1][:200]


@attack
def a_virtual_table_in_other_words(scene: Scene) -> Outcome:
    folder = scene.copy()
    with sqlite3.connect(folder / "catalogue.db") as database:
        database.execute("CREATE  VIRTUAL\tTABLE evil USING fts5(a)")
    done = scene.search(folder)
    return done.returncode != 0 and outcome(done)[0], outcome(done)[1]


# The check


@attack
def a_byte_in_graphs(scene: Scene) -> Outcome:
    folder = scene.copy()
    data = bytearray((folder / "graphs/graphs.db").read_bytes())
    data[100] ^= 0x40  # what kind of page the first one is
    (folder / "graphs/graphs.db").write_bytes(data)
    checked, repaired = scene.check(folder, "--no-repair"), scene.check(folder)
    after = scene.check(folder, "--no-repair")
    held = all(outcome(each)[0] for each in (checked, repaired, after)) and after.returncode == 0
    return held, f"check {outcome(checked)[1]}; repair {outcome(repaired)[1]}; then rc {after.returncode}"


@attack
def a_byte_in_the_parsers_fingerprint(scene: Scene) -> Outcome:
    folder = scene.copy()
    patched(
        folder / "manifest.json",
        lambda row: row["parser"].update(fingerprint="x" + row["parser"]["fingerprint"][1:]),
    )

    def graphs() -> int:
        with sqlite3.connect(folder / "graphs/graphs.db") as database:
            return int(database.execute("SELECT count(*) FROM posts").fetchone()[0])

    before = graphs()
    done = scene.check(folder)
    return graphs() == before, f"graphs {before} before, {graphs()} after; {outcome(done)[1]}"


@attack
def a_byte_in_the_models_fingerprint(scene: Scene) -> Outcome:
    folder = scene.copy()
    patched(
        folder / "manifest.json",
        lambda row: row["model"].update(fingerprint="x" + row["model"]["fingerprint"][1:]),
    )
    done = scene.check(folder, "--no-repair")
    return done.returncode != 0 and outcome(done)[0], f"check says {outcome(done)[1]}"


@attack
def a_damaged_page_of_the_catalogue(scene: Scene) -> Outcome:
    with scene.serving() as server:
        for number in range(12):
            server.request(
                "PUT", f"/v1/posts/put{number}", {"body": f"Put {number}. " + os.urandom(3000).hex()}
            )
        folder = server.folder
        server.process.terminate()
        server.process.wait()
    with sqlite3.connect(folder / "catalogue.db") as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        root = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'posts'").fetchone()[0]
        size = database.execute("PRAGMA page_size").fetchone()[0]
        page = database.execute("SELECT max(pageno) FROM dbstat WHERE name = 'posts' AND pagetype = 'leaf'").fetchone()[0] \
            if _has_dbstat(database) else root + 3  # fmt: skip
    data = bytearray((folder / "catalogue.db").read_bytes())
    data[(page - 1) * size : (page - 1) * size + 200] = bytes(200)
    (folder / "catalogue.db").write_bytes(data)
    done = scene.check(folder)
    left = scene.search(folder, "--json")
    with sqlite3.connect(folder / "catalogue.db") as database:
        kept = database.execute("SELECT count(*) FROM posts WHERE id LIKE 'put%'").fetchone()[0]
    return (
        kept >= 6,
        f"{kept} of 12 posts that were put are left; {outcome(done)[1]}; search rc {left.returncode}",
    )


def _has_dbstat(database: sqlite3.Connection) -> bool:
    try:
        database.execute("SELECT pageno FROM dbstat LIMIT 1")
    except sqlite3.Error:
        return False
    return True


@attack
def a_byte_in_vectors(scene: Scene) -> Outcome:
    folder = scene.copy()
    path = max((folder / "vectors").rglob("*"), key=lambda each: each.stat().st_size if each.is_file() else 0)
    data = bytearray(path.read_bytes())
    data[len(data) * 2 // 3] ^= 0x40
    path.write_bytes(data)
    done = scene.run("search", str(folder), "zebra group", "--strategy", "maxsim")
    return done.returncode != 0 and outcome(done)[0], f"search {outcome(done)[1]}"


@attack
def backup_and_restore(scene: Scene) -> Outcome:
    packed, again = scene.room / "a.backup", scene.room / "again"
    made = scene.run("backup", str(scene.base), str(packed), megabytes=0)
    back = scene.run("restore", str(packed), str(again), megabytes=0)
    return made.returncode == back.returncode == 0, f"{outcome(made)[1]}; {outcome(back)[1]}"


# One view, resources


@attack
def an_index_that_is_made_again_under_a_reader(scene: Scene) -> Outcome:
    folder, notes = scene.copy(), scene.room / "others"
    notes.mkdir()
    for number in range(6):
        (notes / f"o{number}.md").write_text(f"# Other {number}\n\nA zebra of another group, $y_{number}$.\n")
    code = (
        "import sys, subprocess\nfrom mathamr.search.searcher import Index\nreader = Index.open(sys.argv[1])\n"
        "list(reader.search('zebra', strategy='lexical', k=50))\n"
        "subprocess.run([sys.executable, '-m', 'mathamr', 'index', sys.argv[2], '--out', sys.argv[1]], check=True,"
        " capture_output=True)\n"
        "found = list(reader.search('zebra', strategy='lexical', k=50))\n"
        "assert [hit.rank for hit in found] == list(range(1, len(found) + 1)), 'places have holes'\n"
        "assert any('o3' in hit.id for hit in found), 'new posts are not found'\n"
    )
    return outcome(scene.python("-c", code, str(folder), str(notes), megabytes=0, seconds=200))


@attack
def a_full_disk(scene: Scene) -> Outcome:
    folder = scene.copy()
    for path in folder.rglob("*.db-*"):
        path.unlink()
    code = (
        "import resource, sys\nfrom mathamr.search.searcher import Index\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
        "index = Index.open(sys.argv[1])\nassert list(index.search('zebra', strategy='lexical'))\n"
    )
    return outcome(scene.python("-c", code, str(folder), megabytes=0))

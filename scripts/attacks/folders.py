# ruff: noqa: D103
"""Attacks by folders of others: an index of somebody else or a damaged one, a backup, a model, a cache that is shared, kills."""
# fmt: off

from __future__ import annotations

import io
import json
import os
import shutil
import sqlite3
import subprocess
import tarfile
import tempfile
import threading
import zlib
from collections.abc import Callable
from contextlib import closing
from functools import partial
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

from scene import ATTACKS, Outcome, Scene, attack, outcome, patched, refused

OTHER = 54321
"""The user and the group of somebody else; only root can act as them."""
LOAD = "import sys\nfrom mathamr.systems.models import load_system\nlist(load_system(sys.argv[1], 'cpu').encode([]))"
SEEN = "import os, sys\nfrom mathamr.core.storage.seen import SeenFiles\nsys.exit(os.stat(sys.argv[1]) in SeenFiles(smallest=1))"


# Somebody's index, or a damaged one


def _sql(folder: Path, *statements: str) -> None:
    with closing(sqlite3.connect(folder / "catalogue.db")) as database, database:
        for each in statements:
            database.execute(each)


def _flip(path: Path, place: int = -1) -> None:
    data = bytearray(path.read_bytes())
    data[place if place >= 0 else len(data) * 2 // 3] ^= 0x40
    path.write_bytes(data)


def _flip_vectors(folder: Path) -> None:
    _flip(max((path for path in (folder / "vectors").rglob("*") if path.is_file()), key=lambda path: path.stat().st_size))


def _other_fingerprint(part: str, folder: Path) -> None:
    patched(folder / "manifest.json", lambda row: row[part].update(fingerprint="x" + row[part]["fingerprint"][1:]))


def _outside(folder: Path) -> None:
    os.mkfifo(pipe := folder.parent / "segment")
    patched(folder / "lexical/posts/segments.json", lambda row: [each.update(file=f"../../../{pipe.name}") for each in row["segments"]])


def _refuses(scene: Scene, change: Callable[[Path], object], says: str = "", *, is_checked: bool = False, **given: Any) -> Outcome:
    """Return whether a search in an index that was changed so, or its check, is refused with an error that says this."""
    folder = scene.copy()
    change(folder)
    return refused(scene.check(folder, "--no-repair") if is_checked else scene.search(folder, **given), says)


COMPUTED = "UPDATE sqlite_master SET sql = replace(sql, 'post BLOB NOT NULL', 'post BLOB AS (zeroblob(999000000)) VIRTUAL') WHERE name = 'posts'"
ATTACKS |= {
    "triggers_in_a_database": partial(_refuses, change=lambda folder: _sql(folder, "CREATE TRIGGER evil AFTER INSERT ON posts BEGIN DELETE FROM meta; END")),
    "a_virtual_table_in_other_words": partial(_refuses, change=lambda folder: _sql(folder, "CREATE  VIRTUAL\tTABLE evil USING fts5(a)")),
    "a_computed_column": partial(_refuses, change=lambda folder: _sql(folder, "PRAGMA writable_schema=ON", COMPUTED), says="'posts' is not as mathamr creates it", megabytes=3000),
    "segments_that_lead_outside": partial(_refuses, change=_outside),
    "a_byte_in_vectors": partial(_refuses, change=_flip_vectors, strategy="maxsim"),
    "a_byte_in_the_models_fingerprint": partial(_refuses, change=partial(_other_fingerprint, "model"), is_checked=True),
}


@attack
def code_in_a_manifest(scene: Scene) -> Outcome:
    folder, pwned = scene.copy(), scene.room / "pwned"
    named = {"name": "os:system", "model": f"touch {pwned}"}
    patched(folder / "manifest.json", lambda row: row.update(parser={"fingerprint": "x", **(row["parser"] or {}), **named}))
    scene.search(folder, strategy="maxsim")
    checked, ran = scene.check(folder, "--no-repair"), pwned.exists()
    return not ran, f"{'the command ran' if ran else 'nothing ran'}; check: {outcome(checked)[1]}"


@attack
def key_for_a_foreign_server(scene: Scene) -> Outcome:
    seen: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            seen.extend(value for value in self.headers.values() if "secret" in value)
            self.send_response(404)
            self.end_headers()

        do_GET = do_POST = do_PUT = _answer  # noqa: N815
        log_message = lambda *_: None  # noqa: E731

    listener, folder = HTTPServer(("127.0.0.1", 0), Handler), scene.copy()
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    shutil.rmtree(folder / "vectors")
    (folder / "vectors").mkdir()
    options = {"url": f"http://127.0.0.1:{listener.server_port}", "collection": "x"}
    patched(folder / "manifest.json", lambda row: row.update(engine={"name": "qdrant", "options": options}))
    for number in range(1, 5):
        head = {"engine": "qdrant", "format": number, "size": 256, "options": options, "fields": []}
        (folder / "vectors" / "engine.json").write_text(json.dumps(head))
        scene.search(folder, strategy="maxsim", MATHAMR_QDRANT_API_KEY="secret-key", MATHAMR_QDRANT_URL="http://127.0.0.1:9")
    listener.shutdown()
    return not seen, f"the key was sent {len(seen)} times"


@attack
def links_in_an_index(scene: Scene) -> Outcome:
    folder, victim = scene.copy(), scene.room / "victim"
    victim.write_text("mine")
    for name in ("lock", "manifest.json.new"):
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(victim)
    scene.index(scene.folder({"extra.md": "One more."}), folder)
    kept = victim.read_text() == "mine"
    return kept, f"the file outside is {'as it was' if kept else 'overwritten'}"


@attack
def rows_that_unpack_to_100_megabytes(scene: Scene) -> Outcome:
    folder, dense = scene.copy(), zlib.compress(b'{"id": "a", "kind": "note", "body": "' + b"a" * (100 << 20) + b'"}', 1)
    with closing(sqlite3.connect(folder / "catalogue.db")) as database, database:
        database.execute("UPDATE posts SET post = ?", (dense,))
    done = scene.search(folder, megabytes=3000)  # which shows previews
    shown = scene.run("explain", str(folder), "zebra", "n1.md", megabytes=3000)
    return outcome(done)[0] and refused(shown)[0], f"search {outcome(done)[1]}; explain {outcome(shown)[1]}"


PREVIEWS = """
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
                struct.pack_into("i", content, 4 * place, rng.choice((-(2**31), -1, 0, 1, 2, 3, 50, 2**31 - 1)))
            database.execute("UPDATE passages SET passage = ? WHERE post = ?", (passage[:start] + zlib.compress(content), post))
    with Index.open(folder) as index:
        for task, text in (("answers", "zebra group"), ("answers", "zebra of order $n^2$"), ("formulas", "$n^3$")):
            short += len(index.search(text, task)) < 8 if task in index.tasks else 0
print("all hits are there" if not short else f"{short} searches lack hits")
sys.exit(short > 0)
"""


@attack
def numbers_in_previews(scene: Scene) -> Outcome:
    done = scene.python("-c", PREVIEWS, str(scene.copy()), seconds=300)
    return done.returncode == 0, outcome(done)[1]


@attack
def a_byte_in_graphs(scene: Scene) -> Outcome:
    folder = scene.copy()
    _flip(folder / "graphs/graphs.db", 100)  # what kind of page the first one is
    done = [scene.check(folder, "--no-repair"), scene.check(folder), scene.check(folder, "--no-repair")]
    held = all(outcome(each)[0] for each in done) and done[-1].returncode == 0
    return held, f"check, repair, check: {'; '.join(outcome(each)[1] for each in done)}"


@attack
def a_byte_in_the_parsers_fingerprint(scene: Scene) -> Outcome:
    folder = scene.copy()
    _other_fingerprint("parser", folder)

    def graphs() -> int:
        with closing(sqlite3.connect(folder / "graphs/graphs.db")) as database:
            return int(database.execute("SELECT count(*) FROM posts").fetchone()[0])

    before, done = graphs(), scene.check(folder)
    return graphs() == before, f"graphs {before} before, {graphs()} after; {outcome(done)[1]}"


@attack
def a_damaged_page_of_the_catalogue(scene: Scene) -> Outcome:
    with scene.serving() as server:
        for number in range(12):
            server.put(f"put{number}", body=f"Put {number}. " + os.urandom(3000).hex())
        folder = server.folder
        server.process.terminate()
        server.process.wait()
    catalogue = folder / "catalogue.db"
    with closing(sqlite3.connect(catalogue)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = database.execute("PRAGMA page_size").fetchone()[0]
        try:
            page = database.execute("SELECT max(pageno) FROM dbstat WHERE name = 'posts' AND pagetype = 'leaf'").fetchone()[0]
        except sqlite3.Error:  # a library without this table
            page = 3 + database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'posts'").fetchone()[0]
    data = bytearray(catalogue.read_bytes())
    data[(page - 1) * size : (page - 1) * size + 200] = bytes(200)
    catalogue.write_bytes(data)
    done, found = scene.check(folder), scene.search(folder, "--json")
    with closing(sqlite3.connect(catalogue)) as database:
        kept = database.execute("SELECT count(*) FROM posts WHERE id LIKE 'put%'").fetchone()[0]
    return kept >= 6, f"{kept} of 12 posts that were put are left; {outcome(done)[1]}; search rc {found.returncode}"


# Backups


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
def inputs_that_a_manifest_names(scene: Scene) -> Outcome:
    folder, pipe = scene.copy(), scene.room / "pipe"
    os.mkfifo(pipe)
    patched(folder / "manifest.json", lambda row: [each.update(path=str(pipe)) for each in row["inputs"]])
    (folder / "catalogue.db").write_bytes(b"broken")
    files = {name: (folder / name).read_bytes() for name in ("manifest.json", "catalogue.db")}
    restored = scene.run("restore", str(_packed(scene.room / "named.tar", files)), str(scene.room / "named"), megabytes=0)
    checked = scene.check(folder)
    return refused(checked)[0] and refused(restored)[0], f"check {outcome(checked)[1]}; restore {outcome(restored)[1]}"


@attack
def a_sparse_backup(scene: Scene) -> Outcome:
    packed = _packed(scene.room / "sparse.tar", {"manifest.json": (scene.base / "manifest.json").read_bytes(), "catalogue.db": b"x" * 512})
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
    held, what = refused(scene.run("restore", str(packed), str(scene.room / "sparse"), megabytes=0))
    left = [path.name for path in scene.room.glob("*sparse*") if path != packed]
    return held and not left, f"restore {what}; left behind: {left}"


@attack
def backup_and_restore(scene: Scene) -> Outcome:
    packed, again = str(scene.room / "a.backup"), str(scene.room / "again")
    done = [scene.run("backup", str(scene.base), packed, megabytes=0), scene.run("restore", packed, again, megabytes=0)]
    return not any(each.returncode for each in done), "; ".join(outcome(each)[1] for each in done)


# Kills, full disks, and an index that changes under a reader


@attack
def a_killed_backup(scene: Scene) -> Outcome:
    room = scene.folder()
    code = "import os, sys\nfrom pathlib import Path\nfrom mathamr.index.admin import backup\nbackup._pack = lambda *arguments: os.kill(os.getpid(), 9)\nbackup.backup(Path(sys.argv[1]), Path(sys.argv[2]))"
    scene.python("-c", code, str(scene.base), str(room / "monday.tar"), megabytes=0)
    done = scene.run("backup", str(scene.base), str(room / "tuesday.tar"), megabytes=0)
    left = sorted(path.name for path in room.iterdir() if path.name != "tuesday.tar")
    return done.returncode == 0 and not left, f"left after the next backup: {', '.join(left) or 'nothing'}"


@attack
def a_full_disk(scene: Scene) -> Outcome:
    folder = scene.copy()
    for path in folder.rglob("*.db-*"):
        path.unlink()
    code = "import resource, sys\nfrom mathamr.search.searcher import Index\nresource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\nindex = Index.open(sys.argv[1])\nassert list(index.search('zebra', strategy='lexical'))\n"
    return outcome(scene.python("-c", code, str(folder), megabytes=0))


@attack
def an_index_that_is_made_again_under_a_reader(scene: Scene) -> Outcome:
    notes = scene.folder({f"o{n}.md": f"# Other {n}\n\nA zebra of another group, $y_{n}$.\n" for n in range(6)})
    code = (
        "import sys, subprocess\nfrom mathamr.search.searcher import Index\nreader = Index.open(sys.argv[1])\n"
        "list(reader.search('zebra', strategy='lexical', k=50))\n"
        "subprocess.run([sys.executable, '-m', 'mathamr', 'index', sys.argv[2], '--out', sys.argv[1]], check=True, capture_output=True)\n"
        "found = list(reader.search('zebra', strategy='lexical', k=50))\n"
        "assert [hit.rank for hit in found] == list(range(1, len(found) + 1)), 'places have holes'\n"
        "assert any('o3' in hit.id for hit in found), 'new posts are not found'\n"
    )
    return outcome(scene.python("-c", code, str(scene.copy()), str(notes), megabytes=0, seconds=200))


@attack
def kills_at_every_write(scene: Scene) -> Outcome:
    """Kill builds, updates, single changes, backups, restorations and moves; fill disks."""
    model = scene.checkout / "src/mathamr/systems/box/mathamr-3"
    done = scene.run(str(model), str(scene.folder()), "flat", "3", "5", module="tests.index.engines.killing", seconds=3000, patience=6000, megabytes=0, cwd=scene.checkout)
    return done.returncode == 0, (done.stdout.strip() or done.stderr.strip())[-200:]


@attack
def kills_over_postgres(scene: Scene) -> Outcome:
    tests = ("tests/index/engines/postgres", "tests/index/engines/test_contract_hostile.py", "-k", "postgres or Postgres")
    done = scene.run("-q", "-n0", *tests, module="pytest", seconds=3000, patience=6000, megabytes=0, cwd=scene.checkout)
    return done.returncode in (0, 5), outcome(done)[1]


# Somebody's model


def _model(scene: Scene) -> Path:
    """Return a copy of a model of the checkout."""
    return Path(shutil.copytree(scene.checkout / "src/mathamr/systems/box/mathamr-3", Path(tempfile.mkdtemp(dir=scene.room)) / "model"))


def _seal(path: Path) -> None:
    """Write the right hash of a file into the configuration beside it."""
    digest = sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    patched(path.with_name("config.json"), lambda row: row["sha256"].update({path.name: digest.hexdigest()}))


def _special(path: Path, kind: str) -> None:
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        with path.open("wb") as file:
            file.truncate(1 << 31)
        if path.name != "config.json":
            _seal(path)


def _loads(scene: Scene, names: tuple[str, ...], kinds: tuple[str, ...], **limits: int) -> Outcome:
    """Return whether a model each of whose files is something else is refused at once."""
    said, held = [], True
    for name, kind in ((name, kind) for name in names for kind in kinds):
        model = _model(scene)
        _special(model / "text" / name, kind)
        try:
            done = scene.python("-c", LOAD, str(model), **limits)
            one, what = done.returncode == 1 and "MathAMRError" in done.stderr, outcome(done)[1][:60]
        except subprocess.TimeoutExpired:
            one, what = False, "waited for ever"
        held &= one
        said.append(f"{name} as a {kind} {what}")
    return held, "; ".join(said)


ATTACKS |= {
    "pipes_and_devices_in_a_model": partial(_loads, names=("config.json", "weights.safetensors", "wordpieces.txt"), kinds=("pipe", "device"), seconds=20, patience=60),
    "sparse_files_in_a_model": partial(_loads, names=("config.json", "wordpieces.txt"), kinds=("sparse file",), megabytes=2000),
}


@attack
def graphs_of_operations_in_a_model(scene: Scene) -> Outcome:
    folder = _model(scene)
    os.mkfifo(folder / "text" / "model.onnx.data")
    (folder / "model.onnx").write_bytes(b"\x08\x08:\xff\xff\xff\xff\x07")  # a graph of 2 GB that is cut off
    os.mkfifo(folder / "text" / "model.onnx")
    done = scene.index(scene.notes, folder.with_name("index"), "--model", str(folder))
    return done.returncode == 0, f"index with such a model {outcome(done)[1]}: no file of operations was read"


@attack
def a_model_that_names_a_path(scene: Scene) -> Outcome:
    own, folder = _model(scene), _model(scene)
    shutil.rmtree(folder / "text")
    patched(folder / "config.json", lambda row: row.update(text=str(own)))
    done = scene.python("-c", LOAD, str(folder))
    said = "unknown model" in done.stderr or "config.json says text is" in done.stderr
    return done.returncode == 1 and said, outcome(done)[1]


@attack
def a_header_of_tensors_without_end(scene: Scene) -> Outcome:
    path, header = _model(scene) / "text" / "weights.safetensors", b'{"a":[' + b"[]," * 30_000_000 + b"[]]}"
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    _seal(path)
    done = scene.python("-c", LOAD, str(path.parent.parent), megabytes=2000)
    return done.returncode == 1 and "safetensors" in done.stderr, f"90 MB of lists: {outcome(done)[1]}"


# A cache that is shared


def _shared_cache(scene: Scene, mode: int, command: str) -> Path:
    """Return a cache in which another user, who is in its group alone, has run a command."""
    if os.getuid() != 0:
        raise PermissionError("only root can act as a second user")
    cache = Path(tempfile.mkdtemp(dir=scene.room)) / "cache"
    cache.mkdir()
    os.chown(cache, 0, OTHER)
    cache.chmod(mode)
    subprocess.run(["sh", "-ec", command], cwd=cache, user=OTHER, group=OTHER, extra_groups=[], check=True)
    return cache


@attack
def a_cache_of_a_group(scene: Scene) -> Outcome:
    """Let a member of the group vouch for a large file that nobody verified."""
    large = scene.room / "unverified"
    large.write_bytes(b"y" * 20)
    found, said = large.stat(), {}
    line = f"{found.st_dev} {found.st_ino} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"
    for mode in (0o770, 0o777, 0o1777):
        cache = _shared_cache(scene, mode, f"echo '{line}' > seen-files.txt; chmod 644 seen-files.txt")
        for after in (mode, 0o755):
            cache.chmod(after)
            said[f"{mode:o}, then {after:o}"] = scene.python("-c", SEEN, str(large), MATHAMR_CACHE=str(cache)).returncode
    return not any(said.values()), "; ".join(f"{how}: {'' if code else 'not '}believed" for how, code in said.items())


@attack
def links_in_a_shared_cache(scene: Scene) -> Outcome:
    """Let a member of the group plant links where `demo` and the caches write."""
    victim = scene.room / "my-file"
    victim.write_text("mine")
    cache = _shared_cache(scene, 0o770, f"mkdir demo; for f in demo/posts.jsonl demo/why.png seen-files.txt; do ln -s {victim} $f; done")
    demo = scene.run("demo", "--limit", "2", "-j", "1", MATHAMR_CACHE=str(cache), seconds=200, megabytes=0)
    parsed = scene.run("amr", "A zebra runs.", MATHAMR_CACHE=str(cache), megabytes=0)
    kept = victim.read_bytes() == b"mine"
    return kept and refused(demo)[0] and parsed.returncode == 0, f"the file of the links is {'as it was' if kept else 'changed'}; demo {outcome(demo)[1]}"


# By machine, in few cases


def _by_machine(scene: Scene, door: str, count: int) -> Outcome:
    done = scene.python(str(Path(__file__).parent), door, "--checkout", str(scene.checkout), "--count", str(count), "--seed", "1", seconds=3600, megabytes=0, patience=7200)
    return done.returncode == 0, (done.stdout.strip() or done.stderr.strip()).splitlines()[-1][:200]


ATTACKS |= {
    "flipped_bits": partial(_by_machine, door="flips", count=24),
    "fuzzed_documents": partial(_by_machine, door="documents", count=120),
    "models_by_machine": partial(_by_machine, door="models", count=60),
}

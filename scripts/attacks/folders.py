# ruff: noqa: D103
"""Attacks by folders of others: an index of somebody else or a damaged one, a backup, a model, a cache that is shared, kills."""
# fmt: off

from __future__ import annotations

import os
import sqlite3
import subprocess
import tempfile
import zlib
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from scene import ATTACKS, Outcome, Scene, attack, outcome, patched, refused

OTHER = 54321
"""The user and the group of somebody else; only root can act as them."""


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


def _pipe_as_input(folder: Path) -> None:
    os.mkfifo(pipe := folder.parent / "pipe")
    patched(folder / "manifest.json", lambda row: [each.update(path=str(pipe)) for each in row["inputs"]])
    (folder / "catalogue.db").write_bytes(b"broken")


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
    "inputs_that_a_check_may_read": partial(_refuses, change=_pipe_as_input, is_checked=True),
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


# Kills, full disks, and an index that changes under a reader


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
def links_in_a_shared_cache(scene: Scene) -> Outcome:
    """Let a member of the group plant links where `demo` and the caches write."""
    victim = scene.room / "my-file"
    victim.write_text("mine")
    cache = _shared_cache(scene, 0o770, f"mkdir demo; for f in demo/posts.jsonl demo/why.png seen-files.txt; do ln -s {victim} $f; done")
    demo = scene.run("demo", "--limit", "2", "-j", "1", MATHAMR_CACHE=str(cache), seconds=200, megabytes=0)
    parsed = scene.run("amr", "A zebra runs.", MATHAMR_CACHE=str(cache), megabytes=0)
    kept = victim.read_bytes() == b"mine"
    return kept and refused(demo)[0] and parsed.returncode == 0, f"the file of the links is {'as it was' if kept else 'changed'}; demo {outcome(demo)[1]}"


# What tests of the checkout do in the same way


HELD_BY = {
    "a_byte_in_graphs": ("index/admin/test_check.py", "flipped_bytes_of_the_graphs"),
    "a_cache_of_a_group": ("core/storage/test_cachefolder.py", "others_may_write or user_of_the_group"),
    "a_header_of_tensors_without_end": ("core/test_tensorfile.py", "anything_else_is_refused or shape_that_no_tensor_has"),
    "a_killed_backup": ("index/admin/test_backup.py", "killed_backup"),
    "a_model_that_names_a_path": ("systems/test_models.py", "names_no_path"),
    "a_sparse_backup": ("index/admin/test_backup.py", "sparse_entry or refused_backup"),
    "backup_and_restore": ("index/admin/test_backup.py", "restored_index_is_what_was_backed_up"),
    "graphs_of_operations_in_a_model": ("systems/test_models.py", "graphs_of_operations"),
    "headers_of_archives": ("core/test_boundedtar.py", "header"),
    "inputs_that_a_manifest_names": ("index/admin/test_backup.py", "files_that_its_manifest_names"),
    "key_for_a_foreign_server": ("index/engines/qdrant/test_server.py", "whom_to_speak_with or key"),
    "kills_over_postgres": ("index/engines", "postgres or Postgres"),
    "links_in_an_index": ("index/test_plainfiles.py", ""),
    "pipes_and_devices_in_a_model": ("systems/test_models.py", "keeps_a_reader_waiting"),
    "reads_on_the_event_loop": ("serve/test_service.py", "event_loop or among_them"),
    "sparse_files_in_a_model": ("systems/test_models.py", "keeps_a_reader_waiting"),
}
"""Attacks that are tests: a file or folder of tests, and what chooses them there by name."""


def _tests(scene: Scene, file: str, chosen: str) -> Outcome:
    done = scene.run("-q", "-n0", f"tests/{file}", "-k", chosen, module="pytest", seconds=3000, patience=6000, megabytes=0, cwd=scene.checkout)
    return done.returncode == 0, outcome(done)[1]


ATTACKS |= {name: partial(_tests, file=file, chosen=chosen) for name, (file, chosen) in HELD_BY.items()}


# By machine, in few cases


def _by_machine(scene: Scene, door: str, count: int) -> Outcome:
    done = scene.python(str(Path(__file__).parent), door, "--checkout", str(scene.checkout), "--count", str(count), "--seed", "1", seconds=3600, megabytes=0, patience=7200)
    return done.returncode == 0, (done.stdout.strip() or done.stderr.strip()).splitlines()[-1][:200]


ATTACKS |= {
    "flipped_bits": partial(_by_machine, door="flips", count=24),
    "fuzzed_documents": partial(_by_machine, door="documents", count=120),
    "models_by_machine": partial(_by_machine, door="models", count=60),
}

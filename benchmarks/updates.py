"""A first build, an update without changes and one with ten changed files, against an older revision in the same run.

Processor seconds of one process with the encoder left out, whose work is the same: `MATHAMR_BENCH_FILES` (200) files of Mathlib, as many
Markdown notes from posts of arqmath-mini, and as many posts of it in one dump. `MATHAMR_BENCH_REVISION` names the older revision;
`MATHAMR_BENCH_ONLY` one of lean, notes, dump.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import tempfile
from itertools import islice
from pathlib import Path

from benchmarks._revision import ROOT, old_sources
from mathamr.core.errors import MathAMRError
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr_lab.data import data_folder

FILES = int(os.environ.get("MATHAMR_BENCH_FILES", "200"))
ONLY = os.environ.get("MATHAMR_BENCH_ONLY", "")
STEPS = ("first build", "no changes", "ten changed")
JOB = """
import json, sys, time
from pathlib import Path
import numpy as np
try:
    from mathamr.index.indexing.builder import BuildOptions, build_index
except ImportError:
    from mathamr.index.build.builder import BuildOptions, build_index
from mathamr.text.onnxencoder import OnnxTextEncoder
from mathamr.text.textvectors import TextVectors

def encode(self, wordings):
    for wording in wordings:
        count = len(wording.spans)
        yield TextVectors(np.arange(count), np.full((count, self.size), self.size ** -0.5, np.float32))

OnnxTextEncoder.encode = encode
source, out = Path(sys.argv[1]), Path(sys.argv[2])
files = sorted(each for each in source.rglob("*") if each.is_file()) if source.is_dir() else []
options = BuildOptions(model="mathamr-3", engine="flat", device="cpu")
for step in range(3):
    if step == 2:
        for number, file in enumerate(files[:: max(1, len(files) // 10)][:10]):
            with file.open("a") as stream:
                stream.write(f"\\n/-- Changed {number}. -/\\ntheorem changed (n : Nat) : n + {number} = n := sorry\\n")
    started, clock = time.process_time(), time.perf_counter()
    summary = build_index([source], out, options)
    print(json.dumps([time.process_time() - started, time.perf_counter() - clock, summary.manifest.counts["posts"]]))
"""


def run() -> None:
    with tempfile.TemporaryDirectory(prefix="mathamr-bench-") as name, old_sources() as old:
        for kind, make in (("lean", _lean), ("notes", _notes), ("dump", _dump)):
            if ONLY in ("", kind):
                found = {}
                for revision, sources in (("before", old), ("now", ROOT / "src")):
                    folder = Path(name, f"{kind}-{revision}")
                    folder.mkdir()
                    found[revision] = _measured(sources, make(folder), folder / "index")
                _show(kind, found["before"], found["now"])


def _show(kind: str, before: list[list[float]], now: list[list[float]]) -> None:
    print(f"  {kind}: {now[0][2]:,.0f} entries; load {os.getloadavg()[0]:.0f}", flush=True)
    for step, (then, _, _), (seconds, _, _) in zip(STEPS, before, now, strict=True):
        print(
            f"    {step}: {then:.2f} s of a processor, now {seconds:.2f} ({seconds / then:.2f} of it)",
            flush=True,
        )
    print(
        f"    entries a second: {before[0][2] / before[0][0]:.0f}, now {now[0][2] / now[0][0]:.0f}",
        flush=True,
    )


def _measured(sources: Path, source: Path, out: Path) -> list[list[float]]:
    environment = os.environ | {"PYTHONPATH": str(sources), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", JOB, str(source), str(out)],
        text=True, capture_output=True, env=environment, check=False,
    )  # fmt: skip
    if done.returncode:
        raise MathAMRError(f"the job failed with the sources in {sources}:\n{done.stderr[-2000:]}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def _lean(folder: Path) -> Path:
    """Return some files of Mathlib, evenly spread."""
    with tarfile.open(data_folder() / "mathlib" / "Mathlib.tar.xz") as archive:
        members = [each for each in archive.getmembers() if each.name.endswith(".lean")]
        chosen = members[:: max(1, len(members) // FILES)][:FILES]
        archive.extractall(folder / "files", members=chosen, filter="data")
    return folder / "files"


def _notes(folder: Path) -> Path:
    (folder / "notes").mkdir()
    for number, post in enumerate(
        islice(read_posts(data_folder() / "arqmath-mini" / "Posts.xml", Report()), FILES)
    ):
        text = "\n\n".join(f"${formula.latex}$ is one of them." for formula in post.formulas[:12])
        (folder / "notes" / f"{number:05d}.md").write_text(
            f"# {post.id}\n\n{post.title}\n\n{text}\n", encoding="utf-8"
        )
    return folder / "notes"


def _dump(folder: Path) -> Path:
    posts = islice(read_posts(data_folder() / "arqmath-mini" / "Posts.xml", Report()), FILES)
    (folder / "posts.jsonl").write_text("".join(f"{post.to_json()}\n" for post in posts), encoding="utf-8")
    return folder / "posts.jsonl"


if __name__ == "__main__":
    run()

"""Attacks by machine: many small damages or documents from a seed, each with a measured outcome.

    python scripts/campaigns.py flips   [--count 300] [--seed 0]   # a flipped bit in every kind of file of an index
    python scripts/campaigns.py readers [--count 2000] [--seed 0]  # documents of every format from small grammars
    python scripts/campaigns.py models  [--count 600] [--seed 0]   # model folders of a stranger (modelcampaign.py)

A flip is *found* (an error that names the damage, or `--check` reports it), *harmless* (the answers are right) or *wrong*.
A document is *read* or *refused*, and costs processor time and memory; more than `SECONDS` or `MEGABYTES` is a finding.
Kills at every write have a campaign of their own: `python -m benchmarks kills`. Each case runs in a forked process with
limits, so that a finding does no damage; the exit status is 1 if there are findings. Runs on the `mathamr` of PYTHONPATH.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from mathamr.core.errors import MathAMRError
from mathamr.index.admin.check import check_index
from mathamr.index.indexing.builder import BuildOptions, build_index
from mathamr.posts.passage import passage
from mathamr.posts.reader import read_posts
from mathamr.posts.rendering.posthtml import body_html
from mathamr.posts.report import Report
from mathamr.search.searcher import Index
from modelcampaign import models

SECONDS = 2.0
"""Processor time that a document of some 20 kB may take."""
MEGABYTES = 300
"""Memory by which the process may grow for it."""
LONGEST = 20_000
GRAPH_MODEL = "mathamr-2"
"""A model whose index has every kind of file, graphs included."""
QUERIES = (("zebra group", "lexical"), ("groups of order $n^3$", "maxsim"))


def in_child(work: Callable[[], str], seconds: int, megabytes: int | None = None) -> tuple[str, float, float]:
    """Return the outcome of work in a forked process, its processor time, and the megabytes by which it grew."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        before = _resident()
        if megabytes is not None:
            room = (_mapped() + megabytes) << 20
            resource.setrlimit(resource.RLIMIT_AS, (room, room))
        started = time.process_time()
        try:
            said = work()
        except MemoryError:
            said = f"finding: more than {megabytes} MB"
        except MathAMRError as error:
            said = f"refused: {str(error)[:200]}"
        except BaseException:
            said = "finding: " + traceback.format_exc()[-600:]
        row = json.dumps([said, time.process_time() - started, _resident(peak=True) - before])
        os.write(writing, row.encode("utf-8", "replace")[:60_000])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        content = pipe.read()
    _, status = os.waitpid(child, 0)
    if not content:
        return f"finding: ended by signal {os.WTERMSIG(status)}", float(seconds), 0.0
    said, took, grew = json.loads(content)
    return said, took, grew


def _mapped() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    return pages * os.sysconf("SC_PAGE_SIZE") >> 20


def _resident(*, peak: bool = False) -> float:
    wanted = "VmHWM" if peak else "VmRSS"
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(wanted):
            return int(line.split()[1]) / 1024
    return 0.0


def flips(count: int, seed: int, room: Path) -> int:
    """Flips bits of every kind of file in turn."""
    chance = random.Random(seed)
    notes = room / "notes"
    notes.mkdir()
    for number in range(12):
        (notes / f"n{number}.md").write_text(
            f"# Note {number}\n\nThe group of order $n^{number}$ is a zebra. See $\\frac{{a_{number}}}{{2}}$.\n",
            encoding="utf-8",
        )
    base = room / "base"
    build_index([notes], base, BuildOptions(workers=1, model=GRAPH_MODEL))
    kinds: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(each.relative_to(base) for each in base.rglob("*") if each.is_file()):
        if (base / path).stat().st_size and path.suffix not in (".db-shm", ".db-wal") and path.name != "lock":
            kinds[f"{path.parent.parts[0] if path.parent.parts else '.'}/*{path.suffix}"].append(path)
    with Index.open(base, device="cpu") as opened:
        right = _answers(opened)
    outcomes: dict[str, Counter[str]] = defaultdict(Counter)
    findings: list[str] = []
    names = sorted(kinds)
    for number in range(count):
        kind = names[number % len(names)]
        path = chance.choice(kinds[kind])
        folder = room / "flipped"
        shutil.copytree(base, folder)
        data = bytearray((folder / path).read_bytes())
        place, bit = chance.randrange(len(data)), chance.randrange(8)
        data[place] ^= 1 << bit
        (folder / path).write_bytes(data)
        said, _, _ = in_child(lambda folder=folder: _searched(folder, right), 60)
        checked, _, _ = in_child(lambda folder=folder: _checked(folder), 60)
        known = checked.startswith(("refused", "problems"))
        outcome = said.partition(":")[0] + (", the check reports it" if known else ", the check does not")
        outcomes[kind][outcome] += 1
        for each in (said, checked):
            if each.startswith("finding"):
                findings.append(f"{path} byte {place} bit {bit}: {each}")
        shutil.rmtree(folder)
    for kind in names:
        print(f"{kind}: {dict(outcomes[kind])}")
    return _report(count, findings, f"{count} flips in {len(names)} kinds of files")


def _answers(index: Index) -> list[Any]:
    return [[(hit.id, round(hit.score, 4)) for hit in index.search(q, strategy=s)] for q, s in QUERIES] + [
        [hit.formula.id for hit in index.search("$n^3$", task="formulas") if hit.formula]
    ]


def _searched(folder: Path, right: list[Any]) -> str:
    with Index.open(folder, device="cpu") as opened:
        found = json.loads(json.dumps(_answers(opened)))
    return "harmless" if found == json.loads(json.dumps(right)) else f"finding: wrong answers {found}"[:400]


def _checked(folder: Path) -> str:
    report = check_index(folder, repair=False)
    return f"problems: {report.problems[:2]}" if report.problems else "whole"


GRAMMARS: dict[str, tuple[str, ...]] = {
    "md": ("# a\n", "## $x$\n", "- ", "> ", "```\n", "~~~\n", "---\n", "a: b\n", "|a|b|\n|-|-|\n", "[a](", ")", "![", "[[", "]]", "$", "$$\n", "\\(", "\\)",
           "<div>", "</div>", "<!--", "-->", "&#x41;", "*a", "**", "_", "\\begin{align}", "\\end{align}", "[^1]", "\n\n", "    x\n", "<a href='", "\t"),
    "tex": ("\\section{", "}", "{", "\\begin{theorem}", "\\end{theorem}", "\\begin{align}", "\\end{align}", "$", "$$", "\\[", "\\]", "\\newcommand{\\a}[1]{#1#1}",
            "\\a{", "\\input{b}", "%", "\\verb|", "|", "\\label{a}", "\\ref{a}", "\\\\", "&", "\n\n", "\\item ", "\\begin{tikzpicture}", "\\def\\b{\\a}", "\\b", "^{", "_{"),
    "html": ("<p>", "</p>", "<div>", "<table><tr><td>", "<math><mi>x</mi>", "</math>", "<script>", "</script>", "<!--", "-->", "&#x3c;", "&lt;", "$x$", "<a href='#a'>", "<svg>",
             "<h1>", "</h1>", "<ul><li>", "<pre>", "<", ">", "\"", "<template>", "<style>", "&#xfdd0;0&#xfdd0;", "\\(", "\\)"),
    "org": ("* a\n", "** b\n", "#+begin_src\n", "#+end_src\n", "#+begin_theorem\n", "#+end_theorem\n", "[[", "][", "]]", "$", "\\(", "\\)", "- ", "| a | b |\n", ":PROPERTIES:\n", ":END:\n", "=", "/", "*", "_", "\n\n", "<<a>>"),
    "rst": ("a\n=\n", "b\n-\n", ":math:`", "`", "``", ".. math::\n\n   x\n\n", ".. note::\n\n   ", "|a|", "*", "- ", "\n\n", "   ", ".. |a| replace:: b\n", "::\n\n", "[1]_", "+-+\n"),
    "adoc": ("= a\n", "== b\n", "stem:[", "]", "[stem]\n++++\n", "++++\n", "====\n", "----\n", "<<a>>", "[[a]]", "* ", "*a*", "`", "|===\n", "xref:a[", "asciimath:[", "(", ")", "\n\n", "sqrt"),
    "bib": ("@article{a,", "title={", "}", "{", "\"", "#", ",", "year=1999", "@string{b=\"c\"}", "@comment{", "=", "\n", "$x$", "author={A and B}", "@"),
    "lean": ("theorem a : ", "def b := ", "/-- ", "-/", "/-", "--", "(x : X)", "{", "}", "namespace A\n", "end A\n", "variable (y : Y)\n", "structure S where\n", "| a\n", "\"", "r#\"", "`x`", "$x$", "\n", "@[simp]", "where\n", ":= by\n"),
    "v": ("(** ", "*)", "(* ", "Lemma a : ", "Proof.", "Qed.", "[", "]", "%", "\"", "forall x, ", "* a\n", "\n", "Definition b := ", "$x$"),
    "txt": ("a ", "$", "$$", "\n\n", "\\(", "\\)", "{", "}", ".", "A. ", "\t", "1. ", "\\begin{align}", "\\end{align}"),
    "jsonl": ('{"id": "a", "body": "', '"}\n', '{"id":', "[", "]", "{", "}", '"', "\\u0000", "\\ud800", "1e999", "null", "\n", '"body": "$x$"', ","),
    "ipynb": ('{"cells": [', '{"cell_type": "markdown", "source": ["', '"]}', "]", "}", ",", '"nbformat": 4', "$x$", "# a", "[", "{", '"', "\\n"),
}  # fmt: skip
"""Pieces of each format; documents are sequences, repetitions and nestings of them."""
ODD = (
    "\0",
    "\ufeff",
    "\u202e",
    "\ufdd0",
    "\x1b[2J",
    "\u0301" * 20,
    "ﷺ" * 20,
    "a" * 500,
    " " * 500,
    "\r",
    "0" * 60,
)


def document(chance: random.Random, pieces: tuple[str, ...]) -> str:
    """Return a random document: each part is a piece, something odd, a long repetition, or a nesting."""
    parts: list[str] = []
    size = 0
    while size < chance.randrange(200, LONGEST):
        kind = chance.random()
        if kind < 0.5:
            part = "".join(chance.choices(pieces, k=chance.randrange(1, 20)))
        elif kind < 0.6:
            part = chance.choice(ODD)
        elif kind < 0.85:
            part = "".join(chance.choices(pieces, k=chance.randrange(1, 4))) * chance.randrange(2, 1500)
        else:
            opening, closing = chance.choices(pieces, k=2)
            depth = chance.randrange(2, 500)
            part = opening * depth + "x" + closing * depth
        parts.append(part[: LONGEST - size])
        size += len(parts[-1])
        if size >= LONGEST:
            break
    return "".join(parts)


def readers(count: int, seed: int, room: Path) -> int:
    """Read documents of every format in turn, cuts them into sentences and draws them as the page does."""
    warm = room / "warm"
    warm.mkdir()
    for suffix in GRAMMARS:
        (warm / f"a.{suffix}").write_text("A zebra, $x^2$.\n", encoding="utf-8")
    _read(warm)
    outcomes: dict[str, Counter[str]] = defaultdict(Counter)
    slowest: dict[str, tuple[float, float]] = defaultdict(lambda: (0.0, 0.0))
    findings: list[str] = []
    for number, (suffix, text) in enumerate(_documents(count, seed)):
        folder = room / f"d{number}"
        folder.mkdir()
        (folder / f"a.{suffix}").write_bytes(text.encode("utf-8", "surrogatepass"))
        said, took, grew = in_child(lambda folder=folder: _read(folder), 20, 3 * MEGABYTES)
        if not said.startswith("finding") and (took > SECONDS or grew > MEGABYTES):
            said = f"finding: {took:.1f} s, {grew:.0f} MB"
        outcomes[suffix][said.partition(":")[0]] += 1
        slowest[suffix] = max(slowest[suffix][0], took), max(slowest[suffix][1], grew)
        if said.startswith("finding"):
            findings.append(f"{suffix} document {number}: {said}")
        shutil.rmtree(folder)
    for suffix in GRAMMARS:
        took, grew = slowest[suffix]
        print(
            f"{suffix}: {dict(outcomes[suffix])}; slowest {1e3 * took:.0f} ms of processor time, {grew:.0f} MB at most"
        )
    return _report(count, findings, f"{count} documents in {len(GRAMMARS)} formats")


def _documents(count: int, seed: int) -> Iterator[tuple[str, str]]:
    formats = list(GRAMMARS)
    for number in range(count):
        suffix = formats[number % len(formats)]
        chance = random.Random(f"{seed} {number}")
        text = document(chance, GRAMMARS[suffix])
        if chance.random() < 0.5:
            text = _framed(suffix, text, chance)
        yield suffix, text


def _framed(suffix: str, text: str, chance: random.Random) -> str:
    """Return the document inside of something valid, so that it is not refused at its first sign."""
    if suffix in ("jsonl", "ipynb"):
        inner = document(chance, GRAMMARS[chance.choice(["md", "html", "tex"])])
        cell = {"cell_type": "markdown", "metadata": {}, "source": [inner]}
        row = (
            {"id": "a", "body": inner}
            if suffix == "jsonl"
            else {"nbformat": 4, "metadata": {}, "cells": [cell]}
        )
        return json.dumps(row) + "\n"
    frames = {
        "bib": "@article{a, title={A zebra}}\n",
        "lean": "/-- A zebra. -/\ntheorem a : x = x := by\n",
        "v": "(** A zebra. *)\nLemma a : x = x.\n",
    }
    return frames.get(suffix, "A zebra.\n\n") + text


def _read(folder: Path) -> str:
    posts = list(read_posts(folder, Report()))
    for post in posts:
        passage(post)
        body_html(post, 200_000)
    return "read" if posts else "empty"


def _report(count: int, findings: list[str], what: str) -> int:
    for finding in findings[:20]:
        print(finding)
    print(f"{what}: {len(findings)} findings")
    return 1 if findings or not count else 0


def main() -> int:
    """Run one campaign."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("campaign", choices=["flips", "readers", "models"])
    parser.add_argument("--count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mathamr-campaign-") as room:
        if options.campaign == "flips":
            return flips(options.count or 300, options.seed, Path(room))
        if options.campaign == "models":
            count = options.count or 600
            return _report(count, models(count, options.seed, Path(room), in_child), f"{count} models")
        return readers(options.count or 2000, options.seed, Path(room))


if __name__ == "__main__":
    sys.exit(main())

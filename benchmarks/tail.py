"""The slowest requests of a server at 1, 5, 20 and 100 connections: alone, beside a client that writes, beside one that attacks.

Compares the working tree with the revision that `MATHAMR_BENCH_REVISION` names, alternately, on copies of the index that
`MATHAMR_INDEX` names (`MATHAMR_OLD_INDEX`, if the older revision reads another format); by default each makes its own of the sample, since formats differ. Each cell lasts `MATHAMR_BENCH_SECONDS` (20)
seconds, so on a machine that others use too only the ratios within a pair count; `MATHAMR_BENCH_CONNECTIONS` names other numbers,
`MATHAMR_BENCH_MODEL` a model that both revisions have, if their default is not the same, `MATHAMR_BENCH_BESIDE` what else the server does
(without `writer` it has no key for writing, so that it is one process for each processor, as users have it).
The attacker has another address and sends queries that take as much of a processor as we know how, on six connections.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from benchmarks._revision import ROOT, old_sources
from benchmarks.serve import KEY, Client, Outcome, Server, load, queries, write
from mathamr.sample import folder as sample_folder

CONNECTIONS = tuple(map(int, os.environ.get("MATHAMR_BENCH_CONNECTIONS", "1 5 20 100").split()))
SECONDS = float(os.environ.get("MATHAMR_BENCH_SECONDS", "20"))
BESIDE = os.environ.get("MATHAMR_BENCH_BESIDE", "nobody writer attacker").split()
ATTACKER, ATTACKING = "127.0.0.2", 6
MODEL = ["--model", model] if (model := os.environ.get("MATHAMR_BENCH_MODEL")) else []

HOSTILE = ("½", "⅓", "∑", "x²", "?a+", "?a?b", "x^", "|(", "√", "\\frac12", "(a+b)", "x_1^2", "a=", "1+", "x,", "\\sqrt{x}", "∫x", "x!", "n(", "{x}^", "\\binom nk",
           "\\begin{matrix}a&b\\end{matrix}", "\\left(x\\right)", "\\text{a}")  # fmt: skip
"""Parts that are repeated in queries of an attacker, who wants them to take as long as possible."""


def run() -> None:
    with tempfile.TemporaryDirectory() as scratch, old_sources() as old:
        given = os.environ.get("MATHAMR_INDEX")
        of_old = os.environ.get("MATHAMR_OLD_INDEX", given)
        servers: dict[str, Server] = {}
        try:
            for name, sources, index in (("before", old, of_old), ("after", ROOT / "src", given)):
                environment = {**os.environ, "PYTHONPATH": str(sources)}
                if index:
                    shutil.copytree(index, Path(scratch) / name)
                else:
                    posts, out = str(sample_folder() / "Posts.xml"), str(Path(scratch) / name)
                    command = [sys.executable, "-m", "mathamr", "index", posts, "--out", out, *MODEL]
                    subprocess.run(command, env=environment, check=True, stdout=sys.stderr)
                servers[name] = Server(Path(scratch) / name, KEY if "writer" in BESIDE else "", environment)
            texts = queries()
            for server in servers.values():
                asyncio.run(load(server.port, 2, texts, connections=2))
            for beside in BESIDE:
                for connections in CONNECTIONS:
                    for name, server in servers.items():
                        _show(name, server, connections, beside, texts)
        finally:
            for server in servers.values():
                server.kill()


def _show(name: str, server: Server, connections: int, beside: str, texts: Iterator[str]) -> None:
    async def both() -> tuple[Outcome, tuple[list[str], list[float]]]:
        reads = load(server.port, SECONDS, texts, connections=connections)
        if beside == "writer":
            return await asyncio.gather(reads, write(server.port, SECONDS))
        if beside == "attacker":
            attacks = [asyncio.create_task(_attack(server.port, number)) for number in range(ATTACKING)]
            outcome = await reads
            for each in attacks:
                each.cancel()
            await asyncio.wait(attacks)
            return outcome, ([], [])
        return await reads, ([], [])

    before = server.cpu
    outcome, (written, took) = asyncio.run(both())
    answered = max(1, outcome.statuses[200])
    cost = (
        f"{1e3 * (server.cpu - before) / answered:.0f} ms of processor time a request, {server.memory:.0f} MB"
    )
    puts = f", {len(written)} writes (p50 {statistics.median(took):.1f} s)" if took else ""
    outcome.show(f"{name}, {connections} connections beside {beside}{puts}, {cost}")
    sys.stdout.flush()


async def _attack(port: int, number: int) -> None:
    """Send one hostile query after the other, whatever the answer, until it is cancelled."""
    client = Client(port, ATTACKER)
    try:
        for turn in count(number):
            part = HOSTILE[turn % len(HOSTILE)]
            text = f"${(part * 5000)[: 4980 - turn % 100]}$"
            await client.ask("POST", "/v1/search", {"q": text, "task": "formulas", "k": 100})
    finally:
        client.close()  # the server cancels what nobody waits for, so that the next cell is not disturbed

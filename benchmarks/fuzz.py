"""The cost of hostile formulas: `python -m benchmarks.fuzz --inputs 1000000 --log fuzz.jsonl`.

Both readings of every formula, and its MathML for the page: no formula of 300 characters may cost more than 100 ms of processor or 100 MB of memory, and every input gives
a tree or a `FormulaError`. Inputs come in blocks, each in a process whose memory may grow by 100 MB at most;
they depend only on the seed and the number of the block, so a run continues where its log ends, and a finding can be reproduced.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from mathamr.formulas.errors import FormulaError
from mathamr.formulas.mathml.markup import slt_from_mathml
from mathamr.formulas.notation import opt_from_string, slt_from_string, to_string
from mathamr.formulas.parse import parse
from tests.formulas.hostile import formulas, made

MILLISECONDS = 100
MEGABYTES = 100
BLOCK = 5_000
_HANGS_AFTER = 20
"""Processor seconds after which a block is killed: one input took nearly all of them."""
_THOROUGH = 20
"""One in this many inputs is checked thoroughly: its trees are written and read back, and its MathML is read back."""


def run() -> None:
    """Run a short version for `make bench`; the long one is a separate command."""
    main(["--inputs", "20000"])


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2, help="processes at a time")
    parser.add_argument("--log", type=Path, help="JSON lines of the blocks that are done, to go on from")
    parser.add_argument("--block", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--progress", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.block is not None:
        print(json.dumps(_read_block(options.seed, options.block, options.progress)))
        return 0
    blocks = [block for block in _blocks(options) if block is not None]
    return _report(blocks)


def _blocks(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield the results of all blocks, those of an earlier run first."""
    wanted = range(-(-options.inputs // BLOCK))
    done: set[int] = set()
    if options.log is not None and options.log.exists():
        for line in options.log.read_text(encoding="utf-8").splitlines():
            block = json.loads(line)
            if block["seed"] == options.seed and block["block"] in wanted and block["block"] not in done:
                done.add(block["block"])
                yield block
    missing = [number for number in wanted if number not in done]
    started = time.monotonic()
    with ThreadPoolExecutor(options.workers) as pool:
        results = pool.map(lambda number: _in_process(options.seed, number), missing)
        for count, block in enumerate(results, 1):
            if options.log is not None:
                with options.log.open("a", encoding="utf-8") as log:
                    log.write(json.dumps(block) + "\n")
            left = (time.monotonic() - started) / count * (len(missing) - count)
            print(
                f"\r{count} of {len(missing)} blocks, {left / 60:.0f} min left ",
                end="",
                file=sys.stderr,
                flush=True,
            )
            yield block
    print(file=sys.stderr)


def _in_process(seed: int, number: int) -> dict[str, Any]:
    """Run one block in a process of its own; if that dies, the input it died of is a finding."""
    with tempfile.TemporaryDirectory() as folder:
        progress = Path(folder) / "input"
        command = [sys.executable, "-m", "benchmarks.fuzz", "--seed", str(seed), "--block", str(number)]
        done = subprocess.run(
            [*command, "--progress", str(progress)], capture_output=True, text=True, check=False
        )
        if done.returncode == 0:
            result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
            return result
        latex = progress.read_text(encoding="utf-8", errors="surrogatepass") if progress.exists() else ""
    why = f"ended by {done.returncode}: {done.stderr.strip()[-300:]}"
    return {"seed": seed, "block": number, "inputs": 0, "outcomes": {}, "seconds": 0.0, "slowest": 0.0, "of": "",
            "growth": 0, "findings": [[why, latex]]}  # fmt: skip


def _read_block(seed: int, number: int, progress: Path | None) -> dict[str, Any]:
    choice = random.Random(f"{seed} {number}")
    formulas()
    parse("x")
    resource.setrlimit(resource.RLIMIT_CPU, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    _limit_memory()
    descriptor = os.open(progress, os.O_RDWR | os.O_CREAT, 0o600) if progress is not None else -1
    gc.freeze()
    outcomes: Counter[str] = Counter()
    findings: list[tuple[str, str]] = []
    slowest, of, total = 0.0, "", 0.0
    before = _memory(resident=True)
    for place in range(BLOCK):
        latex = made(choice)
        if descriptor >= 0:
            written = latex.encode(errors="surrogatepass")
            os.pwrite(descriptor, written.ljust(2_000), 0)
        started = time.process_time()
        _limit_processor(started)
        outcome = _read(latex, thorough=place % _THOROUGH == 0)
        took = time.process_time() - started
        if took * 1000 > MILLISECONDS:
            again = time.process_time()
            _read(latex, thorough=False)
            took = min(took, time.process_time() - again)
        total += took
        if took > slowest:
            slowest, of = took, latex
        if took * 1000 > MILLISECONDS:
            findings.append((f"{took * 1000:.0f} ms", latex))
        if outcome in ("tree", "repaired", "error"):
            outcomes[outcome] += 1
        else:
            findings.append((outcome, latex))
    growth = _memory(resident=True) - before
    return {"seed": seed, "block": number, "inputs": BLOCK, "outcomes": outcomes, "seconds": round(total, 2),
            "slowest": round(slowest * 1000, 1), "of": of, "growth": growth >> 20, "findings": findings}  # fmt: skip


def _limit_memory() -> None:
    """Allow the process 100 MB more: an input that needs more raises `MemoryError`."""
    resource.setrlimit(resource.RLIMIT_AS, (_memory() + (MEGABYTES << 20), resource.RLIM_INFINITY))


def _memory(*, resident: bool = False) -> int:
    """Return the bytes of this process: mapped or resident."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[int(resident)]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _limit_processor(used: float) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (int(used) + _HANGS_AFTER, resource.RLIM_INFINITY))


def _read(latex: str, *, thorough: bool) -> str:
    """Classifies an input: a tree, one with repairs, or a clear error; anything else is a finding."""
    try:
        formula = parse(latex, reading="mathematician")
        markup = formula.presentation_mathml()
        if thorough:
            if slt_from_string(to_string(formula.slt)) != formula.slt:
                return "the layout tree does not survive its notation"
            if opt_from_string(to_string(formula.opt)) != formula.opt:
                return "the operator tree does not survive its notation"
            slt_from_mathml(markup)
    except FormulaError:
        return "error"
    except MemoryError:
        return f"more than {MEGABYTES} MB"
    except Exception as error:  # whatever else is raised is what is looked for
        return f"{type(error).__name__}: {error}"
    return "repaired" if formula.repairs else "tree"


def _report(blocks: list[dict[str, Any]]) -> int:
    outcomes: Counter[str] = Counter()
    for block in blocks:
        outcomes.update(block["outcomes"])
    inputs, seconds = sum(block["inputs"] for block in blocks), sum(block["seconds"] for block in blocks)
    findings = [finding for block in blocks for finding in block["findings"]]
    slowest = max(blocks, key=lambda block: float(block["slowest"]))
    print(
        f"fuzz: {inputs:,} inputs of up to 300 characters in {seconds:.0f} s of processor: {outcomes['tree']:,} with a tree, "
        f"{outcomes['repaired']:,} repaired, {outcomes['error']:,} with a FormulaError"
    )
    print(
        f"fuzz: {len(findings)} over {MILLISECONDS} ms or {MEGABYTES} MB, or with another error; slowest {slowest['slowest']} ms: "
        f"{slowest['of'][:80]!r}; after a block the process was larger by {max(block['growth'] for block in blocks)} MB at most"
    )
    for why, latex in findings[:20]:
        print(f"fuzz: finding: {why}: {latex!r}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Cases from a seed, what each costs in a process of its own, the smallest case that still fails, and how the cost grows."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import log
from pathlib import Path
from typing import NamedTuple

from mathamr.core.errors import MathAMRError

SECONDS, MEGABYTES = 2.0, 300
"""Processor time, and memory by which the process may grow, for a case of some 20 kB."""
ENDED = 20
"""Seconds of a processor after which a case is ended."""
PATIENCE = 40
"""How many times as long by the clock."""
LONGEST = 20_000
STEEP, STEEP_TIME = 1.1, 1.3
"""The largest powers of the size with which calls, and processor time on a busy machine, may grow."""
NOTHING = 0.03
"""Seconds of processor time that say nothing about growth."""
Parts = tuple[tuple[str, int], ...]
"""Texts, each with how often it is repeated."""


class Case(NamedTuple):
    """What is tried: a name, such as that of a file, and the parts of its text."""

    name: str
    parts: Parts

    @property
    def text(self) -> str:
        """All parts, repeated."""
        return "".join(part * count for part, count in self.parts)


class Result(NamedTuple):
    """What happened with a case, the processor time that it took, and the megabytes by which the process grew."""

    said: str
    seconds: float
    megabytes: float

    @property
    def is_finding(self) -> bool:
        """True if the case did what none may do."""
        return self.said.startswith("finding")

    @property
    def kind(self) -> str:
        """What kind of finding it is, so that a smaller case is compared with it."""
        return (
            self.said.strip().splitlines()[-1].partition(":")[0]
            if "Traceback" in self.said
            else self.said[:25]
        )


@dataclass(frozen=True)
class Door:
    """A way in: how to make a case by chance, and what to do with it, in a forked process; `what` says what is tried."""

    what: str
    make: Callable[[str, random.Random], Case]
    run: Callable[[Case], str]
    seconds: float = SECONDS
    megabytes: int = MEGABYTES


def parts(
    chance: random.Random, pieces: tuple[str, ...], odd: tuple[str, ...], longest: int = LONGEST
) -> Parts:
    """Return parts by chance: each is some pieces, something odd, a long repetition, or a nesting."""
    found: list[tuple[str, int]] = []
    left = chance.randrange(1, longest)
    while left > 0 and len(found) < 400:
        kind = chance.random()
        if kind < 0.5:
            new = [(piece, 1) for piece in chance.choices(pieces, k=chance.randrange(1, 20))]
        elif kind < 0.6:
            new = [(chance.choice(odd), 1)]
        elif kind < 0.85:
            new = [("".join(chance.choices(pieces, k=chance.randrange(1, 4))), chance.randrange(2, 1500))]
        else:
            opening, closing = chance.choices(pieces, k=2)
            depth = chance.randrange(2, 500)
            new = [(opening, depth), ("x", 1), (closing, depth)]
        for text, count in new:
            count = max(1, min(count, left // len(text)))
            found.append((text, count))
            left -= len(text) * count
    return tuple(found)


def smallest(case: Case, fails: Callable[[Case], bool], tries: int = 150) -> Case:
    """Return a smaller case that still fails: without some of its parts, and with fewer repetitions of the others."""
    left, size = tries, max(1, len(case.parts) // 2)
    while left > 0:
        before = case
        for start in range(0, len(case.parts), size):
            fewer = case._replace(parts=case.parts[:start] + case.parts[start + size :])
            if left > 0 and fewer.parts and len(fewer.parts) < len(case.parts):
                left -= 1
                case = fewer if fails(fewer) else case
        for place, (text, count) in enumerate(case.parts):
            halved = case._replace(parts=(*case.parts[:place], (text, count // 2), *case.parts[place + 1 :]))
            if count > 1 and left > 0:
                left -= 1
                case = halved if fails(halved) else case
        if case == before and size == 1:
            break
        size = max(1, size // 2)
    return case


def in_child(work: Callable[[], str], seconds: float = ENDED, megabytes: int | None = None) -> Result:
    """Return what work in a forked process said, its processor time, and the megabytes by which it grew."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        for number in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)
        _limit(resource.RLIMIT_CPU, int(seconds))
        signal.alarm(int(PATIENCE * seconds))  # what waits for ever takes no processor time
        before = _status("VmRSS")
        if megabytes is not None:
            _limit(resource.RLIMIT_AS, int(_status("VmSize") + megabytes) << 20)
        started = _spent()
        try:
            said = work()
        except MemoryError:
            said = f"finding: more than {megabytes} MB"
        except MathAMRError as error:
            said = f"refused: {str(error)[:200]}"
        except BaseException:
            said = "finding: " + traceback.format_exc()[-1500:]
        row = json.dumps([said, _spent() - started, _status("VmHWM") - before])
        os.write(writing, row.encode("utf-8", "replace")[:60_000])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        content = pipe.read()
    _, status = os.waitpid(child, 0)
    if not content:
        return Result(f"finding: ended by signal {os.WTERMSIG(status)}", seconds, 0.0)
    return Result(*json.loads(content))


def _limit(what: int, most: int) -> None:
    """Limit this process; those that it starts, such as the reader of PDFs, may set limits of their own."""
    resource.setrlimit(what, (most, resource.getrlimit(what)[1]))


def _spent() -> float:
    """Return the processor time of this process and of those that it started."""
    return sum(
        each
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        for each in resource.getrusage(who)[:2]
    )


def _status(name: str) -> float:
    found = Path("/proc/self/status").read_text(encoding="ascii").partition(f"{name}:")[2]
    return int(found.split()[0]) / 1024


def tried(door: Door, case: Case) -> Result:
    """Return the result of a case; too much time or memory is a finding, where it is too much a second time."""
    for _ in range(2):
        result = in_child(lambda: door.run(case), max(ENDED, 3 * door.seconds), 3 * door.megabytes)
        is_much = result.seconds > door.seconds or result.megabytes > door.megabytes
        if result.is_finding or not is_much:
            return result
    return result._replace(said=f"finding: {result.seconds:.1f} s, {result.megabytes:.0f} MB")


class Campaign:
    """Cases of one seed at one door, until there are enough, or the processor time or the time by the clock is over."""

    def __init__(
        self, name: str, seed: int, count: int, seconds: float, minutes: float, finds: Path | None
    ) -> None:
        self.name, self.seed, self._finds = name, seed, finds
        self._count, self._seconds, self._end = count, seconds, time.monotonic() + 60 * minutes
        self.outcomes, self.kinds = Counter[str](), Counter[str]()
        self._spent = self._slowest = self._largest = 0.0

    def numbers(self) -> Iterator[int]:
        """Yield the numbers of cases."""
        for number in range(self._count):
            if self._spent > self._seconds or time.monotonic() > self._end:
                return
            yield number

    def note(self, result: Result) -> bool:
        """Count a result; return True if it is the first finding of its kind."""
        self._spent += result.seconds
        self._slowest, self._largest = (
            max(self._slowest, result.seconds),
            max(self._largest, result.megabytes),
        )
        self.outcomes[result.said.partition(":")[0]] += 1
        self.kinds[result.kind] += result.is_finding
        return result.is_finding and self.kinds[result.kind] == 1

    def say(self, text: str) -> None:
        """Print what was found, and keep it in the folder for finds."""
        print(text, flush=True)
        if self._finds is not None:
            with (self._finds / f"{self.name}-{self.seed}.txt").open("a", errors="backslashreplace") as file:
                file.write(f"{text}\n")

    def run(self, door: Door) -> int:
        """Try cases; tell findings, each with a smallest case; return their number."""
        for number in self.numbers():
            case = door.make(self.name, random.Random(f"{self.name} {self.seed} {number}"))
            result = tried(door, case)
            if self.note(result):
                few = smallest(case, lambda fewer, kind=result.kind: time.monotonic() < self._end + 60 and tried(door, fewer).kind == kind)  # fmt: skip
                self.say(f"{self.name} seed {self.seed} case {number} ({case.name}, {len(case.text)} characters): {result.said}\n  smallest: {few.name} {few.parts!r}"[:6000])  # fmt: skip
        return self.end()

    def end(self) -> int:
        """Tell the sums; return the number of findings."""
        total = sum(self.kinds.values())
        self.say(f"{self.name} seed {self.seed}: {sum(self.outcomes.values())} cases in {self._spent:.0f} s, {dict(self.outcomes)}; slowest {self._slowest:.1f} s, {self._largest:.0f} MB at most; {total} findings")  # fmt: skip
        return total

    def slopes(
        self, doors: dict[str, Door], texts: dict[str, dict[str, tuple[str, ...]]], longest: dict[str, int]
    ) -> int:
        """Try texts that repeat one or two pieces; tell those whose cost grows faster than their size; return their number."""
        every = [
            (door, name, make)
            for door in doors
            for name, pieces in texts[door].items()
            for make in generators(pieces)
        ]
        random.Random(self.seed).shuffle(every)
        for (name, file, make), _ in zip(every, self.numbers(), strict=False):
            door, size = doors[name], longest[name]

            def cost(
                size: int, door: Door = door, file: str = file, make: Callable[[int], str] = make
            ) -> str:
                with suppress(MathAMRError):
                    return door.run(Case(file, ((make(size), 1),)))
                return "refused"

            whole, part = (in_child(partial(cost, each)) for each in (size, size // 4))
            if not whole.is_finding and whole.seconds < max(10 * NOTHING, 5.5 * part.seconds):
                self.note(whole)  # only what looks steep is worth three sizes
                continue
            found = in_child(
                lambda cost=cost, size=size: json.dumps(slope(cost, (size // 8, size // 4, size))), 120
            )
            calls, times = json.loads(found.said) if found.said.startswith("[") else (9.9, 9.9)
            if is_steep := calls > STEEP or times > STEEP_TIME:
                self.say(f"slopes {name} {file} {make(60)!r}: calls {calls}, time {times}, {whole.seconds:.1f} s for {size} characters {found.said[:300]}")  # fmt: skip
            self.note(whole._replace(said="finding: steep" if is_steep else "linear"))
        return self.end()


def slope(work: Callable[[int], object], sizes: tuple[int, int, int]) -> tuple[float, float]:
    """Return the powers of the size with which the calls of some work and its processor time grow, fitted to three sizes."""
    calls, times = [], []
    for size in sizes:
        count = 0

        def counted(*_: object) -> None:
            nonlocal count
            count += 1

        sys.setprofile(counted)
        try:
            work(size)
        finally:
            sys.setprofile(None)
        calls.append(count)
        times.append(min(_timed(lambda size=size: work(size)) for _ in range(2)))
    return fitted(sizes, calls), fitted(sizes, times) if times[-1] > NOTHING else 0.0


def _timed(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def fitted(sizes: tuple[int, ...], costs: list[float] | list[int]) -> float:
    """Return the slope of the line through the logarithms of sizes and costs.

    >>> fitted((1, 2, 4), [3, 6, 12]), fitted((1, 2, 4), [1, 4, 16])
    (1.0, 2.0)
    """
    points = [(log(size), log(max(cost, 1e-6))) for size, cost in zip(sizes, costs, strict=True)]
    x, y = (sum(each) / len(points) for each in zip(*points, strict=True))
    return round(sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points), 3)


def generators(pieces: tuple[str, ...]) -> Iterator[Callable[[int], str]]:
    """Yield texts of any size: each piece again and again, alone, after any other, and before as many of any other."""
    for one in pieces:
        yield lambda size, one=one: one * (size // len(one))
        for other in pieces:
            if other != one:
                yield lambda size, both=one + other: both * (size // len(both))
                yield (
                    lambda size, one=one, other=other: (
                        one * (size // 2 // len(one)) + "x" + other * (size // 2 // len(other))
                    )
                )

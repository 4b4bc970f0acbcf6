"""A real server over a small index of our own, in a thread of the test process, and the posts it serves."""

from __future__ import annotations

import asyncio
import json
import shutil
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mathamr.index.indexing.builder import BuildOptions, build_index
from mathamr.search.searcher import Index
from mathamr.serve.access import Keys, allowed_hosts
from mathamr.serve.app import create_app
from mathamr.serve.limits import Limits
from mathamr.serve.server import address, bound_socket, server
from mathamr.serve.service import Service
from tests.folders import write_files

HOST = "127.0.0.1"
BROWSERS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")

PATIENT = Limits(seconds=120.0, body_seconds=120.0, head_seconds=120.0)
"""A busy machine is no failure."""

SERIES = r"\sum_{n=1}^\infty \frac{1}{n^2}"
ATTACK = "window.attacked = true"

POSTS: list[dict[str, Any]] = [
    {
        "id": "basel",
        "kind": "question",
        "title": "Where does the circle come from in $\\zeta(2)$?",
        "body": f"The series ${SERIES}$ has the value $\\frac{{\\pi^2}}{{6}}$. Its terms know nothing of circles. "
        "Is there a proof that shows where the circle is hidden?",
        "tags": ["series", "analysis"],
        "score": 12,
        "date": "2021-03-14",
        "accepted_answer": "basel/fourier",
    },
    {
        "id": "basel/late",
        "kind": "answer",
        "parent": "basel",
        "body": "Nobody has voted on this one yet.",
    },
    {
        "id": "basel/fourier",
        "kind": "answer",
        "parent": "basel",
        "body": "The coefficients of $f(x)=x$ on a circle give it by Parseval.",
        "score": 1,
        "date": "2021-03-20",
    },
    {
        "id": "basel/answer",
        "kind": "answer",
        "parent": "basel",
        "body": f"Lighthouses on a circular lake give a proof. Each term of ${SERIES}$ is the brightness of one of them. "
        "The inverse Pythagorean theorem $\\frac{1}{a^2}+\\frac{1}{b^2}=\\frac{1}{h^2}$ replaces one lighthouse by two.",
        "score": 30,
        "date": "2021-03-15",
    },
    {
        "id": "harmonic",
        "kind": "question",
        "title": "The harmonic series",
        "body": "The partial sums $H_n=\\sum_{k=1}^n \\frac1k$ grow without a bound, however slowly. "
        "Why does the series diverge although its terms tend to zero?",
        "tags": ["series", "divergence"],
        "score": 7,
        "date": "2022-01-01",
    },
    {
        "id": "notes/matrix.md",
        "kind": "note",
        "title": "Inverse of a matrix",
        "body": "If $A^2=A+I$ then $A(A-I)=I$, so the inverse is $A^{-1}=A-I$.\n\n$$\\begin{pmatrix}1&1\\\\1&0\\end{pmatrix}$$",
        "tags": ["matrices"],
        "markup": "markdown",
    },
    *(
        {
            "id": f"exercise-{number}",
            "kind": "note",
            "title": f"Exercise {number}",
            "body": f"Exercise about sums: compute $\\sum_{{k=1}}^{{{number}}} k^2$ and compare with the formula of Faulhaber.",
            "tags": ["exercises"],
            "source": f"/vault/exercises/{number}.md",
            "macros": ["\\newcommand{\\Powers}[2]{\\sum_{k=1}^{#1} k^{#2}}"],
        }
        for number in range(2, 16)
    ),
]

HOSTILE: list[dict[str, Any]] = [
    {
        "id": "hostile/script",
        "kind": "note",
        "title": f"<script>{ATTACK}</script><img src=x onerror='{ATTACK}'> hostile title",
        "body": f"<p>hostile words</p><script>{ATTACK}</script><img src='https://example.org/x.png' onerror='{ATTACK}'>"
        f"<svg onload='{ATTACK}'><script>{ATTACK}</script></svg><iframe srcdoc='<script>parent.{ATTACK}</script>'></iframe>"
        f"<a href='javascript:{ATTACK}'>press me</a><a href=' jAvAsCrIpT:{ATTACK}'>me too</a>"
        f"<p style='position:fixed;inset:0' onclick='{ATTACK}'>cover</p><form action='https://example.org'><button>send</button></form>"
        "<math><mtext><mglyph><style><img src=x onerror='window.attacked = true'></style></mglyph></mtext></math>",
        "markup": "html",
        "tags": ["<img src=x onerror=alert(1)>"],
    },
    {
        "id": "hostile/formulas",
        "kind": "note",
        "title": "hostile formulas",
        "body": f"hostile $\\href{{javascript:{ATTACK}}}{{x}}$ and $\\text{{<img src=x onerror='{ATTACK}'>}}$ and "
        f"$\\style{{position:fixed}}{{y}}$ and $\\unicode{{x3c}}script>{ATTACK}</script>$ and $\\def\\a{{\\a\\a}}\\a$",
        "markup": "text",
    },
    {
        "id": "../../hostile?x=1#<b>&\"'",
        "kind": "note",
        "title": "hostile id",
        "body": "hostile place $x^{2}$",
        "markup": "text",
    },
]


def browser_path() -> str | None:
    """Where a Chromium is on this machine."""
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)


def make_index(folder: Path, posts: list[dict[str, Any]], model: Path) -> Path:
    """An index of these posts."""
    source = folder.with_suffix(".jsonl")
    source.write_text("".join(json.dumps(post) + "\n" for post in posts), encoding="utf-8")
    build_index([source], folder, BuildOptions(model=model, engine="flat", device="cpu"))
    return folder


@contextmanager
def serving_files(folder: Path, files: Mapping[str, str], model: Path) -> Iterator[Site]:
    """A server of an index of these files."""
    write_files(folder / "files", files)
    build_index([folder / "files"], folder / "index", BuildOptions(model=model, engine="flat", device="cpu"))
    with Index.open(folder / "index", device="cpu") as opened, serving(opened) as running:
        yield running


@dataclass
class Site:
    """A server that runs."""

    url: str
    service: Service

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.url.rstrip("/").rpartition(":")[2])

    @contextmanager
    def busy(self) -> Iterator[threading.Event]:
        """One place for searches is taken, until the event is set."""
        taken, free = threading.Event(), threading.Event()

        def work() -> None:
            taken.set()
            free.wait()

        holder = threading.Thread(
            target=lambda: asyncio.run(self.service.searches.run(work, None)), daemon=True
        )
        holder.start()
        taken.wait()
        try:
            yield free
        finally:
            free.set()
            holder.join()


@contextmanager
def serving(
    index: Index, keys: Keys | None = None, limits: Limits | None = None, beside: Index | None = None
) -> Iterator[Site]:
    """A server for an index, on a free port of this machine."""
    limits = limits or PATIENT
    service = Service(index, limits, keys or Keys(), beside=beside)
    started = threading.Event()
    with closing(bound_socket(HOST, 0)) as listening:
        where = address(HOST, listening.getsockname()[1])
        running = server(create_app(service, allowed_hosts(HOST)), limits, started.set)
        thread = threading.Thread(target=running.run, args=([listening],), daemon=True)
        thread.start()
        if not started.wait(60):
            raise RuntimeError("the server did not start within a minute")
        try:
            yield Site(where, service)
        finally:
            running.should_exit = True
            thread.join(30)
            service.close()

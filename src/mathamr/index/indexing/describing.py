"""`mathamr index --describe`: asks a program of the user's choice, or a server, what the theorems and declarations of an index say.

Nothing is asked or sent unless the user names a program or an address. What comes back is taken for text from a stranger: bounded in
length and time, made plain, and shown as what it is (`mathamr.posts.description`).
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePath
from typing import Annotated, Protocol
from urllib.parse import urldefrag, urlsplit

from pydantic import BaseModel, Field, ValidationError

from mathamr.core.batches import batches
from mathamr.core.errors import MathAMRError
from mathamr.core.exchange import post_json
from mathamr.core.progress import Progress
from mathamr.index.descriptions import Descriptions, content_of
from mathamr.index.indexing.analysis import AnalysedPost, analyse_all
from mathamr.index.indexing.writer import OWN_INPUT, IndexWriter
from mathamr.posts.description import (
    PostDescription,
    asked_text,
    is_described,
    named,
    with_description,
    without_description,
)
from mathamr.posts.post import Post

SECONDS = 120.0
"""How long one answer may take."""
LONGEST_ANSWER = 1 << 20
"""The most bytes of one answer that are read, with what a model thinks aloud before it."""
MOST_FAILURES = 3
"""Failures one after the other before no more is asked."""
AT_A_TIME, PAUSE = 64, 2.0
"""The most descriptions that are stored together, and the most seconds between two writes."""
INSTRUCTION = (
    "State in one or two plain English sentences what the following says, as a mathematician would ask for it, with the usual"
    " name if it has one. Write formulas as LaTeX between dollar signs. Answer with these sentences alone.\n\n"
)
"""What a server is told; a program has an instruction of its own."""


class Describer(Protocol):
    """A program or a server that describes posts."""

    name: str

    def ask(self, text: str) -> str:
        """Return what it says of a text; raise `MathAMRError` if it fails."""
        ...


@dataclass(slots=True)
class DescriptionCounts:
    """The descriptions of a build: what was asked now, what was known, and what failed."""

    by: str
    asked: int = 0
    kept: int = 0
    empty: int = 0
    """Answers without a sentence."""
    failed: int = 0
    left: int = 0
    """Entries that were not asked about after failures one after the other."""
    failure: str = ""
    """Why the last one failed."""


def describer(source: str, seconds: float = SECONDS) -> Describer:
    """Return the server with an address, or the program with a command line."""
    return (
        _Server(source, seconds) if source.startswith(("http://", "https://")) else _Program(source, seconds)
    )


class _Program:
    """A program that is given a text on its standard input, and writes what it says of it on its standard output."""

    def __init__(self, line: str, seconds: float) -> None:
        try:
            self._command = shlex.split(line)
        except ValueError as error:
            raise MathAMRError(f"--describe {line!r}: {error}") from error
        if not self._command or shutil.which(self._command[0]) is None:
            raise MathAMRError(
                f"--describe: there is no program {(self._command or [''])[0]!r}; name one that reads a theorem on its standard"
                " input and writes a sentence, or the address of a server"
            )
        self._seconds = seconds
        self.name = named(" ".join(PurePath(word).name for word in self._command if word[:1] != "-"))

    def ask(self, text: str) -> str:
        with tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )
            answer, code, is_over = self._answer(process, text.encode("utf-8", "replace"))
            errors.seek(max(0, errors.tell() - 2_000))
            said = errors.read(2_000).decode("utf-8", "replace").strip().splitlines()[-1:]
        if is_over:
            raise MathAMRError(f"{self.name}: no whole answer within {self._seconds:g} s")
        if len(answer) > LONGEST_ANSWER:
            raise MathAMRError(f"{self.name}: its answer is longer than {LONGEST_ANSWER:,} bytes")
        if code:
            raise MathAMRError(": ".join([f"{self.name} failed with status {code}", *said])[:300])
        return answer.decode("utf-8", "replace")

    def _answer(self, process: subprocess.Popen[bytes], text: bytes) -> tuple[bytes, int, bool]:
        """Return what the program writes, its status, and whether its time was over; it does not outlive this call."""
        assert process.stdin is not None
        assert process.stdout is not None
        is_over = threading.Event()

        def end() -> None:
            is_over.set()
            _end(process)

        timer = threading.Timer(self._seconds, end)
        timer.daemon = True
        timer.start()
        try:
            with suppress(OSError):  # it may answer without reading
                process.stdin.write(text)
            with suppress(OSError):
                process.stdin.close()
            answer = process.stdout.read(LONGEST_ANSWER + 1)
            if len(answer) > LONGEST_ANSWER:
                _end(process)
            return answer, process.wait(), is_over.is_set()
        finally:
            timer.cancel()
            _end(process)
            process.wait()
            process.stdout.close()


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program that still runs, and all that it started."""
    if process.poll() is None:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)


class _Message(BaseModel):
    content: Annotated[str, Field(strict=True)]


class _Choice(BaseModel):
    message: _Message


class _Answer(BaseModel):
    choices: Annotated[list[_Choice], Field(min_length=1, max_length=8)]


class _Server:
    """A server with ``ADDRESS/chat/completions``; the part behind # names the model, as servers of several need."""

    def __init__(self, address: str, seconds: float) -> None:
        base, self._model = urldefrag(address)
        parts = urlsplit(base)
        if not parts.hostname or parts.username or parts.password:
            raise MathAMRError(f"--describe {address}: write it like http://localhost:8080/v1#MODEL")
        self._url = f"{base.rstrip('/').removesuffix('/v1')}/v1/chat/completions"
        self._seconds = seconds
        self.name = named(self._model or parts.hostname)

    def ask(self, text: str) -> str:
        question = {
            "model": self._model or "default",
            "messages": [{"role": "user", "content": INSTRUCTION + text}],
            "temperature": 0,
        }
        content = post_json(self._url, question, LONGEST_ANSWER, self._seconds, "server of descriptions")
        try:
            return _Answer.model_validate_json(content).choices[0].message.content
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False, include_context=False)[0]
            where = ".".join(map(str, first["loc"]))
            raise MathAMRError(
                f"{self._url} did not answer as a server of chats does: {where}: {first['msg']}"
            ) from error


def describe_index(
    archive: IndexWriter, asked: Describer, progress: Progress | None = None
) -> DescriptionCounts:
    """Ask about every theorem and declaration of an index that has no description by this program, and store what comes.

    What was said is stored first, then the posts with it, a few seconds' work at a time: whatever a kill leaves out is done by the next
    call, which asks only about the rest.
    """
    counts = DescriptionCounts(asked.name)
    with Descriptions(archive.folder, create=True) as known:
        new: dict[bytes, PostDescription] = {}
        waiting: list[tuple[Post, str]] = []

        def write() -> None:
            known.keep(new)
            _store(archive, waiting)
            new.clear()
            waiting.clear()

        due = time.monotonic() + PAUSE
        failures = 0
        try:
            for post, source in _posts(archive):
                content = content_of(post)
                found = new.get(content) or known.of(post)
                if found is not None and found.by == asked.name:
                    counts.kept += 1
                elif failures >= MOST_FAILURES:
                    counts.left += 1
                else:
                    try:
                        answer = asked.ask(asked_text(without_description(post)))
                    except (MathAMRError, OSError) as error:
                        failures, counts.failed, counts.failure = failures + 1, counts.failed + 1, str(error)
                    else:
                        failures = 0
                        found = new[content] = PostDescription.of(asked.name, answer)
                        counts.asked += 1
                        counts.empty += not found.sentences
                if found is not None and with_description(post, found).body != post.body:
                    waiting.append((with_description(post, found), source))
                if progress is not None:
                    progress.advance()
                if len(waiting) >= AT_A_TIME or time.monotonic() >= due:
                    write()
                    due = time.monotonic() + PAUSE
        finally:
            write()
    return counts


def _posts(archive: IndexWriter) -> Iterator[tuple[Post, str]]:
    """Yield the posts that a program may describe, each with its input; what was put one by one is left as it is."""
    catalogue = archive.catalogue
    for source in catalogue.inputs():
        for few in batches(catalogue.of_input(source) if source != OWN_INPUT else (), AT_A_TIME):
            found = catalogue.with_inputs([post_id for _, post_id in few])
            yield from (each for each in found.values() if is_described(each[0]))


def _store(archive: IndexWriter, posts: Sequence[tuple[Post, str]]) -> None:
    """Store posts again under their inputs; one that cannot be analysed with its description stays as it was."""
    analysed = [(each, source) for post, source in posts for each in analyse_all([post])]
    with archive.catalogue.transaction():
        for each, source in analysed:
            if isinstance(each, AnalysedPost):
                archive.catalogue.put_rows([each.row], source)

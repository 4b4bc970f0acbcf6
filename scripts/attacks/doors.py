"""The doors that are attacked by machine: each makes cases by chance and says what became of one."""

from __future__ import annotations

import io
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from corpus import ANSWERS, BESIDE, GRAMMARS, ODD, PACKED, QUERY, SETTINGS, VALUES, WORDS
from damages import DAMAGES, change_value, seal
from scene import patched
from servers import mcp_answers

from fuzz import LONGEST, NOTHING, Case, Door, campaign, generators, in_child, parts, slope
from mathamr.core.errors import MathAMRError
from mathamr.graphs.coreference import coreferent
from mathamr.graphs.maker import make_graph
from mathamr.graphs.picture import picture
from mathamr.index.admin.check import check_index
from mathamr.index.indexing.analysis import Unusable, analyse_all
from mathamr.index.indexing.builder import BuildOptions, build_index
from mathamr.index.indexing.writer import IndexWriter
from mathamr.posts.passage import passage
from mathamr.posts.reader import read_posts
from mathamr.posts.rendering.posthtml import body_html
from mathamr.posts.report import Report
from mathamr.search.searcher import Index
from mathamr.systems.models import boxed_folder

GRAPH_MODEL = "mathamr-2"
"""A model whose index has every kind of file, graphs included."""
MODELS = ("mathamr-3", "mathamr-plus", GRAPH_MODEL)
"""Text alone, graphs alone, and text with graphs: the kinds of models that need no torch."""
SEARCHES = (("zebra group", "lexical"), ("groups of order $n^3$", "maxsim"))
OURS = ("reader failed", "cannot be analysed", "too slow")
"""What a report says where a reader failed without an end: a finding, too."""
FRAMES = {"a.bib": "@article{a, title={A zebra}}\n", "a.lean": "/-- A zebra. -/\ntheorem a : x = x := by\n", "a.v": "(** A zebra. *)\nLemma a : x = x.\n"}  # fmt: skip


class Doors:
    """All doors, over one folder for what they write and an index that they share."""

    def __init__(self, room: Path, checkout: Path) -> None:
        self.room, self.checkout = room, checkout
        notes = room / "notes"
        notes.mkdir()
        for number in range(12):
            (notes / f"n{number}.md").write_text(
                f"# Note {number}\n\nThe group of order $n^{number}$ is a zebra. See $\\frac{{a_{number}}}{{2}}$.\n"
            )
        self.notes, self.index = notes, room / "index"
        self.right: list[Any] | None = None
        self._opened: Index | None = None

    def built(self) -> Path:
        """Return the folder of an index of notes, with graphs."""
        if not self.index.exists():
            build_index([self.notes], self.index, BuildOptions(workers=1, model=GRAPH_MODEL))
            with Index.open(self.index, device="cpu") as opened:
                self.right = json.loads(json.dumps(answers(opened)))
        return self.index

    def opened(self) -> Index:
        """Return the index, open and with its model loaded, so that a forked process need not load it."""
        if self._opened is None:
            self._opened = Index.open(self.built(), device="cpu")
            answers(self._opened)
        return self._opened

    def all(self) -> dict[str, Door]:
        """Return the doors by name."""
        return {
            "documents": Door("documents of every format, cut into sentences, analysed and drawn", self._document, self._read),
            "settings": Door("settings of books, packages and labels beside a document", self._settings, self._read),
            "packed": Door("the text inside of Word documents and books", self._packed, self._read),
            "damaged": Door("examples of every format with cut or changed bytes", self._damaged, self._read, 4.0),
            "graphs": Door("graphs of posts, with coreference", self._sentence, self._graph, 4.0),
            "queries": Door("what people type, with filters, as words, formulas and by meaning", self._query, self._search, 4.0),
            "requests": Door("requests of HTTP for every route", self._requests, self._request, 20.0, 600),
            "mcp": Door("lines for the server of MCP, each of which is answered", self._lines, self._mcp, 20.0, 600),
            "embeddings": Door("what a server of embeddings answers", self._answer, self._embed),
            "manifests": Door("values in every JSON file of an index, with fitting checksums", self._values, self._patched, 20.0, 1000),
            "models": Door("models with a damage and fitting hashes", self._models, self._model, 60.0, 3000),
            "flips": Door("a flipped bit in every kind of file of an index", self._flips, self._flipped, 20.0, 1000),
            "commands": Door("arguments of the command line", self._arguments, self._command, 20.0, 1000),
        }  # fmt: skip

    # Documents

    def _document(self, chance: random.Random) -> Case:
        name = chance.choice(sorted(GRAMMARS))
        found = parts(chance, GRAMMARS[name] + WORDS, ODD)
        return Case(name, ((FRAMES.get(name, "A zebra.\n\n"), 1), *found) if chance.random() < 0.5 else found)

    def _settings(self, chance: random.Random) -> Case:
        name = chance.choice(sorted(SETTINGS))
        return Case(name, parts(chance, SETTINGS[name], ODD, 4_000))

    def _packed(self, chance: random.Random) -> Case:
        name = chance.choice(sorted(PACKED))
        return Case(name, parts(chance, PACKED[name], ODD))

    def _damaged(self, chance: random.Random) -> Case:
        examples = [path for path in sorted((self.checkout / "tests/posts/examples").rglob("*")) if path.is_file() and path.suffix != ".json"]  # fmt: skip
        size = (path := chance.choice(examples)).stat().st_size
        changes = [(f"{chance.randrange(max(1, size))} {chance.choice((-1, 0, 10, 34, 60, 92, 255))}", 1) for _ in range(chance.randrange(1, 6))]  # fmt: skip
        return Case(str(path.relative_to(self.checkout)), tuple(changes))

    def _folder(self, case: Case) -> Path:
        """Return a folder with the files of a case."""
        folder = Path(tempfile.mkdtemp(dir=self.room))
        if "/" in case.name:
            data = bytearray((self.checkout / case.name).read_bytes())
            for place, value in (map(int, part.split()) for part, _ in case.parts):
                data[place : place + 1 if value >= 0 else len(data)] = bytes([value]) if value >= 0 else b""
            (folder / Path(case.name).name).write_bytes(data)
            return folder
        content = case.text.encode("utf-8", "surrogatepass")
        if case.name in PACKED:
            (folder / case.name).write_bytes(packed(case.name, case.text))
            return folder
        (folder / case.name).write_bytes(content)
        if case.name in BESIDE:
            (folder / BESIDE[case.name]).write_text("A zebra, $\\a{x}$, @thm-a \\ref{a} \\usepackage{a}.\n")
        return folder

    def _read(self, case: Case) -> str:
        folder, report = self._folder(case), Report()
        try:
            posts = list(read_posts(folder, report))
            for post in posts:
                passage(post)
                body_html(post, 200_000)
            wrong = [
                each.message
                for each in analyse_all(posts)
                if isinstance(each, Unusable) and each.cause in OURS
            ]
        finally:
            shutil.rmtree(folder)
        wrong += [f"{cause}: {report.lines()}" for cause in OURS if report.skipped.get(cause)]
        return f"finding: {wrong[0][:600]}" if wrong else "read" if posts else "empty"

    def _sentence(self, chance: random.Random) -> Case:
        make_graph("Let $x$ be a zebra.")  # a forked process need not load the parser
        odd = (*ODD, "it ", "this function ", "which ", "the former ", "Let ", "denote ", "f ")
        return Case(
            "a.md",
            parts(chance, (*WORDS, *odd[-7:], "is ", "has ", "$f$ ", "$$x$$ ", ", ", ". "), odd, 3_000),
        )

    def _graph(self, case: Case) -> str:
        folder = self._folder(case)
        try:
            posts = list(read_posts(folder, Report()))
        finally:
            shutil.rmtree(folder)
        for post in posts:
            picture(coreferent(make_graph(post)))
        return "drawn" if posts else "empty"

    # Queries and servers

    def _query(self, chance: random.Random) -> Case:
        self.opened()
        return Case(
            chance.choice(("lexical", "maxsim", "formulas")),
            parts(chance, QUERY, ODD, chance.choice((40, 400, 4_900))),
        )

    def _search(self, case: Case) -> str:
        text = case.text.encode("utf-8", "replace").decode()[:4_900]
        if case.name == "formulas":
            list(self.opened().search(text, task="formulas"))
        else:
            list(self.opened().search(text, strategy=case.name))
        return "found"

    def _requests(self, chance: random.Random) -> Case:
        routes = ("search", "formula", "explain", "similar", "posts", "graphs", "beside", "render", "symbols", "complete", "index", "ready")  # fmt: skip
        names = ("q", "id", "k", "offset", "task", "strategy", "tag", "kind", "folder", "latex", "format", "body", "posts", "strokes", "markup", "macros")  # fmt: skip
        made = []
        for _ in range(chance.randrange(1, 12)):
            text = "".join(chance.choices((*QUERY, *ODD, "n1.md", "1", "-1"), k=chance.randrange(1, 6)))
            fields = {
                name: chance.choice((text, *VALUES))
                for name in chance.sample(names, k=chance.randrange(1, 5))
            }
            route = chance.choice(routes) + chance.choice(("", "/n1.md", "/" + text[:50]))
            made.append((json.dumps([chance.choice(("GET", "POST", "PUT", "DELETE")), route, fields]), 1))
        return Case("requests", tuple(made))

    def _request(self, case: Case) -> str:
        from urllib.parse import quote

        from starlette.testclient import TestClient

        from mathamr.serve.access import Keys
        from mathamr.serve.app import create_app
        from mathamr.serve.service import Service

        folder, statuses = self._copy(), []
        with Index(IndexWriter.open(folder, device="cpu")) as index:
            client = TestClient(
                create_app(Service(index, keys=Keys("w" * 24))), raise_server_exceptions=False
            )
            for part, _ in case.parts:
                method, route, fields = json.loads(part)
                asked = (
                    {name: str(value) for name, value in fields.items()}
                    if method in ("GET", "DELETE")
                    else None
                )
                body = None if asked else json.dumps(fields).encode()
                path = "/v1/" + quote(route.encode("utf-8", "replace"), safe="/")
                if asked:
                    asked = {name: value.encode("utf-8", "replace").decode() for name, value in asked.items()}
                headers = {"X-API-Key": "w" * 24, "Content-Type": "application/json"}
                answer = client.request(method, path, params=asked, content=body, headers=headers)
                statuses.append(answer.status_code)
                if answer.status_code == 500:
                    return f"finding: 500 for {method} {route!r}: {answer.text[:300]}"
        shutil.rmtree(folder.parent)
        return "answered"

    def _lines(self, chance: random.Random) -> Case:
        lines = []
        for number in range(2, chance.randrange(3, 30)):
            text = "".join(chance.choices((*QUERY, *ODD), k=chance.randrange(1, 8)))
            asked = {"name": chance.choice(("search", "similar", "read_post", "x")), "arguments": {chance.choice(("query", "id", "k")): chance.choice((text, *VALUES))}}  # fmt: skip
            line = json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": asked})
            lines.append((line[: chance.randrange(len(line))] if chance.random() < 0.2 else line, 1))
        return Case("mcp", tuple(lines))

    def _mcp(self, case: Case) -> str:
        command = [sys.executable, "-m", "mathamr", "mcp", str(self.built()), "--device", "cpu"]
        count = len(mcp_answers(command, dict(os.environ), [part for part, _ in case.parts], 300))
        return (
            "answered"
            if count == len(case.parts)
            else f"finding: {count} of {len(case.parts)} lines were answered"
        )

    def _answer(self, chance: random.Random) -> Case:
        head = (("HTTP/1.1 200 OK\r\n\r\n", 1),) if chance.random() < 0.7 else ()
        return Case("embeddings", head + parts(chance, ANSWERS, ODD, chance.choice((100, LONGEST))))

    def _embed(self, case: Case) -> str:
        from mathamr.systems.encoders.server import ServerEncoder

        with socket.create_server(("127.0.0.1", 0)) as listener:

            def serve() -> None:
                connection, _ = listener.accept()
                with connection:
                    connection.recv(1 << 16)
                    connection.sendall(case.text.encode("utf-8", "surrogatepass"))

            threading.Thread(target=serve, daemon=True).start()
            ServerEncoder(f"http://127.0.0.1:{listener.getsockname()[1]}", seconds=5)
        return "vectors"

    # Folders of others

    def _copy(self) -> Path:
        folder = Path(tempfile.mkdtemp(dir=self.room)) / "index"
        shutil.copytree(self.built(), folder)
        return folder

    def _values(self, chance: random.Random) -> Case:
        files = sorted(path.relative_to(self.built()) for path in self.built().rglob("*.json"))
        return Case(
            str(chance.choice(files)), ((str(chance.randrange(1 << 30)), 1),) * chance.randrange(1, 4)
        )

    def _patched(self, case: Case) -> str:
        folder = self._copy()

        def change(row: dict[str, Any]) -> None:
            for seed, _ in case.parts:
                change_value(random.Random(seed), row, VALUES)

        patched(folder / case.name, change)
        return self._judged(folder, must_be_right=False)

    def _flips(self, chance: random.Random) -> Case:
        files = [
            path
            for path in sorted(self.built().rglob("*"))
            if path.is_file() and path.name != "lock" and path.stat().st_size
        ]
        path = chance.choice(sorted({(each.parent.name, each.suffix): each for each in files}.values()))
        place = f"{chance.randrange(path.stat().st_size)} {chance.randrange(8)}"
        return Case(str(path.relative_to(self.index)), ((place, 1),))

    def _flipped(self, case: Case) -> str:
        folder = self._copy()
        data = bytearray((folder / case.name).read_bytes())
        for place, bit in (map(int, part.split()) for part, _ in case.parts):
            data[place] ^= 1 << bit
        (folder / case.name).write_bytes(data)
        return self._judged(folder, must_be_right=True)

    def _judged(self, folder: Path, *, must_be_right: bool) -> str:
        """Return what a search and a check of a damaged index say: right answers or an error."""
        report = None
        try:
            with Index.open(folder, device="cpu") as opened:
                found = json.loads(json.dumps(answers(opened)))
            said = (
                "harmless"
                if found == self.right or not must_be_right
                else f"finding: wrong answers {found}"[:400]
            )
        except MathAMRError:
            said = "refused"
        try:
            report = check_index(folder, repair=False)
        except MathAMRError:
            return said
        finally:
            shutil.rmtree(folder.parent)
        return f"{said}, the check reports it" if report.problems else said

    def _models(self, chance: random.Random) -> Case:
        return Case(
            chance.choice(MODELS), ((f"{chance.choice(sorted(DAMAGES))} {chance.randrange(1 << 30)}", 1),)
        )

    def _model(self, case: Case) -> str:
        import math
        import signal

        folder = Path(tempfile.mkdtemp(dir=self.room)) / "model"
        shutil.copytree(boxed_folder(case.name), folder)
        for kind, seed in (part.split() for part, _ in case.parts):
            DAMAGES[kind](random.Random(seed), folder)
        seal(folder)
        signal.alarm(600)  # a pipe costs no processor time, and a busy machine much of the clock
        try:
            build_index([self.notes], folder.parent / "index", BuildOptions(workers=1, model=folder))
            with Index.open(folder.parent / "index", device="cpu", model=folder) as index:
                for query, strategy in (("zebra group $n^1$", "maxsim"), ("zebra", "hybrid")):
                    scores = [hit.score for hit in index.search(query, strategy=strategy)]
                    if not all(map(math.isfinite, scores)):
                        return f"finding: scores {scores}"
        finally:
            shutil.rmtree(folder.parent, ignore_errors=True)
        return "harmless"

    def _arguments(self, chance: random.Random) -> Case:
        text = "".join(chance.choices((*QUERY, *ODD, "x.md"), k=chance.randrange(1, 8))).replace("\0", "")
        index, note = str(self.built()), str(self.notes / "n1.md")
        runs = f"{self.room}/a.run"
        Path(runs).write_text(
            f"A.1 Q0 {text.split()[0] if text.split() else 'x'} 1 1e999 x\nA.2 Q0 n1.md 1 0.5 x\n",
            errors="replace",
        )
        known = (
            ["search", index, text], ["search", index, text, "--task", "formulas"], ["explain", index, text, "n1.md"], ["formula", text], ["amr", text], ["posts", note, "--exclude", text],
            ["graph", note, "--coreference"], ["graph", note, "--post", text], ["index", note, "--out", text[:40] + ".index"], ["fuse", runs, runs], ["complete", text],
            ["evaluate", runs, runs, "--show", text, "--html", f"{self.room}/a.html"], ["search", "-h"], [text, "-h"], ["search", index, "--tag", text, text], ["--show-completion", text],
        )  # fmt: skip
        return Case("commands", tuple((word, 1) for word in chance.choice(known)))

    def _command(self, case: Case) -> str:
        words = [part.encode("utf-8", "replace").decode() for part, _ in case.parts]
        done = subprocess.run(
            [sys.executable, "-m", "mathamr", *words],
            cwd=self.room,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=900,
            check=False,
        )
        if "Traceback" in done.stderr or done.returncode < 0:
            return f"finding: rc {done.returncode}: Traceback\n{done.stderr[-600:]}"
        return "done" if done.returncode == 0 else "refused"

    # Slopes

    def slopes(self, count: int, seed: int, seconds: float) -> int:
        """Try texts that repeat one or two pieces in every format; print those whose cost grows faster than their size."""
        spent, tried, findings = 0.0, 0, 0
        every = [(name, make) for name in sorted(GRAMMARS) for make in generators(GRAMMARS[name])]
        random.Random(seed).shuffle(every)
        for name, make in every[:count]:
            if spent > seconds:
                break
            tried += 1
            whole, part = (
                in_child(partial(self._read, Case(name, ((make(size), 1),))))
                for size in (LONGEST, LONGEST // 4)
            )
            spent += whole.seconds + part.seconds
            if not whole.is_finding and whole.seconds < max(10 * NOTHING, 5.5 * part.seconds):
                continue  # only what looks steep is worth three sizes
            found = in_child(lambda name=name, make=make: json.dumps(self._slope(name, make)), 120)
            spent += found.seconds
            steep = found.said if not found.said.startswith("[") else ""
            calls, times = (0.0, 0.0) if steep else json.loads(found.said)
            if steep or calls > 1.1 or times > 1.3:
                findings += 1
                print(
                    f"slopes {name} {make(60)!r}: calls {calls}, time {times} {whole.seconds:.1f} s for 20 kB {steep[:300]}",
                    flush=True,
                )
        print(
            f"slopes seed {seed}: {tried} of {len(every)} generators in {spent:.0f} s; {findings} findings",
            flush=True,
        )
        return findings

    def _slope(self, name: str, make: Callable[[int], str]) -> tuple[float, float]:
        return slope(
            lambda size: self._read(Case(name, ((make(size), 1),))), (LONGEST // 8, LONGEST // 4, LONGEST)
        )


def answers(index: Index) -> list[Any]:
    """Return what an index finds."""
    found = [[(hit.id, round(hit.score, 4)) for hit in index.search(q, strategy=s)] for q, s in SEARCHES]
    return [*found, [hit.formula.id for hit in index.search("$n^3$", task="formulas") if hit.formula]]


def packed(name: str, text: str) -> bytes:
    """Return a Word document or a book with this text in it."""
    files = {
        "a.docx": {"[Content_Types].xml": "<Types/>", "word/document.xml": f'<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"><w:body>{text}</w:body></w:document>'},
        "a.epub": {"mimetype": "application/epub+zip", "META-INF/container.xml": '<a><rootfile full-path="list.opf"/></a>', "a.xhtml": text,
                   "list.opf": '<package><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>'},
    }  # fmt: skip
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for each, inside in files[name].items():
            archive.writestr(each, inside.encode("utf-8", "replace"))
    return content.getvalue()


def machine(names: list[str], room: Path, checkout: Path, count: int, seed: int, seconds: float) -> int:
    """Run campaigns at these doors; return the number of findings."""
    doors = Doors(room, checkout)
    known = doors.all()
    done: Iterator[int] = (
        doors.slopes(count, seed, seconds)
        if name == "slopes"
        else campaign(name, known[name], count, seed, seconds)
        for name in names
    )
    return sum(done)

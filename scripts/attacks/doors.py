"""The doors that are attacked by machine: each makes cases by chance and says what became of one."""

from __future__ import annotations

import io
import json
import math
import os
import random
import shutil
import signal
import socket
import sys
import tempfile
import threading
import zipfile
from collections.abc import Callable
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from corpus import BESIDE, LENGTHS, NEXT, NOTES, ODD, PACKED, PARTS, QUERY, STARTS, TEXTS, VALUES
from damages import DAMAGES, change_value, seal
from scene import patched
from servers import converse

from fuzz import LONGEST, Campaign, Case, Door, parts
from mathamr.cli import main
from mathamr.core.errors import MathAMRError
from mathamr.formulas.canonicalform import canonical_form
from mathamr.formulas.latex.macros import Macros
from mathamr.formulas.marking import stretches
from mathamr.formulas.openform import open_form
from mathamr.formulas.parse import parse
from mathamr.formulas.typed.asciimath import asciimath_to_latex
from mathamr.formulas.typed.reader import typed_to_latex
from mathamr.formulas.typed.sentences import formula_spans
from mathamr.formulas.visualkey import form_key, visual_key
from mathamr.graphs.coreference import coreferent
from mathamr.graphs.maker import make_graph
from mathamr.graphs.picture import picture
from mathamr.index.admin.check import check_index
from mathamr.index.indexing.analysis import Unusable, analyse_all
from mathamr.index.indexing.builder import BuildOptions, build_index
from mathamr.index.indexing.writer import IndexWriter
from mathamr.posts.passage import passage
from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.rendering.drawing import draw
from mathamr.posts.rendering.posthtml import body_html
from mathamr.posts.report import Report
from mathamr.search.namedformulas import formulas_of, names_of
from mathamr.search.ownnames import is_name, names_given
from mathamr.search.postnames import last_parts, own_names, title_name
from mathamr.search.searcher import Index
from mathamr.systems.models import boxed_folder, load_system
from mathamr.systems.system import Item

GRAPH_MODEL, TEXT_MODEL = "mathamr-2", "mathamr-3"
"""A model whose index has every kind of file, graphs included, and one that reads text alone."""
MODELS = (TEXT_MODEL, "mathamr-plus", GRAPH_MODEL)
"""The kinds of models that need no torch."""
SEARCHES = (("zebra group", "lexical"), ("groups of order $n^3$", "maxsim"))
OURS = ("reader failed", "cannot be analysed", "too slow")
"""What a report says where a reader failed without an end: a finding, too."""
MACROS = (r"\newcommand{\a}[1]{#1+#1}", r"\def\b{\a{x}}")
LINEAR = ("documents", "settings", "packed", "included", "ignored", "formulas", "typed", "names")
"""The doors whose slopes are fitted."""
KEY = "w" * 24
ROUTES = ("search", "formula", "explain", "similar", "posts", "graphs", "beside", "render", "symbols", "complete", "index", "ready", "names", "commands")  # fmt: skip
FIELDS = ("q", "id", "k", "offset", "task", "strategy", "tag", "kind", "folder", "latex", "name", "prefix", "format", "body", "posts", "strokes", "markup", "macros")  # fmt: skip


class Doors:
    """All doors, over one folder for what they write and an index that they share."""

    def __init__(self, room: Path, checkout: Path) -> None:
        self.room, self.checkout = room, checkout
        self.notes = room / "notes"
        self.notes.mkdir()
        for number in range(12):
            text = f"# Note {number}\n\nThe group of order $n^{number}$ is a *zebra*. See $\\frac{{a_{number}}}{{2}}$.\n"
            (self.notes / f"n{number}.md").write_text(text)
        self.all = {
            "documents": self._texts("documents of every format, cut into sentences, analysed and drawn", self._read),
            "settings": self._texts("settings of books, packages and labels beside a document", self._read),
            "packed": self._texts("the text inside of Word documents and books", self._read),
            "included": self._texts("files of LaTeX that include others", self._read),
            "ignored": self._texts("patterns of .gitignore and .mathamrignore", self._read),
            "damaged": Door("examples of every format with cut or changed bytes", self._damaged, self._read, 4.0),
            "formulas": self._texts("LaTeX as trees, canonical and open forms, marks and drawings, with macros", self._formula),
            "typed": self._texts("formulas as people type them, and as AsciiMath", self._typed),
            "names": self._texts("names that texts give to posts and formulas", self._names),
            "graphs": self._texts("graphs of posts, with coreference", self._graph, 4.0),
            "tails": self._texts("long entries, each sentence of which has a vector or is counted", self._tail, 20.0, 600),
            "queries": self._texts("what people type, with filters, as words, formulas, names and by meaning", self._search, 4.0),
            "requests": Door("requests of HTTP for every route", self._requests, self._request, 20.0, 600),
            "mcp": Door("lines for the server of MCP, each of which is answered", self._lines, self._mcp, 20.0, 600),
            "embeddings": self._texts("what a server of embeddings answers", self._embed),
            "manifests": Door("values in every JSON file of an index, with fitting checksums", self._values, self._patched, 20.0, 1000),
            "models": Door("models with a damage and fitting hashes", self._models, self._model, 60.0, 3000),
            "flips": Door("a flipped bit in every kind of file of an index", self._flips, self._flipped, 20.0, 1000),
            "commands": Door("arguments of the command line", self._arguments, self._command, 20.0, 1000),
        }  # fmt: skip

    def _texts(self, what: str, run: Callable[[Case], str], *limits: Any) -> Door:
        """Return a door for the texts of the corpus that have its name."""
        return Door(what, _text, run, *limits)

    @cached_property
    def index(self) -> Path:
        """The folder of an index of notes, with graphs."""
        build_index([self.notes], self.room / "index", BuildOptions(workers=1, model=GRAPH_MODEL))
        return self.room / "index"

    @cached_property
    def opened(self) -> Index:
        """The index, open and with its model loaded, so that a forked process need not load it."""
        opened = Index.open(self.index, device="cpu")
        self.right = answers(opened)
        return opened

    @cached_property
    def text_system(self) -> Any:
        """A model that reads text, loaded."""
        return load_system(boxed_folder(TEXT_MODEL), "cpu")

    @contextmanager
    def _folder(self) -> Any:
        folder = Path(tempfile.mkdtemp(dir=self.room))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    # Texts

    def _damaged(self, _: str, chance: random.Random) -> Case:
        examples = [path for path in sorted((self.checkout / "tests/posts/examples").rglob("*")) if path.is_file() and path.suffix != ".json"]  # fmt: skip
        size = (path := chance.choice(examples)).stat().st_size
        changes = [(f"{chance.randrange(max(1, size))} {chance.choice((-1, 0, 10, 34, 60, 92, 255))}", 1) for _ in range(chance.randrange(1, 6))]  # fmt: skip
        return Case(str(path.relative_to(self.checkout)), tuple(changes))

    def _files(self, case: Case) -> dict[str, bytes]:
        """Return the files of a case by name."""
        if "/" in case.name:
            data = bytearray((self.checkout / case.name).read_bytes())
            for place, value in (map(int, part.split()) for part, _ in case.parts):
                data[place : place + 1 if value >= 0 else len(data)] = bytes([value]) if value >= 0 else b""
            return {Path(case.name).name: bytes(data)}
        if case.name in PACKED:
            return {case.name: packed(case.name, case.text)}
        texts = dict(zip(PARTS.get(case.name, (case.name,)), case.text.split(NEXT), strict=False))
        if case.name in BESIDE:
            texts[BESIDE[case.name]] = "A zebra, $\\a{x}$, @thm-a \\ref{a} \\usepackage{a}.\n"
        texts |= dict.fromkeys(NOTES.get(case.name, ()), "A zebra, $x$.\n")
        return {name: text.encode("utf-8", "surrogatepass") for name, text in texts.items()}

    def _posts(self, case: Case, report: Report) -> list[Post]:
        with self._folder() as folder:
            for name, content in self._files(case).items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(content)
            return list(read_posts(folder, report))

    def _read(self, case: Case) -> str:
        report = Report()
        posts = self._posts(case, report)
        for post in posts:
            passage(post)
            body_html(post, 200_000)
        wrong = [each.message for each in analyse_all(posts) if isinstance(each, Unusable) and each.cause in OURS]  # fmt: skip
        wrong += [f"{cause}: {report.lines()}" for cause in OURS if report.skipped.get(cause)]
        return f"finding: {wrong[0][:600]}" if wrong else "read" if posts else "empty"

    def _formula(self, case: Case) -> str:
        text = case.text
        draw(text, MACROS, display=True)
        names_of(text, MACROS)
        read = parse(text, MACROS, reading=case.name)
        canonical_form(read.opt), open_form(read.opt), visual_key(read.slt), form_key(read.slt)
        found = stretches(text, Macros.of(MACROS), read.slt, range(0, len(read.slt), 2))
        return "read" if all(0 <= start <= end <= len(text) for start, end in found) else f"finding: {found}"

    def _typed(self, case: Case) -> str:
        text = case.text
        spans = formula_spans(text)
        if spans != sorted(spans) or not all(0 <= start < end <= len(text) for start, end in spans):
            return f"finding: spans {spans}"
        parse(asciimath_to_latex(text) if case.name == "asciimath" else typed_to_latex(text))
        return "read"

    def _names(self, case: Case) -> str:
        title, text = case.text[:200], case.text
        post = Post("a", "theorem", text, title=title, markup=case.name, aliases=(text[200:260],))  # type: ignore[arg-type]
        own_names(post), title_name(post), list(last_parts(post)), formulas_of(title)
        list(names_given(post, text, post.markup))
        return "names" if is_name(title) else "no name"

    def _graph(self, case: Case) -> str:
        posts = self._posts(case, Report())
        for post in posts:
            picture(coreferent(make_graph(post)))
        return "drawn" if posts else "empty"

    def _tail(self, case: Case) -> str:
        posts = self._posts(case, Report())
        items = [Item(post=post, passage=passage(post)) for post in posts]
        for item, encoded in zip(items, self.text_system.encode(items), strict=True):
            for vectors in encoded.post.values():
                told = {int(each) for each in vectors.references if each.isdecimal()}
                count = len(item.passage.sentences) if item.passage else 0
                if not all(map(math.isfinite, vectors.vectors.sum(axis=1))) or max(told, default=0) > count:
                    return f"finding: {len(told)} vectors of {count} sentences"
        return "encoded" if posts else "empty"

    def _search(self, case: Case) -> str:
        text = case.text.encode("utf-8", "replace").decode()[:4_900]
        if case.name == "names":
            self.opened.names_of(text), self.opened.formulas_of(text)
        elif case.name == "formulas":
            list(self.opened.search(text, task="formulas"))
        else:
            list(self.opened.search(text, strategy=case.name))
        return "found"

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

    # Requests, lines and commands

    def _requests(self, _: str, chance: random.Random) -> Case:
        made = []
        for _number in range(chance.randrange(1, 12)):
            text = "".join(chance.choices((*QUERY, *ODD, "n1.md", "1", "-1"), k=chance.randrange(1, 6)))
            fields = {name: chance.choice((text, *VALUES)) for name in chance.sample(FIELDS, k=chance.randrange(1, 5))}  # fmt: skip
            route = chance.choice(ROUTES) + chance.choice(("", "/n1.md", "/" + text[:50]))
            made.append((json.dumps([chance.choice(("GET", "POST", "PUT", "DELETE")), route, fields]), 1))
        return Case("requests", tuple(made))

    def _request(self, case: Case) -> str:
        from urllib.parse import quote

        from starlette.testclient import TestClient

        from mathamr.serve.access import Keys
        from mathamr.serve.app import create_app
        from mathamr.serve.service import Service

        def plain(text: str) -> str:
            return text.encode("utf-8", "replace").decode()

        with self._copy() as folder, Index(IndexWriter.open(folder, device="cpu")) as index:
            client = TestClient(create_app(Service(index, keys=Keys(KEY))), raise_server_exceptions=False)
            for method, route, fields in (json.loads(part) for part, _ in case.parts):
                has_body = method in ("POST", "PUT")
                asked = None if has_body else {name: plain(str(value)) for name, value in fields.items()}
                body = json.dumps(fields).encode() if has_body else None
                headers = {"X-API-Key": KEY, "Content-Type": "application/json"}
                path = "/v1/" + quote(plain(route), safe="/")
                answer = client.request(method, path, params=asked, content=body, headers=headers)
                if answer.status_code == 500:
                    return f"finding: 500 for {method} {route!r}: {answer.text[:300]}"
        return "answered"

    def _lines(self, _: str, chance: random.Random) -> Case:
        lines = []
        for number in range(2, chance.randrange(3, 30)):
            text = "".join(chance.choices((*QUERY, *ODD), k=chance.randrange(1, 8)))
            asked = {"name": chance.choice(("search", "similar", "read_post", "x")), "arguments": {chance.choice(("query", "id", "k")): chance.choice((text, *VALUES))}}  # fmt: skip
            line = json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": asked})
            lines.append((line[: chance.randrange(1, len(line))] if chance.random() < 0.2 else line, 1))
        return Case("mcp", tuple(lines))

    def _mcp(self, case: Case) -> str:
        lines = [part for part, _ in case.parts if part.strip()]
        (asked, write), (read, answered) = os.pipe(), os.pipe()
        os.dup2(asked, 0)
        os.dup2(answered, 1)
        os.close(answered)
        said: list[str] = []

        def client() -> None:
            with os.fdopen(write, "w", errors="surrogateescape") as questions:
                said.extend(converse(questions, os.fdopen(read, errors="replace"), lines, 120))

        thread = threading.Thread(target=client)
        thread.start()
        self._program("mcp", str(self.index), "--device", "cpu")
        thread.join()
        return (
            "answered"
            if len(said) == len(lines)
            else f"finding: {len(said)} of {len(lines)} lines were answered"
        )

    def _arguments(self, _: str, chance: random.Random) -> Case:
        text = "".join(chance.choices((*QUERY, *ODD, "x.md"), k=chance.randrange(1, 8))).replace("\0", "")
        index, note, runs = str(self.index), str(self.notes / "n1.md"), f"{self.room}/a.run"
        Path(runs).write_text(f"A.1 Q0 {(text.split() or 'x')[0]} 1 1e999 x\nA.2 Q0 n1.md 1 0.5 x\n", errors="replace")  # fmt: skip
        known = (
            ["search", index, text], ["search", index, text, "--task", "formulas"], ["explain", index, text, "n1.md"], ["formula", text], ["amr", text], ["posts", note, "--exclude", text],
            ["graph", note, "--coreference"], ["graph", note, "--post", text], ["index", note, "--out", text[:40] + ".index"], ["fuse", runs, runs], ["complete", text], ["grep", text, note],
            ["evaluate", runs, runs, "--show", text, "--html", f"{self.room}/a.html"], ["search", "-h"], [text, "-h"], ["search", index, "--tag", text, text], ["--show-completion", text],
        )  # fmt: skip
        return Case("commands", tuple((word, 1) for word in chance.choice(known)))

    def _command(self, case: Case) -> str:
        return self._program(*(part.encode("utf-8", "replace").decode() for part, _ in case.parts))

    def _program(self, *words: str) -> str:
        """Run a command of mathamr in this process, which is a forked one."""
        os.chdir(self.room)
        sys.argv = ["mathamr", *words]
        try:
            main()
        except SystemExit as ended:
            return "refused" if ended.code else "done"
        return "done"

    # Folders of others

    @contextmanager
    def _copy(self) -> Any:
        with self._folder() as folder:
            yield Path(shutil.copytree(self.index, folder / "index"))

    def _values(self, _: str, chance: random.Random) -> Case:
        name = chance.choice(sorted(path.relative_to(self.index) for path in self.index.rglob("*.json")))
        return Case(str(name), ((str(chance.randrange(1 << 30)), 1),) * chance.randrange(1, 4))

    def _patched(self, case: Case) -> str:
        def change(row: dict[str, Any]) -> None:
            for seed, _ in case.parts:
                change_value(random.Random(seed), row, VALUES)

        with self._copy() as folder:
            patched(folder / case.name, change)
            return self._judged(folder, must_be_right=False)

    def _flips(self, _: str, chance: random.Random) -> Case:
        files = [path for path in sorted(self.index.rglob("*")) if path.is_file() and path.name != "lock" and path.stat().st_size]  # fmt: skip
        path = chance.choice(sorted({(each.parent.name, each.suffix): each for each in files}.values()))
        place = f"{chance.randrange(path.stat().st_size)} {chance.randrange(8)}"
        return Case(str(path.relative_to(self.index)), ((place, 1),))

    def _flipped(self, case: Case) -> str:
        with self._copy() as folder:
            data = bytearray((folder / case.name).read_bytes())
            for place, bit in (map(int, part.split()) for part, _ in case.parts):
                data[place] ^= 1 << bit
            (folder / case.name).write_bytes(data)
            return self._judged(folder, must_be_right=True)

    def _judged(self, folder: Path, *, must_be_right: bool) -> str:
        """Return what a search and a check of a damaged index say: right answers or an error."""
        said = "harmless"
        try:
            with Index.open(folder, device="cpu") as opened:
                found = answers(opened)
            if must_be_right and found != self.right:
                said = f"finding: wrong answers {found}"[:400]
        except MathAMRError:
            said = "refused"
        try:
            return f"{said}, the check reports it" if check_index(folder, repair=False).problems else said
        except MathAMRError:
            return said

    def _models(self, _: str, chance: random.Random) -> Case:
        damage = f"{chance.choice(sorted(DAMAGES))} {chance.randrange(1 << 30)}"
        return Case(chance.choice(MODELS), ((damage, 1),))

    def _model(self, case: Case) -> str:
        signal.alarm(600)  # a pipe costs no processor time, and a busy machine much of the clock
        with self._folder() as folder:
            model = Path(shutil.copytree(boxed_folder(case.name), folder / "model"))
            for kind, seed in (part.split() for part, _ in case.parts):
                DAMAGES[kind](random.Random(seed), model)
            seal(model)
            build_index([self.notes], folder / "index", BuildOptions(workers=1, model=model))
            with Index.open(folder / "index", device="cpu", model=model) as index:
                for query, strategy in (("zebra group $n^1$", "maxsim"), ("zebra", "hybrid")):
                    scores = [hit.score for hit in index.search(query, strategy=strategy)]
                    if not all(map(math.isfinite, scores)):
                        return f"finding: scores {scores}"
        return "harmless"


def _text(door: str, chance: random.Random) -> Case:
    """Return a text of the corpus for a door."""
    name = chance.choice(sorted(TEXTS[door]))
    found = parts(chance, TEXTS[door][name], ODD, chance.choice(LENGTHS.get(door, (LONGEST,))))
    return Case(name, ((STARTS.get(name, "A zebra.\n\n"), 1), *found) if chance.random() < 0.5 else found)


def answers(index: Index) -> list[Any]:
    """Return what an index finds."""
    found = [[[hit.id, round(hit.score, 4)] for hit in index.search(q, strategy=s)] for q, s in SEARCHES]
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


def machine(names: list[str], room: Path, checkout: Path, **limits: Any) -> int:
    """Run campaigns at these doors; return the number of findings."""
    doors = Doors(room, checkout)
    before = {"graphs": lambda: make_graph("Let $x$ be a zebra."), "tails": lambda: doors.text_system, "flips": lambda: doors.opened,
              "queries": lambda: doors.opened, "requests": lambda: doors.index, "mcp": lambda: doors.opened, "commands": lambda: doors.opened}  # fmt: skip
    found = 0
    for name in names:
        before.get(name, lambda: None)()  # what every case needs is loaded once
        campaign = Campaign(name, **limits)
        if name == "slopes":
            linear = {each: doors.all[each] for each in LINEAR}
            found += campaign.slopes(
                linear, TEXTS, {each: max(LENGTHS.get(each, (LONGEST,))) for each in LINEAR}
            )
        else:
            found += campaign.run(doors.all[name])
    return found

"""Nothing leaves the machine: no command looks up a name, connects beyond loopback, or writes where it was not told to.

`tests/lab/test_privacy.py` does the same for training.
"""

from __future__ import annotations

import itertools
import json
import sys
import threading
import urllib.request
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from mathamr.cli import LABORATORY, VERBS
from tests.folders import write_files
from tests.tracing import Trace, has_strace

MATHAMR = (sys.executable, "-m", "mathamr")
NOTES = {
    "basel.md": "# The Basel problem\n\nThe series $\\sum_{n=1}^\\infty \\frac{1}{n^2}$ has the value $\\frac{\\pi^2}{6}$.\n",
    "prime.md": "# Primes\n\nThere are infinitely many primes: $p_1 \\cdots p_n + 1$ has another divisor.\n",
}
OTHERS = (
    "grep x^2 notes",
    "twins notes",
    "notation notes",
    "posts notes",
    "formula x^2",
    "amr zebras",
    "graph notes --out graphs",
    "models",
    "open index prime.md --editor true",
    "tune index",
    "run index --task answers --topics topics.xml --out b.run",
    "fuse a.run b.run --out c.run",
    "evaluate --qrels qrels --run a.run",
    "demo",
)
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


def with_notes(folder: Path) -> Path:
    write_files(folder / "notes", NOTES)
    return folder


@pytest.fixture
def trace(tmp_path: Path) -> Trace:
    return Trace(with_notes(tmp_path))


def check(trace: Trace, *, library: str = "onnxruntime") -> None:
    """Fail if anything left; the trace must have seen the library that would have reported."""
    assert trace.departures == []
    assert trace.strays == []
    assert {path for path in trace.left if not path.startswith(".cache/mathamr/")} == set()
    if has_strace():
        assert any(f"/{library}/" in line for line in trace.calls)


def test_a_trace_sees_look_ups_connections_and_files_elsewhere(
    trace: Trace, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    trace.run(
        sys.executable,
        "-c",
        "import socket, contextlib, sys, pathlib\n"
        "with contextlib.suppress(OSError): socket.getaddrinfo('collector.invalid', 443)\n"
        "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(1)\n"
        "with contextlib.suppress(OSError): s.connect(('192.0.2.1', 9))\n"
        "pathlib.Path(sys.argv[1], 'file').write_text('x')\n"
        "pathlib.Path.home().joinpath('left').write_text('x')",
        str(elsewhere),
    )
    assert "look-up 'collector.invalid'" in trace.departures
    assert "connection 192.0.2.1 9" in trace.departures
    assert trace.left == {"left"}
    if has_strace():
        assert any("htons(9)" in line for line in trace.departures)
        assert str(elsewhere / "file") in trace.strays


def test_a_library_that_is_not_told_to_be_silent_reports(trace: Trace) -> None:
    """The oracle of the other tests: without mathamr, ONNX Runtime 1.31 leaves what it is going to send."""
    trace.run(sys.executable, "-c", "import onnxruntime")
    if not any("onnxruntime" in name for name in trace.left):
        pytest.skip("this version of ONNX Runtime reports nothing")
    assert ".cache/Microsoft/DeveloperTools/.onnxruntime/deviceid" in trace.left


def test_indexing_and_searching_keep_to_themselves(trace: Trace) -> None:
    trace.mathamr("index", "notes", "--out", "index", "--workers", "2")
    assert "basel" in trace.mathamr("search", "index", "value of $\\sum \\frac{1}{n^2}$", "--json")
    trace.mathamr("explain", "index", "infinitely many primes", "prime.md")
    trace.mathamr("index", "--out", "index", "--check")
    trace.mathamr("backup", "index", "index.tar")
    trace.mathamr("restore", "index.tar", "again")
    trace.mathamr("doctor")
    check(trace)


def test_a_server_keeps_to_itself(trace: Trace) -> None:
    trace.mathamr("index", "notes", "--out", "index")
    with trace.started(*MATHAMR, "serve", "index", "--port", "0") as process:
        assert process.stdout is not None
        where = process.stdout.readline().strip()
        for path in ("", "v1/health", "v1/search?q=primes", "v1/search?q=%24n%5E2%24&task=formulas"):
            with urllib.request.urlopen(where + path, timeout=120) as answer:
                assert answer.status == 200
        drawing = {"strokes": [[[0, 0], [10, 10]], [[0, 10], [10, 0]]]}
        for method, path, body in (
            ("PUT", "v1/posts/new", {"body": "A new note about $e^{i\\pi}$."}),
            ("POST", "v1/symbols", drawing),
        ):
            request = urllib.request.Request(where + path, json.dumps(body).encode(), method=method)
            request.add_header("Content-Type", "application/json")
            request.add_header("X-API-Key", trace.environment["MATHAMR_API_KEY"])
            with urllib.request.urlopen(request, timeout=120) as answer:
                assert answer.status in (200, 201)
    check(trace)


def test_a_watcher_keeps_to_itself(trace: Trace) -> None:
    changed = threading.Event()

    def write() -> None:
        """Change a note until it is noticed: what changes before the watcher listens is not."""
        for number in itertools.count():
            Path(trace.root, "notes", "new.md").write_text(
                f"# New\n\nA quagga has $q^{number}$ stripes.\n", "utf-8"
            )
            if changed.wait(0.5):
                return

    with trace.started(*MATHAMR, "index", "notes", "--out", "index", "--watch") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert "2 entries" in process.stdout.readline()
        writer = threading.Thread(target=write, daemon=True)
        writer.start()
        assert any(line.startswith("changed:") for line in iter(process.stderr.readline, ""))
        changed.set()
        writer.join()
        assert "3 entries" in process.stdout.readline()
    check(trace)


def test_the_tools_of_an_assistant_keep_to_themselves(trace: Trace) -> None:
    pytest.importorskip("mcp")
    trace.mathamr("index", "notes", "--out", "index")
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "search", "arguments": {"query": "primes"}},
        },
    ]
    with trace.started(*MATHAMR, "mcp", "index") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("".join(json.dumps(line) + "\n" for line in lines))
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(2)]
        assert "prime.md" in json.dumps(answers[1])
        process.stdin.close()
        process.wait(timeout=120)
    check(trace)


@pytest.mark.parametrize(
    ("library", "code"),
    [
        ("langchain_core", "from mathamr.adapters.langchain import MathAMRRetriever as R\nfound = R(index=index).invoke('primes')"),
        ("llama_index.core", "from mathamr.adapters.llamaindex import MathAMRNodeRetriever as R\nfound = R(index).retrieve('primes')"),
    ],
)  # fmt: skip
def test_the_retrievers_of_other_libraries_keep_to_themselves(trace: Trace, library: str, code: str) -> None:
    pytest.importorskip(library)
    trace.mathamr("index", "notes", "--out", "index")
    opened = f"import mathamr; index = mathamr.Index.open('index')\n{code}\nprint(found)"
    assert "prime.md" in trace.run(sys.executable, "-c", opened)
    check(trace)


@pytest.mark.slow
def test_all_other_commands_keep_to_themselves(trace: Trace) -> None:
    topic = (
        "<Topics><Topic number='A.1'><Title>Zebras</Title><Question>Which $x^2$?</Question></Topic></Topics>"
    )
    files = {"a.run": "A.1 Q0 1 1 1.0 a\n", "topics.xml": topic, "qrels": "A.1 0 1 3\n"}
    for number in range(44):
        name = f"{'abcdefghij'[number % 10]}{number}"
        files[f"notes/{number}.md"] = (
            f"# Note {name}\n\nThe zebra number {number} has $x^{{{number}}}$ stripes.\n"
        )
    write_files(trace.root, files)
    trace.mathamr("index", "notes", "--out", "index")
    for command in OTHERS:
        trace.mathamr(*command.split())
    check(trace)


def test_every_command_is_watched() -> None:
    watched = {command.split()[0] for command in OTHERS}
    watched |= {"index", "search", "explain", "backup", "restore", "doctor", "serve", "mcp"}
    assert set(VERBS) - set(LABORATORY) == watched  # tests/lab/test_privacy.py watches train


@pytest.mark.parametrize("model", ["st:all-MiniLM-L6-v2", "pylate:none/such"])
def test_an_encoder_of_others_is_not_downloaded_unless_asked_for(trace: Trace, model: str) -> None:
    with trace.started(*MATHAMR, "index", "notes", "--out", "index", "--model", model) as process:
        _, errors = process.communicate(timeout=500)
    assert process.returncode == 1
    assert "--download" in errors
    assert trace.departures == trace.strays == []


def test_the_engine_qdrant_keeps_to_itself(trace: Trace) -> None:
    pytest.importorskip("qdrant_client")
    local = ("--engine", "qdrant", "--engine-option", "url=local")
    trace.mathamr("index", "notes", "--out", "index", *local)
    assert "prime.md" in trace.mathamr("search", "index", "primes", "--json")
    check(trace)


def test_a_local_cluster_of_ray_keeps_to_itself() -> None:
    pytest.importorskip("ray")
    with TemporaryDirectory(prefix="ray-") as short:  # Ray's sockets cannot have long paths
        trace = Trace(with_notes(Path(short)))
        trace.mathamr("index", "notes", "--out", "index", "--ray", "local", "--workers", "1")
        assert trace.left <= {".ray/auth_token"}  # Ray makes it for whoever starts clusters
        Path(short, "home", ".ray", "auth_token").unlink(missing_ok=True)
        check(trace, library="ray")

# ruff: noqa: D103
"""The attacks over HTTP: each starts the server of the checkout and is one function; see scripts/attacks.py."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

from attacked import KEY, Outcome, Scene, attack, outcome


@attack
def bombs_in_queries(scene: Scene) -> Outcome:
    with scene.serving() as server:
        bomb = "/v1/search?q=" + quote("$" + "\\pdv[" * 20 + "$")
        for _ in range(4):
            threading.Thread(target=server.request, args=("GET", bomb), daemon=True).start()
        time.sleep(1)
        started = time.monotonic()
        status, _ = server.request("GET", "/v1/search?q=zebra&strategy=lexical")
    return status == 200, f"another search: {status or 'no answer'} after {time.monotonic() - started:.1f} s"


@attack
def dots_in_queries(scene: Scene) -> Outcome:
    with scene.serving() as server:
        worst = server.slowest_health([f"/v1/search?q={'.' * 4990}a"] * 8)
    return worst < 3, f"health waited {worst:.1f} s at most"


@attack
def a_poison_post(scene: Scene) -> Outcome:
    with scene.serving() as server:
        status, _ = server.request("PUT", "/v1/posts/poison", {"body": "." * 400_000 + "a"}, seconds=300)
        folder = server.folder
    done = scene.check(folder)
    return (
        done.returncode == 0,
        f"PUT {status or 'not answered in 300 s'}; check {outcome(done)[1]}",
    )


@attack
def a_reader_while_posts_are_replaced(scene: Scene) -> Outcome:
    with scene.serving() as server:
        done, statuses = threading.Event(), []

        def read() -> None:
            while not done.is_set():
                statuses.append(server.request("GET", "/v1/search?q=zebra&strategy=lexical")[0])
                statuses.append(server.request("GET", "/v1/explain?q=zebra&id=left")[0])

        server.request("PUT", "/v1/posts/left", {"body": "A zebra of version 0."})
        threads = [threading.Thread(target=read) for _ in range(2)]
        for thread in threads:
            thread.start()
        for version in range(25):
            server.request("PUT", "/v1/posts/left", {"body": f"A zebra of version {version}."})
        done.set()
        for thread in threads:
            thread.join()
    bad = [status for status in statuses if status != 200]
    return not bad, f"{len(bad)} of {len(statuses)} answers were errors {sorted(set(bad))}"


@attack
def few_file_descriptors(scene: Scene) -> Outcome:
    with scene.serving(files=256) as server:
        statuses = [server.request("PUT", f"/v1/posts/w{number}", {"body": f"Written {number}, $w_{{{number}}}$."})[0]
                    for number in range(90)]  # fmt: skip
        opened = len(list(Path(f"/proc/{server.process.pid}/fd").iterdir()))
    bad = [status for status in statuses if status not in (200, 201)]
    return not bad, f"{len(bad)} of 90 writes failed; {opened} descriptors open"


@attack
def idle_clients(scene: Scene) -> Outcome:
    with scene.serving() as server:
        idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(600)]
        started = time.monotonic()
        status, _ = server.request("GET", "/v1/health", seconds=8)
        took = time.monotonic() - started
        for each in idle:
            each.close()
    return status == 200, f"health: {status or 'no answer'} after {took:.1f} s"


@attack
def a_greedy_client(scene: Scene) -> Outcome:
    with scene.serving() as server:
        greedy = [
            threading.Thread(target=server.request, args=("GET", f"/v1/search?q=zebra+{number}"), daemon=True)
            for number in range(72)
        ]
        for thread in greedy:
            thread.start()
        started = time.monotonic()
        statuses = [server.request("GET", f"/v1/search?q=group+{n}", client="127.0.0.2")[0] for n in range(2)]
    return statuses == [200, 200], f"another client: {statuses} after {time.monotonic() - started:.1f} s"


@attack
def pipelined_clients(scene: Scene) -> Outcome:
    head = f"Host: localhost\r\nX-API-Key: {KEY}\r\n\r\n"
    requests = "".join(f"GET /v1/search?q=zebra+{number} HTTP/1.1\r\n{head}" for number in range(20)).encode()
    with scene.serving() as server:
        clients = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(520)]
        for each in clients:
            with suppress(OSError):
                each.sendall(requests)
        started = time.monotonic()
        statuses = [server.request("GET", "/v1/health", seconds=8)[0] for _ in range(5)]
        took = time.monotonic() - started
        for each in clients:
            each.close()
    return set(statuses) == {200}, f"health: {statuses} in {took:.1f} s"


@attack
def a_write_while_clients_search(scene: Scene) -> Outcome:
    posts = [{"id": f"w{n}", "body": f"A zebra of order $n^{{{n}}}$. " * 40} for n in range(40)]
    with scene.serving() as server:
        writing = threading.Thread(target=server.request, args=("POST", "/v1/posts", {"posts": posts}, 300))
        writing.start()
        worst = 0.0
        while writing.is_alive():
            search = ("GET", "/v1/search?q=zebra&strategy=lexical&folder=notes")
            threading.Thread(target=server.request, args=search, daemon=True).start()
            started = time.monotonic()
            status, _ = server.request("GET", "/v1/health", seconds=30)
            worst = max(worst, time.monotonic() - started if status == 200 else 30)
            time.sleep(0.2)
    return worst < 3, f"health waited {worst:.1f} s at most"


@attack
def many_formulas_explained(scene: Scene) -> Outcome:
    body = " ".join(f"$x_{{{number}}}$" for number in range(2_000))
    with scene.serving() as server:
        put, _ = server.request("PUT", "/v1/posts/long", {"body": body}, seconds=400)
        started = time.monotonic()
        status, answer = server.request("GET", "/v1/explain?q=$x_1$&id=long")
        took = time.monotonic() - started
    return status == 200, f"PUT {put}; explain {status} after {took:.1f} s, {len(answer) >> 10} kB"


@attack
def odd_requests(scene: Scene) -> Outcome:
    with scene.serving() as server:
        statuses = {
            "Range with If-Range": server.request("GET", "/", Range="bytes=0-5", If_Range='"x"')[0],
            "a surrogate": server.request("POST", "/v1/render", {"latex": "\ud800"})[0],
            "an id with a newline": server.request("PUT", "/v1/posts/a%0Ab", {"body": "x"})[0],
            "another site": server.request("GET", "/v1/index", Sec_Fetch_Site="cross-site")[0],
            "an odd host": server.request("GET", "/v1/index", Host="a b<script>")[0],
            "readiness": server.request("GET", "/v1/ready")[0],
        }
    held = (
        all(0 < status < 500 for status in statuses.values())
        and statuses["another site"] == 403
        and statuses["an odd host"] in (400, 403)
        and statuses["readiness"] == 200
    )
    return held, ", ".join(f"{name} {status}" for name, status in statuses.items())


@attack
def a_word_without_end(scene: Scene) -> Outcome:
    with scene.serving() as server:
        before = server.megabytes
        put, _ = server.request("PUT", "/v1/posts/word", {"body": "a" * 150_000}, seconds=120)
        for sign in ("\ufdfa", "\u3300"):  # one sign that stands for many letters
            server.request("GET", "/v1/search?q=" + quote(sign * 1600))
        status, _ = server.request("GET", "/v1/search?q=zebra&strategy=lexical")
        grown = server.megabytes - before
    return (
        status == 200 and grown < 500,
        f"PUT {put}; another search: {status}; memory grew by {grown:.0f} MB",
    )


@attack
def a_formula_without_tokens(scene: Scene) -> Outcome:
    with scene.serving() as server:
        server.request("PUT", "/v1/posts/odd", {"body": "So $%x^2+y^2=z^2$ and $x^2+y^2=z^2$."})
        found = "/v1/search?task=formulas&q=" + quote("$x^2+y^2=z^2$")
        statuses = [server.request("GET", path)[0] for path in (found, "/v1/posts/odd")]
    return statuses == [200, 200], f"formula search and the post itself: {statuses}"


@attack
def forged_places(scene: Scene) -> Outcome:
    formula = "$" + "+".join(f"x_{{{n}}}" for n in range(200)) + "$"
    body = f"<p>{formula}</p><p>{'&#xfdd0;0&#xfdd0;' * 10_000}</p>"
    with scene.serving() as server:
        put, _ = server.request("PUT", "/v1/posts/forged", {"body": body, "markup": "html"}, seconds=120)
        status, answer = server.request("GET", "/v1/posts/forged")
    return status == 200 and len(
        answer
    ) < 2 << 20, f"PUT {put}; {len(body) >> 10} kB became {len(answer) >> 10} kB"


@attack
def a_graph_that_takes_for_ever(scene: Scene) -> Outcome:
    """Return a model without graphs makes them when somebody looks: searches waited for it."""
    notes, folder = scene.room / "many", scene.room / "many-index"
    notes.mkdir()
    (notes / "zebra.md").write_text("A zebra.")
    (notes / "many.md").write_text("$a$ " * 5000)
    done = scene.run("index", str(notes), "--out", str(folder), seconds=200, megabytes=0)
    assert done.returncode == 0, done.stderr
    with scene.serving(folder) as server:
        drawn: list[int] = []
        thread = threading.Thread(
            target=lambda: drawn.append(server.request("GET", "/v1/graphs/many.md", seconds=120)[0]),
            daemon=True,
        )
        thread.start()
        time.sleep(1)
        started = time.monotonic()
        status, _ = server.request("GET", "/v1/search?q=zebra&strategy=maxsim", seconds=30)
        waited = time.monotonic() - started
        thread.join(120)
    return status == 200 and bool(drawn), (
        f"a search meanwhile: {status or 'no answer'} after {waited:.1f} s; the graph: {drawn or 'no answer in 120 s'}"
    )


@attack
def formulas_without_end(scene: Scene) -> Outcome:
    """One query of fractions took 35 s of a processor, and its worker stayed busy after the answer 504."""
    notes, folder = scene.room / "formulas", scene.room / "formulas-index"
    notes.mkdir()
    shapes = ("x^{n}+", "\\frac{n}{2}+", "a_{n}b+", "\\sum_{k=1}^{n} k+")
    for number in range(300):
        long = shapes[number % 4].replace("n", str(number)) * (5 + number % 20)
        (notes / f"f{number}.md").write_text(f"# Formula {number}\n\nA zebra with ${long}1$.\n")
    done = scene.run("index", str(notes), "--out", str(folder), seconds=300, megabytes=0)
    assert done.returncode == 0, done.stderr
    took: dict[str, float] = {}
    statuses: list[int] = []
    with scene.serving(folder) as server:
        for part in ("½", "⅓", "∑", "x²"):
            before = server.processor_seconds
            asked = {"q": "$" + (part * 4980)[:4980] + "$", "task": "formulas", "k": 100}
            statuses.append(server.request("POST", "/v1/search", asked, seconds=120)[0])
            took[part] = server.idle_after() - before
    shown = ", ".join(f"{part} {seconds:.1f} s" for part, seconds in took.items())
    return max(took.values()) < 6, f"answers {statuses}; processor: {shown}"


@attack
def towers_and_bars_in_queries(scene: Scene) -> Outcome:
    """Typed without dollar signs: exponents beyond Python's stack, bars that were read again and again."""
    texts = {"x^": "x^" * 400, "√": "√" * 2000, "|(": "|(" * 30 + "x⟩" + " |" * 30}
    with scene.serving() as server:
        statuses = {
            name: server.request("POST", "/v1/search", {"q": text, "task": "formulas"}, seconds=30)[0]
            for name, text in texts.items()
        }
    done = scene.run("search", str(scene.base), texts["x^"], "--task", "formulas")
    held = all(200 <= status < 500 for status in statuses.values()) and outcome(done)[0]
    return held, f"{statuses}; in the shell {outcome(done)[1]}"


@attack
def entries_too_long_or_too_short_to_compare(scene: Scene) -> Outcome:
    posts = [
        {"id": "many", "body": " ".join(f"$x_{{{number}}}$" for number in range(9_000))},
        {"id": "long", "body": "A zebra is a group of prime order. " * 1_800},
        {"id": "short", "title": "Zebra crossing", "body": "Yes."},
    ]
    notes, folder = scene.room / "lengths", scene.room / "lengths-index"
    notes.mkdir()
    (notes / "posts.jsonl").write_text("".join(json.dumps({"kind": "note", **post}) + "\n" for post in posts))
    done = scene.run("index", str(notes / "posts.jsonl"), "--out", str(folder), seconds=300, megabytes=0)
    assert done.returncode == 0, done.stderr
    with scene.serving(folder) as server:
        statuses = {
            path: server.request("GET", f"/v1/{path}", seconds=60)[0]
            for path in ("similar/many", "similar/long", "explain?q=zebra&id=short")
        }
    return all(status in (200, 422) for status in statuses.values()), str(statuses)


@attack
def a_body_with_two_lengths(scene: Scene) -> Outcome:
    """Return a proxy in front may see another request in what follows, so the connection must be closed (RFC 9112, 6.1)."""
    head = f"POST /v1/render HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {KEY}\r\nContent-Type: application/json\r\n"
    body = '{"latex": "x"}'
    sent = (
        f"{head}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n{len(body):x}\r\n{body}\r\n0\r\n\r\n"
        "GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    )
    got = b""
    with scene.serving() as server, socket.create_connection(("127.0.0.1", server.port), timeout=5) as client:
        client.sendall(sent.encode())
        with suppress(OSError):
            while part := client.recv(1 << 16):
                got += part
    answers = got.count(b"HTTP/1.1 ")
    return answers == 1, f"{answers} answers on the connection"


@attack
def lines_that_mcp_cannot_read(scene: Scene) -> Outcome:
    def asked(id: str, arguments: str = '{"query": "zebra"}') -> str:
        return f'{{"jsonrpc": "2.0", "id": {id}, "method": "tools/call", "params": {{"name": "search", "arguments": {arguments}}}}}'

    hello = (
        '{"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}'
    )
    lines = {
        "a long integer": asked("2", '{"query": "zebra", "k": ' + "9" * 5000 + "}"),
        "nested arguments": asked("3", '{"query": ' + "[" * 5000 + "]" * 5000 + "}"),
        "an id of 1.5": asked("1.5"),
        "an id of null": asked("null"),
        "no JSON": "zebra",
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "mathamr", "mcp", str(scene.copy()), "--device", "cpu"],
        env=scene.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    said: list[str] = []
    threading.Thread(target=said.extend, args=(iter(process.stdout.readline, ""),), daemon=True).start()
    process.stdin.write(f'{{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {hello}}}\n')
    process.stdin.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
    for line in lines.values():
        process.stdin.write(line + "\n")
    process.stdin.flush()
    end = time.monotonic() + 60
    while len(said) < 1 + len(lines) and time.monotonic() < end:
        time.sleep(0.1)
    process.kill()
    process.wait()
    return len(said) == 1 + len(lines), f"{len(said) - 1} of {len(lines)} lines were answered"


@attack
def attributes_without_end(scene: Scene) -> Outcome:
    """One post with a tag of many attributes took seconds whenever somebody looked at it."""
    body = "<p>A zebra.</p><a " + " ".join(f"a{number}" for number in range(25_000)) + ">x</a>"
    with scene.serving() as server:
        server.request("PUT", "/v1/posts/wide", {"body": body, "markup": "html"}, seconds=120)
        before = server.idle_after()
        status, _ = server.request("GET", "/v1/posts/wide", seconds=120)
        took = server.idle_after() - before
    return status == 200 and took < 0.8, f"the post {status} after {took:.1f} s of a processor"


@attack
def strokes_across_a_drawing(scene: Scene) -> Outcome:
    strokes = [[[0, 0], [200, 200]] * 250] * 8
    with scene.serving() as server:
        server.request("POST", "/v1/symbols", {"strokes": strokes[0][:1] * 2})
        before = server.idle_after()
        status, _ = server.request("POST", "/v1/symbols", {"strokes": strokes}, seconds=120)
        took = server.idle_after() - before
    return took < 0.8, f"{status} after {took:.1f} s of a processor"


@attack
def reads_on_the_event_loop(scene: Scene) -> Outcome:
    """`?strategy=` read SQLite between two requests, so that everybody waited for the disk."""
    code = """
import asyncio, sqlite3, sys, threading
from mathamr.search.searcher import Index
from mathamr.serve.app import create_app
from mathamr.serve.service import Service
from starlette.testclient import TestClient

seen = set()
def watch(frame, event, what):
    if event == "c_call" and isinstance(getattr(what, "__self__", None), (sqlite3.Connection, sqlite3.Cursor)):
        if asyncio._get_running_loop() is not None:
            seen.add(f"{frame.f_code.co_filename.rpartition('/')[2]}:{frame.f_lineno}")

with Index.open(sys.argv[1], device="cpu") as index:
    service = Service(index)
    threading.setprofile(watch)
    client = TestClient(create_app(service))
    paths = ("search?q=zebra&strategy=", "explain?q=zebra&id=n1.md&strategy=", "index?", "posts/n1.md?")
    found = [client.get(f"/v1/{path}{name}").status_code for path in paths for name in ("lexical", "maxsim")]
    service.close()
assert set(found) <= {200, 422}, found
print(sorted(seen) or "no SQLite call on the event loop")
sys.exit(bool(seen))
"""
    done = scene.python("-c", code, str(scene.copy()), megabytes=0)
    return done.returncode == 0, outcome(done)[1]


@attack
def a_plugin_that_stops_and_starts(scene: Scene) -> Outcome:
    """Stop and Start at once ended the new server; a watcher that ended or wrote much was not noticed."""
    code = """
const { existsSync, mkdtempSync, readFileSync, writeFileSync } = require("fs");
const Module = require("module"), room = mkdtempSync(require("os").tmpdir() + "/plugin-");
const load = Module._load, empty = class {};
Module._load = (name, ...more) => name === "obsidian" ? new Proxy({}, { get: () => empty }) : load(name, ...more);
writeFileSync(room + "/main.cjs", readFileSync(process.argv[2]) + ";module.exports.Server = Server;");
const { Server } = require(room + "/main.cjs");
let count = 0;
function program(watcher) {
  const path = `${room}/${count++}.cjs`;
  const server = 'console.log("http://127.0.0.1:" + process.pid);process.on("SIGTERM",()=>setTimeout(()=>process.exit(1),300));';
  writeFileSync(path, `if (process.argv[2] === "serve") {${server}} else {${watcher}} setInterval(() => {}, 1000);`);
  return `"${process.execPath}" "${path}"`;
}
const pause = (seconds) => new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
const until = async (holds) => { for (let n = 0; n < 200 && !holds(); n++) await pause(0.1); return holds(); };
const isAlive = (address) => { try { return process.kill(Number(address.split(":").at(-1)), 0); } catch { return false; } };
(async () => {
  const held = [], server = new Server(() => undefined), plain = program("");
  await server.start(plain, "vault", 0, false);
  server.stop();
  await server.start(plain, "vault", 0, false);
  await pause(1);
  held.push(server.state === "running" && isAlive(server.address));
  server.stop();
  const second = new Server(() => undefined);
  await second.start(program('console.error("full"); process.exit(1)'), "vault", 0, true);
  held.push(await until(() => /watcher has ended/.test(second.message)));
  second.stop();
  const third = new Server(() => undefined), much = '"x".repeat(1 << 20)', done = room + "/done";
  const writes = `const fs = require("fs"); fs.writeSync(1, ${much}); fs.writeSync(2, ${much}); fs.writeFileSync(${JSON.stringify(done)}, "");`;
  await third.start(program(writes), "vault", 0, true);
  held.push(await until(() => existsSync(done)));
  third.stop();
  console.log(JSON.stringify(held));
  await pause(1);
  process.exit();
})();
"""
    script = scene.room / "plugin.cjs"
    script.write_text(code)
    command = ["node", str(script), str(scene.checkout / "plugins/obsidian/main.js")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    held = json.loads(done.stdout or "[]")
    names = ("started again", "a dead watcher is told", "pipes are read")
    said = ", ".join(f"{name}: {'yes' if each else 'no'}" for name, each in zip(names, held, strict=False))
    return len(held) == 3 and all(held), said or done.stderr[-100:]

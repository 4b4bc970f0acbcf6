# ruff: noqa: D103
"""Attacks over HTTP and MCP: each starts the server of the checkout, disturbs it, and looks what others notice."""
# fmt: off

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

from scene import ATTACKS, KEY, Outcome, Scene, attack, outcome, refused

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
PLUGIN = """
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


# What others notice of a query


@attack
def bombs_in_queries(scene: Scene) -> Outcome:
    with scene.serving() as server:
        server.beside(*[("GET", "/v1/search?q=" + quote("$" + "\\pdv[" * 20 + "$"))] * 4)
        time.sleep(1)
        status, took = server.timed("search?q=zebra&strategy=lexical")
    return status == 200, f"another search: {status or 'no answer'} after {took:.1f} s"


@attack
def dots_in_queries(scene: Scene) -> Outcome:
    with scene.serving() as server:
        worst = server.slowest_health(server.beside(*[("GET", f"/v1/search?q={'.' * 4990}a")] * 8))
    return worst < 3, f"health waited {worst:.1f} s at most"


@attack
def a_greedy_client(scene: Scene) -> Outcome:
    with scene.serving() as server:
        server.beside(*[("GET", f"/v1/search?q=zebra+{number}") for number in range(72)])
        answers = [server.timed(f"search?q=group+{n}", client="127.0.0.2") for n in range(2)]
    return all(status == 200 for status, _ in answers), f"another client: {answers}"


@attack
def idle_clients(scene: Scene) -> Outcome:
    with scene.serving() as server:
        idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(600)]
        status, took = server.timed("health", 8)
        for each in idle:
            each.close()
    return status == 200, f"health: {status or 'no answer'} after {took:.1f} s"


@attack
def pipelined_clients(scene: Scene) -> Outcome:
    head = f"Host: localhost\r\nX-API-Key: {KEY}\r\n\r\n"
    requests = "".join(f"GET /v1/search?q=zebra+{number} HTTP/1.1\r\n{head}" for number in range(20)).encode()
    with scene.serving() as server:
        clients = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(520)]
        for each in clients:
            with suppress(OSError):
                each.sendall(requests)
        answers = [server.timed("health", 8) for _ in range(5)]
        for each in clients:
            each.close()
    return all(status == 200 for status, _ in answers), f"health: {answers}"


@attack
def a_write_while_clients_search(scene: Scene) -> Outcome:
    posts = [{"id": f"w{n}", "body": f"A zebra of order $n^{{{n}}}$. " * 40} for n in range(40)]
    with scene.serving() as server:
        writing = server.beside(("POST", "/v1/posts", {"posts": posts}, 300))
        worst = 0.0
        while writing[0].is_alive():
            asked = server.beside(("GET", "/v1/search?q=zebra&strategy=lexical&folder=notes"))
            worst = max(worst, server.slowest_health(asked))
    return worst < 3, f"health waited {worst:.1f} s at most"


@attack
def formulas_without_end(scene: Scene) -> Outcome:
    """One query of fractions took 35 s of a processor, and its worker stayed busy after the answer 504."""
    shapes = ("x^{n}+", "\\frac{n}{2}+", "a_{n}b+", "\\sum_{k=1}^{n} k+")
    long = {n: shapes[n % 4].replace("n", str(n)) * (5 + n % 20) for n in range(300)}
    notes = scene.folder({f"f{n}.md": f"# Formula {n}\n\nA zebra with ${text}1$.\n" for n, text in long.items()})
    with scene.serving(scene.indexed(notes)) as server:
        took = {part: server.cost("POST", "/v1/search", {"q": "$" + (part * 4980)[:4980] + "$", "task": "formulas", "k": 100})[:2] for part in ("½", "⅓", "∑", "x²")}
    return max(seconds for _, seconds in took.values()) < 6, f"status and processor time: {took}"


@attack
def towers_and_bars_in_queries(scene: Scene) -> Outcome:
    """Typed without dollar signs: exponents beyond Python's stack, bars that were read again and again."""
    texts = {"x^": "x^" * 400, "√": "√" * 2000, "|(": "|(" * 30 + "x⟩" + " |" * 30}
    with scene.serving() as server:
        found = {name: server.request("POST", "/v1/search", {"q": text, "task": "formulas"}, 30)[0] for name, text in texts.items()}
    done = scene.run("search", str(scene.base), texts["x^"], "--task", "formulas")
    return all(200 <= each < 500 for each in found.values()) and outcome(done)[0], f"{found}; in the shell {outcome(done)[1]}"


# What is written


@attack
def a_poison_post(scene: Scene) -> Outcome:
    with scene.serving() as server:
        status, folder = server.put("poison", body="." * 400_000 + "a"), server.folder
    done = scene.check(folder)
    return done.returncode == 0, f"PUT {status or 'not answered'}; check {outcome(done)[1]}"


@attack
def a_post_of_many_formulas(scene: Scene) -> Outcome:
    """Put 180 kB that held the writer for minutes: each formula was looked up among all of its post."""
    with scene.serving() as server:
        bodies = {"same": "$x$ " * 185_000, "other": " ".join(f"$x_{{{n}}}$" for n in range(8_000))}
        found = {name: server.cost("PUT", f"/v1/posts/{name}", {"body": body})[:2] for name, body in bodies.items()}
        search = server.get("search?q=zebra&strategy=lexical")
    held = found["same"][0] == 422 and found["other"][0] in (201, 422) and all(seconds < 30 for _, seconds in found.values()) and search == 200
    return held, f"status and processor time of the server's own process: {found}"


@attack
def a_reader_while_posts_are_replaced(scene: Scene) -> Outcome:
    with scene.serving() as server:
        done, statuses = threading.Event(), []

        def read() -> None:
            while not done.is_set():
                statuses.extend(map(server.get, ("search?q=zebra&strategy=lexical", "explain?q=zebra&id=left")))

        server.put("left", body="A zebra of version 0.")
        threads = [threading.Thread(target=read) for _ in range(2)]
        for thread in threads:
            thread.start()
        for version in range(25):
            server.put("left", body=f"A zebra of version {version}.")
        done.set()
        for thread in threads:
            thread.join()
    bad = [status for status in statuses if status != 200]
    return not bad, f"{len(bad)} of {len(statuses)} answers were errors {sorted(set(bad))}"


@attack
def few_file_descriptors(scene: Scene) -> Outcome:
    with scene.serving(files=256) as server:
        statuses = [server.put(f"w{n}", body=f"Written {n}, $w_{{{n}}}$.") for n in range(90)]
        opened = len(list(Path(f"/proc/{server.process.pid}/fd").iterdir()))
    bad = [status for status in statuses if status not in (200, 201)]
    return not bad, f"{len(bad)} of 90 writes failed; {opened} descriptors open"


@attack
def two_writers(scene: Scene) -> Outcome:
    with scene.serving() as server:
        beside, folder = scene.index(scene.notes, server.folder), server.folder
        status = server.put("kept", body="A quagga.")
    after, found = scene.index(scene.notes, folder), scene.search(folder, "--json", words="quagga")
    kept = '"kept"' in found.stdout
    held = refused(beside)[0] and status == 201 and after.returncode == 0
    return held and kept, f"index beside a server: {outcome(beside)[1]}; killed, then rc {after.returncode}, its write is {'' if kept else 'not '}kept"


MANY = " ".join(f"$x_{{{number}}}$" for number in range(9_000))
PARTLY = ({"id": "many", "body": MANY}, {"id": "long", "body": "A zebra is a group of prime order. " * 1_800}, {"id": "short", "title": "Zebra crossing", "body": "Yes."})


def _asks(scene: Scene, posts: dict[str, dict[str, str]], asked: dict[str, tuple[int, ...]], notes: str = "", seconds: float = 60) -> Outcome:
    """Return whether requests, after these posts are put, have one of these statuses, cost the server no more seconds, and bring less than 2 MB."""
    with scene.serving(scene.indexed(scene.folder({"posts.jsonl": notes})) if notes else None) as server:
        said: dict[str, Any] = {name: server.put(name, **fields) for name, fields in posts.items()}
        found = {line: server.cost(*(line.split(" ", 2)[:2]), json.loads(line.split(" ", 2)[2]) if line.startswith("POST") else None) for line in asked}
    held = all(status in asked[line] and took < seconds and size < 2 << 20 for line, (status, took, size) in found.items())
    return held, str(said | {line[:50]: f"{status}, {took:.1f} s of a processor, {size >> 10} kB" for line, (status, took, size) in found.items()})


GET, STROKES = "GET /v1/", 'POST /v1/symbols {"strokes": %s}'
ATTACKS |= {
    "many_formulas_explained": partial(_asks, posts={"long": {"body": MANY[:18_000]}}, asked={GET + "explain?q=$x_1$&id=long": (200,)}),
    "a_formula_without_tokens": partial(_asks, posts={"odd": {"body": "So $%x^2+y^2=z^2$ and $x^2+y^2=z^2$."}}, asked={GET + "search?task=formulas&q=" + quote("$x^2+y^2=z^2$"): (200,), GET + "posts/odd": (200,)}),
    "forged_places": partial(_asks, posts={"forged": {"body": f"<p>${'+'.join(f'x_{{{n}}}' for n in range(200))}$</p><p>{'&#xfdd0;0&#xfdd0;' * 10_000}</p>", "markup": "html"}}, asked={GET + "posts/forged": (200,)}),
    "attributes_without_end": partial(_asks, posts={"wide": {"body": "<p>A zebra.</p><a " + " ".join(f"a{n}" for n in range(25_000)) + ">x</a>", "markup": "html"}}, asked={GET + "posts/wide": (200,)}, seconds=0.8),
    "strokes_across_a_drawing": partial(_asks, posts={}, asked={STROKES % [[[0, 0]]]: (200, 422), STROKES % ([[[0, 0], [200, 200]] * 250] * 8): (200, 422)}, seconds=0.8),
    "entries_too_long_or_too_short_to_compare": partial(_asks, posts={}, notes="".join(json.dumps({"kind": "note", **post}) + "\n" for post in PARTLY), asked=dict.fromkeys((GET + "similar/many", GET + "similar/long", GET + "explain?q=zebra&id=short"), (200, 422))),
}


@attack
def a_word_without_end(scene: Scene) -> Outcome:
    with scene.serving() as server:
        before, put = server.megabytes, server.put("word", body="a" * 150_000)
        for sign in ("\ufdfa", "\u3300"):  # one sign that stands for many letters
            server.get("search?q=" + quote(sign * 1600))
        status = server.get("search?q=zebra&strategy=lexical")
        grown = server.megabytes - before
    return status == 200 and grown < 500, f"PUT {put}; another search: {status}; memory grew by {grown:.0f} MB"


@attack
def a_graph_that_takes_for_ever(scene: Scene) -> Outcome:
    """Without stored graphs, one is made when somebody looks: searches waited for it."""
    folder = scene.indexed(scene.folder({"zebra.md": "A zebra.", "many.md": "$a$ " * 5000}))
    with scene.serving(folder) as server:
        (drawing,) = server.beside(("GET", "/v1/graphs/many.md", None, 120))
        time.sleep(1)
        status, waited = server.timed("search?q=zebra&strategy=maxsim", 30)
        drawing.join(120)
    return status == 200 and not drawing.is_alive(), f"a search meanwhile: {status or 'no answer'} after {waited:.1f} s"


# Odd requests


@attack
def odd_requests(scene: Scene) -> Outcome:
    with scene.serving() as server:
        statuses = {
            "Range with If-Range": server.request("GET", "/", Range="bytes=0-5", If_Range='"x"')[0],
            "a surrogate": server.request("POST", "/v1/render", {"latex": "\ud800"})[0],
            "an id with a newline": server.put("a%0Ab", body="x"),
            "another site": server.get("index", Sec_Fetch_Site="cross-site"),
            "an odd host": server.get("index", Host="a b<script>"),
            "readiness": server.get("ready"),
        }
    right = {"another site": (403,), "an odd host": (400, 403), "readiness": (200,)}
    return all(status in right.get(name, range(1, 500)) for name, status in statuses.items()), str(statuses)


@attack
def a_body_with_two_lengths(scene: Scene) -> Outcome:
    """Send what a proxy in front may take for two requests, so that the connection must be closed (RFC 9112, 6.1)."""
    body, got = '{"latex": "x"}', b""
    head = f"POST /v1/render HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {KEY}\r\nContent-Type: application/json\r\n"
    sent = f"{head}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n{len(body):x}\r\n{body}\r\n0\r\n\r\nGET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with scene.serving() as server, socket.create_connection(("127.0.0.1", server.port), timeout=5) as client:
        client.sendall(sent.encode())
        with suppress(OSError):
            while part := client.recv(1 << 16):
                got += part
    answers = got.count(b"HTTP/1.1 ")
    return answers == 1, f"{answers} answers on the connection"


@attack
def a_plugin_that_stops_and_starts(scene: Scene) -> Outcome:
    """Stop and Start at once ended the new server; a watcher that ended or wrote much was not noticed."""
    script = scene.folder({"plugin.cjs": PLUGIN}) / "plugin.cjs"
    command = ["node", str(script), str(scene.checkout / "plugins/obsidian/main.js")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    held = json.loads(done.stdout or "[]")
    return len(held) == 3 and all(
        held
    ), f"started again, a dead watcher is told, pipes are read: {held} {done.stderr[-100:]}"


# MCP


def converse(write: IO[str], read: IO[str], lines: list[str], seconds: float) -> list[str]:
    """Return what a server of MCP answers to some lines, after its greeting."""
    first = [{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}, {"jsonrpc": "2.0", "method": "notifications/initialized"}]
    said: list[str] = []
    threading.Thread(target=said.extend, args=(iter(read.readline, ""),), daemon=True).start()
    write.write("".join(f"{line}\n" for line in (*map(json.dumps, first), *lines)))
    write.flush()
    end = time.monotonic() + seconds
    while len(said) < 1 + len(lines) and time.monotonic() < end:
        time.sleep(0.05)
    return said[1:]


def _asked(id: str, arguments: str = '{"query": "zebra"}') -> str:
    return f'{{"jsonrpc": "2.0", "id": {id}, "method": "tools/call", "params": {{"name": "search", "arguments": {arguments}}}}}'


def _mcp(scene: Scene, lines: list[str]) -> Outcome:
    command = [sys.executable, "-m", "mathamr", "mcp", str(scene.copy()), "--device", "cpu"]
    with subprocess.Popen(command, env=scene.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="surrogateescape") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        answers = converse(process.stdin, process.stdout, lines, 60)
        process.kill()
    return len(answers) == len(lines), f"{len(answers)} of {len(lines)} lines were answered"


LONG, NESTED = '{"query": "zebra", "k": ' + "9" * 5000 + "}", '{"query": ' + "[" * 5000 + "]" * 5000 + "}"
ATTACKS |= {
    "half_a_surrogate_for_mcp": partial(_mcp, lines=[_asked("2", r'{"query": "\ud800"}')]),
    "lines_that_mcp_cannot_read": partial(_mcp, lines=[_asked("2", LONG), _asked("3", NESTED), _asked("1.5"), _asked("null"), "zebra"]),
}

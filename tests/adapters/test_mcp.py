from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from mathamr.search.searcher import Index
from tests.adapters.conftest import call_tool, list_tools
from tests.cases import cases
from tests.serve.hostile import hostile_posts

pytest.importorskip("mcp.server.mcpserver", reason="the adapter needs mcp 2")

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

QUERY = r"Why does $\sum \frac{1}{n}$ diverge?"


def test_the_tools_describe_themselves(index: Index) -> None:
    assert list_tools(index) == {"search", "explain", "read_post", "formulas_of", "name_of"}


def test_search_gives_hits_with_provenance(index: Index) -> None:
    found = call_tool(index, "search", query=QUERY, k=3, kinds=["answer"]).structured_content
    assert len(found["hits"]) == 3
    for hit in found["hits"]:
        assert hit["kind"] == "answer"
        assert {"id", "source", "score", "evidence", "snippet"} <= set(hit)


def test_an_answer_has_a_budget_and_says_what_it_leaves_out(index: Index) -> None:
    every = call_tool(index, "search", query=QUERY, k=8).structured_content
    some = call_tool(index, "search", query=QUERY, k=8, longest=2500).structured_content
    assert 0 < len(some["hits"]) < len(every["hits"]) == 8
    assert (some["left_out"], some["more"]) == (8 - len(some["hits"]), True)
    assert len(json.dumps(some["hits"], ensure_ascii=False)) < 2600
    rest = call_tool(index, "search", query=QUERY, k=1, offset=len(some["hits"])).structured_content
    assert rest["hits"][0]["id"] == every["hits"][len(some["hits"])]["id"]


def test_names_and_formulas_lead_to_each_other(index: Index) -> None:
    formulas = call_tool(index, "formulas_of", name="gaussian integral").structured_content["formulas"]
    names = call_tool(index, "name_of", formula=formulas[0]).structured_content["names"]
    assert names[0] == "gaussian integral"
    assert call_tool(index, "name_of", formula="a+b").structured_content["names"] == []


def test_explain_and_read_follow_a_hit(index: Index) -> None:
    id = call_tool(index, "search", query=QUERY, k=1).structured_content["hits"][0]["id"]
    why = call_tool(index, "explain", query=QUERY, id=id).structured_content
    assert why["id"] == id
    assert why["matches"]
    post = call_tool(index, "read_post", id=id).structured_content
    assert post["text"]
    assert "<p>" not in post["text"]


@cases(
    ("name", "arguments", "message"),
    [
        ("search", {"query": " "}, "empty"),
        ("explain", {"query": "x", "id": "../../etc/passwd"}, "no post"),
        ("read_post", {"id": "nosuch"}, "there is no post 'nosuch'"),
        ("search", {"query": "x", "k": 1000}, "50"),
    ],
)
def test_a_wrong_call_is_told_what_is_wrong(
    index: Index, name: str, arguments: dict[str, Any], message: str
) -> None:
    result = call_tool(index, name, **arguments)
    assert result.is_error
    assert message in result.content[0].text


def test_it_is_a_server_on_standard_input_and_output(index_folder: Path) -> None:
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "mathamr", "mcp", str(index_folder), "--device", "cpu"],
        env=dict(os.environ),
    )

    async def scenario() -> Any:
        async with Client(stdio_client(parameters)) as client:
            return await client.call_tool("read_post", {"id": hostile_posts()[0].id})

    assert asyncio.run(scenario()).structured_content["text"]


HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


def requested(id: str = "2", arguments: str = '{"query": "prime"}') -> str:
    return rf'{{"jsonrpc": "2.0", "id": {id}, "method": "tools/call", "params": {{"name": "search", "arguments": {arguments}}}}}'


def answers_of(index_folder: Path, lines: list[str]) -> list[Any]:
    """The answer to each of these lines, from a server that is then told to end."""
    start = [
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    ]
    with subprocess.Popen(
        [sys.executable, "-m", "mathamr", "mcp", str(index_folder), "--device", "cpu"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("".join(f"{line}\n" for line in start).encode())
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline())]
        for line in lines:
            process.stdin.write(f"{line}\n".encode())
            process.stdin.flush()
            answers.append(json.loads(process.stdout.readline()))
        process.stdin.close()
    assert process.returncode == 0
    return answers[1:]


@pytest.mark.slow
def test_every_line_is_answered(index_folder: Path) -> None:
    """The library drops a line that it cannot read, so that the client waited for ever."""
    long = "9" * 5000
    surrogate, *refused, last = answers_of(
        index_folder,
        [
            requested(arguments=r'{"query": "prime \ud800"}'),
            requested("3", f'{{"query": "prime", "k": {long}}}'),
            requested("4", '{"query": ' + "[" * 5000 + "]" * 5000 + "}"),
            requested("1.5"),
            requested("null"),
            requested(long),
            '{"jsonrpc": "2.0", "id": 5}',
            "[]",
            "nothing",
            requested("6"),
        ],
    )
    assert surrogate["result"]["isError"]
    assert "lone surrogate" in surrogate["result"]["content"][0]["text"]
    assert [answer["id"] for answer in refused] == [3, 4, 1.5, None, None, 5, None, None]
    assert [answer["error"]["code"] for answer in refused] == [-32600] * 7 + [-32700]
    assert last["id"] == 6
    assert last["result"]["structuredContent"]["hits"]


@pytest.mark.parametrize("module", ["mathamr", "mathamr.adapters.mcp"])
def test_a_library_of_the_current_folder_is_not_taken_for_ours(tmp_path: Path, module: str) -> None:
    for name in ("typer", "pydantic", "mcp", "numpy"):
        (tmp_path / f"{name}.py").write_text("print('PWNED')\nraise SystemExit(3)\n", encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, "-m", module, "--version"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "PWNED" not in ended.stdout + ended.stderr
    assert (ended.returncode == 0) is (module == "mathamr")
    assert "mathamr" in ended.stdout + ended.stderr


def started(index_folder: Path) -> subprocess.Popen[bytes]:
    """A server that has said hello."""
    process = subprocess.Popen(
        [sys.executable, "-m", "mathamr", "mcp", str(index_folder), "--device", "cpu"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    hello = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO})
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f'{hello}\n{{"jsonrpc": "2.0", "method": "notifications/initialized"}}\n'.encode())
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["id"] == 1
    return process


@pytest.mark.slow
def test_a_line_of_any_length_is_answered_and_costs_no_memory(index_folder: Path) -> None:
    megabytes = 200
    with started(index_folder) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        before = psutil.Process(process.pid).memory_info().rss
        process.stdin.write(b'{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "')
        for _ in range(megabytes):
            process.stdin.write(b"x" * (1 << 20))
        most = psutil.Process(process.pid).memory_info().rss
        process.stdin.write(b'"}}\n{"jsonrpc": "2.0", "id": 8, "method": "ping"}\n')
        process.stdin.flush()
        refused, pong = (json.loads(process.stdout.readline()) for _ in range(2))
        assert (refused["id"], refused["error"]["code"]) == (7, -32600)
        assert "longer than 1 MB" in refused["error"]["message"]
        assert pong["id"] == 8
        assert most - before < megabytes << 18  # a quarter of the line
        process.stdin.close()
    assert process.returncode == 0


ECHO = """
import sys
from mathamr.adapters.mcplines import answered_lines
with answered_lines():
    for line in sys.stdin.buffer:
        sys.stdout.buffer.write(line)
        sys.stdout.flush()
"""
"""A server that answers every line by itself; it starts three times as fast as one that has an index."""
PING = b'{"jsonrpc": "2.0", "id": 9, "method": "ping"}\n'


@pytest.mark.parametrize("line", [b"", b'{"jsonrpc": "2.0", "id": 9, "method": "', b"x" * (3 << 20)])
def test_lines_end_with_the_client_whatever_was_not_said_to_the_end(line: bytes) -> None:
    ended = subprocess.run([sys.executable, "-c", ECHO], input=PING + line, capture_output=True, timeout=300)
    assert PING in ended.stdout
    assert ended.returncode == 0


def test_lines_are_read_until_the_client_hears_no_more_answers() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", ECHO], bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(PING)
        assert process.stdout.readline() == PING
        process.stdout.close()
        with suppress(BrokenPipeError):
            for _ in range(4000):
                process.stdin.write(PING)
        assert process.wait(timeout=120) is not None


@pytest.mark.slow
def test_the_server_ends_with_a_client_that_hears_no_more_answers(index_folder: Path) -> None:
    with started(index_folder) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.close()
        with suppress(BrokenPipeError):
            for number in range(400):
                process.stdin.write(f"{requested(str(number))}\n".encode())
                process.stdin.flush()
        assert process.wait(timeout=120) is not None


@pytest.mark.slow
def test_blank_lines_are_passed_over(index_folder: Path) -> None:
    with started(index_folder) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"\n \r\n" * 100_000 + b'{"jsonrpc": "2.0", "id": 8, "method": "ping"}\n')
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 8
        process.stdin.close()
    assert process.returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("line", [b"", b'{"jsonrpc": "2.0", "id": 9, "method": "', b"x" * (3 << 20)])
def test_the_server_ends_with_its_client_whatever_was_not_said_to_the_end(
    index_folder: Path, line: bytes
) -> None:
    with started(index_folder) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(line)
        process.stdin.close()
        process.stdout.close()
        assert process.wait(timeout=120) is not None

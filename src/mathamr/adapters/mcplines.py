"""`answered_lines`: standard input and output of an MCP server, with an answer to every line that its library would drop.

The library takes no notice of a line that it cannot read (half of a surrogate pair, an integer of 5,000 digits, an id of
1.5), so that a client would wait for ever; and it reads a line of any length into memory.
"""

from __future__ import annotations

import json
import os
import re
import threading
from _thread import interrupt_main
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO

from mcp_types import JSONRPCNotification, jsonrpc_message_adapter

PARSE_ERROR, INVALID_REQUEST = -32700, -32600
"""Codes of JSON-RPC 2.0, section 5.1."""
LONGEST_LINE = 1 << 20
"""Bytes of a line that is read; no request of a tool needs a tenth of it."""
LONGEST_NUMBER = 300
"""The most digits of a number that is read, to tell the id of a request that is refused."""
LONGEST_ID = 1000
"""Bytes at the beginning of a line that is too long in which its id is looked for."""
_LONE_SURROGATE = re.compile(
    rb"(?<!\\)((?:\\\\)*)(?:(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)
"""An escaped half of a surrogate pair in JSON; whole pairs are group 2, escaped backslashes before it group 1."""
_ID = re.compile(r'"id"\s*:\s*(-?\d{1,18}(?![\d.eE])|"[^"\\]{0,200}")')


def repaired(line: bytes) -> bytes:
    r"""Return a line of JSON with every lone surrogate replaced by U+FFFD.

    >>> repaired(rb'"\ud83d\ude00 \ud800 \\ud800"').decode()
    '"\\ud83d\\ude00 \\ufffd \\\\ud800"'
    """
    return _LONE_SURROGATE.sub(lambda found: found[1] + (found[2] or rb"\ufffd"), line)


def refusal(line: bytes) -> bytes | None:
    """Return the error for a line that is not a message of the protocol, or None if the library reads the line.

    >>> refusal(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}')
    >>> json.loads(refusal(b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}'))["error"]["code"]
    -32600
    """
    text = line.decode("utf-8", "replace")
    try:
        message = jsonrpc_message_adapter.validate_json(text, by_name=False)
    except ValueError:  # of pydantic, for whatever is wrong
        return _answer(*_reason(text))
    if isinstance(message, JSONRPCNotification) and (known := _reason(text))[2] is not _ABSENT:
        return _answer(*known)
    return None


def too_long(beginning: bytes) -> bytes:
    """Return the answer to a line of which only the beginning is read.

    >>> json.loads(too_long(b'{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"id": 8'))["id"]
    7
    """
    found = _ID.search(beginning[:LONGEST_ID].decode("utf-8", "replace").partition('"params"')[0])
    why = f"the line is longer than {LONGEST_LINE >> 20} MB"
    return _answer(INVALID_REQUEST, why, json.loads(found[1]) if found else None)


_ABSENT: Any = object()
_END = b"\0\n"
"""The last line of the library's output; no line of JSON is the same."""


def _reason(text: str) -> tuple[int, str, Any]:
    """Return the code and the message of an error, and the id of the request."""
    try:
        asked = json.loads(text, parse_int=_number, parse_float=_number)
    except RecursionError:
        found = _ID.search(text)
        return INVALID_REQUEST, "the request is nested too deeply", json.loads(found[1]) if found else None
    except ValueError:
        return PARSE_ERROR, "this line is not JSON", None
    if not isinstance(asked, dict):
        return INVALID_REQUEST, "a message is one object of JSON-RPC 2.0 on one line", None
    id = asked.get("id", _ABSENT)
    if id is None or isinstance(id, bool | float | list | dict | _LongNumber):
        why = "the id of a request must be a string or an integer of usual length"
        return INVALID_REQUEST, why, id if isinstance(id, float) else None
    why = "this is not a message of JSON-RPC 2.0 that can be read: a field is missing, of a wrong type, or a number too long"
    return INVALID_REQUEST, why, id


class _LongNumber:
    """A number that is too long for Python to read."""


def _number(text: str) -> int | float | _LongNumber:
    if len(text) > LONGEST_NUMBER:
        return _LongNumber()
    return float(text) if set(text) & set(".eE") else int(text)


def _answer(code: int, message: str, id: Any) -> bytes:
    shown = None if id is _ABSENT else id
    return (
        json.dumps({"jsonrpc": "2.0", "id": shown, "error": {"code": code, "message": message}}).encode()
        + b"\n"
    )


@contextmanager
def answered_lines() -> Iterator[None]:
    """Put pipes in the place of standard input and output, through which two threads pass whole lines.

    Lines that the library reads go to it, repaired; the others are answered here.
    """
    source, (input_read, input_write) = os.dup(0), os.pipe()
    target, (output_read, output_write) = os.dup(1), os.pipe()
    for end, standard in ((input_read, 0), (output_write, 1)):
        os.dup2(end, standard)
        os.close(end)
    sending = threading.Lock()
    answers = os.fdopen(target, "wb", buffering=0)

    def pass_questions() -> None:
        gone = suppress(BrokenPipeError)  # the client or the library: the other one is told by its pipe
        with os.fdopen(source, "rb") as lines, os.fdopen(input_write, "wb", buffering=0) as library, gone:
            while line := lines.readline(LONGEST_LINE):
                if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
                    _send(answers, too_long(line), sending)
                    while (rest := lines.readline(LONGEST_LINE)) and not rest.endswith(b"\n"):
                        pass
                    continue
                fitting = repaired(line)
                if not fitting.strip():
                    continue
                answer = refusal(fitting)
                if answer is None:
                    library.write(fitting)
                else:
                    _send(answers, answer, sending)

    def pass_answers() -> None:
        with os.fdopen(output_read, "rb") as lines:
            try:
                for line in iter(lines.readline, _END):
                    _send(answers, line, sending)
            except BrokenPipeError:
                interrupt_main()  # nobody hears the answers to what still waits

    threading.Thread(target=pass_questions, daemon=True).start()
    passing = threading.Thread(target=pass_answers, daemon=True)
    passing.start()
    try:
        yield
    finally:
        os.write(1, _END)  # the library keeps an end of the pipe open
        passing.join()
        os.dup2(target, 1)


def _send(answers: BinaryIO, line: bytes, sending: threading.Lock) -> None:
    with sending:
        left = memoryview(line)
        while left:
            left = left[answers.write(left) :]

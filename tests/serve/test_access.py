from __future__ import annotations

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.serve.access import Keys, allowed_hosts, host_name
from mathamr.serve.errors import ApiError
from tests.cases import cases

WRITE, READ = "w" * 20, "r" * 20


def _code(check: object, key: str) -> str:
    try:
        check(key)  # type: ignore[operator]
    except ApiError as error:
        return error.code
    return "ok"


@cases(
    ("keys", "given", "reads", "writes"),
    [
        (Keys(), "", "ok", "read_only"),
        (Keys(), WRITE, "ok", "read_only"),
        (Keys(write=WRITE), "", "ok", "unauthorised"),
        (Keys(write=WRITE), WRITE, "ok", "ok"),
        (Keys(write=WRITE), WRITE + "x", "ok", "unauthorised"),
        (Keys(write=WRITE), WRITE[:-1], "ok", "unauthorised"),
        (Keys(write=WRITE, read=READ), "", "unauthorised", "unauthorised"),
        (Keys(write=WRITE, read=READ), READ, "ok", "unauthorised"),
        (Keys(write=WRITE, read=READ), WRITE, "ok", "ok"),
        (Keys(read=READ), "", "unauthorised", "read_only"),
        (Keys(read=READ), "\ud800é", "unauthorised", "read_only"),
    ],
)
def test_who_may_read_and_write(keys: Keys, given: str, reads: str, writes: str) -> None:
    assert (_code(keys.check_read, given), _code(keys.check_write, given)) == (reads, writes)


@pytest.mark.parametrize("key", ["short", "é" * 20, "with\nline" * 5])
def test_a_key_that_is_easily_guessed_or_cannot_be_a_header_is_refused(key: str) -> None:
    with pytest.raises(MathAMRError, match="16 printable"):
        Keys(write=key)


def test_a_server_on_loopback_answers_only_to_its_names() -> None:
    hosts = allowed_hosts("127.0.0.1", ["Notes.example"])
    assert hosts is not None
    assert {"localhost", "127.0.0.1", "[::1]", "notes.example"} <= hosts
    assert "evil.example" not in hosts
    assert all(allowed_hosts(loopback) for loopback in ("127.1.2.3", "::1", "localhost"))
    assert allowed_hosts("0.0.0.0") is allowed_hosts("::") is None
    assert allowed_hosts("0.0.0.0", ["a.org"]) == {"a.org"}


@cases(
    "header",
    ["[::1]evil.org", "localhost:80:80", "localhost:", "localhost:x", "a@localhost", "localhost/", " localhost",
     "localhost\t", "[::1", "-", "", ".", "a..b:123456", "лocalhost", "localhost#", "x" * 300],
)  # fmt: skip
def test_an_odd_host_is_no_host(header: str) -> None:
    assert host_name(header) not in ("localhost", "[::1]")
    assert host_name(header) == ""

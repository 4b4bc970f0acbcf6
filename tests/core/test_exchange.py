"""One question to one server: the address as it was named, and nothing but one whole answer."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.core.exchange import post_json


class Echo(BaseHTTPRequestHandler):
    """Answers with what it was asked; `/moved` leads elsewhere."""

    def do_POST(self) -> None:
        question = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/elsewhere")
            self.end_headers()
            return
        answer = json.dumps({"path": self.path, "question": json.loads(question)}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Echo) as listening:
        thread = threading.Thread(target=listening.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.server_port}"
        listening.shutdown()
        thread.join()


@pytest.mark.parametrize("path", ["/v1/embeddings", "/v1/embeddings?api-version=2&x=%20"])
def test_the_address_is_asked_as_it_was_named(server: str, path: str) -> None:
    answer = json.loads(post_json(server + path, {"input": ["a²"]}, 1000, 60, "encoder"))
    assert answer == {"path": path, "question": {"input": ["a²"]}}


def test_what_is_no_answer_is_an_error_that_names_the_server(server: str) -> None:
    with pytest.raises(MathAMRError, match=r"cannot ask the encoder http.*HTTP 302"):
        post_json(f"{server}/moved", {}, 1000, 60, "encoder")
    with pytest.raises(MathAMRError, match="longer than 10 bytes"):
        post_json(f"{server}/long", {}, 10, 60, "encoder")
    with pytest.raises(MathAMRError, match="cannot ask the encoder ftp"):
        post_json("ftp://127.0.0.1:1/x", {}, 10, 60, "encoder")


def test_an_answer_of_exactly_the_most_bytes_is_taken(server: str) -> None:
    whole = post_json(f"{server}/x", 1, 1000, 60, "encoder")
    assert post_json(f"{server}/x", 1, len(whole), 60, "encoder") == whole

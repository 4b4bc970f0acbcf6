from __future__ import annotations

from starlette.testclient import TestClient

from mathamr.serve.middleware import POLICY
from tests.cases import cases


@cases("path", ["/", "/app.js", "/base.css", "/icon.svg"])
def test_files_of_the_page_are_kept_and_asked_about(client: TestClient, path: str) -> None:
    first = client.get(path)
    assert first.status_code == 200
    assert first.headers["cache-control"] == "no-cache"
    assert first.headers["etag"].startswith('"')
    again = client.get(path, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]
    assert again.headers["cache-control"] == "no-cache"
    assert again.headers["content-security-policy"] == POLICY
    assert client.head(path).headers["etag"] == first.headers["etag"]


@cases("path", ["/v1/index", "/v1/search?q=series", "/v1/posts/no-such-post", "/no-such-file"])
def test_answers_and_errors_are_not_kept(client: TestClient, path: str) -> None:
    answer = client.get(path, headers={"If-None-Match": "*"})
    assert answer.status_code != 304
    assert answer.headers["cache-control"] == "no-store"
    assert "etag" not in answer.headers


@cases("condition", ['"x"', "Wed, 21 Oct 2015 07:28:00 GMT", "", "*"])
@cases("asked", ["bytes=0-3", "bytes=5-", "bytes=-1", "bytes=9999999-", "bytes=x", "bytes=0-0,2-2"])
def test_a_part_that_is_asked_for_is_answered_with_the_whole(
    client: TestClient, asked: str, condition: str
) -> None:
    whole = client.get("/index.html")
    response = client.get("/index.html", headers={"range": asked, "if-range": condition})
    assert (response.status_code, response.content) == (200, whole.content)

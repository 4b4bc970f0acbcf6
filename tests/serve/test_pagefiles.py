from __future__ import annotations

import os
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from mathamr.serve.middleware import POLICY
from mathamr.serve.pagefiles import PageFiles


@pytest.fixture
def page(tmp_path: Path) -> TestClient:
    """A client of a folder with one script."""
    (tmp_path / "app.js").write_text("let x = 1;", encoding="utf-8")
    app = Starlette()
    app.mount("/", PageFiles(directory=tmp_path, html=True))
    return TestClient(app)


@pytest.mark.parametrize("path", ["/", "/app.js", "/base.css", "/icon.svg"])
def test_files_of_the_page_are_kept_and_asked_about(client: TestClient, path: str) -> None:
    first = client.get(path)
    assert first.status_code == 200
    assert first.headers["cache-control"] == "no-cache"
    assert first.headers["etag"].startswith('"')
    assert "last-modified" not in first.headers
    again = client.get(path, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]
    assert again.headers["cache-control"] == "no-cache"
    assert again.headers["content-security-policy"] == POLICY
    assert client.head(path).headers["etag"] == first.headers["etag"]


@pytest.mark.parametrize(
    "path", ["/v1/index", "/v1/search?q=series", "/v1/posts/no-such-post", "/no-such-file"]
)
def test_answers_and_errors_are_not_kept(client: TestClient, path: str) -> None:
    answer = client.get(path, headers={"If-None-Match": "*"})
    assert answer.status_code != 304
    assert answer.headers["cache-control"] == "no-store"
    assert "etag" not in answer.headers


def test_another_content_is_sent_whatever_its_date_and_size(page: TestClient, tmp_path: Path) -> None:
    script = tmp_path / "app.js"
    old = page.get("/app.js")
    script.write_text("let x = 2;", encoding="utf-8")
    os.utime(script, (0, 0))
    new = page.get("/app.js", headers={"If-None-Match": old.headers["etag"]})
    assert (new.status_code, new.text) == (200, "let x = 2;")
    since = {"If-Modified-Since": "Fri, 01 Jan 2100 00:00:00 GMT"}
    assert page.get("/app.js", headers=since).status_code == 200


@pytest.mark.parametrize(
    ("asked", "status"),
    [('"other", {}', 304), ("W/{}", 304), ("*", 304), ('"other"', 200), ("", 200), ("{}x", 200)],
)
def test_any_of_several_tags_will_do(page: TestClient, asked: str, status: int) -> None:
    etag = page.get("/app.js").headers["etag"]
    assert page.get("/app.js", headers={"If-None-Match": asked.format(etag)}).status_code == status


def test_the_same_content_has_the_same_tag_after_another_installation(
    page: TestClient, tmp_path: Path
) -> None:
    before = page.get("/app.js").headers["etag"]
    os.utime(tmp_path / "app.js", (1, 1))
    assert page.get("/app.js").headers["etag"] == before


@pytest.mark.parametrize("condition", ['"x"', "Wed, 21 Oct 2015 07:28:00 GMT", "", "*"])
@pytest.mark.parametrize(
    "asked", ["bytes=0-3", "bytes=5-", "bytes=-1", "bytes=9999999-", "bytes=x", "bytes=0-0,2-2"]
)
def test_a_part_that_is_asked_for_is_answered_with_the_whole(
    client: TestClient, asked: str, condition: str
) -> None:
    whole = client.get("/index.html")
    response = client.get("/index.html", headers={"range": asked, "if-range": condition})
    assert (response.status_code, response.content) == (200, whole.content)
    assert "accept-ranges" not in whole.headers

"""A server follows an index that another writer updates: no error, no hole in the ranks, new posts soon.

While one request opens the newest snapshot, others are still answered from the one before.
"""

from __future__ import annotations

import json
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from mathamr.search.searcher import Index
from tests.index.small import build, note
from tests.models import sample_posts
from tests.serve.site import Site, serving

UPDATES = 4


def ask(site: Site, query: str, offset: int = 0) -> dict[str, Any]:
    parameters = urlencode({"q": query, "k": 5, "offset": offset})
    with urllib.request.urlopen(f"{site.url}v1/search?{parameters}", timeout=120) as answer:
        found: dict[str, Any] = json.load(answer)
    ranks = [hit["rank"] for hit in found["hits"]]
    assert ranks == list(range(offset + 1, offset + len(ranks) + 1))
    assert len(ranks) == 5 or not found["more"]
    return found


def ask_until_found(site: Site, query: str, id: str) -> dict[str, Any]:
    """The first answer that begins with this post; fails if it never comes."""
    deadline = time.monotonic() + 600
    while True:
        found = ask(site, query)
        if found["hits"][0]["id"] == id or time.monotonic() > deadline:
            return found


@pytest.mark.slow
def test_a_server_follows_the_updates_of_another_writer_under_queries(
    model_folder: Path, tmp_path: Path
) -> None:
    folder, posts = tmp_path / "index", sample_posts(8)
    build(folder, posts, model_folder)
    done, errors, answers = threading.Event(), [], []

    def search(site: Site) -> None:
        while not done.is_set():
            try:
                answers.append(ask(site, "a sum of terms", 5 * (len(answers) % 2)))
            except Exception as error:
                errors.append(error)
                return

    with Index.open(folder, device="cpu") as index, serving(index) as site:
        clients = [threading.Thread(target=search, args=(site,)) for _ in range(2)]
        for client in clients:
            client.start()
        for update in range(UPDATES):
            changed = [*posts[update + 1 :], note(f"new-{update}", f"The quagga{update} of $x^{update}$.")]
            build(folder, changed, model_folder)
            found = ask_until_found(site, f"quagga{update}", f"new-{update}")
            assert found["hits"][0]["id"] == f"new-{update}"
            assert posts[update].id not in {hit["id"] for hit in found["hits"]}
        done.set()
        for client in clients:
            client.join()
        about = json.load(urllib.request.urlopen(f"{site.url}v1/index", timeout=60))
    assert not errors
    assert len(answers) >= UPDATES
    assert about["posts"] == len(posts) - UPDATES + 1

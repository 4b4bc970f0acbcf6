"""A server follows an index that another writer updates: no error, no hole in the ranks, new posts at once.

`python -m benchmarks follow` does the same with processes, twenty updates and a thousand queries.
"""

from __future__ import annotations

import json
import threading
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from mathamr.search.searcher import Index
from tests.index.small import build, note
from tests.models import sample_posts
from tests.serve.site import Site, serving

UPDATES = 4


def ask(site: Site, query: str, offset: int = 0) -> dict[str, Any]:
    asked = urlencode({"q": query, "k": 5, "offset": offset})
    with urllib.request.urlopen(f"{site.url}v1/search?{asked}", timeout=120) as answer:
        found: dict[str, Any] = json.load(answer)
    ranks = [hit["rank"] for hit in found["hits"]]
    assert ranks == list(range(offset + 1, offset + len(ranks) + 1))
    assert len(ranks) == 5 or not found["more"]
    return found


def test_a_server_follows_the_updates_of_another_writer_under_queries(
    model_folder: Path, tmp_path: Path
) -> None:
    folder, posts = tmp_path / "index", sample_posts(8)
    build(folder, posts, model_folder)
    done, wrong, asked = threading.Event(), [], []

    def visual(site: Site) -> None:
        while not done.is_set():
            try:
                asked.append(ask(site, "a sum of terms", 5 * (len(asked) % 2)))
            except Exception as error:
                wrong.append(error)
                return

    with Index.open(folder, device="cpu") as index, serving(index) as site:
        clients = [threading.Thread(target=visual, args=(site,)) for _ in range(2)]
        for client in clients:
            client.start()
        for update in range(UPDATES):
            changed = [*posts[update + 1 :], note(f"new-{update}", f"The quagga{update} of $x^{update}$.")]
            build(folder, changed, model_folder)
            found = ask(site, f"quagga{update}")
            assert found["hits"][0]["id"] == f"new-{update}"
            assert posts[update].id not in {hit["id"] for hit in found["hits"]}
        done.set()
        for client in clients:
            client.join()
        about = json.load(urllib.request.urlopen(f"{site.url}v1/index", timeout=60))
    assert not wrong
    assert len(asked) >= UPDATES
    assert about["posts"] == len(posts) - UPDATES + 1

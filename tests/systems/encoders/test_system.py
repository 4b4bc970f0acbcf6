from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mathamr.core.errors import MathAMRError
from mathamr.index.indexing.builder import BuildOptions, build_index
from mathamr.index.manifest import Manifest
from mathamr.posts.post import Post
from mathamr.search.searcher import Index
from mathamr.systems.encoders.source import encoder_folder
from mathamr.systems.models import load_system
from mathamr.systems.system import Item
from mathamr.text.wording import written_sentences
from tests.models import sample_posts
from tests.systems.encoders.examples import embeddings_server, tiny_sentence_transformer


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_sentence_transformer(tmp_path_factory.mktemp("encoder") / "tiny")


def test_queries_and_documents_are_read_by_the_models_own_prompts(tiny: Path) -> None:
    library = pytest.importorskip("sentence_transformers")
    system, peer = load_system(f"st:{tiny}", "cpu"), library.SentenceTransformer(str(tiny), device="cpu")
    post = Post("1", "note", "Every group of prime order is cyclic.", markup="text")
    document, query = system.encode([Item(post=post), Item(post=post, is_query=True)])
    for found, prompt in ((document, "passage: "), (query, "query: ")):
        wanted = peer.encode([prompt + post.body], prompt="", normalize_embeddings=True)[0]
        assert np.allclose(found.post["document"].vectors[0], wanted, atol=1e-5)
    assert not np.allclose(document.post["document"].vectors, query.post["document"].vectors)


def test_an_index_takes_its_encoder_from_the_user_and_refuses_another(tiny: Path, tmp_path: Path) -> None:
    source, out = tmp_path / "posts.jsonl", tmp_path / "index"
    source.write_text("".join(post.to_json() + "\n" for post in sample_posts(12)), encoding="utf-8")
    build_index([source], out, BuildOptions(model=f"st:{tiny}", device="cpu"))
    with Index.open(out) as index, pytest.raises(MathAMRError, match=f"--model st:{tiny}"):
        index.search("$\\sum 1/n^2$")
    with Index.open(out, model=f"st:{tiny}") as index:
        assert index.search("$\\sum 1/n^2$").hits
        assert index.archive.manifest.model.name == f"st:{tiny}"
        assert index.archive.manifest.model.folder is None
    (tiny / "config_sentence_transformers.json").write_text('{"prompts": {"query": "ask: "}}')
    with pytest.raises(MathAMRError, match="is another or has changed"):
        build_index([source], out, BuildOptions(model=f"st:{tiny}", device="cpu"))


def test_a_server_that_a_user_names_is_indexed_with_and_asked(tmp_path: Path) -> None:
    source, out = tmp_path / "posts.jsonl", tmp_path / "index"
    posts = sample_posts(12)
    source.write_text("".join(post.to_json() + "\n" for post in posts), encoding="utf-8")
    with embeddings_server() as server:
        build_index([source], out, BuildOptions(model=f"{server.address}#words", device="cpu"))
        before = len(server.asked)
        for change in ({}, {"folder": str(encoder_folder(f"{server.address}#words"))}):
            manifest = Manifest.read(out)
            replace(manifest, model=replace(manifest.model, **change)).write(out)
            with Index.open(out) as index, pytest.raises(MathAMRError, match="only if you name it yourself"):
                index.search("zebra", strategy="single")
        assert len(server.asked) == before  # a stranger's index does not choose who receives queries
        with Index.open(out, model=f"{server.address}#words") as index:
            asked = " ".join(written_sentences(posts[3]))
            assert index.search(asked, strategy="single").hits[0].id == posts[3].id
            assert posts[3].id in [hit.id for hit in index.search(posts[3].title, k=3)]

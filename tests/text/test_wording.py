from __future__ import annotations

from pathlib import Path

from mathamr.graphs.configuration import GraphConfiguration
from mathamr.graphs.corpus import build_graphs, build_tensors, build_vocabularies
from mathamr.graphs.store import GraphStore
from mathamr.posts.level import Level
from mathamr.posts.post import Formula, Post
from mathamr.text.wording import wording
from tests.index.small import PARSER

POST = Post(
    "7",
    "question",
    "Let $x > 0$. Then FORMULA_9 is no formula, but $x^2\n>0$ is!",
    title="Is $x$ a square?",
    markup="text",
    formulas=(Formula("a", "x"), Formula("b", "x > 0"), Formula("c", "x^2\n>0")),
)


def test_every_representative_finds_its_words(tmp_path: Path) -> None:
    empty = Post("e", "note", "", markup="text")
    with GraphStore(tmp_path / "store", create=True) as store:
        build_graphs([empty, POST], store, parser=PARSER)
        build_vocabularies(store)
        build_tensors(store)
        assert wording(empty, store.tensor(GraphConfiguration().name, "e")).spans == ()
        tensor = store.tensor(GraphConfiguration().name, "7")
    written = wording(POST, tensor)
    assert written.text.startswith("Is $x$ a square? Let $x > 0$. Then ")
    assert "$x^2 >0$ is!" in written.text
    said = {
        (Level(tensor.levels[span.representative]), tensor.references[span.representative]): written.text[
            span.start : span.end
        ]
        for span in written.spans
    }
    assert said[Level.FORMULA, "a"] == "$x$"
    assert said[Level.FORMULA, "b"] == "$x > 0$"
    assert said[Level.FORMULA, "c"] == "$x^2 >0$"
    assert said[Level.SENTENCE, "0"] == "Is $x$ a square?"
    assert said[Level.SENTENCE, "1"] == "Let $x > 0$."
    assert said[Level.DOCUMENT, "7"] == written.text
    assert len(written.spans) == len(tensor.representatives)

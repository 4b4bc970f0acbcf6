"""What one request may cost: filters, explanations and responses are bounded however large the index or a post is."""

from __future__ import annotations

import json
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from mathamr.posts.post import Formula, Link, Post
from mathamr.posts.rendering import drawing as drawings
from mathamr.posts.rendering.drawing import LONGEST_FORMULA, draw, draw_formula
from mathamr.search import locations as places
from mathamr.search.alignment import AlignedPart, Alignment
from mathamr.search.fragment import Fragment
from mathamr.search.hits import FormulaHit, Hit
from mathamr.search.searcher import Index
from mathamr.serve import pieces
from mathamr.serve.pieces import formula_piece
from mathamr.serve.routes import explain
from mathamr.serve.routes import search as routes
from mathamr.serve.routes.posts import LONGEST_TITLE, MOST_LINKS
from tests.serve.conftest import Serving
from tests.serve.test_post_routes import at


def test_a_path_is_taken_apart_once_however_many_folders_are_given(
    client: TestClient, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    """50 folders over 6,164 paths took 15 s when every pair was taken apart."""
    sources = {f"/home/ada/notes/{number % 7}/n{number}.md": 1 for number in range(6_164)}
    taken_apart: list[str] = []

    def counting(path: str) -> PurePosixPath:
        taken_apart.append(path)
        return PurePosixPath(path)

    class Catalogue:
        def sources(self) -> dict[str, int]:
            return sources

    monkeypatch.setattr(places, "PurePosixPath", counting)
    folders = [f"notes/{number}" for number in range(50)]
    found = places.within(Catalogue(), folders, places.Filter())  # type: ignore[arg-type]
    assert len(found.sources) == len(sources)
    assert len(taken_apart) <= len(sources) + len(folders)
    taken_apart.clear()
    again = places.within(Catalogue(), folders, places.Filter(sources=found.sources))  # type: ignore[arg-type]
    assert again == found
    assert not taken_apart, "the same folders are looked for among the same files once"


def aligned(parts: int) -> tuple[Alignment, Post]:
    formulas = tuple(Formula(f"p:{number}", f"x_{{{number}}}") for number in range(parts))
    post = Post("p", "note", "x", formulas=formulas)
    row = AlignedPart("document", "q", (Fragment("text", "query"),))
    columns = tuple(
        AlignedPart("formula", each.id, (Fragment("formula", each.latex, each.id),), "body")
        for each in formulas
    )
    values = np.linspace(0, 1, 2 * parts, dtype=np.float32).reshape(2, parts)
    return Alignment("p", "", (row, row), columns, np.stack([values[0], values[1, ::-1]])), post


def test_an_explanation_shows_the_most_similar_parts_and_collects_formulas_once(
    client: TestClient, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    """9,000 formulas took 56 s when the formulas of the post were collected again for each of them."""
    alignment, post = aligned(9_000)
    drawn: list[str] = []
    collected: list[str] = []
    collect = pieces.formulas_with_macros

    def drawing(latex: str, *_: Any, **__: Any) -> drawings.Drawn:
        drawn.append(latex)
        return drawings.Drawn("<math/>")

    def collecting(each: Post) -> Any:
        collected.append(each.id)
        return collect(each)

    monkeypatch.setattr(drawings, "draw", drawing)
    monkeypatch.setattr(explain, "formulas_with_macros", collecting)
    monkeypatch.setattr(index, "explain", lambda *_: alignment)
    monkeypatch.setattr(type(index.archive.catalogue), "posts", lambda *_: {"p": post})
    found = client.get("/v1/explain", params={"q": "prime", "id": "p"}).json()
    assert len(found["columns"]) == len(found["matrix"][0]) == explain.MOST_PARTS
    assert len(drawn) <= explain.MOST_PARTS
    assert len(collected) == 2
    assert "the post has 9,000 parts; the 500 most similar are shown" in found["query"]["notes"]
    for best, values in zip(found["best"], alignment.similarities, strict=True):
        assert best["score"] == round(float(values.max()), 4)
        column = int(values.argmax())
        assert found["columns"][best["column"]]["formula"] == f"p:{column}"
    shown = [part["formula"] for part in found["columns"]]
    assert shown == sorted(shown, key=lambda id: int(id.split(":")[1]))


def test_a_giant_formula_is_neither_drawn_nor_sent_whole() -> None:
    giant = Formula("f", "x+" * LONGEST_FORMULA)
    drawn = draw_formula(giant)
    assert drawn.mathml is None
    assert drawn.error is not None
    piece = formula_piece(giant.latex, drawn)
    assert len(piece["latex"]) == len(piece["text"]) == LONGEST_FORMULA
    assert draw("", mathml="<math>" + "<mi>x</mi>" * LONGEST_FORMULA + "</math>").mathml is None


def test_a_post_with_a_giant_title_and_giant_lists_is_shown_in_part(
    serving: Serving, own_index: Index
) -> None:
    tags = tuple(f"tag{number}" for number in range(2 * MOST_LINKS))
    links = tuple(Link(f"post{number}", "related") for number in range(2 * MOST_LINKS))
    giant = Post("giant", "note", "word " * 100_000, "$x$ " * LONGEST_TITLE, "text", tags=tags, links=links)
    catalogue: Any = own_index.archive.catalogue
    with catalogue.transaction():
        catalogue.put(giant, "", ())
    response = serving(over=own_index).get(at("giant"))
    assert response.status_code == 200
    shown = response.json()
    assert shown["truncated"]
    assert len(shown["source_title"]) == LONGEST_TITLE
    assert len(shown["tags"]) == len(shown["links"]) == MOST_LINKS
    assert "".join(piece["text"] for piece in shown["title"]).count("x") == LONGEST_TITLE // 4


def test_a_hit_of_a_giant_post_is_short() -> None:
    fragments = (Fragment("text", "word " * 100_000), Fragment("formula", "x+" * 100_000, "g:0"))
    formula = FormulaHit("g:0", "x+" * 100_000, "", own_id="g:0")
    hit = Hit("g", 1, 1.0, "note", fragments, (fragments[1],), ("tag",) * 5_000, formula=formula)
    shown = routes._hit(hit, {})
    assert len(shown["tags"]) == routes.MOST_TAGS
    assert len(json.dumps(shown)) < 4 * LONGEST_FORMULA

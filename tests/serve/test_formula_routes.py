from __future__ import annotations

from urllib.parse import quote
from xml.etree import ElementTree

import pytest
from starlette.testclient import TestClient

from mathamr.formulas.notation import to_string
from mathamr.formulas.parse import parse
from mathamr.search.searcher import Index
from mathamr.serve.limits import Limits
from tests.posts.rendering.test_sanitiser import inspected
from tests.serve.conftest import Serving
from tests.serve.hostile import hostile_posts
from tests.serve.test_search_routes import error

FRACTION = r"\frac{1}{n^2}"


def test_latex_is_rendered_with_its_trees(client: TestClient) -> None:
    found = client.get("/v1/render", params={"latex": FRACTION, "display": "true"}).json()
    parsed = parse(FRACTION)
    assert (found["slt"], found["opt"]) == (to_string(parsed.slt), to_string(parsed.opt))
    assert found["mathml"] == parsed.presentation_mathml(display=True)
    assert client.post("/v1/render", json={"latex": FRACTION, "display": True}).json() == found


def test_broken_latex_is_told_with_its_place(client: TestClient) -> None:
    told = error(client.get("/v1/render", params={"latex": ""}))
    assert (told["code"], told["status"], told["offset"], told["field"]) == (
        "broken_formula",
        422,
        0,
        "latex",
    )


def test_text_is_rendered_piece_by_piece_and_a_broken_formula_breaks_nothing_else(client: TestClient) -> None:
    text = "Let $" + "{" * 2000 + "}" * 2000 + "$ and $x$"
    found = client.post("/v1/render", json={"text": text}).json()
    first, broken, between, whole = found["pieces"]
    assert (first["text"], between["text"]) == ("Let ", " and ")
    assert (broken["mathml"], broken["error"]["offset"] >= 0) == (None, True)
    assert whole["mathml"].startswith("<math")
    assert text[whole["start"] : whole["end"]] == "$x$"


@pytest.mark.parametrize("body", [{}, {"latex": "x", "text": "x"}, {"latex": None}])
def test_one_of_latex_and_text_is_needed(client: TestClient, body: dict[str, str]) -> None:
    assert error(client.post("/v1/render", json=body))["code"] == "invalid"


def test_too_much_to_render_is_refused(serving: Serving) -> None:
    client = serving(Limits(query_characters=50, formulas=2, seconds=3600))
    assert error(client.get("/v1/render", params={"latex": "x" * 51}))["field"] == "latex"
    assert error(client.get("/v1/picture", params={"latex": "x" * 51}))["field"] == "latex"
    assert error(client.get("/v1/render", params={"text": "x" * 51}))["field"] == "text"
    assert error(client.get("/v1/render", params={"text": "$x$ $y$ $z$"}))["field"] == "text"


def test_a_picture_shows_both_trees(client: TestClient) -> None:
    response = client.get("/v1/picture", params={"latex": FRACTION})
    assert response.headers["content-type"] == "image/svg+xml"
    text = "".join(ElementTree.fromstring(response.content).itertext())
    assert "Symbol layout tree" in text
    assert "Operator tree" in text


def test_a_tree_too_large_to_draw_is_refused(client: TestClient) -> None:
    told = error(client.get("/v1/picture", params={"latex": "x+" * 2400 + "x"}))
    assert (told["code"], told["status"]) == ("too_complex", 422)


def test_a_formula_of_the_index_has_trees_and_places(client: TestClient, index: Index) -> None:
    catalogue = index.archive.catalogue
    entry = next(
        each for name in catalogue.ids() for each in catalogue.formulas_of(name) if each.formula.latex
    )
    found = client.get(f"/v1/formulas/{entry.id}").json()
    assert (found["id"], found["post"], found["latex"]) == (entry.id, entry.post, entry.formula.latex)
    assert found["slt"] == to_string(parse(entry.formula.latex).slt)
    assert found["places"] == len(catalogue.with_visual(entry.visual))
    assert entry.post in found["posts"]
    assert len(found["opt_outline"]) > 0
    inspected(found["mathml"])
    picture = client.get(f"/v1/formulas/{entry.id}?format=svg")
    assert ElementTree.fromstring(picture.content).tag.endswith("svg")


def test_formulas_of_hostile_posts_can_be_asked_for(client: TestClient, index: Index) -> None:
    catalogue = index.archive.catalogue
    for id in (entry.id for post in hostile_posts() for entry in catalogue.formulas_of(post.id)):
        response = client.get(f"/v1/formulas/{quote(id, safe='')}")
        assert response.status_code == 200, id
        if response.json()["mathml"]:
            inspected(response.json()["mathml"])


def test_an_unknown_formula_is_unknown(client: TestClient) -> None:
    for id in ("nosuch", "a%2Fb", "..%2F..%2Fetc%2Fpasswd"):
        assert error(client.get(f"/v1/formulas/{id}"))["code"] == "unknown_formula"


def test_a_name_gives_its_formulas_and_a_formula_its_names(client: TestClient) -> None:
    named = client.get("/v1/names", params={"name": "basel problem"}).json()
    assert named["names"] == []
    assert r"\zeta(2)=\frac{\pi^2}6" in named["formulas"]
    found = client.get("/v1/names", params={"latex": r"\int_{-\infty}^\infty e^{-u^2}du"}).json()
    assert found["names"][0] == "gaussian integral"
    assert client.get("/v1/names", params={"latex": "x" * 30_000}).status_code == 422


def test_commands_are_matching_commands(client: TestClient) -> None:
    whole = client.get("/v1/commands")
    assert "max-age" in whole.headers["cache-control"]
    assert whole.json()["commands"][0]["snippet"] == "\\frac{}{}"
    few = client.get("/v1/commands", params={"prefix": "\\alp", "k": 5}).json()["commands"]
    assert [each["character"] for each in few] == ["α"]


@pytest.mark.parametrize("field", ["latex", "text"])
def test_half_of_a_surrogate_pair_is_told_and_no_crash(client: TestClient, field: str) -> None:
    response = client.post(
        "/v1/render",
        content=b'{"%s": "x\\ud800"}' % field.encode(),
        headers={"content-type": "application/json"},
    )
    assert response.status_code == 422
    assert response.json()["error"]["field"] == field

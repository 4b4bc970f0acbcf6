"""What a collection calls a formula itself is told like the names of the table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Post
from mathamr.search.searcher import Index
from mathamr.serve.app import create_app
from mathamr.serve.limits import Limits
from mathamr.serve.service import Service
from tests.adapters.conftest import call_tool
from tests.cases import cases
from tests.index.small import build

COOLING = r"\frac{dT}{dt}=-k(T-T_0)"
CUBES = r"\sum_{n=1}^\infty\frac{1}{n^3+n}"


def noted(identifier: str, body: str, title: str = "", kind: str = "note") -> Post:
    formulas = formulas_of(identifier, title, body, "latex")
    return Post(identifier, kind, body, title, "latex", formulas=formulas)  # type: ignore[arg-type]


POSTS = [
    noted("cooling", rf"The \emph{{law of cooling}} says that ${COOLING}$ for bodies."),
    noted(
        "again", rf"Why is ${COOLING}$ true? \emph{{Hint}}: ${COOLING}$, and \emph{{why not}} ${COOLING}$."
    ),
    noted("cubes", rf"It is \[{CUBES}\] and converges.", "Theorem 3.1 (Carpenter)", "theorem"),
    noted("asked", rf"Is it so? \[{COOLING}\]", "Bodies in water", "question"),
    noted("other", r"The \emph{law of warming} says that $\frac{dT}{dt}=k+2T$."),
    noted("euler", r"We call \emph{cis formula} $e^{ix}=\cos x+i\sin x$."),
]


@pytest.fixture(scope="module")
def index(model_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("names")
    build(folder / "index", POSTS, model_folder)
    with Index.open(folder / "index", device="cpu") as opened:
        yield opened


@pytest.mark.parametrize(
    ("latex", "names"),
    [
        (COOLING, ["law of cooling"]),
        (r"\frac{dU}{ds}=-c(U-U_0)", ["law of cooling"]),
        (CUBES, ["Carpenter"]),
        (r"\sum\frac{1}{n^3+n}", ["Carpenter"]),
        (r"e^{iy}=\cos y+i\sin y", ["euler's formula", "cis formula", "euler formula"]),
        ("a+b", []),
        (r"\frac{", []),
        ("", []),
    ],
)
def test_a_formula_has_the_names_of_the_table_and_of_the_posts(
    index: Index, latex: str, names: list[str]
) -> None:
    assert index.names_of(latex) == names


@cases(
    ("name", "formulas"),
    [
        ("law of cooling", [COOLING]),
        ("Laws of Cooling", [COOLING]),
        ("Carpenter's theorem", [CUBES]),
        ("cis formula", [r"e^{ix}=\cos x+i\sin x"]),
        ("Euler's identity", [r"e^{i\pi}+1=0", r"e^{i\pi}=-1"]),
        ("law of heating", []),
        ("hint", []),
        ("", []),
    ],
)
def test_a_name_has_the_formulas_of_the_table_and_of_the_posts(
    index: Index, name: str, formulas: list[str]
) -> None:
    assert index.formulas_of(name) == formulas


def test_the_api_tells_the_names_of_the_collection(index: Index) -> None:
    service = Service(index, Limits(seconds=3600))
    client = TestClient(create_app(service))
    shown = index.archive.catalogue.formulas_of("asked")[0].id
    found = [
        client.get("/v1/names", params={"latex": COOLING}).json()["names"],
        client.get(f"/v1/formulas/{quote(shown, safe='')}").json()["names"],
    ]
    formulas = client.get("/v1/names", params={"name": "law of cooling"}).json()["formulas"]
    service.close()
    assert found == [["law of cooling"], ["law of cooling"]]
    assert formulas == [COOLING]


def test_mcp_tells_the_names_of_the_collection(index: Index) -> None:
    pytest.importorskip("mcp.server.mcpserver", reason="the adapter needs mcp 2")
    assert call_tool(index, "name_of", formula=CUBES).structured_content["names"] == ["Carpenter"]
    assert call_tool(index, "formulas_of", name="law of cooling").structured_content["formulas"] == [COOLING]

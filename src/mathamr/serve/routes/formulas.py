"""Formulas: of the index, and whatever LaTeX a client sends."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response
from fastapi.responses import JSONResponse

from mathamr.core.errors import MathAMRError
from mathamr.formulas.latex.macros import without_macros
from mathamr.formulas.latex.unicode import unicode_to_latex
from mathamr.formulas.notation import outline, to_string
from mathamr.formulas.parse import ParsedFormula, parse
from mathamr.formulas.picture import svg
from mathamr.formulas.trees import trees_of
from mathamr.posts.decoding import UNWANTED
from mathamr.posts.formats.latex.definitions import definitions_for
from mathamr.posts.markup import pieces
from mathamr.posts.rendering.drawing import draw, draw_formula
from mathamr.search.query import with_formulas_marked
from mathamr.serve.answers import (
    CommandsAnswer,
    FormulaAnswer,
    NamesAnswer,
    RenderAnswer,
    SymbolsAnswer,
    TextAnswer,
)
from mathamr.serve.commands import matching_commands
from mathamr.serve.drawnsymbols import drawn_symbols
from mathamr.serve.errors import ApiError
from mathamr.serve.pieces import shown_pieces
from mathamr.serve.requests import Format, Id, RenderRequest, SymbolsRequest
from mathamr.serve.routes import ANY
from mathamr.serve.service import Reader, Service, of_index, of_request
from mathamr.systems.ranking import Task

router = APIRouter(tags=["formulas"])
POSTS_SHOWN = 20
PICTURE = "image/svg+xml"
_SVG: dict[int | str, dict[str, Any]] = {200: {"content": {PICTURE: {"schema": {"type": "string"}}}}}


@router.get(f"/formulas/{{id:{ANY}}}", response_model=FormulaAnswer, responses=_SVG)
async def formula(service: Reader, id: Annotated[Id, Path()], format: Format = "json") -> Any:
    """Return a formula of the index with its trees, and where else it stands; as SVG a picture of the trees."""
    return await service.read(
        lambda: _formula_picture(service, id) if format == "svg" else JSONResponse(_formula(service, id))
    )


@router.get("/render", response_model=RenderAnswer | TextAnswer)
async def render_link(
    service: Reader,
    latex: str | None = None,
    text: str | None = None,
    *,
    display: bool = False,
    task: Task | None = None,
) -> Any:
    """Return LaTeX, or text as a search reads it, as MathML."""
    return await _render(service, RenderRequest(latex=latex, text=text, display=display, task=task))


@router.post("/render", response_model=RenderAnswer | TextAnswer)
async def render(service: Reader, source: RenderRequest) -> Any:
    """Return LaTeX, or text as a search reads it, as MathML."""
    return await _render(service, source)


@router.get("/picture", response_class=Response, responses=_SVG)
async def picture(service: Reader, latex: str) -> Response:
    """Return the two trees of a formula as SVG."""
    _check_length(service, latex, "latex")

    def work() -> Response:
        parsed = _parsed(latex, _macros(service, latex))
        return _picture(parsed.slt, parsed.opt, latex)

    return await service.compute(work)


@router.get("/names", response_model=NamesAnswer)
async def names(service: Reader, latex: str = "", name: str = "") -> Any:
    """Return what a formula is called, and the formulas of a name: one of both is asked for."""
    _check_length(service, latex, "latex")
    _check_length(service, name, "name")
    index = service.index
    return await service.read(
        lambda: JSONResponse(
            {
                "names": of_index(lambda: index.names_of(latex, _macros(service, latex))) if latex else [],
                "formulas": of_index(lambda: index.formulas_of(name)) if name else [],
            }
        )
    )


@router.get("/commands", response_model=CommandsAnswer)
async def commands(
    service: Reader,
    prefix: Annotated[str, Query(max_length=100)] = "",
    k: Annotated[int, Query(ge=1, le=10_000)] = 10_000,
) -> Any:
    """Return LaTeX commands for completion, those used most first."""
    headers = {"Cache-Control": "private, max-age=3600"}
    return await service.compute(
        lambda: JSONResponse({"commands": matching_commands(prefix, k)}, headers=headers)
    )


@router.post("/symbols", response_model=SymbolsAnswer)
async def symbols(service: Reader, drawing: SymbolsRequest) -> Any:
    """Return the symbols that strokes of a pen may be, the most likely first."""
    found = await service.compute(lambda: drawn_symbols(drawing.strokes, drawing.k))
    return {"symbols": [asdict(each) for each in found]}


async def _render(service: Service, source: RenderRequest) -> Response:
    if (source.latex is None) == (source.text is None):
        raise ApiError("invalid", "give either latex or text", "latex")
    if source.latex is not None:
        latex = source.latex
        _check_length(service, latex, "latex")
        return await service.compute(lambda: JSONResponse(_rendered(service, latex, display=source.display)))
    text = UNWANTED.sub(" ", source.text or "")
    _check_length(service, text, "text")
    return await service.compute(
        lambda: JSONResponse(_rendered_text(service, text, source.task or "answers"))
    )


def _rendered(service: Service, latex: str, *, display: bool) -> dict[str, Any]:
    macros = _macros(service, latex)
    parsed = _parsed(latex, macros)
    drawn = draw(latex, macros, display=display)
    return parsed.to_dict() | {"mathml": drawn.mathml, "display": display}


def _rendered_text(service: Service, text: str, task: Task) -> dict[str, Any]:
    marked = with_formulas_marked(text, task)
    read = list(pieces(marked, "text"))
    if sum(piece.kind == "formula" for piece in read) > service.limits.formulas:
        raise ApiError("invalid", f"a text may have at most {service.limits.formulas} formulas", "text")
    read = [
        piece._replace(text=unicode_to_latex(piece.text)) if piece.kind == "formula" else piece
        for piece in read
    ]
    return {"text": text, "pieces": list(shown_pieces(read, _macros(service, marked)))}


def _macros(service: Service, text: str) -> tuple[str, ...]:
    """Return the macros of the collection that a text uses."""
    return definitions_for(text, service.index.macros) if "\\" in text else ()


def _parsed(latex: str, macros: tuple[str, ...]) -> ParsedFormula:
    return of_request(lambda: parse(latex, macros, wildcards=True), "latex")


def _check_length(service: Service, text: str, field: str) -> None:
    if len(text) > service.limits.query_characters:
        raise ApiError(
            "invalid", f"{field} may have at most {service.limits.query_characters} characters", field
        )


def _formula(service: Service, id: str) -> dict[str, Any]:
    entry, macros = _entry(service, id)
    places = of_index(lambda: service.archive.catalogue.with_visual(entry.visual)) if entry.visual else [id]
    others = of_index(lambda: service.archive.catalogue.formulas(places[: 5 * POSTS_SHOWN]))
    (opt, slt), _ = trees_of(entry.formula, macros)
    drawn = draw_formula(replace(entry.formula, display=True), macros)
    repairs: list[Any] = []
    if entry.formula.latex.strip():
        try:
            repairs = list(parse(entry.formula.latex, macros).to_dict()["repairs"])  # type: ignore[call-overload]
        except MathAMRError:
            repairs = []  # `drawn.error` has the reason
    return {
        "id": entry.id,
        "post": entry.post,
        "latex": entry.formula.latex,
        "query": _findable(service, entry.formula.latex, macros),
        "names": of_index(lambda: service.index.names_of(entry.formula.latex, macros)),
        "mathml": drawn.mathml,
        "display": entry.formula.display,
        "error": drawn.error,
        "slt": to_string(slt) if slt else None,
        "opt": to_string(opt) if opt else None,
        "slt_outline": outline(slt) if slt else [],
        "opt_outline": outline(opt) if opt else [],
        "repairs": repairs,
        "visual": entry.visual,
        "visual_id": entry.formula.visual_id,
        "places": len(places),
        "posts": list(dict.fromkeys(other.post for other in others.values()))[:POSTS_SHOWN],
    }


def _findable(service: Service, latex: str, macros: tuple[str, ...]) -> str:
    """Return the LaTeX of a formula for a query: as it is written, if its macros mean the same there."""
    if set(macros).issubset(service.index.macros.values()):
        return latex
    try:
        return without_macros(latex, macros)
    except MathAMRError:
        return latex


def _formula_picture(service: Service, id: str) -> Response:
    entry, macros = _entry(service, id)
    (opt, slt), _ = trees_of(entry.formula, macros)
    return _picture(slt, opt, entry.formula.latex)


def _entry(service: Service, id: str) -> Any:
    catalogue = service.archive.catalogue
    entry = of_index(lambda: catalogue.formulas([id])).get(id)
    if entry is None:
        raise ApiError("unknown_formula", f"there is no formula {id!r} in the index", "id")
    post = of_index(lambda: catalogue.posts([entry.post])).get(entry.post)
    return entry, post.macros if post else ()


def _picture(slt: Any, opt: Any, latex: str) -> Response:
    try:
        drawn = svg(slt, opt, latex)
    except MathAMRError as error:
        raise ApiError("too_complex", str(error)) from error
    return Response(drawn.encode("utf-8", "replace"), media_type=PICTURE)

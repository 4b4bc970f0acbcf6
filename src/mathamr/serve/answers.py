"""The JSON of responses; FastAPI builds the OpenAPI document from these and from `requests`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from mathamr.posts.post import LinkType, Markup
from mathamr.posts.postkind import PostKind
from mathamr.search.examplequeries import ExampleQuery
from mathamr.search.filtercounts import FilterCounts
from mathamr.search.hits import Found, Match
from mathamr.serve.commands import Command
from mathamr.serve.drawnsymbols import DrawnSymbol
from mathamr.serve.requests import Strategy
from mathamr.systems.nodematch import View
from mathamr.systems.ranking import Task


class ProblemShown(BaseModel):
    """What is wrong with a formula or was repaired in it, and where."""

    message: str
    offset: int


class TextPiece(BaseModel):
    """A run of text, or a gap where something is left out."""

    kind: Literal["text", "gap"]
    text: str
    matched: bool


class FormulaPiece(BaseModel):
    """A formula; `text` is its LaTeX, as `latex` is."""

    kind: Literal["formula"]
    text: str
    matched: bool
    id: str | None
    latex: str
    mathml: str | None
    display: bool
    error: ProblemShown | None


class PlacedText(TextPiece):
    """A run of text at its place in the source."""

    start: int
    end: int


class PlacedFormula(FormulaPiece):
    """A formula at its place in the source."""

    start: int
    end: int


Piece = Annotated[TextPiece | FormulaPiece, Field(discriminator="kind")]
PlacedPiece = Annotated[PlacedText | PlacedFormula, Field(discriminator="kind")]


class QueryShown(BaseModel):
    """The query as it was read."""

    text: str
    pieces: list[PlacedPiece]
    notes: list[str]
    note_pieces: list[list[PlacedPiece]]


class FormulaHitShown(BaseModel):
    """A found formula at its best place."""

    id: str
    latex: str
    mathml: str | None
    display: bool
    visual: str
    visual_id: str | None
    places: int
    exact: bool
    own_id: str
    matched: list[tuple[int, int]]
    matched_nodes: list[int]
    taken_nodes: list[int] = Field(description="nodes for which wildcards of the query stand")


class PlaceShown(BaseModel):
    """Where a post stands in its input: path and line, its own label, the labels of what stands in it, the cell of a notebook."""

    path: str
    line: int
    label: str
    inside: list[str]
    cell: int | None = None


class HitShown(BaseModel):
    """A post that was found, or in which a formula was found."""

    id: str
    collection: str | None = Field(
        None,
        description="the collection that it is of, where several are served: `?collection=` of other routes",
    )
    rank: int
    score: float
    share: float
    match: Match = Field(
        description="strong: most likely what was asked; weak: perhaps; similar: only something similar"
    )
    reason: str = Field(description="why the hit was found, in a few words")
    kind: str
    title: list[Piece]
    snippet: list[Piece]
    tags: list[str]
    parent: str | None
    date: str | None
    votes: int | None
    as_of: str | None = Field(
        description="the day of the version that is shown, if its file can no longer be read whole; else null"
    )
    is_deleted: bool = Field(description="whether the file was deleted after it was indexed")
    source: str
    place: PlaceShown | None
    open: str | None
    evidence: dict[str, float]
    formula: FormulaHitShown | None
    others: list[HitShown] = Field(
        description="of a grouped search: further hits in the same document, or for the same question"
    )


class ReceiptShown(BaseModel):
    """What an index holds, and what of its files it lacks."""

    files: int
    entries: int
    unread_formulas: int = Field(description="formulas that could not be read")
    pages_without_formulas: int = Field(description="pages of PDFs of which only the text was read")
    updated: str = Field(description="when the index was last brought up to date, as ISO 8601")
    changed_files: int = Field(
        description="files that changed since then; looked at where something is denied"
    )
    new_files: int = Field(description="files that are new since then")
    deleted_files: int = Field(description="files that were deleted since then")
    text: str = Field(description="the same as one sentence")


class SearchAnswer(BaseModel):
    """The hits of a search."""

    query: QueryShown
    task: Task
    strategy: Strategy
    k: int
    offset: int
    more: bool
    found: Found = Field(
        description="the best match among the first results, whichever are here; similar: the nearest are perhaps not what was asked;"
        " nothing: surely they are not, or there are none"
    )
    absent: list[str] = Field(description="words of a short query that no entry has")
    checked: ReceiptShown | None = Field(description="what the search looked through")
    collections: dict[str, Found] = Field(
        default={}, description="the best match in each collection, where several are searched"
    )
    counts: FilterCounts | None = Field(
        description="what filters would keep of the results; null unless asked for"
    )
    seconds: dict[str, float]
    hits: list[HitShown]


class PartShown(BaseModel):
    """What one vector of a query or post stands for."""

    kind: Literal["document", "sentence", "formula"]
    label: str
    pieces: list[Piece]
    formula: str | None
    field: Literal["title", "body"] | None
    start: int | None
    end: int | None


class BestMatch(BaseModel):
    """The part of the post that matches a part of the query best."""

    row: int
    column: int
    score: float


class ViewShown(BaseModel):
    """The trees of one view, `opt` (operators) or `slt` (layout), and the pairs of nodes that match, with their scores."""

    view: View
    score: float
    query_labels: list[str]
    found_labels: list[str]
    met: list[tuple[int, int, float]]


class NodesShown(BaseModel):
    """Which nodes of a found formula match which of the query's, which method compared them, and a picture."""

    by: str
    query: str
    found: str
    views: list[ViewShown]
    svg: str | None


class ExplainAnswer(BaseModel):
    """The parts of the query against the parts of the post; of a formula also its nodes against the query's."""

    query: QueryShown
    id: str
    formula: str | None
    score: float
    rows: list[PartShown]
    columns: list[PartShown]
    matrix: list[list[float]]
    best: list[BestMatch]
    nodes: NodesShown | None
    seconds: dict[str, float]


class LinkShown(BaseModel):
    """A link to another post."""

    target: str
    type: LinkType
    words: str
    label: str


class Neighbour(BaseModel):
    """A post that belongs to another: its question, an answer, a duplicate, one that is related, one that it refers
    to, one that a section contains, or the one before or after it in its file."""

    id: str
    relation: Literal["question", "answer", "duplicate", "related", "mention", "contains", "previous", "next"]
    kind: PostKind | None
    indexed: bool
    accepted: bool
    votes: int | None
    date: str | None
    text: list[Piece]


class PostAnswer(BaseModel):
    """A post as it is shown, and as it was written."""

    id: str
    kind: PostKind
    title: list[Piece]
    title_html: str
    html: str
    truncated: bool
    markup: Markup
    source_title: str
    source_body: str
    tags: list[str]
    parent: str | None
    accepted_answer: str | None
    answers: list[str]
    neighbours: list[Neighbour]
    date: str | None
    votes: int | None
    source: str
    place: PlaceShown | None
    open: str | None
    documentation: str | None
    beside: str | None = Field(
        description="the other index in which what corresponds to it is found (`/v1/beside/{id}`)"
    )
    links: list[LinkShown]
    formulas: list[FormulaPiece]


class CorrespondingShown(BaseModel):
    """A post of the other index."""

    id: str
    kind: PostKind
    title: str
    html: str
    match: Match
    source: str
    place: PlaceShown | None
    open: str | None
    documentation: str | None


class BesideAnswer(BaseModel):
    """What corresponds to a post in the other index."""

    index: str
    found: bool = Field(description="false if nothing is close enough; the hits are only similar then")
    hits: list[CorrespondingShown]


class Written(BaseModel):
    """A post that is now in the index."""

    id: str
    created: bool
    formulas: int
    notes: list[str]


class PutAnswer(Written):
    """The post that was put."""

    seconds: float


class PostsAnswer(BaseModel):
    """The posts that were put."""

    posts: list[Written]
    seconds: float


class DeleteAnswer(BaseModel):
    """The post that was deleted."""

    id: str
    deleted: bool


class RenderAnswer(BaseModel):
    """A formula as MathML and trees."""

    latex: str
    mathml: str
    display: bool
    slt: str
    opt: str
    repairs: list[ProblemShown]


class TextAnswer(BaseModel):
    """A text with its formulas drawn."""

    text: str
    pieces: list[PlacedPiece]


class Meaning(BaseModel):
    """What a symbol is introduced as, and where."""

    pieces: list[PlacedPiece]
    post: str
    place: str


class IntroducedSymbol(BaseModel):
    """A symbol of a formula with what it is introduced as."""

    symbol: str
    meanings: list[Meaning]
    introduced: int = Field(description="how often it is introduced")


class IntroducedAnswer(BaseModel):
    """What the symbols of a formula are introduced as, in the posts that have been read so far."""

    symbols: list[IntroducedSymbol]
    posts: int
    of: int = Field(description="posts of the index; reading goes on after this answer")
    is_whole: bool


class FormulaAnswer(BaseModel):
    """A formula of the index."""

    id: str
    post: str
    latex: str
    query: str = Field(
        description="the LaTeX that finds this formula: macros that mean something else by default are expanded"
    )
    names: list[str] = Field(description="what the formula is called, the usual name first")
    mathml: str | None
    display: bool
    error: ProblemShown | None
    slt: str | None
    opt: str | None
    slt_outline: list[str]
    opt_outline: list[str]
    repairs: list[ProblemShown]
    visual: str
    visual_id: str | None
    places: int
    posts: list[str]


class NamesAnswer(BaseModel):
    """What a formula is called, and the formulas of a name."""

    names: list[str]
    formulas: list[str]


class CommandsAnswer(BaseModel):
    """LaTeX commands."""

    commands: list[Command]


class SymbolsAnswer(BaseModel):
    """Symbols that may have been drawn."""

    symbols: list[DrawnSymbol]


class SimilarToAnswer(BaseModel):
    """Entries that say something similar to one, the most similar first."""

    hits: list[HitShown]


class MacroShown(BaseModel):
    """A macro of the collection: its number of arguments and its body, in which they are `#1`, `#2`, …"""

    arguments: int
    body: str


class IndexAnswer(BaseModel):
    """What is indexed, and which requests the server accepts."""

    name: str
    version: str
    posts: int
    formulas: int
    kinds: dict[str, int]
    tags: dict[str, int]
    folders: dict[str, int]
    examples: list[ExampleQuery]
    macros: dict[str, MacroShown] = Field(
        description="macros of the indexed documents by name, without backslash"
    )
    model: str
    engine: str
    updated: str
    tasks: list[Task]
    strategies: list[str]
    limits: dict[str, float]
    graphs: bool = Field(description="true if the model reads graphs of meaning, which the index stores")
    writable: bool
    read_key_needed: bool
    collections: dict[str, int] = Field(
        description="the entries of each collection, where several are served"
    )


class HealthAnswer(BaseModel):
    """The server is up."""

    status: Literal["ok"]
    version: str


class ReadyAnswer(BaseModel):
    """A search sent now would be answered."""

    status: Literal["ready"]
    posts: int
    behind: str | None
    """Why answers come from an earlier state of the index; restart the server then."""


class ErrorShown(BaseModel):
    """What went wrong."""

    code: str
    message: str
    status: int
    request: str
    field: str | None = None
    offset: int | None = None


class ErrorAnswer(BaseModel):
    """The one shape of an error."""

    error: ErrorShown


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the errors that a route documents, beside those that any route may give."""
    common = (400, 401, 403, 404, 405, 408, 413, 415, 422, 429, 500, 503, 504)
    return {status: {"model": ErrorAnswer} for status in (*common, *statuses)}

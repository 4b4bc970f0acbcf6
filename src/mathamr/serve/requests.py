"""The JSON of requests; FastAPI builds the OpenAPI document from these and from `answers`."""

from __future__ import annotations

import re
from itertools import pairwise
from math import dist
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator

from mathamr.index.entryids import LONGEST_ENTRY_ID
from mathamr.posts.post import Markup
from mathamr.posts.postkind import PostKind
from mathamr.search.grouping import Grouping
from mathamr.systems.ranking import Task

Strategy = Annotated[str, StringConstraints(min_length=1, max_length=40)]
"""The name of a ranking: those of the served index are in `/v1/index`."""
Format = Literal["json", "svg"]
GraphFormat = Literal["penman", "svg"]
Trees = Literal["both", "opt", "slt", "none"]

DATE = r"^\d{4}(-\d{2}(-\d{2}([T ][0-9:.]{1,15}(Z|[+-]\d{2}:?\d{2})?)?)?)?$"
LONGEST_WORD = 500
MOST_POINTS = 4000
"""Points of a drawing."""
MOST_WIDTHS = 200
"""The length of all lines of a drawing, in its own width or height."""
_HALF = re.compile("[\ud800-\udfff]")

Date = Annotated[str, StringConstraints(pattern=DATE)]
Id = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_ENTRY_ID)]
Coordinate = Annotated[float, Field(ge=-1e6, le=1e6, allow_inf_nan=False)]
Word = Annotated[str, StringConstraints(max_length=LONGEST_WORD)]


class Strict(BaseModel):
    """A request; an unknown field is an error, so that a misspelt one is noticed."""

    model_config = ConfigDict(extra="forbid")

    @field_validator("*", mode="after")
    @classmethod
    def _is_text(cls, value: Any) -> Any:
        """Refuse a lone surrogate, which JSON can spell and no response could return."""
        for text in (value,) if isinstance(value, str) else value if isinstance(value, list) else ():
            if isinstance(text, str) and _HALF.search(text):
                raise ValueError("the text contains invalid Unicode (a lone surrogate)")
        return value


class FilterRequest(Strict):
    """Which posts may be found."""

    kinds: list[PostKind] = []
    tags: list[Word] = []
    sources: list[Word] = []
    folders: list[Word] = []
    collections: Annotated[
        list[Word], Field(description="which collections, where the server has several")
    ] = []
    after: Date | None = None
    before: Date | None = None
    minimum_score: Annotated[int, Field(ge=-(2**53), le=2**53)] | None = None


class SearchRequest(Strict):
    """A search; without a task it is for answers if the index has them, else for formulas."""

    q: str
    task: Task | None = None
    strategy: Strategy | None = None
    k: int = Field(10, ge=1, le=2**31)
    offset: int = Field(0, ge=0, le=2**31)
    exact: bool | None = None
    filter: FilterRequest = FilterRequest()
    counts: bool = False
    group: Grouping | None = None


class ExplainRequest(Strict):
    """A request to explain why a post is found."""

    q: str
    id: Id
    task: Task | None = None


class RenderRequest(Strict):
    """Either LaTeX or a text as a search reads it: with `$LaTeX$`, or with formulas typed without marks.

    `task` is what the text will be searched for: formulas need fewer marks.
    """

    latex: str | None = None
    text: str | None = None
    display: bool = False
    task: Task | None = None


class SymbolsRequest(Strict):
    """A drawing: each stroke is the points of the pen from where it was put down to where it was lifted."""

    strokes: list[Annotated[list[tuple[Coordinate, Coordinate]], Field(min_length=1, max_length=500)]] = (
        Field(min_length=1, max_length=40)
    )
    k: int = Field(5, ge=1, le=50)

    @field_validator("strokes", mode="after")
    @classmethod
    def _is_small(cls, strokes: list[list[tuple[float, float]]]) -> list[list[tuple[float, float]]]:
        """Refuse a drawing with too many points or too long lines."""
        if (count := sum(map(len, strokes))) > MOST_POINTS:
            raise ValueError(f"a drawing may have at most {MOST_POINTS:,} points, not {count:,}")
        points = [point for stroke in strokes for point in stroke]
        width = max(max(values) - min(values) for values in zip(*points, strict=True))
        length = sum(dist(*line) for stroke in strokes for line in pairwise(stroke))
        if length > MOST_WIDTHS * width:
            raise ValueError(
                f"the lines of a drawing may be {MOST_WIDTHS} times as long as it is wide or high"
            )
        return strokes


class PostRequest(Strict):
    """A post as it is written; a body or a title is needed."""

    body: str = ""
    title: str = ""
    kind: PostKind | None = None
    markup: Markup | None = None
    tags: list[Word] = Field([], max_length=100)
    parent: Id | None = None
    accepted_answer: Id | None = None
    date: Date | None = None
    score: Annotated[int, Field(ge=-(2**53) + 1, le=2**53 - 1)] | None = None
    source: Word = ""
    macros: list[str] = Field([], max_length=1000)


class NamedPostRequest(PostRequest):
    """A post with its id."""

    id: Id


class PostsRequest(Strict):
    """Several posts at once."""

    posts: list[NamedPostRequest] = Field(min_length=1)

"""MCP tools for assistants that write formal proofs: search by text, name, statement and goal, and related declarations.

Answers are short, since they go into a language model's context: a name, the statement, the first words of the documentation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Annotated, Any

from pydantic import Field

from mathamr.index.engines.entry import Filter
from mathamr.posts.formats.declaration.posts import declaring_module
from mathamr.posts.post import Post
from mathamr.search.library import PROFILE, close_enough, code_of, documentation_of, narrowed, post_named
from mathamr.search.searcher import Index

MOST = 30
LONGEST_STATEMENT, LONGEST_DOCUMENTATION = 500, 240
NOTHING = "nothing in the library is close enough; ask in other words, or the library may lack it"

Query = Annotated[
    str, Field(description=f"plain words, LaTeX between dollar signs, or {PROFILE.language} notation")
]
Most = Annotated[int, Field(ge=1, le=MOST, description="how many declarations")]
Module = Annotated[
    str, Field(description="only this module and those below it, as Mathlib.Topology; empty: all")
]
Namespace = Annotated[str, Field(description="only this namespace and those in it, as Nat; empty: all")]
Kind = Annotated[
    Annotated[str, Field(pattern=f"^(?:{'|'.join(PROFILE.words)})$")] | None,
    Field(description=f"only declarations of this kind: {', '.join(PROFILE.words)}"),
]


def library_tools(
    index: Index, guard: Callable[..., AbstractContextManager[None]]
) -> list[Callable[..., dict[str, Any]]]:
    """Return the tools over an index of declarations; each call runs inside `guard(texts)`, which turns errors into answers
    for the client.
    """

    def found(query: str, k: int, where: Filter) -> dict[str, Any]:
        hits = index.search(query, k=k, where=where)
        if not close_enough(hits):
            return {"declarations": [], "note": NOTHING}
        posts = index.archive.catalogue.posts([hit.id for hit in hits])
        return {
            "declarations": shown(posts[hit.id] for hit in hits if hit.id in posts),
            "note": "; ".join(hits.notes),
        }

    def search_declarations(
        query: Query, k: Most = 8, module: Module = "", namespace: Namespace = "", kind: Kind = None
    ) -> dict[str, Any]:
        """Find declarations of the project and its libraries by what they say: in words, in LaTeX or in its own notation."""
        with guard(query):
            return found(query, k, narrowed(module=module, namespace=namespace, word=kind or ""))

    def find_declaration(
        name: Annotated[
            str, Field(description="a full name, its end, or its words: Nat.add_comm, add_comm, add comm")
        ],
        k: Most = 5,
    ) -> dict[str, Any]:
        """Look up declarations by name; the exact name comes first."""
        with guard(name):
            posts = by_name(index, name, k)
            return {
                "declarations": shown(posts),
                "note": "" if posts else f"no declaration is named {name[:200]!r}",
            }

    def search_statement(
        statement: Annotated[
            str, Field(description=f"a statement in {PROFILE.language} or LaTeX, without a proof")
        ],
        k: Most = 8,
        module: Module = "",
    ) -> dict[str, Any]:
        """Find declarations whose statement is like this one."""
        with guard(statement):
            return found(PROFILE.statement_query(statement), k, narrowed(module=module))

    def premises_for_goal(
        goal: Annotated[
            str,
            Field(
                description=f"a goal as {PROFILE.language} prints it, hypotheses and ⊢ included, or the target alone"
            ),
        ],
        k: Most = 10,
        module: Module = "",
    ) -> dict[str, Any]:
        """Find theorems and lemmas that may help to prove a goal."""
        with guard(goal):
            where = Filter(kinds=("theorem", "lemma", "axiom"))
            return found(PROFILE.goal_query(goal), k, narrowed(where, module=module))

    def related_declarations(
        name: Annotated[str, Field(description="the full name of a declaration")], k: Most = 8
    ) -> dict[str, Any]:
        """Find what a declaration mentions and what is like it."""
        with guard(name):
            catalogue = index.archive.catalogue
            post = post_named(index.archive, name.strip())
            mentioned = [id for link in post.links if link.label for id in catalogue.labelled(link.label, 1)]
            alike = [hit.id for hit in index.search(post, k=k + 1) if hit.id != post.id]
            posts = catalogue.posts(list(dict.fromkeys([*mentioned, *alike])))
            return {
                "mentions": shown(
                    posts[id] for id in dict.fromkeys(mentioned) if id in posts and id != post.id
                ),
                "alike": shown(posts[id] for id in alike[:k] if id in posts),
            }

    return [search_declarations, find_declaration, search_statement, premises_for_goal, related_declarations]


def shown(posts: Iterable[Post]) -> list[dict[str, Any]]:
    """Return a short description of each declaration; other posts, such as notes on modules, are left out."""
    return [_shown(post) for post in posts if post.markup == "declaration"]


def _shown(post: Post) -> dict[str, Any]:
    row: dict[str, Any] = {
        "name": post.title,
        "kind": post.tags[0] if post.tags else post.kind,
        "statement": _cut(code_of(post), LONGEST_STATEMENT),
        "module": declaring_module(post),
    }
    if text := documentation_of(post):
        row["documentation"] = _cut(" ".join(text.split()), LONGEST_DOCUMENTATION)
    if post.place is not None:
        row["place"] = f"{post.place.path}:{post.place.line}"
    if address := PROFILE.address(post):
        row["address"] = address
    notes: Sequence[str] = [tag for tag in ("deprecated", "generated", "private") if tag in post.tags]
    return row | ({"notes": list(notes)} if notes else {})


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest].rsplit(' ', 1)[0]} …"


def by_name(index: Index, name: str, k: int = 10, where: Filter | None = None) -> list[Post]:
    """Return the declarations with exactly this name, then those whose name ends with it, then those whose name contains its
    words.
    """
    hits = index.search(name.strip(), k=2 * k, where=where)
    promoted = [hit.id for hit in hits if {"label", "name"} & hit.evidence.keys()]
    posts = index.archive.catalogue.posts(promoted)
    return [posts[each] for each in promoted if each in posts and posts[each].markup == "declaration"][:k]

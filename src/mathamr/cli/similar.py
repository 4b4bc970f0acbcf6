"""`mathamr similar`: entries of an index that say nearly the same."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from mathamr.cli.options import IndexFolder, Model


def command(
    index: IndexFolder,
    least: Annotated[
        float, typer.Option(help="The least similarity of a pair, a cosine.", min=0.0, max=1.0)
    ] = 0.9,
    k: Annotated[int, typer.Option("-k", help="Number of pairs.", min=1)] = 20,
    model: Model = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per pair.")] = False,
) -> None:
    """List pairs of entries that say nearly the same, in other words or with renamed variables, the most similar first."""
    from mathamr.core.terminal import visible
    from mathamr.search.searcher import Index
    from mathamr.search.similarposts import similar_posts

    with Index.open(index, model=model) as opened:
        pairs = similar_posts(opened, least, k)
        above = {post.parent for pair in pairs for post in (pair.first, pair.second) if post.parent}
        parents = opened.archive.catalogue.posts(sorted(above))
        rows = [pair.to_json(parents) for pair in pairs]
    for row in rows:
        if as_json:
            print(json.dumps(row, ensure_ascii=False))
            continue
        print(f"{row['similarity']:.2f}")
        for post in row["posts"]:
            where = f"{post['place']['path']}:{post['place']['line']}" if post["place"] else post["source"]
            print(visible(f"      {post['title'] or post['id']}  ({where or post['id']})"))
    if not rows and not as_json:
        print("No two entries say nearly the same. A lower --least lists more.")

"""Every post of arqmath-mini becomes a graph: how many sentences fell back, how many formulas have no node.

`python -m mathamr_lab.studies amrdocuments` takes every tenth post; `python -m mathamr_lab.studies.amrdocuments` all of them.
The peer is the parser alone on the same sentences. Needs the evaluation data.
"""

from __future__ import annotations

import time
from collections import Counter
from itertools import islice

import penman
from penman.models.amr import model

from mathamr.amr.document import parse_documents
from mathamr.amr.parser import load_parser
from mathamr.posts.passage import passage
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr_lab.data import data_folder


def run(step: int = 10) -> None:
    posts = islice(read_posts(data_folder() / "arqmath-mini", Report()), 0, None, step)
    passages = [passage(post) for post in posts]
    texts = [[sentence.text for sentence in its_passage.sentences] for its_passage in passages]
    sentences = [sentence for post in texts for sentence in post]
    print(f"   {len(texts):,} posts, {len(sentences):,} sentences")
    parser = load_parser()
    parser.parse(["Warm up."])

    started = time.perf_counter()
    parser.parse(sentences)
    alone = len(sentences) / (time.perf_counter() - started)
    started = time.perf_counter()
    documents = list(parse_documents(parser, texts))
    joined = len(sentences) / (time.perf_counter() - started)
    print(
        f"   parser alone {alone:,.0f} sentences/s, with documents {joined:,.0f} sentences/s, ratio {joined / alone:.2f}"
    )

    causes: Counter[str] = sum((document.causes() for document in documents), Counter())
    dropped = sum(len(document.dropped) for document in documents)
    formulas = sum(len(its_passage.formula_map) for its_passage in passages)
    wrong = sum(
        sorted(penman.decode(document.amr.to_penman(), model=model).triples) != sorted(document.amr.triples())
        for document in documents
    )
    print(
        f"   {len(documents):,} graphs for {len(texts):,} posts; {wrong} that penman reads back to other triples"
    )
    print(f"   sentences with a minimal graph: {causes.total()} {dict(causes) if causes else ''}")
    print(f"   formulas without a node: {dropped} of {formulas:,}")


if __name__ == "__main__":
    run(step=1)

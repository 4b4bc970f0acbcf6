"""The graphs of the study `structure`: of all posts as they are, with words in place of meaning, and with LaTeX in place of trees."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from multiprocessing import get_context
from os import cpu_count
from pathlib import Path
from typing import Any

import numpy as np

from mathamr.amr.builtin.mathematics import is_formula
from mathamr.amr.builtin.parser import BuiltinParser
from mathamr.amr.builtin.states import word_states
from mathamr.amr.builtin.words import cut, shape
from mathamr.amr.graph import Amr, is_atom
from mathamr.amr.parser import AmrParser
from mathamr.evaluation.topics import read_topics
from mathamr.formulas.tree import Slt
from mathamr.graphs import notation
from mathamr.graphs import shard as shards
from mathamr.graphs.flatgraph import FlatGraph
from mathamr.graphs.maker import GraphMaker
from mathamr.graphs.mathgraph import MathGraph
from mathamr.graphs.tensor import GraphTensor, tensor_of
from mathamr.graphs.virtual import flatten
from mathamr.graphs.vocabulary import RelationVocabulary, Vocabulary, VocabularyCounts
from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.systems.marf.latextokens import latex_tokens
from mathamr.text.configuration import WINDOW, WINDOWS
from mathamr.text.wording import Wording, wording
from mathamr.text.wordpieces import Pieces
from mathamr_lab.data import data_folder
from mathamr_lab.studies.letters import renamed_topics
from mathamr_lab.training.export import ids_in, listed

KINDS = ("full", "latex", "words", "dependencies")
NEXT, BELOW = ":next", ":dep"
CHUNK = 24


class DependencyParser(BuiltinParser):
    """Each sentence as its words under their heads, the most probable ones by the parser's soft tree, without labels."""

    name = "dependencies"

    def heads(self, sentences: Sequence[str], latex: Mapping[str, str]) -> list[list[int]]:
        """The heads of the words of each sentence; a root is its own."""
        models, found = self._models, [cut(sentence) for sentence in sentences]
        heads = []
        for sentence, states in zip(
            found, word_states(models.encoder, models.mix, found, latex), strict=True
        ):
            shapes = np.array([shape(sentence, token) for token in range(len(sentence))], np.int64)
            heads.append(models.network.words(states, shapes, [len(sentence)]).heads if len(sentence) else [])
        return heads

    def parse_text(self, sentences: Sequence[str], latex: Mapping[str, str]) -> list[Amr]:
        """The trees of sentences."""
        return [
            word_tree(cut(sentence).words, heads)
            for sentence, heads in zip(sentences, self.heads(sentences, latex), strict=True)
        ]


class WordParser:
    """Each sentence as the chain of its words."""

    name = fingerprint = "words"

    def parse(self, sentences: Sequence[str]) -> list[Amr]:
        """The chains of sentences."""
        return [word_chain(cut(sentence).words) for sentence in sentences]


def _named(words: Sequence[str]) -> dict[int, tuple[str, str]]:
    """Variables and concepts of the words that are not marks."""
    kept = [
        (place, word) for place, word in enumerate(words) if is_formula(word) or any(map(str.isalnum, word))
    ]
    shown = ((place, word if is_formula(word) else word.lower()) for place, word in kept)
    return {place: (f"w{place}", word) for place, word in shown if is_atom(word)}


def word_chain(words: Sequence[str]) -> Amr:
    """A sentence as a chain."""
    nodes = list(_named(words).values()) or [("x", "amr-empty")]
    edges = tuple((one[0], NEXT, other[0]) for one, other in pairwise(nodes))
    return Amr(nodes[0][0], tuple(nodes), edges)


def word_tree(words: Sequence[str], heads: Sequence[int]) -> Amr:
    """A sentence as a tree; marks are left out, and what no head reaches hangs from the root."""
    nodes = _named(words)
    if not nodes or len(heads) != len(words):
        return word_chain(words)
    top = next((place for place in nodes if heads[place] == place), next(iter(nodes)))
    edges = []
    for place in nodes:
        path = [place]
        while heads[path[-1]] not in path and (len(path) == 1 or path[-1] not in nodes):
            path.append(heads[path[-1]])
        above = path[-1] if len(path) > 1 and path[-1] in nodes else top
        if place != top:
            edges.append((above, place))
    reached, waiting = {top}, [top]
    children: dict[int, list[int]] = {}
    for above, place in edges:
        children.setdefault(above, []).append(place)
    while waiting:
        for place in children.get(waiting.pop(), ()):
            if place not in reached:
                reached.add(place)
                waiting.append(place)
    tied = [(above if above in reached and place in reached else top, place) for above, place in edges]
    return Amr(
        nodes[top][0],
        tuple(nodes.values()),
        tuple((nodes[above][0], BELOW, nodes[place][0]) for above, place in tied),
    )


def with_tokens(graph: MathGraph, post: Post) -> MathGraph:
    """The graph with the chain of LaTeX tokens in place of each formula's trees."""
    latex = {formula.id: formula.latex for formula in post.formulas}
    parts = []
    for part in graph.formulas:
        tokens = tuple(latex_tokens(latex.get(part.formula_id, "")))
        chain = (
            Slt(tokens, tuple(range(-1, len(tokens) - 1)), "-" + "n" * (len(tokens) - 1)) if tokens else None
        )
        parts.append(replace(part, opt=None, slt=chain))
    return replace(graph, formulas=tuple(parts))


@dataclass
class _Worker:
    """Makes the graphs of posts, in all kinds, and their texts as pieces."""

    full: AmrParser
    dependencies: AmrParser
    cut: Callable[[Sequence[Wording]], list[Pieces]]

    def graphs(self, post: Post) -> tuple[list[FlatGraph], Pieces]:
        """The flat graphs of a post by kind, and its pieces."""
        (made,) = GraphMaker(self.full).make([post])
        (words,) = GraphMaker(WordParser()).make([post])
        (tree,) = GraphMaker(self.dependencies).make([post])
        graph = notation.write_and_read(made.graph)[1]
        flats = [flatten(each) for each in (graph, with_tokens(graph, post), words.graph, tree.graph)]
        tensor = tensor_of(post.id, flats[0], _EMPTY[0], _EMPTY[1])
        (pieces,) = self.cut([wording(post, tensor, made.passage)])
        return flats, pieces.cut(WINDOW * WINDOWS)


_EMPTY = (Vocabulary.build(VocabularyCounts()), RelationVocabulary.build(VocabularyCounts()))
_WORKER: list[_Worker] = []


def _start(make: Callable[[], _Worker]) -> None:
    _WORKER[:] = [make()]


def builtin_worker() -> _Worker:
    """The worker with the built-in parser."""
    parser = BuiltinParser()
    return _Worker(parser, DependencyParser(), parser._models.encoder.pieces.cut)


def _made(job: tuple[Path, Sequence[Post], set[str]]) -> tuple[list[VocabularyCounts], dict[str, Pieces]]:
    """Writes the graphs of some posts, and returns the counts of those that are trained on, by kind, and the pieces of all."""
    path, posts, trained = job
    counts: list[VocabularyCounts] = [VocabularyCounts() for _ in KINDS]
    made, pieces = {}, {}
    for post in posts:
        made[post.id], pieces[post.id] = _WORKER[0].graphs(post)
        if post.id in trained:
            for count, flat in zip(counts, made[post.id], strict=True):
                count.count(flat)
    path.write_bytes(pickle.dumps(made))
    return counts, pieces


def _tensors(job: tuple[Path, Sequence[tuple[Vocabulary, RelationVocabulary]]]) -> dict[str, list[bytes]]:
    """Reads what `_made` wrote, and returns the tensors by post and kind."""
    path, vocabularies = job
    return {
        name: [tensor_of(name, flat, *own).to_bytes() for flat, own in zip(flats, vocabularies, strict=True)]
        for name, flats in pickle.loads(path.read_bytes()).items()
    }


def posts_and_pairs() -> tuple[dict[str, Post], list[tuple[str, str]]]:
    """All posts of arqmath-mini and of the pairs, the held-out questions of the pairs as topics in both forms, and the training pairs."""
    data = data_folder()
    paths = (data / "arqmath-mini" / "Posts.xml", data / "pairs" / "pairs.jsonl.gz")
    posts = {post.id: post for path in paths for post in read_posts(path, Report())}
    lists = (data / "arqmath-mini" / "heldout-questions.txt", data / "pairs" / "heldout-pairs.txt")
    unwanted = {name for path in lists for name in ids_in(path)}
    pairs = [
        (post.parent, post.id)
        for post in posts.values()
        if post.parent in posts and not listed(post.parent or "", unwanted) and not listed(post.id, unwanted)
    ]
    topics = data / "pairs" / "known-items.xml"
    for form, read in (("asked", read_topics(topics)), ("renamed", renamed_topics(topics))):
        for topic in read:
            name = f"known-pairs|{form}|{topic.id}"
            posts[name] = replace(topic.post, id=name, parent=None)
    return posts, [(str(question), answer) for question, answer in pairs]


def prepare(
    folder: Path,
    source: tuple[dict[str, Post], list[tuple[str, str]]] | None = None,
    worker: Callable[[], _Worker] = builtin_worker,
) -> None:
    """Writes the shards of all kinds, and the pieces of the texts that the second experiment reads."""
    posts, pairs = source or posts_and_pairs()
    trained = {post for pair in pairs for post in pair}
    wanted = [
        post for post in posts.values() if post.id in trained or "|" in post.id or post.id.endswith("/answer")
    ]
    wanted.sort(key=lambda post: -len(post.body))
    chunks = [wanted[start : start + CHUNK] for start in range(0, len(wanted), CHUNK)]
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"chunk-{number}" for number in range(len(chunks))]
    counts: list[VocabularyCounts] = [VocabularyCounts() for _ in KINDS]
    pieces: dict[str, Pieces] = {}
    processes = get_context("fork")
    with processes.Pool(cpu_count(), _start, (worker,)) as pool:
        jobs = [(path, chunk, trained) for path, chunk in zip(paths, chunks, strict=True)]
        for found, cut_texts in pool.imap_unordered(_made, jobs):
            pieces |= cut_texts
            for count, more in zip(counts, found, strict=True):
                count.add(more)
    print(f"{len(pieces):,} posts", flush=True)
    vocabularies = [(Vocabulary.build(count), RelationVocabulary.build(count)) for count in counts]
    tensors: dict[str, list[bytes]] = {}
    with processes.Pool(cpu_count()) as pool:
        for each in pool.imap_unordered(_tensors, [(path, vocabularies) for path in paths]):
            tensors |= each
    for path in paths:
        path.unlink()
    listed_pairs = [*pairs, *((name, name) for name in pieces if name not in trained)]
    running = [
        processes.Process(
            target=_export,
            args=(folder / f"{kind}.npz", _Store(tensors, place, vocabularies[place]), listed_pairs),
        )
        for place, kind in enumerate(KINDS)
    ]
    for process in running:
        process.start()
    _save_pieces(folder / "pieces.npz", pieces)
    for process in running:
        process.join()


class _Store:
    """What `shards.export` reads of a store."""

    def __init__(
        self,
        tensors: Mapping[str, list[bytes]],
        kind: int,
        vocabularies: tuple[Vocabulary, RelationVocabulary],
    ) -> None:
        self._tensors, self._kind, self._vocabularies = tensors, kind, vocabularies

    def tensor(self, configuration: str, post_id: str) -> GraphTensor:
        """The tensor of a post."""
        return GraphTensor.from_bytes(self._tensors[post_id][self._kind])

    def vocabularies(self) -> tuple[Vocabulary, RelationVocabulary]:
        """Those of the training posts."""
        return self._vocabularies


def _export(path: Path, store: _Store, pairs: Iterable[tuple[str, str]]) -> None:
    made = path.with_suffix(".tmp")
    shards.export(store, "both-hierarchy-none", pairs, made)  # type: ignore[arg-type]
    made.replace(path)


def _save_pieces(path: Path, pieces: Mapping[str, Pieces]) -> None:
    every = list(pieces.values())
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(each, name) for each in every])
        for name in ("numbers", "of", "starts", "ends")
    }
    counts = np.array([(len(each.numbers), len(each.of)) for each in every])
    np.savez(path, ids=np.array(list(pieces)), counts=counts, **columns)


def read_pieces(path: Path, chosen: Sequence[str]) -> Iterator[Pieces]:
    """The pieces of some posts."""
    with np.load(path) as file:
        ids, counts = file["ids"].tolist(), file["counts"]
        columns = {name: file[name] for name in ("numbers", "of", "starts", "ends")}
    ends = np.cumsum(counts, axis=0)
    place = {name: number for number, name in enumerate(ids)}
    for name in chosen:
        (numbers, spans), (many, few) = ends[place[name]], counts[place[name]]
        yield Pieces(
            columns["numbers"][numbers - many : numbers],
            *(columns[each][spans - few : spans] for each in ("of", "starts", "ends")),
        )

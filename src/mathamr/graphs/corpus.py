"""Builds the graphs, vocabularies and tensors of a corpus, on any number of workers.

A graph in the store that came from the same post and the same parser is kept: a build that was killed continues where it
stopped, and a changed corpus costs only its changes.
"""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from mathamr.amr.fallback import minimal_graph
from mathamr.amr.graph import Amr
from mathamr.amr.parser import AmrParser, load_parser
from mathamr.core.batches import batches
from mathamr.core.errors import MathAMRError
from mathamr.core.progress import Progress
from mathamr.core.workers import Lost, WorkerPool, WorkLimits
from mathamr.graphs import notation
from mathamr.graphs.configuration import GraphConfiguration
from mathamr.graphs.maker import GraphMaker, MadeGraph, digest
from mathamr.graphs.shape import count_shape
from mathamr.graphs.store import GraphStore, StoredPost
from mathamr.graphs.tensor import tensorise
from mathamr.graphs.virtual import flatten
from mathamr.graphs.vocabulary import Coverage, RelationVocabulary, Vocabulary, VocabularyCounts
from mathamr.posts.post import Post

CHUNK = 24
ALLOWANCE = WorkLimits(timeout=900.0, processor=300.0, memory=6 << 30)
"""The time and memory that one chunk of posts may take; the graphs of a long chapter take some seconds."""
VOCABULARY_SIZE = 20_000
VOCABULARY_FORMAT = 3


@dataclass(slots=True)
class BuildCounts:
    """The counts of a build: posts read, graphs made or reused, and the fallbacks of new graphs by cause."""

    given: int = 0
    made: int = 0
    kept: int = 0
    fallbacks: Counter[str] = field(default_factory=Counter)

    lost: dict[str, str] = field(default_factory=dict)
    """Posts that killed a worker even without the AMR parser, with the reason."""

    @property
    def failed(self) -> int:
        """The number of posts that have no graph; the thesis lost 2 % here."""
        return self.given - self.made - self.kept


def build_graphs(
    posts: Iterable[Post],
    store: GraphStore,
    *,
    parser: str = "builtin",
    model: str | None = None,
    workers: int = 1,
    progress: Progress | None = None,
) -> BuildCounts:
    """Build and store the graph of every post; graphs that are stored survive a kill.

    Worker processes do the work, so that one can be killed when a post takes too much.
    """
    counts = BuildCounts()
    with WorkerPool(GraphWork.factory, (parser, model), workers=workers, allowance=ALLOWANCE) as pool:
        fingerprint = str(pool.identity)

        def waiting() -> Iterator[str]:
            for post in posts:
                counts.given += 1
                if store.digest(post.id) == digest(post, fingerprint):
                    counts.kept += 1
                    if progress:
                        progress.advance()
                else:
                    yield post.to_json()

        for chunk, answer in pool.map(batches(waiting(), CHUNK)):
            rows = answer if not isinstance(answer, Lost) else _one_by_one(pool, chunk, counts)
            stored = [stored_post(row) for row in rows]
            with store.transaction():
                store.put(stored)
            counts.made += len(stored)
            for row in stored:
                counts.fallbacks.update(row.fallbacks)
            if progress:
                progress.advance(len(stored))
    return counts


def build_vocabularies(
    store: GraphStore, *, size: int = VOCABULARY_SIZE, workers: int = 1, progress: Progress | None = None
) -> Coverage:
    """Count the labels of all stored graphs and write the store's vocabularies.

    Does nothing if they were built from the current graphs; deletes tensors that use other vocabularies.
    """
    made_from = f"{store.state()}, size {size}, vocabulary format {VOCABULARY_FORMAT}"
    known = json.loads(store.meta("vocabularies") or "{}")
    if (
        known.get("made_from") == made_from
        and store.vocabulary_path.exists()
        and store.relations_path.exists()
    ):
        return Coverage(**known["coverage"])
    counts, shape = VocabularyCounts(), Counter[str]()
    texts = (text for _, text in store.texts())
    for chunk, answer in _answers(CountWork, (), workers, texts):
        labels, sums = answer
        counts.add(VocabularyCounts.from_json(labels))
        shape.update(sums)
        if progress:
            progress.advance(len(chunk))
    vocabulary, relations = Vocabulary.build(counts, size), RelationVocabulary.build(counts)
    use_vocabularies(store, vocabulary, relations)
    coverage = Coverage(
        len(counts.raw_labels),
        len(vocabulary),
        vocabulary.coverage,
        len(counts.raw_relations),
        len(relations),
    )
    store.set_meta("shape", json.dumps(shape))
    store.set_meta("vocabularies", json.dumps({"made_from": made_from, "coverage": asdict(coverage)}))
    return coverage


def use_vocabularies(store: GraphStore, vocabulary: Vocabulary, relations: RelationVocabulary) -> None:
    """Make these the store's vocabularies, and delete the tensors if they differ from the previous ones."""
    try:
        labels, names = store.vocabularies()
        same = (labels.labels, names.relations) == (vocabulary.labels, relations.relations)
    except MathAMRError:
        # The vocabularies are missing, or a kill left them incomplete.
        same = False
    if not same:
        store.drop_tensors()
        vocabulary.save(store.vocabulary_path)
        relations.save(store.relations_path)


def build_tensors(
    store: GraphStore,
    configuration: GraphConfiguration | None = None,
    *,
    workers: int = 1,
    progress: Progress | None = None,
) -> int:
    """Build the missing tensors of one configuration and return how many there were."""
    name = (configuration or GraphConfiguration()).name
    arguments = (str(store.vocabulary_path), str(store.relations_path), name)
    made = 0
    texts = (text for _, text in store.without_tensor(name))
    for chunk, answer in _answers(TensorWork, arguments, workers, texts):
        tensors = [(post_id, base64.b64decode(blob)) for post_id, blob in answer]
        with store.transaction():
            store.put_tensors(name, tensors)
        made += len(chunk)
        if progress:
            progress.advance(len(chunk))
    return made


MINIMAL = "minimal "
"""Prefix of a post whose sentences get minimal graphs, without the AMR parser."""


class GraphWork:
    """Makes graphs: maps a list of posts as JSON lines to a list of rows of the store."""

    factory = "mathamr.graphs.corpus:GraphWork"

    def __init__(self, parser: str, model: str | None) -> None:
        self._parser: AmrParser = load_parser(parser, model)
        self.maker, self._minimal = GraphMaker(self._parser), GraphMaker(MinimalParser())

    @property
    def identity(self) -> str:
        """The parser's fingerprint, on which graphs depend."""
        return self._parser.fingerprint

    def __call__(self, request: list[str]) -> list[dict[str, Any]]:
        """Return one row per post."""
        return [row for row, _ in self.made(request)]

    def made(self, request: list[str]) -> Iterator[tuple[dict[str, Any], MadeGraph]]:
        """Yield one row per post, and the graph as it will be read from the store."""
        maker = self._minimal if request and request[0].startswith(MINIMAL) else self.maker
        for made in maker.make(Post.from_json(line.removeprefix(MINIMAL)) for line in request):
            text, graph = notation.write_and_read(made.graph)
            yield _row(made, text, self.identity), replace(made, graph=graph)


class CountWork:
    """Counts labels, relations and sizes of graphs given as Penman texts."""

    identity = ""

    def __call__(self, request: list[str]) -> list[Any]:
        """Return the counts of these graphs together, and those of their shape."""
        counts, shape = VocabularyCounts(), Counter[str]()
        for text in request:
            graph = notation.read(text)
            counts.count(flatten(graph))
            shape.update(count_shape(graph))
        return [counts.to_json(), shape]


class TensorWork:
    """Makes tensors of graphs given as Penman texts."""

    identity = ""

    def __init__(self, vocabulary: str, relations: str, configuration: str) -> None:
        self._vocabulary = Vocabulary.load(Path(vocabulary))
        self._relations = RelationVocabulary.load(Path(relations))
        self._configuration = GraphConfiguration.from_name(configuration)

    def __call__(self, request: list[str]) -> list[tuple[str, str]]:
        """Return (post id, tensor) of every graph."""
        answer = []
        for text in request:
            tensor = tensorise(notation.read(text), self._vocabulary, self._relations, self._configuration)
            answer.append((tensor.post_id, base64.b64encode(tensor.to_bytes()).decode()))
        return answer


class MinimalParser:
    """The last resort for a post that kills every worker: minimal graphs of its sentences."""

    name = fingerprint = "minimal"

    def parse(self, sentences: Sequence[str]) -> list[Amr]:
        """Return a minimal graph for every sentence."""
        return [minimal_graph(sentence) for sentence in sentences]


def _answers(
    kind: type[CountWork | TensorWork], arguments: tuple[str, ...], workers: int, texts: Iterable[str]
) -> Iterator[tuple[list[str], Any]]:
    """Yield (texts, answer) in order; one worker works in this process, several in processes of their own."""
    if workers == 1:
        work = kind(*arguments)
        yield from ((chunk, work(chunk)) for chunk in batches(texts, CHUNK))
        return
    with WorkerPool(f"{__name__}:{kind.__name__}", arguments, workers=workers) as pool:
        for chunk, answer in pool.map(batches(texts, CHUNK)):
            if isinstance(answer, Lost):
                raise MathAMRError(
                    f"a worker was lost ({answer.message}); run the command again to continue from here"
                )
            yield chunk, answer


def rows_of(
    ask: Callable[[list[str]], list[dict[str, Any]] | Lost], line: str
) -> list[dict[str, Any]] | Lost:
    """Return the row of one post. If the post exceeds its limits it is tried again without the AMR parser; `Lost` if that
    fails too.
    """
    answer = ask([line])
    if not isinstance(answer, Lost):
        return answer
    minimal = ask([MINIMAL + line])
    if not isinstance(minimal, Lost):
        minimal[0]["fallbacks"][f"post: {answer.cause}"] = 1
    return minimal


def _one_by_one(pool: WorkerPool, chunk: list[str], counts: BuildCounts) -> list[dict[str, Any]]:
    """Return the rows of a chunk that killed its worker: only the post at fault gets minimal graphs, or none."""
    rows: list[dict[str, Any]] = []
    for line in chunk:
        answer = rows_of(pool.ask, line)
        if isinstance(answer, Lost):
            counts.lost[Post.from_json(line).id] = answer.message
        else:
            rows += answer
    return rows


def _row(made: MadeGraph, text: str, fingerprint: str) -> dict[str, Any]:
    post, graph = made.post, made.graph
    row = StoredPost(
        post.id,
        post.kind,
        post.parent,
        post.accepted_answer,
        digest(post, fingerprint),
        graph.nodes,
        graph.edges,
        len(graph.formulas),
        dict(made.fallbacks),
        StoredPost.packed(text),
    )
    fields = asdict(row)
    return fields | {name: base64.b64encode(fields[name]).decode() for name in ("digest", "graph")}


def stored_post(row: dict[str, Any]) -> StoredPost:
    """Return a row of the store from the form that `GraphWork` sends."""
    return StoredPost(**row | {name: base64.b64decode(row[name]) for name in ("digest", "graph")})

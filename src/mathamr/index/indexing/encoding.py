"""`derive`: the one route from a post to its vectors; `Encoders` runs it in this process, in a pool or on a cluster.

What a worker gets holds everything that it needs (`Material`), and what it returns everything that is written (`Derived`), so that
it does not matter where it runs. On a GPU the workers cut posts into word pieces and this process encodes large batches of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any

from mathamr.core.batches import ahead, batches, portions
from mathamr.core.closing import Closing
from mathamr.core.errors import MathAMRError
from mathamr.core.pickling import pickle_by_fields
from mathamr.core.workers import Lost, Pool, answer_each
from mathamr.formulas.trees import trees_of
from mathamr.graphs import notation
from mathamr.graphs.configuration import GraphConfiguration
from mathamr.graphs.corpus import ALLOWANCE, MINIMAL, GraphWork, stored_post
from mathamr.graphs.guarded import TooMuchWorkError
from mathamr.graphs.maker import MadeGraph
from mathamr.graphs.store import StoredPost
from mathamr.graphs.tensor import tensorise
from mathamr.index.catalogue.journal import meaning_of, unpacked
from mathamr.index.catalogue.storedpassages import StoredPassage, read_passage
from mathamr.index.chosenmodel import chosen_model
from mathamr.index.engines.entry import Payload
from mathamr.index.indexing.buildpool import FEW, BuildPool
from mathamr.index.manifest import ParserRecord
from mathamr.index.payloads import is_tagged_by_question, payload_of
from mathamr.index.storage import IndexStorage, needs_graphs
from mathamr.posts.passage import passage
from mathamr.posts.post import Formula, Post
from mathamr.systems.abilities import CutsPieces, Preparation
from mathamr.systems.models import load_system, model_folder, system_of
from mathamr.systems.system import Encoded, Item, System, VisualFormula
from mathamr.systems.vectors import Vectors
from mathamr.text.backend import FLOAT, ONNX

CHUNK = 48
"""Number of short posts that a worker gets at a time: enough to parse their sentences together."""
BYTES = 28_000
"""Total bytes of such posts as they are stored, about a second's work, so that progress is visible and little is lost."""
VISUALS = 64
AT_ONCE = 4096
"""Posts whose word pieces are encoded together on a GPU, sorted by length."""
ReadFormula = tuple[Formula, tuple[str, ...]]
"""A formula, and the macros for parsing it."""


@pickle_by_fields
@dataclass(frozen=True, slots=True)
class Material:
    """What everything else is derived from: a post as it is stored, its sentences, and its graph if it has one."""

    packed: bytes
    passage: StoredPassage | None = None
    graph: str | None = None
    is_minimal: bool = False
    """True if its graph is to be made without the AMR parser, over which processes were lost."""


@pickle_by_fields
@dataclass(frozen=True, slots=True)
class Derived:
    """What a system derives from one post."""

    made_of: bytes
    """A digest of the content from which the vectors were computed."""
    payload: Payload
    tagged_by: str | None
    """The question whose tags the payload gets, if any."""
    formulas: tuple[str, ...]
    """The ids of the post's formulas, in order."""
    encoded: Encoded
    graph: StoredPost | None = None
    """The graph, if it was made here."""
    pieces: Any = None
    """The post's word pieces, from which another process computes `encoded`."""

    def encoded_as(self, encoded: Encoded) -> Derived:
        """Return the same with the vectors; `dataclasses.replace` would take longer."""
        return Derived(self.made_of, self.payload, self.tagged_by, self.formulas, encoded, self.graph)


def derive(
    system: System, materials: Sequence[Material], graphs: GraphWork | GuardedWork | None = None
) -> list[Derived]:
    """Return what a system derives from posts; `graphs` makes the graphs of those that have none."""
    results, items = _with_items(system, materials, graphs)
    return [each.encoded_as(encoded) for each, encoded in zip(results, system.encode(items), strict=True)]


def _with_items(
    system: System | Preparation, materials: Sequence[Material], graphs: GraphWork | GuardedWork | None
) -> tuple[list[Derived], list[Item]]:
    """Return everything that is derived without the encoder, and the items to encode."""
    posts = [unpacked(each.packed) for each in materials]
    made = {}
    if needs_graphs(system.needs):
        missing = [place for place, each in enumerate(materials) if each.graph is None]
        if missing and graphs is None:
            raise AssertionError("a post came without its graph")
        lines = [MINIMAL * materials[place].is_minimal + posts[place].to_json() for place in missing]
        made = dict(zip(missing, graphs.made(lines) if graphs else (), strict=True))
    results: list[Derived] = []
    items: list[Item] = []
    for place, (material, post) in enumerate(zip(materials, posts, strict=True)):
        row, graph, read = None, None, None
        if place in made:
            row, found = made[place]
            graph, read = found.graph, found.passage
        elif material.graph is not None:
            graph = notation.read(material.graph, post.id)
        if read is None and material.passage is not None:
            read = read_passage(material.passage)
        read = read or passage(post)
        tensor = None
        if "tensor" in system.needs and graph is not None and system.graphs is not None:
            read_as = system.graphs
            configuration = GraphConfiguration.from_name(read_as.configuration)
            tensor = tensorise(graph, read_as.vocabulary, read_as.relations, configuration)
        results.append(
            Derived(
                made_of=meaning_of(post),
                payload=payload_of(post),
                tagged_by=post.parent if is_tagged_by_question(post) else None,
                formulas=tuple(formula.id for formula in post.formulas),
                encoded=Encoded(id=post.id),
                graph=None if row is None else stored_post(row),
            )
        )
        graph = graph if "graph" in system.needs else None
        items.append(Item(post=post, graph=graph, tensor=tensor, passage=read))
    return results, items


class EncodingWork:
    """The task of a worker: it derives from posts what is stored, or encodes visual classes."""

    def __init__(
        self,
        model: str,
        parser: str | None = None,
        parser_model: str | None = None,
        device: str = "cpu",
        text_backend: str = ONNX,
    ) -> None:
        self._system = load_system(Path(model), device, text_backend)
        self._parser = (parser or "builtin", parser_model)
        self.identity = self._system.fingerprint

    @cached_property
    def _graphs(self) -> GraphWork:
        return GraphWork(*self._parser)

    def __call__(self, request: Sequence[Any]) -> list[Any]:
        """Return one answer per item."""
        if request and not isinstance(request[0], Material):
            return encode_visuals(self._system, request)
        graphs = self._graphs if needs_graphs(self._system.needs) else None
        # The text encoder's states that the parser has read wait for the vectors, so a few posts are made at a time.
        return [each for few in batches(request, CHUNK) for each in _isolated(self._system, few, graphs)]


def _isolated(
    system: System, materials: Sequence[Material], graphs: GraphWork | GuardedWork | None
) -> list[Derived | Lost]:
    """Return what is derived from posts, with `Lost` for a post that raises an error; if every one of several posts fails,
    raise the error.
    """
    try:
        return [*derive(system, materials, graphs)]
    except Exception as error:
        is_of_post = isinstance(error, TooMuchWorkError)
        if isinstance(error, MathAMRError) and not is_of_post:
            raise  # it is about the model, and says what to do
        if len(materials) == 1:
            return [Lost("cannot be encoded", f"{'' if is_of_post else f'{type(error).__name__}: '}{error}")]
        found = [each for one in materials for each in _isolated(system, [one], graphs)]
        if all(isinstance(each, Lost) for each in found):
            raise
        return found


class PiecesWork:
    """The task of a worker beside a GPU: everything but the network, for which a post is cut into word pieces if the system can."""

    def __init__(self, model: str, parser: str | None = None, parser_model: str | None = None) -> None:
        folder = model_folder(Path(model))
        kind = system_of(folder)
        self._preparation = kind.without_weights(folder) if isinstance(kind, CutsPieces) else None
        self._system = self._preparation or load_system(folder, "cpu", ONNX)
        self._graphs = GraphWork(parser, parser_model) if parser else None
        self.identity = self._system.fingerprint

    def __call__(self, request: Sequence[Material]) -> list[Derived | Lost]:
        """Return one answer per post."""
        return [self._cut(one) for one in request]

    def _cut(self, material: Material) -> Derived | Lost:
        try:
            (found,), (item,) = _with_items(self._system, [material], self._graphs)
            return replace(found, pieces=self._preparation.cut(item) if self._preparation else item)
        except Exception as error:
            return Lost("cannot be encoded", f"{type(error).__name__}: {error}")


class GuardedWork:
    """Makes the graphs of a few posts in the index's own process for them."""

    def __init__(self, archive: IndexStorage) -> None:
        self._archive = archive

    def made(self, lines: Sequence[str]) -> Iterator[tuple[dict[str, Any], MadeGraph]]:
        """Yield a row of the graph store for each post, and its graph."""
        for line in lines:
            post = Post.from_json(line)
            self._archive.work.prepare([line], [post.id])
            answer = self._archive.work([line])
            assert not isinstance(answer, Lost)
            graph = notation.read(stored_post(answer[0]).text, post.id)
            yield answer[0], MadeGraph(post, passage(post), graph)


class Encoders(Closing):
    """Computes vectors for an index that is being built; a context manager."""

    def __init__(self, archive: IndexStorage, pool: BuildPool, count: int) -> None:
        self._archive = archive
        self._at_a_time = 1 if count <= FEW else CHUNK
        """Posts that are encoded here before a query may use the system."""
        self._workers: Pool | None = None
        self._cuts_apart = False
        backend = archive.manifest.model.text_backend
        parser = archive.manifest.parser
        # One process is worth starting if it parses too: it reads the text of a post once for graph and vectors.
        if (pool.is_alone and parser is None) or count <= FEW:
            return
        model = chosen_model(archive.manifest.model, archive.model_source)
        if model is None:
            return
        self._cuts_apart = pool.is_here and backend == FLOAT
        arguments: tuple[Any, ...] = (str(model), *((parser.name, parser.model) if parser else (None, None)))
        if not self._cuts_apart:
            arguments += (pool.device, backend)
        task = "PiecesWork" if self._cuts_apart else "EncodingWork"
        workers = pool.workers_for(f"{__name__}:{task}", arguments, allowance=ALLOWANCE if parser else None)
        if workers.identity == archive.system.fingerprint:
            self._workers = workers
        else:
            workers.close()  # the caller passed a system that is not the one of that folder

    def derive(self, materials: Iterable[Material]) -> Iterator[Derived | Lost]:
        """Yield what is derived from posts, in order; `Lost` for a post over which every process was lost."""
        if self._workers is None:
            graphs = GuardedWork(self._archive) if self._archive.has_graphs else None
            for few in batches(materials, self._at_a_time):
                with self._archive.encoding.yielding():
                    found = _isolated(self._archive.system, few, graphs)
                yield from found
        elif self._cuts_apart:
            yield from ahead(self._encode_pieces(self._everywhere(self._workers, materials)), 2 * AT_ONCE)
        else:
            yield from self._everywhere(self._workers, materials)

    def _everywhere(self, workers: Pool, materials: Iterable[Material]) -> Iterator[Derived | Lost]:
        """Derive from posts, about a second's work at a time."""
        few = portions(materials, CHUNK, lambda material: len(material.packed), BYTES)
        for material, found in answer_each(workers.map, few):
            yield self._minimal(workers, material, found) if isinstance(found, Lost) else found

    def _minimal(self, workers: Pool, material: Material, lost: Lost) -> Derived | Lost:
        """Derive from a post over which a process was lost with a minimal graph, if the graph is to be made."""
        if not self._archive.has_graphs or material.graph is not None:
            return lost
        ((_, found),) = answer_each(workers.map, [[replace(material, is_minimal=True)]])
        if isinstance(found, Lost):
            return lost
        found.graph.fallbacks[f"post: {lost.cause}"] = 1
        derived: Derived = found
        return derived

    def _encode_pieces(self, cut: Iterable[Derived | Lost]) -> Iterator[Derived | Lost]:
        """Encode word pieces that other processes cut, many posts at a time."""
        system: Any = self._archive.system
        for few in batches(cut, AT_ONCE):
            chosen = [each.pieces for each in few if isinstance(each, Derived) and each.pieces is not None]
            encode = system.encode_pieces if isinstance(system, CutsPieces) else system.encode
            encoded = iter(encode(chosen))
            for each in few:
                if isinstance(each, Derived) and each.pieces is not None:
                    yield each.encoded_as(next(encoded))
                else:
                    yield each

    def visuals(self, visuals: Sequence[tuple[str, ReadFormula]]) -> Iterator[Mapping[str, Vectors]]:
        """Yield the vectors of visual classes, in order."""
        if self._workers is None or self._cuts_apart:
            for few in batches(visuals, self._at_a_time):
                with self._archive.encoding.yielding():
                    encoded = encode_visuals(self._archive.system, few)
                yield from encoded
            return
        for request, answer in self._workers.map(batches(visuals, VISUALS)):
            yield from encode_visuals(self._archive.system, request) if isinstance(answer, Lost) else answer

    def close(self) -> None:
        """End the processes, if there are any."""
        if self._workers is not None:
            self._workers.close()


def parser_of(archive: IndexStorage) -> ParserRecord:
    """Return the AMR parser of an index's graphs."""
    parser = archive.manifest.parser
    if parser is None:
        raise MathAMRError(f"the manifest of {archive.folder} does not say which AMR parser makes its graphs")
    return parser


def source_digest(formula: Formula, macros: tuple[str, ...]) -> bytes:
    """Return a digest of the formula from which the vectors of a visual class are computed."""
    said = (formula.latex, formula.presentation_mathml or "", formula.content_mathml or "", *macros)
    return blake2b("\0".join(said).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def encode_visuals(system: System, visuals: Sequence[tuple[str, ReadFormula]]) -> list[Mapping[str, Vectors]]:
    """Return the vectors of visual classes, each given with one of its formulas."""
    needs_trees = "trees" in system.needs
    trees = (trees_of(*read)[0] if needs_trees else (None, None) for _, read in visuals)
    return list(
        system.encode_visuals(
            VisualFormula(key=key, formula=formula, opt=opt, slt=slt)
            for (key, (formula, _)), (opt, slt) in zip(visuals, trees, strict=True)
        )
    )

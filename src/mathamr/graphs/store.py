"""`GraphStore`: a folder with the graphs of a corpus, their tensors and vocabularies.

`graphs.db` is SQLite: one row per post with its Penman text, and one row per post and configuration with its tensor,
so that another configuration never needs another parse. The vocabularies are text files beside it. Everything
that was committed survives a kill at any moment.
"""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mathamr.core.errors import MathAMRError
from mathamr.core.sqlite import Database, inflated
from mathamr.graphs import notation
from mathamr.graphs.mathgraph import MathGraph
from mathamr.graphs.tensor import GraphTensor
from mathamr.graphs.vocabulary import RelationVocabulary, Vocabulary
from mathamr.posts.postkind import ANSWERING

FORMAT = 1
_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS posts (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, parent TEXT, accepted TEXT,
    digest BLOB NOT NULL, nodes INTEGER NOT NULL, edges INTEGER NOT NULL, formulas INTEGER NOT NULL,
    fallbacks TEXT NOT NULL, graph BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS tensors (
    configuration TEXT NOT NULL, post INTEGER NOT NULL, tensor BLOB NOT NULL,
    PRIMARY KEY (configuration, post)) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class StoredPost:
    """One row of the store: a post's graph as text, with its counts and links."""

    id: str
    kind: str
    parent: str | None
    accepted: str | None
    digest: bytes
    nodes: int
    edges: int
    formulas: int
    fallbacks: dict[str, int]
    graph: bytes

    @classmethod
    def packed(cls, text: str) -> bytes:
        """Compress Penman text for the store."""
        return zlib.compress(text.encode("utf-8", "surrogatepass"), 6)

    @property
    def text(self) -> str:
        """The Penman text, decompressed."""
        return _text(self.graph, self.id)


class GraphStore(Database):
    """Graphs by post id, loaded lazily; a context manager."""

    def __init__(self, folder: Path, *, create: bool = False, read_only: bool = False) -> None:
        self.folder = folder
        path = folder / "graphs.db"
        if create:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise MathAMRError(f"cannot create the graph store {folder}: {error.strerror}") from error
        elif not path.is_file():
            raise MathAMRError(
                f"no graph store at {folder}; create one with: mathamr graph PATH --out {folder}"
            )
        super().__init__(path, _SCHEMA, FORMAT, create=create, read_only=read_only)

    def flush(self) -> None:
        """Make acknowledged writes survive a power failure, not only a kill."""
        self._db.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def state(self) -> str:
        """Return a string that changes whenever a graph is added, replaced or deleted."""
        count, last = self._db.execute("SELECT count(*), max(number) FROM posts").fetchone()
        return f"{count} posts, last {last}"

    def __len__(self) -> int:
        return int(self._db.execute("SELECT count(*) FROM posts").fetchone()[0])

    def __contains__(self, post_id: object) -> bool:
        return self._db.execute("SELECT 1 FROM posts WHERE id = ?", (post_id,)).fetchone() is not None

    def ids(self) -> Iterator[str]:
        """Yield the ids of all posts, in the order in which they were stored."""
        for (post_id,) in self._db.execute("SELECT id FROM posts ORDER BY number"):
            yield post_id

    def digest(self, post_id: str) -> bytes | None:
        """Return the digest of the post that a graph was built from; a post with an equal digest needs no new graph."""
        row = self._db.execute("SELECT digest FROM posts WHERE id = ?", (post_id,)).fetchone()
        return row[0] if row is not None and isinstance(row[0], bytes) else None

    def put(self, posts: Iterable[StoredPost]) -> None:
        """Store or replace graphs; delete the tensors of a replaced graph."""
        for post in posts:
            self.delete(post.id)
            self._db.execute(
                "INSERT INTO posts (id, kind, parent, accepted, digest, nodes, edges, formulas, fallbacks, graph)"
                " VALUES (?,?,?,?,?,?,?,?,?,?)",
                (
                    post.id,
                    post.kind,
                    post.parent,
                    post.accepted,
                    post.digest,
                    post.nodes,
                    post.edges,
                    post.formulas,
                    json.dumps(post.fallbacks),
                    post.graph,
                ),
            )

    def delete(self, post_id: str) -> None:
        """Delete a post and its tensors; an unknown id is ignored."""
        row = self._db.execute("SELECT number FROM posts WHERE id = ?", (post_id,)).fetchone()
        if row is not None:
            self._db.execute("DELETE FROM tensors WHERE post = ?", row)
            self._db.execute("DELETE FROM posts WHERE number = ?", row)

    def text(self, post_id: str) -> str:
        """Return the Penman text of a post's graph."""
        row = self._db.execute("SELECT graph FROM posts WHERE id = ?", (post_id,)).fetchone()
        if row is None:
            raise MathAMRError(f"no post {post_id!r} in the graph store {self.folder}")
        return _text(row[0], post_id)

    def graph(self, post_id: str) -> MathGraph:
        """Return a post's graph."""
        return notation.read(self.text(post_id), post_id)

    def texts(self) -> Iterator[tuple[str, str]]:
        """Yield (id, Penman text) of every post."""
        for post_id, blob in self._db.execute("SELECT id, graph FROM posts ORDER BY number"):
            yield post_id, _text(blob, post_id)

    def pairs(self, *, accepted_only: bool = False) -> Iterator[tuple[str, str]]:
        """Yield (question, answer) ids for training: every stored answer of a stored question, or only accepted ones."""
        sql = (
            "SELECT q.id, a.id FROM posts a JOIN posts q ON q.id = a.parent"
            f" WHERE a.kind IN ({', '.join('?' * len(ANSWERING))})"
            + (" AND q.accepted = a.id" if accepted_only else "")
            + " ORDER BY a.number"
        )
        yield from self._db.execute(sql, sorted(ANSWERING))

    def put_tensors(self, configuration: str, tensors: Iterable[tuple[str, bytes]]) -> None:
        """Store tensors, as (post id, bytes), of one configuration for posts that are in the store."""
        self._db.executemany(
            "INSERT OR REPLACE INTO tensors SELECT ?, number, ? FROM posts WHERE id = ?",
            ((configuration, tensor, post_id) for post_id, tensor in tensors),
        )

    def tensor(self, configuration: str, post_id: str) -> GraphTensor:
        """Return the tensor of one post."""
        row = self._db.execute(
            "SELECT tensor FROM tensors JOIN posts ON post = number WHERE configuration = ? AND id = ?",
            (configuration, post_id),
        ).fetchone()
        if row is None:
            what = "has no tensor" if post_id in self else "is not"
            raise MathAMRError(f"post {post_id!r} {what} in {self.folder} (configuration {configuration})")
        return GraphTensor.from_bytes(row[0])

    def tensors(self, configuration: str) -> Iterator[GraphTensor]:
        """Yield every tensor of a configuration, in a stable order."""
        rows = self._db.execute(
            "SELECT tensor FROM tensors WHERE configuration = ? ORDER BY post", (configuration,)
        )
        for (blob,) in rows:
            yield GraphTensor.from_bytes(blob)

    def without_tensor(self, configuration: str) -> Iterator[tuple[str, str]]:
        """Yield (id, Penman text) of the posts that still need a tensor; tensors may be written meanwhile."""
        last = 0
        while True:
            rows = self._db.execute(
                "SELECT number, id, graph FROM posts WHERE number > ? AND NOT EXISTS"
                " (SELECT 1 FROM tensors WHERE configuration = ? AND post = number) ORDER BY number LIMIT 256",
                (last, configuration),
            ).fetchall()
            if not rows:
                return
            last = rows[-1][0]
            for _, post_id, blob in rows:
                yield post_id, _text(blob, post_id)

    def drop_tensors(self) -> None:
        """Delete all tensors, because they use another vocabulary."""
        self._db.execute("DELETE FROM tensors")

    def count_tensors(self, configuration: str) -> int:
        """Return how many posts have a tensor of that configuration."""
        sql = "SELECT count(*) FROM tensors WHERE configuration = ?"
        return int(self._db.execute(sql, (configuration,)).fetchone()[0])

    def fallbacks(self) -> Counter[str]:
        """Return the fallbacks of all graphs, counted by cause."""
        causes: Counter[str] = Counter()
        for (row,) in self._db.execute("SELECT fallbacks FROM posts WHERE fallbacks != '{}'"):
            causes.update(json.loads(row))
        return causes

    def sizes(self) -> list[tuple[str, int, int, int, int]]:
        """Return (kind, posts, nodes, edges, formulas), summed over the posts of each kind."""
        sql = "SELECT kind, count(*), sum(nodes), sum(edges), sum(formulas) FROM posts GROUP BY kind ORDER BY kind"
        return self._db.execute(sql).fetchall()

    def median_nodes(self) -> int:
        """Return the median number of nodes per graph."""
        sql = "SELECT nodes FROM posts ORDER BY nodes LIMIT 1 OFFSET (SELECT (count(*) - 1) / 2 FROM posts)"
        row = self._db.execute(sql).fetchone()
        return 0 if row is None else int(row[0])

    @property
    def vocabulary_path(self) -> Path:
        """The file of the node labels."""
        return self.folder / "vocabulary.txt"

    @property
    def relations_path(self) -> Path:
        """The file of the relations."""
        return self.folder / "relations.txt"

    def vocabularies(self) -> tuple[Vocabulary, RelationVocabulary]:
        """Return the vocabularies of the tensors."""
        return Vocabulary.load(self.vocabulary_path), RelationVocabulary.load(self.relations_path)


def _text(blob: bytes, post_id: str) -> str:
    try:
        return inflated(blob).decode("utf-8", "surrogatepass")
    except (zlib.error, UnicodeDecodeError, TypeError) as error:
        raise MathAMRError(f"the stored graph of {post_id!r} is damaged ({error}); build it again") from error

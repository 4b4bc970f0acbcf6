"""`Catalogue`: the posts of an index and their formulas in SQLite; all other parts of the index are derived from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import blake2b
from itertools import chain, count
from pathlib import Path

from mathamr.core.cache import Cache
from mathamr.core.errors import MathAMRError
from mathamr.index.catalogue.holdings import CountsHoldings
from mathamr.index.catalogue.journal import Journal, unpacked, unpacked_text, unpacked_with_content
from mathamr.index.catalogue.keptposts import KEPT_SCHEMA, KeptPosts
from mathamr.index.catalogue.occurrences import MACROS_SCHEMA, Occurrences, StoredMacros
from mathamr.index.catalogue.postrow import PostRow, row_of, storable
from mathamr.index.catalogue.readfiles import FILES_SCHEMA, ReadFiles
from mathamr.index.catalogue.storedpassages import PASSAGES_SCHEMA, StoredPassages
from mathamr.index.entryids import LONGEST_ENTRY_ID
from mathamr.index.preview import Preview, PreviewHead
from mathamr.posts.post import Markup, Post
from mathamr.posts.postkind import ANSWERING

FORMAT = 5
CATALOGUE = "catalogue.db"
_posts: Cache[tuple[bytes, bytes], tuple[Post, int]] = Cache(
    512, weight=64 << 20, weigh=lambda _, found: found[1]
)
"""Limits of the cache of posts that were read recently, since good posts are found repeatedly."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS posts (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, parent TEXT,
    input TEXT NOT NULL, source TEXT NOT NULL, digest BLOB NOT NULL, deleted INTEGER NOT NULL DEFAULT 0,
    graph INTEGER NOT NULL DEFAULT 0, vectors INTEGER NOT NULL DEFAULT 0, lexical INTEGER NOT NULL DEFAULT 0,
    rows INTEGER NOT NULL DEFAULT 0, sketch REAL NOT NULL DEFAULT 0, post BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS posts_parent ON posts (parent) WHERE parent IS NOT NULL;
CREATE INDEX IF NOT EXISTS posts_input ON posts (input);
CREATE INDEX IF NOT EXISTS posts_source ON posts (source);
CREATE INDEX IF NOT EXISTS pending_graph ON posts (number) WHERE graph = 0;
CREATE INDEX IF NOT EXISTS pending_vectors ON posts (number) WHERE vectors = 0;
CREATE INDEX IF NOT EXISTS pending_lexical ON posts (number) WHERE lexical = 0;
CREATE INDEX IF NOT EXISTS posts_deleted ON posts (number) WHERE deleted = 1;
CREATE TABLE IF NOT EXISTS tags (
    tag TEXT NOT NULL, post INTEGER NOT NULL, PRIMARY KEY (tag, post)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS tags_post ON tags (post);
CREATE TABLE IF NOT EXISTS labels (
    label TEXT NOT NULL, post INTEGER NOT NULL, own INTEGER NOT NULL, PRIMARY KEY (label, post)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS labels_post ON labels (post);
CREATE INDEX IF NOT EXISTS labels_in_any_case ON labels (label COLLATE NOCASE);
CREATE TABLE IF NOT EXISTS encoded (
    post INTEGER PRIMARY KEY, meaning BLOB NOT NULL, rows INTEGER NOT NULL, formulas INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS encoded_meaning ON encoded (meaning);
CREATE TABLE IF NOT EXISTS formulas (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, post INTEGER NOT NULL, position INTEGER NOT NULL,
    visual TEXT NOT NULL, visual_id TEXT, gone INTEGER NOT NULL DEFAULT 0,
    rows INTEGER NOT NULL DEFAULT 0, sketch REAL NOT NULL DEFAULT 0);
CREATE INDEX IF NOT EXISTS formulas_post ON formulas (post, position);
CREATE INDEX IF NOT EXISTS formulas_visual ON formulas (visual);
CREATE INDEX IF NOT EXISTS formulas_visual_id ON formulas (visual_id) WHERE visual_id IS NOT NULL;
CREATE TABLE IF NOT EXISTS visuals (
    visual TEXT PRIMARY KEY, gone INTEGER NOT NULL DEFAULT 0,
    lexical INTEGER NOT NULL DEFAULT 0, vectors INTEGER NOT NULL DEFAULT 0,
    made_of BLOB, rows INTEGER NOT NULL DEFAULT 0, sketch REAL NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS stale_lexical ON visuals (visual) WHERE lexical = 0;
CREATE INDEX IF NOT EXISTS stale_vectors ON visuals (visual) WHERE vectors = 0;
CREATE INDEX IF NOT EXISTS visuals_gone ON visuals (visual) WHERE gone = 1;
CREATE TABLE IF NOT EXISTS representatives (visual TEXT PRIMARY KEY, post INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS representatives_post ON representatives (post);
"""
SCHEMA = _SCHEMA + MACROS_SCHEMA + PASSAGES_SCHEMA + FILES_SCHEMA + KEPT_SCHEMA
"""All tables and indexes of the file, and no others. Nothing is written into the columns `sketch` any more."""


_MOST_ENCLOSING = 8
"""How many parts of the name of a declaration may be what it belongs to."""


class Catalogue(Journal, Occurrences, StoredMacros, StoredPassages, ReadFiles, KeptPosts, CountsHoldings):
    """Posts and formulas by id. Any thread may read; one thread at a time may write, inside `transaction`."""

    def __init__(self, path: Path, *, create: bool = False, read_only: bool = False) -> None:
        if not create and not path.is_file():
            raise MathAMRError(
                f"there is no catalogue {path}; build the index again from its posts with:"
                f" mathamr index PATH --out {path.parent}"
            )
        super().__init__(path, SCHEMA, FORMAT, create=create, read_only=read_only)

    def __len__(self) -> int:
        return int(self._value("SELECT count(*) FROM posts WHERE deleted = 0"))

    def __contains__(self, post_id: object) -> bool:
        return bool(self._rows("SELECT 1 FROM posts WHERE id = ? AND deleted = 0", (post_id,)))

    def ids(self) -> Iterator[str]:
        """Yield the ids of all posts, in the order in which they were added."""
        for (post_id,) in self._each("SELECT number, id FROM posts WHERE deleted = 0"):
            yield post_id

    def numbered_ids(self) -> Iterator[tuple[int, str]]:
        """Yield number and id of all posts, in the order in which they were added."""
        return self._each("SELECT number, number, id FROM posts WHERE deleted = 0")

    def ids_of(self, numbers: Sequence[int]) -> dict[int, str]:
        """Return the ids of posts by number."""
        return dict(self._chosen("SELECT number, id FROM posts WHERE deleted = 0 AND number IN ", numbers))

    def post(self, post_id: str) -> Post:
        """Return the post with that id."""
        found = self.posts([post_id]).get(post_id)
        if found is None:
            raise MathAMRError(f"no post {post_id!r} in the index {self.path.parent}")
        return found

    def posts(self, ids: Sequence[str]) -> dict[str, Post]:
        """Return posts by id; missing ones are left out."""
        sql = "SELECT id, digest, post FROM posts WHERE deleted = 0 AND id IN "
        return {post_id: self._verified(*row) for post_id, *row in self._chosen(sql, ids)}

    def texts(self, ids: Sequence[str]) -> dict[str, tuple[str, Markup]]:
        """Return the bodies of posts and their markup by id; missing ones are left out."""
        sql = "SELECT id, post FROM posts WHERE deleted = 0 AND id IN "
        return {post_id: unpacked_text(blob) for post_id, blob in self._chosen(sql, ids)}

    def previews(self, ids: Sequence[str]) -> dict[str, Preview]:
        """Return what hits show of posts, by id; previews that are not stored, outdated or damaged are made from the posts."""
        found = self.stored_previews(ids)
        missing = [each for each in ids if each not in found]
        return found | {each: Preview.of(post) for each, post in self.posts(missing).items()}

    def preview_heads(self, ids: Sequence[str]) -> dict[str, PreviewHead]:
        """Return the titles of posts, and the posts without text and formulas."""
        found = self.stored_heads(ids)
        missing = [each for each in ids if each not in found]
        return found | {each: Preview.of(post).head for each, post in self.posts(missing).items()}

    def origins(self, ids: Sequence[str]) -> dict[str, tuple[str, str | None, str]]:
        """Return kind, parent and source of posts by id, without reading the posts; missing ones are left out."""
        sql = "SELECT id, kind, parent, source FROM posts WHERE deleted = 0 AND id IN "
        return {post_id: (kind, parent, source) for post_id, kind, parent, source in self._chosen(sql, ids)}

    def with_inputs(self, ids: Sequence[str]) -> dict[str, tuple[Post, str]]:
        """Return posts by id, each with the input it came from; damaged ones are left out."""
        sql = "SELECT id, input, digest, post FROM posts WHERE deleted = 0 AND id IN "
        found: dict[str, tuple[Post, str]] = {}
        for post_id, source, digest, blob in self._chosen(sql, list(dict.fromkeys(ids))):
            with suppress(MathAMRError):
                found[post_id] = self._verified(digest, blob), source
        return found

    def _verified(self, digest: bytes, blob: bytes) -> Post:
        """Return a post after a check of its digest; raise an error if it was changed on disk."""
        post = _as_stored(digest, blob)
        if post is None:
            raise MathAMRError(
                f"a post of {self.path} is not as it was stored; repair it with: mathamr index --check --out"
                f" {self.path.parent}"
            )
        return post

    def every_post(self, without: Container[str] = ()) -> Iterator[Post]:
        """Yield all posts except those with these ids, in the order in which they were added."""
        for post_id, blob in self._each("SELECT number, id, post FROM posts WHERE deleted = 0"):
            if post_id not in without:
                yield unpacked(blob)

    def answers(self, post_id: str) -> list[Post]:
        """Return the posts whose parent is that post: the accepted answer first, then by votes, then by age."""
        question = self.posts([post_id]).get(post_id)
        accepted = question.accepted_answer if question else None
        sql = "SELECT post FROM posts WHERE parent = ? AND deleted = 0 ORDER BY number"
        found: list[Post] = [unpacked(blob) for (blob,) in self._rows(sql, (post_id,))]
        return sorted(
            found,
            key=lambda post: (post.id != accepted, -(post.score or 0), post.date is None, post.date or ""),
        )

    def parents(self, ids: Sequence[str]) -> dict[str, str]:
        """Return the parents of those of some posts that have one, as far as they exist."""
        sql = (
            "SELECT child.id, own.id FROM posts child JOIN posts own ON own.id = child.parent"
            " WHERE child.deleted = 0 AND own.deleted = 0 AND child.id IN "
        )
        return dict(self._chosen(sql, ids))

    def children(self, ids: Sequence[str]) -> list[str]:
        """Return the ids of the posts whose parent is one of some posts."""
        sql = "SELECT id FROM posts WHERE deleted = 0 AND parent IN "
        return [post_id for (post_id,) in self._chosen(sql, ids)]

    def tags(self) -> Counter[str]:
        """Return the number of posts with each tag."""
        sql = "SELECT tag, count(*) FROM tags t JOIN posts p ON t.post = p.number WHERE deleted = 0 GROUP BY tag"
        return Counter(dict(self._rows(sql)))

    def tags_starting(self, prefix: str, most: int) -> list[str]:
        """Return some tags that begin with a prefix, in order."""
        sql = "SELECT DISTINCT tag FROM tags WHERE tag >= ? AND tag < ? LIMIT ?"
        return [tag for (tag,) in self._rows(sql, (prefix, f"{prefix}\uffff", most))]

    def labelled(self, label: str, most: int = -1) -> list[str]:
        """Return the ids of the posts that a label leads to: first those it names, then those that contain what it names.

        A label in other cases of letters counts where there is none in these.
        """
        for collation in ("BINARY", "NOCASE"):
            sql = (
                "SELECT id FROM labels l JOIN posts p ON l.post = p.number"
                f" WHERE label = ? COLLATE {collation} AND deleted = 0 ORDER BY own DESC, number LIMIT ?"
            )
            if found := self._rows(sql, (storable(label), most)):
                return [post_id for (post_id,) in found]
        return []

    def owners(self, ids: Sequence[str]) -> dict[str, str]:
        """Return what some posts belong to by their names, as `Subgroup.closure` to `Subgroup`: the post with the longest part."""
        posts = "labels l JOIN posts p ON l.post = p.number WHERE own = 1 AND deleted = 0 AND"
        names = dict(self._chosen(f"SELECT id, label FROM {posts} id IN ", ids))
        parts = sorted({part for name in names.values() for part in _enclosing(name)})
        found: dict[str, str] = {}
        for label, post_id in self._chosen(
            f"SELECT label, id FROM {posts} label IN ", parts, " ORDER BY number"
        ):
            found.setdefault(label, post_id)
        owners = {
            post_id: next(filter(None, map(found.get, _enclosing(name))), None)
            for post_id, name in names.items()
        }
        return {post_id: owner for post_id, owner in owners.items() if owner is not None}

    def sources(self) -> Counter[str]:
        """Return the number of posts from each source."""
        sql = "SELECT source, count(*) FROM posts WHERE deleted = 0 GROUP BY source"
        return Counter(dict(self._rows(sql)))

    def around(self, post_id: str, most: int) -> list[str]:
        """Return the ids of posts from the same source that have no parent, those stored nearest to the post first; the post
        itself is among them.
        """
        sql = (
            "SELECT other.id FROM posts AS own JOIN posts AS other ON other.source = own.source"
            " WHERE own.id = ? AND own.source != '' AND other.parent IS NULL AND other.deleted = 0"
            " ORDER BY abs(other.number - own.number) LIMIT ?"
        )
        return [row[0] for row in self._rows(sql, (post_id, most))]

    def spread(self, count: int) -> list[Post]:
        """Return some posts, evenly spaced from the first to the last."""
        first, last = self._rows("SELECT min(number), max(number) FROM posts WHERE deleted = 0")[0]
        if first is None:
            return []
        numbers = sorted({first + (last - first) * step // max(1, count - 1) for step in range(count)})
        rows = self._chosen("SELECT post FROM posts WHERE deleted = 0 AND number IN ", numbers)
        return [unpacked(blob) for (blob,) in rows]

    def kinds(self) -> Counter[str]:
        """Return the number of posts of each kind."""
        return Counter(dict(self._rows("SELECT kind, count(*) FROM posts WHERE deleted = 0 GROUP BY kind")))

    def inputs(self) -> Counter[str]:
        """Return the number of posts from each input; posts that were put one by one belong to the input without a name."""
        return Counter(dict(self._rows("SELECT input, count(*) FROM posts WHERE deleted = 0 GROUP BY input")))

    @property
    def revision(self) -> int:
        """A number that grows with every change of a post."""
        return int(self.meta("revision") or 0)

    def damaged(self) -> Iterator[str]:
        """Yield the ids of posts whose content does not match its digest."""
        for post_id, digest, blob in self._each(
            "SELECT number, id, digest, post FROM posts WHERE deleted = 0"
        ):
            try:
                if digest_of(unpacked(blob)) != digest:
                    yield post_id
            except MathAMRError:
                yield post_id

    def known(self, post_id: str) -> tuple[int, bytes, str] | None:
        """Return (number, digest, input) of an existing post."""
        rows = self._rows("SELECT number, digest, input FROM posts WHERE id = ? AND deleted = 0", (post_id,))
        return rows[0] if rows else None

    def of_input(self, source: str) -> list[tuple[int, str]]:
        """Return (number, id) of the posts that came from an input."""
        return self._rows(
            "SELECT number, id FROM posts WHERE input = ? AND deleted = 0 ORDER BY number", (source,)
        )

    def known_among(self, ids: Sequence[str]) -> dict[str, tuple[int, bytes, str]]:
        """Return (number, digest, input) of those of some posts that exist."""
        sql = "SELECT id, number, digest, input FROM posts WHERE deleted = 0 AND id IN "
        return {
            post_id: (number, digest, source) for post_id, number, digest, source in self._chosen(sql, ids)
        }

    def put(self, post: Post, source: str, visuals: Sequence[str]) -> int:
        """Add or replace a post of an input, given the visual classes of its formulas; return its number."""
        return self.put_rows([row_of(post, visuals)], source)[0]

    def put_rows(self, rows: Sequence[PostRow], source: str) -> list[int]:
        """Add or replace posts of an input, in this order, and return their numbers."""
        self._count_changes(len(rows))
        known = dict(self._chosen("SELECT id, number FROM posts WHERE id IN ", [row.id for row in rows]))
        numbers: list[int] = []
        new: dict[str, tuple[int, PostRow]] = {}
        insert = "INSERT INTO posts (id, kind, parent, input, source, digest, post) VALUES (?,?,?,?,?,?,?) RETURNING number"
        for row in rows:
            number = known.get(row.id)
            if number is None:
                values = (row.id, row.kind, row.parent, source, row.source, row.digest, row.packed)
                ((number,),) = self._db.execute(insert, values).fetchall()
                new[row.id] = (number, row)
            else:
                self._replace(number, row, source)
            numbers.append(number)
        self._db.executemany("DELETE FROM kept WHERE post = ?", ((number,) for number in known.values()))
        self._unmark_answers(list(new))
        self._put_parts(list(new.values()))
        self.put_passages(
            (number, row.digest, row.passage) for number, row in zip(numbers, rows, strict=True)
        )
        return numbers

    def _replace(self, number: int, row: PostRow, source: str) -> None:
        """Store another version of a post; if only its place is another, nothing must be derived again."""
        values = (row.kind, row.parent, source, row.source, row.digest, row.packed)
        was_deleted, before = self._rows("SELECT deleted, post FROM posts WHERE number = ?", (number,))[0]
        if not was_deleted and _is_only_moved(unpacked(before), unpacked(row.packed)):
            sql = "UPDATE posts SET kind=?, parent=?, input=?, source=?, digest=?, post=? WHERE number = ?"
            self._db.execute(sql, (*values, number))
            self._db.execute("DELETE FROM labels WHERE post = ?", (number,))
            self._put_labels([(number, row)])
            return
        tags = self._rows("SELECT tag FROM tags WHERE post = ?", (number,))
        if was_deleted or {tag for (tag,) in tags} != set(row.tags):
            self._unmark_answers([row.id])
        self._db.execute(
            "UPDATE posts SET kind = ?, parent = ?, input = ?, source = ?, digest = ?, post = ?, deleted = 0,"
            " graph = 0, vectors = 0, lexical = 0 WHERE number = ?",
            (*values, number),
        )
        for table in ("tags", "labels", "macros"):
            self._db.execute(f"DELETE FROM {table} WHERE post = ?", (number,))
        self._unmark_visuals_of(number)
        self._db.execute("UPDATE formulas SET gone = 1 WHERE post = ?", (number,))
        self._put_parts([(number, row)])

    def _put_parts(self, posts: Sequence[tuple[int, PostRow]]) -> None:
        """Store tags, labels, macros, formulas and visual classes of posts."""
        self._db.executemany(
            "INSERT OR IGNORE INTO tags VALUES (?, ?)",
            ((tag, number) for number, row in posts for tag in row.tags),
        )
        self._put_labels(posts)
        self._db.executemany(
            "INSERT OR IGNORE INTO macros VALUES (?, ?)",
            ((macro, number) for number, row in posts for macro in row.macros),
        )
        for number, row in posts:
            for position, formula in enumerate(row.formulas):
                self._put_formula(number, row.id, position, *formula)
        self._db.executemany(
            "INSERT INTO visuals (visual) VALUES (?) ON CONFLICT (visual) DO UPDATE SET gone = 0, lexical = 0, vectors = 0",
            ((visual,) for visual in sorted({visual for _, row in posts for visual in row.visuals})),
        )

    def _put_labels(self, posts: Sequence[tuple[int, PostRow]]) -> None:
        self._db.executemany(
            "INSERT OR IGNORE INTO labels VALUES (?, ?, ?)",
            ((label, number, own) for number, row in posts for label, own in row.labels),
        )

    def _unmark_answers(self, ids: Sequence[str]) -> None:
        """Unmark the vectors of questions' answers, which are filtered by their tags, after these have changed."""
        kinds = ", ".join(f"'{kind}'" for kind in sorted(ANSWERING))
        sql = f"UPDATE posts SET vectors = 0 WHERE deleted = 0 AND vectors = 1 AND kind IN ({kinds}) AND parent = ?"
        self._db.executemany(sql, ((post_id,) for post_id in ids))

    def keep_posts(self, source: str, numbers: Collection[int], day: str) -> None:
        """Record which posts of an input are kept although their files can no longer be read, as of this day where it is new."""
        if self.keep(source, numbers, day):
            self._count_changes()

    def _count_changes(self, count: int = 1) -> None:
        self._db.execute(
            "INSERT INTO meta VALUES ('revision', ?1)"
            " ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + ?1",
            (count,),
        )

    def rekey(self, posts: Sequence[tuple[int, PostRow]]) -> int:
        """Store the visual classes of the formulas of posts where they are others now; return the number of these posts."""
        stored = self.keys_of([row.id for _, row in posts])
        count = 0
        for number, row in posts:
            before = stored.get(row.id, {})
            wrong = [
                (visual, number, position)
                for position, visual in enumerate(row.visuals)
                if before.get(position, visual) != visual
            ]
            if not wrong:
                continue
            count += 1
            self._unmark_visuals_of(number)
            self._db.executemany(
                "UPDATE formulas SET visual = ? WHERE post = ? AND position = ? AND gone = 0", wrong
            )
            self._unmark_visuals_of(number)
            self._db.execute("UPDATE posts SET vectors = 0 WHERE number = ?", (number,))
        if count:
            self._count_changes(count)
        return count

    def _unmark_visuals_of(self, number: int) -> None:
        """Unmark the visual classes of a post, since another formula may represent them from now on."""
        self._db.execute(
            "INSERT INTO visuals (visual) SELECT visual FROM formulas WHERE post = ? AND gone = 0"
            " ON CONFLICT (visual) DO UPDATE SET gone = 0, lexical = 0, vectors = 0",
            (number,),
        )

    def _put_formula(
        self, number: int, post_id: str, position: int, name: str, visual: str, visual_id: str | None
    ) -> None:
        """Store a formula under its own id, or under one derived from its post if that id is taken or invalid."""
        for chosen in chain((name, f"{post_id}/{name}"), _numbered(f"{post_id}/{position}")):
            if not _is_valid_id(chosen):
                continue
            changed = self._db.execute(
                "INSERT INTO formulas (id, post, position, visual, visual_id) VALUES (?,?,?,?,?)"
                " ON CONFLICT (id) DO UPDATE SET post = excluded.post, position = excluded.position,"
                " visual = excluded.visual, visual_id = excluded.visual_id, gone = 0, rows = 0"
                " WHERE gone = 1 OR post IN (SELECT number FROM posts WHERE deleted = 1)",
                (chosen, number, position, visual, visual_id),
            )
            if changed.rowcount:
                return

    def delete(self, post_id: str) -> bool:
        """Mark a post as deleted; return whether it existed."""
        known = self.known(post_id)
        if known is None:
            return False
        self._count_changes()
        self._unmark_visuals_of(known[0])
        self._unmark_answers([post_id])
        self._db.execute(
            "UPDATE posts SET deleted = 1, graph = 0, vectors = 0, lexical = 0 WHERE number = ?", known[:1]
        )
        return True


def _is_valid_id(name: str) -> bool:
    return 0 < len(name) <= LONGEST_ENTRY_ID and storable(name) == name and "\0" not in name


def _enclosing(name: str) -> Iterator[str]:
    """Yield what a dotted name begins with, the longest part first, at most `_MOST_ENCLOSING`."""
    for _ in range(_MOST_ENCLOSING):
        name = name.rpartition(".")[0]
        if not name:
            return
        yield name


def _numbered(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name}.{number}" for number in count())


def _is_only_moved(old: Post, new: Post) -> bool:
    """Return True if only the place of a post changed, not its content or label, so that nothing must be derived again."""
    labels = {post.place.label if post.place is not None else "" for post in (old, new)}
    return (
        old.place != new.place and len(labels) == 1 and replace(old, place=None) == replace(new, place=None)
    )


def _as_stored(digest: bytes, blob: bytes) -> Post | None:
    """Return the post of a row if it matches the digest, else None."""
    found = _posts.get((digest, blob))
    if found is None:
        post, content = unpacked_with_content(blob)
        if blake2b(content, digest_size=16).digest() != digest:
            return None
        found = post, len(content)
        _posts.put((digest, blob), found)
    return found[0]


def digest_of(post: Post) -> bytes:
    """Return a digest of the content of a post."""
    return blake2b(post.to_json().encode("utf-8", "surrogatepass"), digest_size=16).digest()

"""Prepares the input of trials from a test collection: contexts of judged formulas, and posts as MaRF reads them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from mathamr.amr.parser import load_parser
from mathamr.core.errors import MathAMRError
from mathamr.evaluation.qrels import Qrels, write_qrels
from mathamr.posts.passage import PLACEHOLDER, passage
from mathamr.posts.post import Formula, Post
from mathamr.systems.baseencoder import load_base_encoder
from mathamr.systems.marf.configuration import MarfConfiguration
from mathamr.systems.marf.latextokens import latex_tokens
from mathamr.systems.marf.postinput import InputReader
from mathamr_lab.experiments.collection import TestCollection, TestSet
from mathamr_lab.experiments.formulaplaces import collection_places, topic_places, write_places
from mathamr_lab.experiments.trials.marf import READ_WITH, read_with
from mathamr_lab.experiments.trials.trialtables import SHARES
from mathamr_lab.systems.marf.postshard import PostShard
from mathamr_lab.systems.marf.recipe import vocabularies_of
from mathamr_lab.training.export import listed

_WORD = re.compile(r"\w+|[^\w\s]")
_AT_A_TIME = 1000


def sets_by_task(collection: TestCollection) -> dict[str, list[TestSet]]:
    """Returns the test sets by the names that trials use."""
    found: dict[str, list[TestSet]] = {"task1": [], "known-items": [], "task2": []}
    for test in collection.tests:
        name = "task2" if test.task == "formulas" else "known-items" if test.is_known_items else "task1"
        found[name].append(test)
    return {name: tests for name, tests in found.items() if tests}


def judged(tests: Iterable[TestSet]) -> Qrels:
    """Merges the judgments of several test sets."""
    return Qrels({topic: grades for test in tests for topic, grades in test.qrels.grades.items()})


def prepare_contexts(
    collection: TestCollection, folder: Path, parser: str, model: str | None, say: Callable[[str], None]
) -> None:
    """Writes the contexts of all query formulas, of judged formulas, and of one place of every visual class."""
    tests = sets_by_task(collection).get("task2")
    if tests is None:
        raise MathAMRError(
            "comparing MathAMR's contexts needs topics of formulas with judgments; the collection has none"
        )
    qrels = judged(tests)
    (folder / "qrels").mkdir(exist_ok=True)
    write_qrels(qrels, folder / "qrels" / "task2.qrels")
    reader = load_parser(parser, model)
    topics = [topic for test in tests for topic in test.topics]
    count = write_places(topic_places(topics, reader), folder / "topic-places.jsonl.gz")
    say(f"contexts of {count:,} query formulas")
    posts = list(collection.posts())
    count = write_places(collection_places(posts, qrels, reader), folder / "places.jsonl.gz")
    if not count:
        raise MathAMRError(
            "no judged formula is in the posts; topics, judgments (by visual id) and posts must be of one collection"
        )
    say(f"contexts of {count:,} places of judged formulas")
    visuals = {f.visual_id for post in posts for f in post.formulas if f.visual_id}
    wide = collection_places(posts, qrels, reader, others=len(visuals))
    say(f"contexts of {write_places(wide, folder / 'places-all.jsonl.gz'):,} places of all formulas")


def prepare_marf(
    collection: TestCollection, folder: Path, configuration: MarfConfiguration, say: Callable[[str], None]
) -> None:
    """Writes the training pairs, the searched entries, the topics, and the shares of mathematics."""
    searched = list(collection.posts())
    posts = {post.id: post for post in (*searched, *collection.further_posts())}
    pairs = [
        (post.parent, post.id)
        for post in posts.values()
        if post.parent in posts
        and not listed(post.id, collection.without)
        and not listed(post.parent or "", collection.without)
    ]
    if not pairs:
        raise MathAMRError("the posts have no question with an answer to learn from; name more with --train")
    used = {name for pair in pairs for name in pair}
    learned = [post for post in posts.values() if post.id in used]
    vocabularies = vocabularies_of(learned)
    folder.mkdir(parents=True, exist_ok=True)
    vocabularies.save(folder)
    pieces = load_base_encoder(configuration.base).pieces
    (folder / READ_WITH).write_text(json.dumps(read_with(pieces, configuration)) + "\n", encoding="utf-8")
    reader = vocabularies.reader(pieces, configuration)
    _shard(folder, "posts", reader, learned, pairs=[(str(q), a) for q, a in pairs])
    say(f"{len(pairs):,} pairs of {len(learned):,} posts to learn from")
    answers = [post for post in searched if post.role == "answer"] or searched
    _shard(folder, "answers", reader, answers)
    shares = {"answers": {post.id: round(math_share(post), 4) for post in answers}}
    (folder / "qrels").mkdir(exist_ok=True)
    for name, tests in sets_by_task(collection).items():
        topics = [topic for test in tests for topic in test.topics]
        write_qrels(judged(tests), folder / "qrels" / f"{name}.qrels")
        ids = [topic.id for topic in topics]
        if name == "task2":
            formulas = [topic.formula or Formula(topic.id, "") for topic in topics]
            PostShard.of(ids, reader.formulas(formulas), ()).save(folder / f"topics-{name}.npz")
            visuals: dict[str, Formula] = {}
            for post in searched:
                for formula in post.formulas:
                    if formula.visual_id:
                        visuals.setdefault(formula.visual_id, formula)
            PostShard.of(list(visuals), reader.formulas(list(visuals.values())), ()).save(
                folder / "visual.npz"
            )
            say(f"{len(visuals):,} visual classes of formulas")
        else:
            _shard(folder, f"topics-{name}", reader, [topic.post for topic in topics], ids)
            shares[name] = {topic.id: round(math_share(topic.post), 4) for topic in topics}
    (folder / SHARES).write_text(json.dumps(shares) + "\n", encoding="utf-8")


def _shard(
    folder: Path,
    name: str,
    reader: InputReader,
    posts: Sequence[Post],
    ids: Sequence[str] | None = None,
    pairs: Iterable[tuple[str, str]] = (),
) -> None:
    read = [
        each
        for start in range(0, len(posts), _AT_A_TIME)
        for each in reader.posts(posts[start : start + _AT_A_TIME])
    ]
    PostShard.of(ids or [post.id for post in posts], read, pairs).save(folder / f"{name}.npz")


def math_share(post: Post) -> float:
    """Returns the share of mathematics in a post: formula tokens among all its tokens (Wang, Zheng and Kani, section 4.3).

    A post without tokens has 0.

    >>> from mathamr.posts.post import Formula
    >>> math_share(Post("7", "answer", "We have $a+b$", markup="text", formulas=(Formula("7:0", "a+b"),)))
    0.6
    """
    formulas = sum(len(latex_tokens(formula.latex)) for formula in post.formulas)
    words = sum(
        len(_WORD.findall(PLACEHOLDER.sub(" ", sentence.text))) for sentence in passage(post).sentences
    )
    return formulas / (formulas + words) if formulas else 0.0

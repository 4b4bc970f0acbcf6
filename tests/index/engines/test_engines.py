"""The contract of the engine seam: every engine keeps it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from mathamr.errors import MathAMRError
from mathamr.index.engines.engine import (
    ENGINES,
    Engine,
    EngineHead,
    Filter,
    Payload,
    Point,
    Scored,
    create_engine,
    open_engine,
)
from mathamr.settings import QDRANT_API_KEY, QDRANT_URL
from tests.index.engines.points import (
    ON_SERVER,
    SIZE,
    VARIANTS,
    create,
    formula_points,
    naive_search,
    some_points,
    units,
)

FILTERS = {
    "everything": None,
    "empty": Filter(),
    "kinds": Filter(kinds=("answer", "note")),
    "one tag": Filter(tags=("limits",)),
    "all tags": Filter(tags=("algebra", "limits", "sets")),
    "after": Filter(after="2014-03-11T10:00:00.500"),
    "before": Filter(before="2014"),
    "between": Filter(after="2012-02", before="2016-05-11"),
    "minimum score": Filter(minimum_score=0),
    "sources": Filter(sources=("file 1",)),
    "several at once": Filter(kinds=("question",), tags=("sets",), minimum_score=-2, after="2011"),
    "nothing": Filter(kinds=("poem",)),
    "unknown tag": Filter(tags=("algebra", "unheard of")),
}


def same(found: list[Scored], wanted: list[Scored], tolerance: float = 2e-6) -> None:
    """The same ids in the same order; the scores agree to the last decimal but one."""
    assert [hit.id for hit in found] == [hit.id for hit in wanted]
    assert [hit.score for hit in found] == pytest.approx([hit.score for hit in wanted], abs=tolerance)


@pytest.fixture(scope="module", autouse=True)
def clean_server() -> Iterator[None]:
    """Leaves nothing on a real server."""
    yield
    if "qdrant-server" in VARIANTS:
        from qdrant_client import QdrantClient

        client = QdrantClient(url=QDRANT_URL.value, api_key=QDRANT_API_KEY.value or None)
        for collection in client.get_collections().collections:
            if collection.name.startswith(ON_SERVER):
                client.delete_collection(collection.name)


@pytest.fixture(params=list(VARIANTS))
def variant(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def engine(variant: str, tmp_path: Path) -> Iterator[Engine]:
    engine = create(variant, tmp_path / "engine")
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """An engine for reading alone, shared by the tests that only search: some points flushed, some not yet."""
    engine = create(request.param, tmp_path_factory.mktemp("filled") / "engine")
    points = some_points(1, 60)
    engine.posts.upsert(points[:40])
    engine.flush()
    engine.posts.upsert(points[40:])
    engine.formulas.upsert(formula_points(2, 50))
    yield engine
    engine.close()


EXACT = [name for name in VARIANTS if name != "flat-float16"]
IN_ITS_FOLDER = [name for name in ("flat", "edge", "qdrant-local") if name in VARIANTS]
each_filled = pytest.mark.parametrize("filled", EXACT, indirect=True)
each_exact = pytest.mark.parametrize("variant", EXACT)
each_in_its_folder = pytest.mark.parametrize("variant", IN_ITS_FOLDER)


def test_every_registered_engine_has_the_contract_tests() -> None:
    assert set(ENGINES) == {name for name, _ in VARIANTS.values()}


@each_filled
@pytest.mark.parametrize("where", FILTERS.values(), ids=FILTERS)
def test_exact_search_is_the_naive_ranking_under_every_filter(filled: Engine, where: Filter | None) -> None:
    query = units(np.random.default_rng(3), 4)
    points = some_points(1, 60)
    for k in (1, 10, 100):
        same(filled.posts.search_maxsim(query, k, where), naive_search(points, query, k, where))
        same(filled.posts.search(query[0], k, where), naive_search(points, query[0], k, where))
    formulas = formula_points(2, 50)
    same(filled.formulas.search(query[0], 20, where), naive_search(formulas, query[0], 20, where))


@each_filled
def test_a_query_of_one_vector_or_of_many_scores_the_mean(filled: Engine) -> None:
    points = some_points(1, 60)
    for rows in (1, 2, 33):
        query = units(np.random.default_rng(rows), rows)
        same(filled.posts.search_maxsim(query, 60), naive_search(points, query, 60))


@each_filled
def test_given_posts_are_scored_exactly_and_unknown_ones_left_out(filled: Engine) -> None:
    query = units(np.random.default_rng(5), 3)
    points = some_points(1, 60)
    chosen = [points[number] for number in (50, 3, 17, 3)]
    found = filled.posts.score(query, [point.id for point in chosen] + ["unknown"])
    same(found, naive_search(chosen[:3], query, 9))
    assert filled.posts.score(query, []) == []
    formulas = formula_points(2, 50)[:5]
    of_formulas = filled.formulas.score(query[:1], [point.id for point in formulas])
    same(of_formulas, naive_search(formulas, query[0], 9))


@each_filled
def test_vectors_and_payloads_come_back_as_they_were(filled: Engine) -> None:
    points = some_points(1, 60)
    fetched = filled.posts.fetch([points[3].id, "unknown", points[59].id])
    assert sorted(fetched) == sorted([points[3].id, points[59].id])
    np.testing.assert_allclose(fetched[points[3].id], points[3].vectors, atol=1e-6)
    formulas = formula_points(2, 50)
    np.testing.assert_allclose(filled.formulas.fetch(["f7"])["f7"], formulas[7].vector[None], atol=1e-6)
    assert filled.posts.payloads([point.id for point in points]) == {
        point.id: point.payload for point in points
    }
    assert filled.formulas.payloads(["f7", "?"]) == {"f7": formulas[7].payload}


@each_filled
def test_ids_and_counts(filled: Engine) -> None:
    assert filled.posts.count() == 60
    assert sorted(filled.posts.ids()) == sorted(point.id for point in some_points(1, 60))
    assert filled.formulas.count() == 50 == len(set(filled.formulas.ids()))


@each_filled
def test_searches_from_several_threads_agree(filled: Engine) -> None:
    queries = [units(np.random.default_rng(seed), 3) for seed in range(8)]
    alone = [filled.posts.search_maxsim(query, 10) for query in queries]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda query: filled.posts.search_maxsim(query, 10), queries))
    for found, wanted in zip(together, alone, strict=True):
        same(found, wanted)


@each_filled
def test_a_query_of_another_size_or_with_nan_or_without_vectors_is_refused(filled: Engine) -> None:
    with pytest.raises(MathAMRError, match=f"expected n × {SIZE} numbers, found 2 × {SIZE + 1}"):
        filled.posts.search_maxsim(np.ones((2, SIZE + 1), np.float32), 5)
    with pytest.raises(MathAMRError, match="finite"):
        filled.posts.search(np.full(SIZE, np.nan, np.float32), 5)
    with pytest.raises(MathAMRError, match="no vectors"):
        filled.posts.search_maxsim(np.zeros((0, SIZE), np.float32), 5)
    with pytest.raises(MathAMRError, match="at least 1"):
        filled.posts.search(np.ones(SIZE, np.float32), 0)
    with pytest.raises(MathAMRError, match="MaxSim searches posts"):
        filled.formulas.search_maxsim(np.ones((1, SIZE), np.float32), 5)
    with pytest.raises(MathAMRError, match="no date"):
        filled.posts.search(np.ones(SIZE, np.float32), 5, Filter(after="yesterday"))


@each_filled
def test_a_query_of_zeros_finds_everything_equally_by_id(filled: Engine) -> None:
    wanted = sorted(point.id for point in some_points(1, 60))[:7]
    assert filled.posts.search(np.zeros(SIZE, np.float32), 7) == [Scored(name, 0.0) for name in wanted]
    found = filled.posts.search_maxsim(np.zeros((2, SIZE), np.float32), 7)
    assert found == [Scored(name, 0.0) for name in wanted]


def test_an_empty_engine_finds_nothing(engine: Engine) -> None:
    query = units(np.random.default_rng(0), 2)
    assert engine.posts.search_maxsim(query, 5) == engine.posts.search(query[0], 5) == []
    assert engine.formulas.search(query[0], 5) == engine.posts.score(query, ["p1"]) == []
    assert engine.posts.count() == 0
    assert list(engine.posts.ids()) == []
    assert engine.posts.fetch(["p1"]) == {}
    engine.posts.delete(["p1"])
    engine.flush()
    assert engine.verify() == []


@each_exact
def test_an_upsert_replaces_and_the_last_of_equal_ids_counts(engine: Engine) -> None:
    first, second, third = some_points(4, 3)
    engine.posts.upsert([first, Point("p1", second.vector, second.vectors, second.payload)])
    engine.flush()
    longer = units(np.random.default_rng(9), 12)
    replaced = Point("p0", longer[3], longer, Payload(kind="note", tags=("new",)))
    engine.posts.upsert([Point("p0", third.vector, third.vectors, third.payload), replaced])
    assert engine.posts.count() == 2
    np.testing.assert_allclose(engine.posts.fetch(["p0"])["p0"], longer, atol=1e-6)
    assert engine.posts.payloads(["p0"])["p0"] == replaced.payload
    query = units(np.random.default_rng(1), 2)
    same(engine.posts.search_maxsim(query, 9), naive_search([replaced, second], query, 9))
    shorter = longer[:1]
    engine.posts.upsert([Point("p0", shorter[0], shorter)])
    engine.flush()
    assert engine.posts.fetch(["p0"])["p0"].shape == (1, SIZE)
    assert engine.posts.count() == 2


@each_exact
def test_a_deleted_point_is_gone_and_can_come_back(engine: Engine) -> None:
    points = some_points(6, 12)
    engine.posts.upsert(points)
    engine.flush()
    engine.posts.delete(["p3", "p4", "never seen"])
    left = [point for point in points if point.id not in ("p3", "p4")]
    query = units(np.random.default_rng(1), 2)
    same(engine.posts.search_maxsim(query, 20), naive_search(left, query, 20))
    assert engine.posts.count() == 10
    assert "p3" not in set(engine.posts.ids())
    assert engine.posts.fetch(["p3"]) == {}
    assert engine.posts.score(query, ["p3"]) == []
    engine.posts.upsert([points[3]])
    engine.flush()
    same(engine.posts.search_maxsim(query, 20), naive_search([*left, points[3]], query, 20))


@pytest.mark.parametrize("bad", ["nan", "infinite", "short", "long", "flat", "none", "empty", "no id"])
def test_a_point_that_is_refused_leaves_the_engine_as_it_was(engine: Engine, bad: str) -> None:
    good, other = some_points(7, 2)
    engine.posts.upsert([good])
    vectors = units(np.random.default_rng(0), 3)
    wrong = {
        "nan": Point("x", vectors[0], np.where(np.eye(3, SIZE, dtype=bool), np.nan, vectors)),
        "infinite": Point("x", np.full(SIZE, np.inf, np.float32), vectors),
        "short": Point("x", vectors[0], vectors[:, 1:]),
        "long": Point("x", np.ones(SIZE + 1, np.float32), vectors),
        "flat": Point("x", vectors[0], vectors[0]),
        "none": Point("x", vectors[0], None),
        "empty": Point("x", vectors[0], vectors[:0]),
        "no id": Point("", vectors[0], vectors),
    }[bad]
    with pytest.raises(MathAMRError):
        engine.posts.upsert([other, wrong])
    assert list(engine.posts.ids()) == [good.id]


@each_exact
def test_vectors_of_zeros_score_zero_and_others_are_made_unit(engine: Engine) -> None:
    along = np.eye(SIZE, dtype=np.float32)
    engine.posts.upsert(
        [
            Point("zeros", np.zeros(SIZE, np.float32), np.zeros((2, SIZE), np.float32)),
            Point("far", 7 * along[0], 7 * along[:1]),
            Point("against", -along[0], -along[:1]),
        ]
    )
    engine.flush()
    wanted = [Scored("far", 1.0), Scored("zeros", 0.0), Scored("against", -1.0)]
    assert engine.posts.search(along[0], 3) == engine.posts.search_maxsim(3 * along[:1], 3) == wanted


@each_exact
def test_ties_go_by_id_and_the_cut_respects_them(engine: Engine) -> None:
    vector = units(np.random.default_rng(8), 1)
    names = [f"p{number:02d}" for number in np.random.default_rng(2).permutation(40)]
    engine.posts.upsert(Point(name, vector[0], vector) for name in names[:25])
    engine.flush()
    engine.posts.upsert(Point(name, vector[0], vector) for name in names[25:])
    for k in (1, 3, 10, 39, 40, 50):
        wanted = sorted(names)[:k]
        assert [hit.id for hit in engine.posts.search(vector[0], k)] == wanted
        assert [hit.id for hit in engine.posts.search_maxsim(vector, k)] == wanted


def test_ids_and_payloads_may_be_any_text(engine: Engine) -> None:
    vectors = units(np.random.default_rng(0), 2)
    names = ["ζ/∀ε>0.md", "a b\tc\n", "'; DROP TABLE posts --", "x" * 4000, "0", "🧮"]
    payload = Payload(kind="κ", tags=("c'est", 'a "b"'), source="C:\\notes\\ü.tex")
    engine.posts.upsert(Point(name, vectors[0], vectors, payload) for name in names)
    engine.flush()
    assert sorted(engine.posts.ids()) == sorted(names)
    assert set(engine.posts.payloads(names).values()) == {payload}
    where = Filter(kinds=("κ",), tags=('a "b"',), sources=("C:\\notes\\ü.tex",))
    assert len(engine.posts.search(vectors[0], 10, where)) == len(names)


def test_a_lone_surrogate_in_a_payload_does_no_harm(engine: Engine) -> None:
    vectors = units(np.random.default_rng(0), 1)
    engine.posts.upsert([Point("a", vectors[0], vectors, Payload(source="b\udce9.md", tags=("\ud800",)))])
    engine.flush()
    assert list(engine.posts.ids()) == ["a"]
    assert engine.posts.payloads(["a"])["a"].source == "b?.md"
    with pytest.raises(MathAMRError, match="Unicode"):
        engine.posts.upsert([Point("\ud800", vectors[0], vectors)])


@each_exact
def test_what_was_flushed_is_there_after_reopening(variant: str, tmp_path: Path) -> None:
    folder = tmp_path / "engine"
    points, formulas = some_points(11, 30), formula_points(12, 20)
    engine = create(variant, folder)
    engine.posts.upsert(points[:20])
    engine.flush()
    engine.posts.upsert(points[20:])
    engine.posts.delete(["p5"])
    engine.formulas.upsert(formulas)
    engine.close()
    engine.close()
    left = [point for point in points if point.id != "p5"]
    query = units(np.random.default_rng(1), 3)
    for read_only in (True, False):
        engine = open_engine(folder, read_only=read_only)
        assert (engine.name, engine.size) == (VARIANTS[variant][0], SIZE)
        same(engine.posts.search_maxsim(query, 50), naive_search(left, query, 50))
        same(engine.formulas.search(query[0], 50), naive_search(formulas, query[0], 50))
        assert engine.verify() == []
        engine.close()


@each_exact
def test_optimizing_changes_no_exact_result(engine: Engine) -> None:
    points = some_points(13, 120)
    for start in range(0, 120, 30):
        engine.posts.upsert(points[start : start + 30])
        engine.flush()
    engine.posts.delete(point.id for point in points[:15])
    engine.optimize()
    query = units(np.random.default_rng(1), 3)
    same(engine.posts.search_maxsim(query, 200), naive_search(points[15:], query, 200))
    same(engine.posts.search(query[0], 200), naive_search(points[15:], query[0], 200))


@each_exact
def test_approximate_search_gives_true_scores(engine: Engine) -> None:
    points = some_points(14, 80)
    engine.posts.upsert(points)
    engine.optimize()
    query = units(np.random.default_rng(1), 3)
    scores = {hit.id: hit.score for hit in naive_search(points, query, 80)}
    found = engine.posts.search_maxsim(query, 10, exact=False)
    assert len(found) == 10
    assert [hit.score for hit in found] == pytest.approx([scores[hit.id] for hit in found], abs=2e-6)
    if not engine.capabilities.approximate:
        same(found, naive_search(points, query, 10))
    where = Filter(kinds=("note",))
    kinds = {point.id: point.payload.kind for point in points}
    assert {kinds[hit.id] for hit in engine.posts.search(query[0], 10, where, exact=False)} == {"note"}


def test_an_engine_opened_for_reading_refuses_to_write(variant: str, tmp_path: Path) -> None:
    create(variant, tmp_path / "engine").close()
    engine = open_engine(tmp_path / "engine", read_only=True)
    with pytest.raises(MathAMRError, match="reading only"):
        engine.posts.upsert(some_points(1, 1))
    with pytest.raises(MathAMRError, match="reading only"):
        engine.formulas.delete(["f1"])
    engine.close()


def test_a_dropped_engine_leaves_its_folder_free(variant: str, tmp_path: Path) -> None:
    engine = create(variant, tmp_path / "engine")
    engine.posts.upsert(some_points(1, 5))
    engine.flush()
    engine.posts.upsert(some_points(2, 5, "new "))
    engine.drop()
    with pytest.raises(MathAMRError, match="no engine in"):
        open_engine(tmp_path / "engine")
    again = create(variant, tmp_path / "engine")
    assert again.posts.count() == 0
    again.close()
    reader = open_engine(tmp_path / "engine", read_only=True)
    with pytest.raises(MathAMRError, match="reading only"):
        reader.drop()
    reader.close()


def test_a_folder_holds_one_engine(variant: str, tmp_path: Path) -> None:
    create(variant, tmp_path / "engine").close()
    with pytest.raises(MathAMRError, match="holds an engine already"):
        create(variant, tmp_path / "engine")
    with pytest.raises(MathAMRError, match="no engine in"):
        open_engine(tmp_path)
    other = next(name for name in ENGINES if name != VARIANTS[variant][0])
    with pytest.raises(MathAMRError, match=f"not '{other}'"):
        ENGINES[other].open(tmp_path / "engine")


def test_unknown_engines_and_options_list_the_known_ones(variant: str, tmp_path: Path) -> None:
    name, options = VARIANTS[variant]
    with pytest.raises(MathAMRError, match="no option 'colour'; known: "):
        create_engine(tmp_path / "engine", SIZE, name, options | {"colour": "red"})
    with pytest.raises(MathAMRError, match="unknown engine 'lake'; known: edge, qdrant, flat"):
        create_engine(tmp_path / "engine", SIZE, "lake")
    with pytest.raises(MathAMRError, match="not 0"):
        create(variant, tmp_path / "engine", 0)


def test_numbers_among_options_may_come_as_text(tmp_path: Path) -> None:
    create_engine(tmp_path / "engine", SIZE, "edge", {"ef": "256"}).close()
    assert EngineHead.read(tmp_path / "engine").options["ef"] == 256
    with pytest.raises(MathAMRError, match="takes a number for 'ef', not 'many'"):
        create_engine(tmp_path / "other", SIZE, "edge", {"ef": "many"})
    with pytest.raises(MathAMRError, match="takes a word for 'dtype', not 16"):
        create_engine(tmp_path / "other", SIZE, "flat", {"dtype": 16})
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"engine": 3}', b"\xff\xfe"])
def test_a_damaged_head_is_told(variant: str, tmp_path: Path, content: bytes) -> None:
    create(variant, tmp_path / "engine").close()
    (tmp_path / "engine" / "engine.json").write_bytes(content)
    with pytest.raises(MathAMRError, match="damaged"):
        open_engine(tmp_path / "engine")


def test_another_format_is_refused_with_the_way_out(variant: str, tmp_path: Path) -> None:
    create(variant, tmp_path / "engine").close()
    path = tmp_path / "engine" / "engine.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format": 99}))
    with pytest.raises(MathAMRError, match=r"format 99.*build the index again"):
        open_engine(tmp_path / "engine")


def in_a_process(folder: Path, program: str) -> subprocess.CompletedProcess[str]:
    """Runs a program in an engine's folder; it may use `points` and `open_engine`, and prints a clear error."""
    head = """
        import mmap, os, resource, signal, sys
        from pathlib import Path
        from mathamr.errors import MathAMRError
        from mathamr.index.engines.engine import ENGINES, EngineHead, open_engine
        from tests.index.engines.points import *
        import qdrant_edge
        os.chdir(sys.argv[1])
        if ENGINES[EngineHead.read(Path()).engine].name == "qdrant":
            import qdrant_client
    """
    source = textwrap.dedent(head) + textwrap.dedent(program)
    root = Path(__file__).resolve().parents[3]
    command = [sys.executable, "-c", source, str(folder)]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=900, check=False)


@pytest.fixture
def local(variant: str, tmp_path: Path) -> Path:
    """The folder of an engine that keeps its vectors there, closed, with 20 points."""
    engine = create(variant, tmp_path / "engine")
    engine.posts.upsert(some_points(1, 20))
    engine.close()
    return tmp_path / "engine"


def check_20_points(folder: Path) -> None:
    engine = open_engine(folder)
    query = units(np.random.default_rng(1), 3)
    same(engine.posts.search_maxsim(query, 99), naive_search(some_points(1, 20), query, 99))
    engine.close()


@each_in_its_folder
def test_a_second_writer_is_told_so_and_harms_nothing(local: Path) -> None:
    engine = open_engine(local)
    other = in_a_process(
        local,
        """
        try:
            open_engine(Path("."))
        except MathAMRError as error:
            print(error)
        """,
    )
    engine.close()
    assert other.returncode == 0, other.stderr
    assert "being changed by process" in other.stdout or "already accessed" in other.stdout
    check_20_points(local)


@pytest.mark.parametrize("variant", ["flat", "qdrant-local"])  # for edge see tests/index/qdrant/test_edge.py
def test_a_full_disk_is_told_and_the_engine_still_opens(local: Path) -> None:
    result = in_a_process(
        local,
        """
        engine = open_engine(Path("."))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))
        try:
            for part in range(60):
                engine.posts.upsert(some_points(part, 300, f"part {part}, ", SIZE))
                engine.flush()
            print("there was room")
        except MathAMRError as error:
            print("told:", error)
        sys.stdout.flush()
        os._exit(0)
        """,
    )
    assert "told:" in result.stdout, result.stdout + result.stderr
    engine = open_engine(local)
    assert {point.id for point in some_points(1, 20)} <= set(engine.posts.ids())
    engine.close()


@each_in_its_folder
def test_a_read_only_folder_is_told_or_read(local: Path) -> None:
    for path in [local, *local.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    result = in_a_process(
        local,
        """
        if os.geteuid() == 0:
            os.seteuid(65534)
        for read_only in (False, True):
            try:
                engine = open_engine(Path("."), read_only=read_only)
                print("opened", engine.posts.count())
            except MathAMRError as error:
                print("told:", error)
        """,
    )
    for path in [local, *local.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    assert result.returncode == 0, result.stderr
    writing, reading = result.stdout.splitlines()[:2]
    assert writing.startswith("told:")
    assert reading == "opened 20" or reading.startswith("told:")
    check_20_points(local)


@each_in_its_folder
def test_what_was_flushed_survives_a_kill(local: Path) -> None:
    result = in_a_process(
        local,
        """
        engine = open_engine(Path("."))
        engine.posts.upsert(some_points(2, 30, "kept "))
        engine.posts.delete(["p0", "p1"])
        engine.flush()
        engine.posts.upsert(some_points(3, 300, "lost "))
        os.kill(os.getpid(), signal.SIGKILL)
        """,
    )
    assert result.returncode == -9, result.stderr
    engine = open_engine(local)
    ids = set(engine.posts.ids())
    wanted = {f"p{number}" for number in range(2, 20)} | {f"kept {number}" for number in range(30)}
    assert wanted <= ids
    assert not {"p0", "p1"} & ids
    assert engine.posts.count() == len(ids)
    assert engine.verify() == []
    engine.close()
    assert os.access(local, os.W_OK)

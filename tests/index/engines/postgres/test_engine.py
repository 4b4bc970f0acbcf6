"""Postgres: servers that die, connections that end, writers that wait for each other, folders of strangers, passwords."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from mathamr.core.errors import MathAMRError
from mathamr.core.settings import POSTGRES_URL
from mathamr.index.engines.engine import Engine, EngineHead, create_engine, open_engine
from mathamr.index.engines.postgres.engine import PostgresEngine
from tests.index.engines.entries import (
    FIELDS,
    naive_search,
    postgres_server,
    same,
    some_entries,
    some_posts,
    units,
)
from tests.postgres import PostgresServer

SECRET = "hidden word"


@pytest.fixture
def server() -> PostgresServer:
    server = postgres_server()
    if server is None:
        pytest.skip("the server of MATHAMR_POSTGRES_URL is not ours to end")
    return server


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    postgres_server()
    engine = create_engine(tmp_path / "engine", FIELDS, "postgres", {"timeout": 120})
    yield engine
    engine.close()


def ask(statement: str) -> list[tuple[object, ...]]:
    import psycopg

    with psycopg.connect(POSTGRES_URL.value, autocommit=True) as connection:
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


def end_connections() -> None:
    """Ends the connections of all others and waits until they are gone."""
    others = "FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
    ask(f"SELECT pg_terminate_backend(pid) {others}")
    while ask(f"SELECT count(*) {others}") != [(0,)]:
        time.sleep(0.02)


def test_what_was_flushed_survives_a_kill_of_the_server_and_searches_go_on(
    engine: Engine, server: PostgresServer
) -> None:
    posts, query = some_posts(1, 20), units(np.random.default_rng(1), 3)
    engine.upsert("posts", posts)
    engine.flush()
    engine.upsert("posts", some_posts(2, 10, "lost "))
    server.kill()
    server.start()
    with pytest.raises(MathAMRError, match=r"was lost.*write them again|Postgres cannot"):
        engine.upsert("posts", some_posts(2, 10, "lost too "))
    same(engine["parts"].search_maxsim(query, 99), naive_search(posts, "parts", query, 99))
    engine.upsert("posts", some_posts(3, 1, "new "))
    engine.flush()
    assert engine.count("posts") == 21
    assert engine.verify() == []


def test_a_flush_over_a_lost_connection_does_not_claim_to_have_stored(engine: Engine) -> None:
    engine.upsert("posts", some_posts(1, 3))
    end_connections()
    with pytest.raises(MathAMRError, match="may or may not have been stored"):
        engine.flush()
    engine.upsert("posts", some_posts(1, 3))
    engine.flush()
    assert engine.count("posts") == 3


def test_readers_and_writers_whose_connections_end_take_new_ones(engine: Engine) -> None:
    posts = some_posts(1, 5)
    engine.upsert("posts", posts)
    engine.flush()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: engine.count("posts"), range(8)))
    end_connections()
    assert engine.count("posts") == 5
    end_connections()
    engine.delete("posts", ["p0"])
    engine.flush()
    assert sorted(engine.ids("posts")) == ["p1", "p2", "p3", "p4"]


def test_a_forked_process_takes_connections_of_its_own(engine: Engine) -> None:
    engine.upsert("posts", some_posts(1, 5))
    engine.flush()
    assert engine.count("posts") == 5
    child = os.fork()
    if not child:
        os._exit(0 if engine.count("posts") == 5 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert engine.count("posts") == 5


def test_a_server_that_is_gone_is_reported_without_the_password(
    engine: Engine, server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mathamr.index.engines.postgres.connections.DELAYS", (0.01,))
    server.kill()
    try:
        for call in (lambda: engine.count("posts"), lambda: engine.upsert("posts", some_posts(1, 1))):
            with pytest.raises(MathAMRError, match=r"Postgres cannot (count|store) posts") as reported:
                call()
            assert SECRET not in str(reported.value)
    finally:
        server.start()
    assert engine.count("posts") == 0


def test_other_readers_see_all_kinds_of_a_flush_or_nothing(engine: Engine, tmp_path: Path) -> None:
    reader = open_engine(tmp_path / "engine", read_only=True)
    engine.upsert("posts", some_posts(1, 4))
    engine.upsert("formulas", some_entries("formulas", 2, 3))
    assert (engine.count("posts"), engine.count("formulas")) == (4, 3)
    assert (reader.count("posts"), reader.count("formulas")) == (0, 0)
    engine.flush()
    assert (reader.count("posts"), reader.count("formulas")) == (4, 3)
    reader.close()


def test_a_role_that_may_only_select_searches_and_cannot_write(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: PostgresServer
) -> None:
    engine.upsert("posts", some_posts(1, 20))
    engine.optimize()
    assert isinstance(engine, PostgresEngine)
    schema, role = engine._options.schema, "mathamr_test_reader"
    ask(
        f"CREATE ROLE {role} LOGIN; GRANT USAGE ON SCHEMA {schema} TO {role};"
        f" GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}"
    )
    monkeypatch.setenv("MATHAMR_POSTGRES_URL", server.url.replace("postgres:hidden%20word", role))
    reader = open_engine(tmp_path / "engine", read_only=True)
    query = units(np.random.default_rng(1), 3)
    same(reader["parts"].search_maxsim(query, 9), naive_search(some_posts(1, 20), "parts", query, 9))
    assert len(reader["parts"].search_maxsim(query, 9, exact=False)) == 9
    reader.close()
    writer = open_engine(tmp_path / "engine")
    with pytest.raises(MathAMRError, match="permission denied"):
        writer.upsert("posts", some_posts(2, 1))
    writer.close()
    monkeypatch.undo()
    ask(f"DROP OWNED BY {role}; DROP ROLE {role}")


def test_a_second_writer_waits_until_the_first_has_flushed(engine: Engine, tmp_path: Path) -> None:
    second = open_engine(tmp_path / "engine")
    engine.upsert("posts", some_posts(1, 4))
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(second.upsert, "posts", some_posts(2, 3, "second "))
        time.sleep(0.2)
        assert not waiting.done()
        engine.flush()
        waiting.result(120)
    second.close()
    assert engine.count("posts") == 7


def test_a_writer_who_waits_too_long_is_reported_and_can_try_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    postgres_server()
    monkeypatch.setattr("mathamr.index.engines.postgres.connections._WAITING", 1)
    first = create_engine(tmp_path / "engine", FIELDS, "postgres")
    second = open_engine(tmp_path / "engine")
    first.upsert("posts", some_posts(1, 1))
    with pytest.raises(MathAMRError, match="being changed by another writer"):
        second.upsert("posts", some_posts(2, 1, "second "))
    first.flush()
    second.upsert("posts", some_posts(2, 1, "second "))
    second.close()
    assert first.count("posts") == 2
    first.close()


def test_indexes_of_one_database_do_not_know_each_other(engine: Engine, tmp_path: Path) -> None:
    other = create_engine(tmp_path / "other", FIELDS, "postgres", {"schema": "mathamr_the_other"})
    try:
        engine.upsert("posts", some_posts(1, 3))
        other.upsert("posts", some_posts(2, 2))
        engine.flush()
        other.flush()
        assert (engine.count("posts"), other.count("posts")) == (3, 2)
        with pytest.raises(MathAMRError, match="has a schema mathamr_the_other already"):
            create_engine(tmp_path / "third", FIELDS, "postgres", {"schema": "mathamr_the_other"})
        assert not (tmp_path / "third" / "engine.json").exists()
    finally:
        other.close()
    assert engine.count("posts") == 3


def test_neither_address_nor_password_stand_in_the_folder(engine: Engine, tmp_path: Path) -> None:
    engine.upsert("posts", some_posts(1, 2))
    engine.close()
    for path in (tmp_path / "engine").rglob("*"):
        content = path.read_text()
        assert "hidden" not in content
        assert "host" not in content
        assert "postgresql://" not in content
    with pytest.raises(MathAMRError, match="no option 'url'"):
        create_engine(tmp_path / "named", FIELDS, "postgres", {"url": "postgresql://elsewhere/db"})


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://user:{SECRET.replace(' ', '%20')}@[nonsense/db",
        f"postgresql://user:{SECRET.replace(' ', '%20')}@/db?colour=red",
        f"password='{SECRET}' user",
        f"postgresql://user:{SECRET.replace(' ', '%20')}@127.0.0.1:1/db",
    ],
)
def test_a_bad_address_is_reported_without_the_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    pytest.importorskip("psycopg", reason="needs mathamr[postgres]")
    monkeypatch.setenv("MATHAMR_POSTGRES_URL", url)
    monkeypatch.setattr("mathamr.index.engines.postgres.connections.DELAYS", ())
    with pytest.raises(MathAMRError) as reported:
        create_engine(tmp_path / "engine", FIELDS, "postgres")
    causes = [reported.value, reported.value.__cause__, reported.value.__context__]
    for cause in causes:
        assert SECRET not in str(cause)
        assert SECRET.replace(" ", "%20") not in str(cause)
    assert not (tmp_path / "engine" / "engine.json").exists()


def test_without_a_server_in_the_environment_nothing_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("psycopg", reason="needs mathamr[postgres]")
    monkeypatch.setenv("MATHAMR_POSTGRES_URL", "")
    EngineHead("postgres", FIELDS, {"schema": "mathamr_x", "word": "w"}).write(tmp_path / "engine")
    with pytest.raises(MathAMRError, match="set MATHAMR_POSTGRES_URL"):
        open_engine(tmp_path / "engine")


def test_a_folder_reads_and_removes_only_what_was_made_with_it(engine: Engine, tmp_path: Path) -> None:
    engine.upsert("posts", some_posts(1, 2))
    engine.flush()
    head = json.loads((tmp_path / "engine" / "engine.json").read_text())
    stranger = tmp_path / "stranger"
    EngineHead("postgres", FIELDS, head["options"] | {"word": "guessed"}).write(stranger)
    with pytest.raises(MathAMRError, match="another index's"):
        open_engine(stranger)
    EngineHead("postgres", FIELDS[:2], head["options"]).write(tmp_path / "fewer")
    with pytest.raises(MathAMRError, match="other fields"):
        open_engine(tmp_path / "fewer")
    EngineHead("postgres", FIELDS, head["options"] | {"schema": "mathamr_never_made"}).write(
        tmp_path / "none"
    )
    with pytest.raises(MathAMRError, match="no schema mathamr_never_made"):
        open_engine(tmp_path / "none")
    assert engine.count("posts") == 2


@pytest.mark.parametrize(
    "schema",
    ["public", "pg_catalog", "mathamr_", 'mathamr_x"; DROP SCHEMA public; --', "mathamr_" + "x" * 60],
)
def test_only_schemas_of_our_own_are_named(tmp_path: Path, schema: str) -> None:
    EngineHead("postgres", FIELDS, {"schema": schema, "word": "w"}).write(tmp_path / "engine")
    pytest.importorskip("psycopg", reason="needs mathamr[postgres]")
    with pytest.raises(MathAMRError, match="schema is mathamr_ and up to 48"):
        PostgresEngine.open(tmp_path / "engine")


def test_optimizing_builds_graphs_of_halves_and_indexes_of_what_filters_ask(engine: Engine) -> None:
    engine.upsert("posts", some_posts(1, 30))
    engine.optimize()
    engine.optimize()
    assert isinstance(engine, PostgresEngine)
    rows = ask(f"SELECT indexdef FROM pg_indexes WHERE schemaname = '{engine._options.schema}'")
    made = [str(row[0]).partition(" USING ")[2] for row in rows]
    assert any(each.startswith("hnsw (((v_document)::halfvec(8)") for each in made)
    assert {"gin (tags)", "btree (score)", "btree (kind)"} <= set(made)
    assert not any("v_parts" in each for each in made)

"""The cache: never parses twice, survives deletion, corruption and company."""

from __future__ import annotations

import logging
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from mathamr.amr.cache import CachedParser, GraphCache
from mathamr.amr.graph import Amr
from mathamr.amr.parser import PartialParseError
from tests.amr.rule_parser import RuleParser
from tests.amr.strategies import graphs

SENTENCES = ["one", "two", "one", "bad \ud800 surrogate"]


@pytest.fixture
def cache(tmp_path: Path) -> GraphCache:
    return GraphCache(tmp_path / "deep" / "amr.sqlite")


def parse(cache: GraphCache, sentences: list[str], model: str | None = None) -> tuple[list[Amr], RuleParser]:
    parser = RuleParser(model)
    return CachedParser(parser, cache).parse(sentences), parser


def test_a_sentence_is_parsed_once(cache: GraphCache) -> None:
    first, parser = parse(cache, SENTENCES)
    assert parser.calls == [("one", "two", "bad \ud800 surrogate")]
    again, idle = parse(GraphCache(cache.path), [*SENTENCES, "three"])
    assert idle.calls == [("three",)]
    assert again[:4] == first == RuleParser().parse(SENTENCES)


def test_another_fingerprint_shares_nothing(cache: GraphCache) -> None:
    parse(cache, ["one"])
    _, other = parse(cache, ["one"], model="other")
    assert other.calls == [("one",)]


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(graphs())
def test_what_comes_back_is_what_was_stored(cache: GraphCache, amr: Amr) -> None:
    sentence = amr.to_json()
    cache.put("p", {sentence: amr})
    found = cache.get("p", [sentence, "unknown"])
    assert found == {sentence: amr}
    assert found[sentence].metadata == amr.metadata


def test_failures_are_not_stored_but_the_rest_of_the_batch_is(cache: GraphCache) -> None:
    class Knowing(RuleParser):
        def parse(self, sentences):  # type: ignore[no-untyped-def]
            from mathamr.amr.batch import parse_each

            raise PartialParseError(parse_each(RuleParser(), sentences))

    with pytest.raises(PartialParseError) as caught:
        CachedParser(Knowing(), cache).parse(["one", "RAISE", "two"])
    assert [type(result).__name__ for result in caught.value.results] == ["Amr", "Failure", "Amr"]
    assert set(cache.get("rule-1-None", ["one", "RAISE", "two"])) == {"one", "two"}


def test_a_wrong_number_of_graphs_is_not_stored(cache: GraphCache) -> None:
    with pytest.raises(PartialParseError, match="0 graphs for 1 sentences"):
        parse(cache, ["SKIP", "one"])
    assert set(cache.get("rule-1-None", ["SKIP", "one"])) == {"one"}


def test_the_file_may_be_deleted_while_it_is_open(cache: GraphCache) -> None:
    parse(cache, ["one"])
    cache.path.unlink()
    parse(cache, ["two"])
    parse(cache, ["three"])
    assert set(GraphCache(cache.path).get("rule-1-None", ["two", "three"])) == {"two", "three"}


@pytest.mark.parametrize("content", [b"this is no database" * 100, b"SQLite format 3\x00" + b"\xff" * 5000])
def test_a_broken_file_is_set_aside_with_a_message(
    cache: GraphCache, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    cache.path.parent.mkdir()
    cache.path.write_bytes(content)
    with caplog.at_level(logging.WARNING):
        result, _ = parse(cache, ["one"])
    assert result == RuleParser().parse(["one"])
    assert "set aside" in caplog.text
    assert [path.read_bytes() for path in cache.path.parent.glob("*.broken-*")] == [content]
    assert set(cache.get("rule-1-None", ["one"])) == {"one"}


def test_an_entry_that_cannot_be_read_is_parsed_again(
    cache: GraphCache, caplog: pytest.LogCaptureFixture
) -> None:
    parse(cache, ["one"])
    with sqlite3.connect(cache.path) as connection:
        connection.execute("UPDATE graphs SET graph = x'00'")
    connection.close()
    result, parser = parse(cache, ["one"])
    assert parser.calls == [("one",)]
    assert result == RuleParser().parse(["one"])
    assert "set aside" in caplog.text


def test_without_a_place_for_the_file_the_work_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("in the way")
    result, _ = parse(GraphCache(tmp_path / "file" / "amr.sqlite"), ["one"])
    assert result == RuleParser().parse(["one"])
    assert "without one" in caplog.text


def test_the_oldest_entries_make_room(tmp_path: Path) -> None:
    cache = GraphCache(tmp_path / "amr.sqlite", max_entries=10)
    words = [f"word{number}" for number in range(35)]
    for word in words:
        parse(cache, [word])
    assert set(cache.get("rule-1-None", words)) == set(words[-10:])


def test_several_processes_share_one_file(cache: GraphCache) -> None:
    script = (
        "import sys\nfrom pathlib import Path\n"
        "from mathamr.amr.cache import CachedParser, GraphCache\nfrom tests.amr.rule_parser import RuleParser\n"
        "parser = CachedParser(RuleParser(), GraphCache(Path(sys.argv[1])))\n"
        "for n in range(40): parser.parse([f'w{n}', f'own{sys.argv[2]}x{n}'])\n"
    )
    root = Path(__file__).resolve().parents[2]
    children = [
        subprocess.Popen([sys.executable, "-c", script, cache.path, str(n)], cwd=root, stderr=subprocess.PIPE)
        for n in range(3)
    ]
    errors = [child.communicate()[1] for child in children]
    assert errors == [b"", b"", b""]
    words = [f"w{n}" for n in range(40)] + [f"own{child}x{n}" for child in range(3) for n in range(40)]
    assert len(cache.get("rule-1-None", words)) == len(words)

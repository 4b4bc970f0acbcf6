from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from mathamr.core.cache import Cache


def test_what_was_used_longest_ago_makes_room() -> None:
    cache: Cache[str, int] = Cache(2)
    cache.put("a", 1)
    cache.put("b", 2)
    assert cache.get("a") == 1
    cache.put("c", 3)
    assert [cache.get(key) for key in "abc"] == [1, None, 3]


def test_weights_are_bounded_and_counted_once() -> None:
    cache: Cache[str, str] = Cache(weight=10, weigh=lambda key, value: len(value), heaviest=6)
    for value in ("1234", "123456", "1234567"):
        cache.put("a", value)
        assert cache.weight == sum(len(cache.get(key) or "") for key in "ab")
    assert "a" not in cache, "too heavy a value also drops the one before it"
    cache.put("a", "1234")
    cache.put("b", "123456")
    assert ("a" in cache, cache.weight) == (True, 10), "the bound itself is allowed"
    cache.put("c", "1")
    assert ("a" in cache, cache.weight) == (False, 7)
    cache.clear()
    assert (len(cache), cache.weight) == (0, 0)


def test_a_value_is_made_once() -> None:
    cache: Cache[str, int] = Cache(2)
    numbers = iter(range(5))
    assert [cache.get_or_make("a", lambda: next(numbers)) for _ in range(2)] == [0, 0]


def test_threads_share_a_cache() -> None:
    cache: Cache[int, int] = Cache(50, weight=1000, weigh=lambda key, value: value % 40)

    def work(_: int) -> list[int]:
        return [cache.get_or_make(number % 97, lambda number=number: number % 97) for number in range(2000)]

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(work, range(4))) == [[number % 97 for number in range(2000)]] * 4
    assert len(cache) <= 50
    assert cache.weight <= 1000

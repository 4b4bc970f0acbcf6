"""Which dollars of a paragraph enclose formulas, and which are sums of money or stray.

Two dollars with text between them are often doubtful: `$2 and 3$` is mathematics, "$2 and $" are prices. So a paragraph
is judged as a whole. Every dollar either opens a formula that the next dollar closes or is a sign of its own; both
readings have a cost, and the cheapest reading of the paragraph wins.
"""

from __future__ import annotations

import re

_TOKENS = re.compile(r"\\.|[$\0]|\n[ \t\r]*\n", re.S)
_AMOUNT = re.compile(r"\d++(?:,\d++)*+(?:\.\d++)?(?:[kKmM]|bn)?(?![\d^_{=])")
_AMOUNT_OF_WORDS = re.compile(rf"{_AMOUNT.pattern}[\s,.;:)]++\(?[A-Za-z]{{3}}")
_MATHEMATICS = re.compile(r"[=<>^_+]")
_ONLY_WORDS = re.compile(r"[A-Za-z\s,.;:'-]*")
_LONG_WORD = re.compile(r"[A-Za-z]{3,}")
_PROSE = re.compile(
    r"""(?<![^\s,.;:(])(?:the|and|or|is|are|was|to|of|an|in|on|for|if|he|she|you|we|they|it|per|each|from|than|then|let|with
    |at|by|be|as|so|this|that|which|costs?|win|wins|get|gets|pay|pays|paid|dollars?|now|but|my|his|her|after|when
    |what|how|will|has|have|had|million|billion|thousand)(?![^\s,.;:)])""",
    re.I | re.X,
)

_WORD, _MOST_WORDS = 2, 4
_AMOUNT_BEFORE_WORD = 1
_LOOSE, _LOOSE_AMOUNT, _DIGIT_AFTER = 1, 3, 3
_SENTENCE = 10
_PRICE, _BEHIND_AMOUNT, _STRAY = 1, 2, 4


def doubt(content: str, after: str = "") -> int:
    """Return the cost of reading the text between two dollars as a formula; 0 means that nothing speaks against it.

    `after` is the character behind the second dollar, which before a price is a digit.

    >>> doubt("1+i"), doubt("0<a<1"), doubt("ax+by=1"), doubt("x and y"), doubt(r"3 \\text{ and } 4")
    (0, 0, 0, 2, 0)
    >>> doubt("5 and ", "1"), doubt("20,000-", "3"), doubt(" or so, and the ", "x")
    (9, 6, 19)
    """
    if "\\" in content:
        return 0
    cost = _WORD * min(_MOST_WORDS, len(_PROSE.findall(content)))
    is_amount = _AMOUNT.match(content) is not None
    starts_loose, ends_loose = content[:1].isspace(), content[-1:].isspace()
    if is_amount:
        cost += _AMOUNT_BEFORE_WORD * (_AMOUNT_OF_WORDS.match(content) is not None)
        cost += _LOOSE_AMOUNT * (ends_loose or content[-1] in "(-\u2013/")
    else:
        cost += _LOOSE * (starts_loose or ends_loose)
    if (starts_loose or ends_loose) and cost >= _WORD and _ONLY_WORDS.fullmatch(content):
        cost += _SENTENCE * (len(_LONG_WORD.findall(content)) > 1)
    if cost and _MATHEMATICS.search(content):
        cost = max(0, cost - _WORD)
    return cost + _DIGIT_AFTER * (is_amount and after.isdigit())


def openings(text: str, start: int) -> tuple[frozenset[int], int]:
    """Return the dollars from `start` to the end of the paragraph that open a formula, and where the paragraph ends.

    The answer for a dollar holds if the text before it has been read; the time is linear in the length of the paragraph.

    >>> openings("it is $5, but $x$ and $y$ are free", 0)[0] == {14, 22}
    True
    """
    places: list[int] = []
    end = len(text)
    for token in _TOKENS.finditer(text, start):
        if token.group() == "$":
            places.append(token.start())
        elif token.group()[0] in "\0\n":
            end = token.end()
            break
    opening: set[int] = set()
    following, best = 0, 0  # the costs of what comes after the next dollar, and from it on
    for number in range(len(places) - 1, -1, -1):
        place = places[number]
        alone = _cost_alone(text, place) + best
        paired = alone + 1
        if number + 1 < len(places):
            close = places[number + 1]
            paired = doubt(text[place + 1 : close], text[close + 1 : close + 2]) + following
        if paired <= alone:
            opening.add(place)
        following, best = best, min(paired, alone)
    return frozenset(opening), end


def _cost_alone(text: str, place: int) -> int:
    if _AMOUNT.match(text, place + 1):
        return _PRICE
    return _BEHIND_AMOUNT if text[max(0, place - 1) : place].isdigit() else _STRAY

"""Closed word classes of English that the parser treats by rule: pronouns, numbers, negation, months."""

from __future__ import annotations

PRONOUNS = {
    "i": "i", "me": "i", "my": "i", "mine": "i", "myself": "i",
    "you": "you", "your": "you", "yours": "you", "yourself": "you", "yourselves": "you",
    "he": "he", "him": "he", "his": "he", "himself": "he",
    "she": "she", "her": "she", "hers": "she", "herself": "she",
    "it": "it", "its": "it", "itself": "it",
    "we": "we", "us": "we", "our": "we", "ours": "we", "ourselves": "we",
    "they": "they", "them": "they", "their": "they", "theirs": "they", "themselves": "they",
}  # fmt: skip

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
)
NUMBER_WORDS = {
    word: str(value) for value, word in enumerate(f"{_UNITS} seventeen eighteen nineteen".split())
}
NUMBER_WORDS |= {
    word: str(10 * value)
    for value, word in enumerate(
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety", "hundred"], start=2
    )
}
NUMBER_WORDS |= {"hundred": "100", "thousand": "1000", "million": "1000000", "billion": "1000000000"}
NUMBER_WORDS |= {
    word: str(value)
    for value, word in enumerate(
        [
            "first",
            "second",
            "third",
            "fourth",
            "fifth",
            "sixth",
            "seventh",
            "eighth",
            "ninth",
            "tenth",
            "eleventh",
            "twelfth",
        ],
        start=1,
    )
}
NUMBER_WORDS |= {"once": "1", "twice": "2", "double": "2", "triple": "3"}

MONTHS = {
    name: str(number)
    for number, name in enumerate(
        [
            "january",
            "february",
            "march",
            "april",
            "may",
            "june",
            "july",
            "august",
            "september",
            "october",
            "november",
            "december",
        ],
        start=1,
    )
}
NEGATIVE_PREFIXES = ("un", "in", "im", "ir", "dis", "non", "il")

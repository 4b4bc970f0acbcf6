"""Closed word classes of English that the parser treats by rule: pronouns, numbers, negation, months."""

from __future__ import annotations

PRONOUNS = {
    form: forms.split()[0]
    for forms in (
        "i me my mine myself", "you your yours yourself yourselves", "he him his himself", "she her hers herself",
        "it its itself", "we us our ours ourselves", "they them their theirs themselves",
    )
    for form in forms.split()
}  # fmt: skip
MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
NEGATIVE_PREFIXES = ("un", "in", "im", "ir", "dis", "non", "il")
_CARDINALS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
NUMBER_WORDS = (
    {word: str(value) for value, word in enumerate(_CARDINALS.split())}
    | {word: f"{value}0" for value, word in enumerate(_TENS.split(), start=2)}
    | {word: str(value) for value, word in enumerate(_ORDINALS.split(), start=1)}
    | {"hundred": "100", "thousand": "1000", "million": "1000000", "billion": "1000000000"}
    | {"once": "1", "twice": "2", "double": "2", "triple": "3"}
)


def number_value(word: str) -> str | None:
    """Return a number word or numeral as AMR writes it.

    >>> number_value("seven"), number_value("1,000"), number_value("3.5"), number_value("seventh")
    ('7', '1000', '3.5', '7')
    """
    low = word.lower()
    if low in NUMBER_WORDS:
        return NUMBER_WORDS[low]
    if low in MONTHS and word[0].isupper():
        return str(MONTHS.index(low) + 1)
    bare = low.replace(",", "")
    if bare.isascii() and bare.replace(".", "", 1).isdigit() and bare[-1] != "." and bare[0] != ".":
        return bare
    if len(bare) > 2 and bare[:-2].isdigit() and bare.isascii() and bare[-2:] in ("st", "nd", "rd", "th"):
        return bare[:-2]
    return None

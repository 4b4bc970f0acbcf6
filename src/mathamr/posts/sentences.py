"""Where sentences end, in prose that is full of formulas: rules only, fast, and linear in the text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mathamr.core.listing import names

INLINE, DISPLAY, PARAGRAPH, LINE = "\0", "\1", "\2", "\u2028"
"""Characters that stand for a formula in the line, a displayed formula, the end of a paragraph and of a line."""


_CANDIDATE = re.compile(
    r"""(?<![.?!\u2026])(?P<mark>[.?!\u2026]++)(?P<closers>["')\]}\u201d\u2019\u00bb*_]*+)
        (?=[\s\0\1\2]|\Z|(?:(?<=[a-z][a-z][.?])|(?<=[\0\1][.?]))[A-Z])
    |(?P<cut>[\1]|[\2\u2028][\s\2]*+)""",
    re.X,
)
_GAP = re.compile(r"[\s\2]*")
_TOKEN = re.compile(r"[^\s\0\1\2(\[\"\u201c\u2018/]+\Z")
_WORD = re.compile(r"[^\W\d_]+(?:'[a-z]+)?")
_LIST_MARK = re.compile(r"[\s\2(\[]*(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})\Z")
_ITEM = re.compile(r"\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)]\s|[-\u2022*]\s")
_EQUATION_LABEL = re.compile(r"\((?:\d{1,3}(?:\.\d{1,3})?[a-z]?'*|[*\u2020]+|[ivx]+)\)")
_ROMAN = re.compile(r"[IVXLC]+\b")

_NEVER = names(
    """
    e.g i.e eg ie cf viz vs w.r.t wrt s.t resp w.l.o.g wlog dr prof mr mrs st approx incl esp
    assoc dept univ poss diff coeff coeffs const cont cts func o.w b.c m.s p.d.f c.d.f r.v
    a.k.a u.s ca ph.d alg coh gen homog lin cond soln sol
    """
)
_NUMBERED = names(
    """
    no nos fig figs eq eqs eqn eqns sec sect secs ch chap chaps p pp pg vol vols thm thms th lem
    prop props cor def defn defs rem ex exs exc exer prob probs ref refs art par para app ed vs ver
    v l n nr
    """
)
_SOMETIMES = names(
    """
    etc al a.e a.s i.i.d iid inc ltd jr sr q.e.d seq ibid
    """
)
STARTERS = names(
    """
    The Then There This That These Those They Thus To We When Where What Which Why While With
    Without Will A An And Any All Also As At Are Assume Actually After Again Although But Because By
    Both Before Can Consider Clearly Choose Could Define Do Does Denote Each Either Every Even For
    Finally First From Find Furthermore Fix Given Give Hence Here How However Have Hi I If In Indeed
    Is It Its Just Let Likewise Lets Moreover More My Most Maybe Many Next Note Now No Not Notice Of
    On One Once Or Observe Otherwise Our Please Prove Proof Perhaps Recall Remark See Since So Show
    Similarly Some Suppose Such Second Set Say Take Thanks Therefore Under Unless Until Use Using
    Very Whenever Whether Write You Your Yes
    """
)
_CLAUSES = names(
    """
    where with which for whenever when if and or but so hence then because since
    """
)


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield the sentences of a text as [start, end), without the blanks around them.

    >>> text = "By Thm. 2, e.g. for n = 3.5, it holds. Why? See J. Milnor."
    >>> [text[start:end] for start, end in sentences(text)]
    ['By Thm. 2, e.g. for n = 3.5, it holds.', 'Why?', 'See J. Milnor.']
    """
    start = 0
    for match in _CANDIDATE.finditer(text):
        ends = _cut_ends if match.group("cut") else _mark_ends
        if ends(text, match, start):
            yield from _trim(text, start, match.end())
            start = match.end()
    yield from _trim(text, start, len(text))


def _trim(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    gap = _GAP.match(text, start, end)
    start = gap.end() if gap else start
    while end > start and (text[end - 1].isspace() or text[end - 1] == PARAGRAPH):
        end -= 1
    if end > start:
        yield start, end


def _cut_ends(text: str, match: re.Match[str], start: int) -> bool:
    """Return whether a sentence ends at a displayed formula or at the end of a paragraph."""
    after = _next(text, match.end())
    if after == len(text):
        return True
    following = text[after]
    if match.group() == DISPLAY:
        return not (
            following.islower()
            or following in ".,;:?!)]=<>&-"
            or (following == "(" and text[after + 1 : after + 2].islower())
            or _EQUATION_LABEL.match(text, after)
        )
    before = match.start()
    while before > start and (text[before - 1].isspace() or text[before - 1] == PARAGRAPH):
        before -= 1
    if following == DISPLAY or before == start or text[before - 1] == DISPLAY:
        return False  # decided at the display
    last = text[before - 1]
    if PARAGRAPH not in match.group():
        return bool(_ITEM.match(text, after)) or (last in "\0:;" and following.isupper())
    if last in ",;:" and text[before - 2 : before - 1] in (INLINE, DISPLAY):
        return not following.islower()
    return not (following.islower() and (last == "," or (last == INLINE and _word(text, after) in _CLAUSES)))


def _mark_ends(text: str, match: re.Match[str], start: int) -> bool:
    """Return whether a sentence ends at a full stop, a question mark, an exclamation mark or an ellipsis."""
    mark = match.group("mark")
    after = _next(text, match.end())
    if after == len(text):
        return True
    following = text[after]
    if match.group("closers") and following.islower():
        return False
    if after == match.end() and following.isupper():
        return _word(text, after) in STARTERS
    if "?" in mark:
        return True
    before = text[max(start, match.start() - 30) : match.start()]
    if "!" in mark:
        factorial = not before or not before[-1].isalpha() or not before[-2:].isalpha()
        return not (factorial and (following.islower() or following in "+-*/=<>,)"))
    if len(mark) > 1 or mark == "\u2026":
        return following.isupper() or PARAGRAPH in text[match.end() : after]
    return _full_stop_ends(text, before, start, match.start(), after)


def _full_stop_ends(text: str, before: str, start: int, place: int, after: int) -> bool:
    following = text[after]
    if before[-1:] == DISPLAY:
        return _word(text, after) not in _CLAUSES
    token = _TOKEN.search(before)
    if token is None:
        return True
    if place - start < 8 and _LIST_MARK.match(text, start, place):
        return False
    bare = token.group()
    word = bare.lower()
    if len(bare) == 1 and bare.isalpha():
        if following.islower() or not bare.isupper():
            return not following.islower()
        return not following.isupper() or _word(text, after) in STARTERS
    if word in _NEVER or (following.islower() and len(word) < 3 and word.isdigit()):
        return False
    if word in _NUMBERED:
        return not (
            following.islower()
            or following.isdigit()
            or following in "([\0\u00a7#"
            or _ROMAN.match(text, after)
        )
    if word in _SOMETIMES or ("." in word and any(map(str.isalpha, word))):
        return following.isupper()
    return True


def _next(text: str, position: int) -> int:
    gap = _GAP.match(text, position)
    return gap.end() if gap else position


def _word(text: str, position: int) -> str:
    word = _WORD.match(text, position)
    return word.group() if word else ""

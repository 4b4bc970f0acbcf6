"""The six methods to pair graphs of one formula in training (Amador and Zanibbi, section 3), and the loss over them."""

from __future__ import annotations

from typing import NamedTuple

from mathamr.core.errors import UnknownNameError


class Pair(NamedTuple):
    """Nodes of the first graph are matched with nodes of the second; `part` says that the second is a sub-expression."""

    first: str
    second: str
    part: bool


_SLG, _OPG = Pair("slt", "slt", True), Pair("opt", "opt", True)
_ACROSS = (Pair("slt", "opt", False), Pair("opt", "slt", False))
_PARTS_ACROSS = (Pair("slt", "opt", True), Pair("opt", "slt", True))

PAIRINGS: dict[str, tuple[Pair, ...]] = {
    "slg": (_SLG,),
    "opg": (_OPG,),
    "slg+opg": _ACROSS,
    "inner": (_SLG, _OPG, *_ACROSS),
    "outer": (*_ACROSS, *_PARTS_ACROSS),
    "inner+outer": (_SLG, _OPG, *_PARTS_ACROSS, *_ACROSS),
}


def pairing(name: str) -> tuple[Pair, ...]:
    """Return the pairs of a named pairing."""
    if name not in PAIRINGS:
        raise UnknownNameError("pairing", name, list(PAIRINGS))
    return PAIRINGS[name]

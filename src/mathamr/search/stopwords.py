"""Common words, which snippets do not mark and which alone do not make a query."""

from __future__ import annotations


def _words(listing: str) -> frozenset[str]:
    return frozenset(listing.split())


STOP_WORDS = _words(
    """
    a about after again all also am an and any are as at be because been before being both but by can cannot could
    did do does doing don't each either else ever every few for from further get give given had has have having he
    help her here his how however i i'm if in into is it it's its just know let like many may me might more most much
    must my need no nor not now of off on once one only or other our out over own please same see she should so some
    such take than thank thanks that that's the their them then there these they this those through thus to too under
    until up us use using very want was we well were what when where whether which while who whom why will with within
    without would you your
    """
)

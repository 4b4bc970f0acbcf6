"""Garbage collection in processes that hold models, which consist of many small, long-lived objects."""

from __future__ import annotations

import gc

COLLECTED_AFTER = (200_000, 20, 20)
"""The thresholds of the three generations."""


def collect_rarely() -> None:
    """Collect less often: scanning the models again and again takes a tenth of a first query's time."""
    gc.set_threshold(*COLLECTED_AFTER)


def keep_loaded() -> None:
    """Excludes all that exists now from collections: in a server a scan of its models would delay the requests of the moment."""
    gc.collect()
    gc.freeze()

"""Python's search for rubbish, where models are many small objects that stay."""

from __future__ import annotations

import gc

COLLECTED_AFTER = (200_000, 20, 20)
"""New objects after which Python looks for rubbish, and how often it looks among older ones."""


def collect_rarely() -> None:
    """To look through models again and again takes a tenth of a first query's time, and some of every request's."""
    gc.set_threshold(*COLLECTED_AFTER)

"""File descriptors: connections and the files of the index share the number that the operating system allows a process.

A server that spent all of them on connections could not open the next file of its index, and every write would fail for as
long as the clients stay connected. Connections therefore get what the index leaves over.
"""

from __future__ import annotations

import resource
from contextlib import suppress
from dataclasses import replace

from mathamr.serve.limits import Limits

OWN = 160
"""Files, pipes and databases that an index, its threads and its parser may have open at a time."""
_LEAST = 8


def fitting(limits: Limits) -> Limits:
    """The limits with as many connections as there are descriptors for; raises the process's soft limit if that helps."""
    wanted = limits.connections + OWN
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return limits
    return replace(limits, connections=max(_LEAST, soft - OWN))

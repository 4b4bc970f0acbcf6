"""File descriptors: connections and the files of the index share what the operating system allows a process.

A server that took every connection it may have would find none left for the next file of its index, and answer every
write with an error for as long as the clients stay. So connections are counted after the index's own.
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
    """The limits with as many connections as there are descriptors for; more are asked of the system where it has them."""
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

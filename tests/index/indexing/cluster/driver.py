"""A driver that a test kills: it maps slow work over the cluster and says each answer."""

from __future__ import annotations

import sys

from mathamr.index.indexing.cluster.raycluster import RayCluster
from mathamr.index.indexing.cluster.workspec import WorkSpec


def main(address: str, url: str, count: str) -> None:
    """Doubles so many numbers, slowly."""
    answers = sys.stdout
    with RayCluster(address, url, workers=2) as cluster:
        work = WorkSpec.of("tests.works:Doubling", ("hello",), None, {}).saying("hello")
        for _, answer in cluster.map(work, (0.3 + number / 1000 for number in range(int(count)))):
            print(answer, file=answers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

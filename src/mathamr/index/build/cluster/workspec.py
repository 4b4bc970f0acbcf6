"""`WorkSpec`: a kind of work that another machine can do."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from mathamr import __version__
from mathamr.core.workers import Allowance
from mathamr.index.build.cluster.shardstore import shard_key


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkSpec:
    """A factory of `Work` and its arguments, what it may cost, and who it is: shards are named after that."""

    factory: str
    arguments: tuple[Any, ...] = ()
    allowance: tuple[float, float | None, int | None] | None = None
    identity: dict[str, str] = field(default_factory=dict)
    """What the answers depend on beside the request: models and parsers by their fingerprints, not by their paths."""
    hello: Any = None
    """What the work said on the first machine: it has to say the same everywhere."""

    @classmethod
    def of(
        cls, factory: str, arguments: tuple[Any, ...], allowance: Allowance | None, identity: dict[str, str]
    ) -> WorkSpec:
        """Work as a pool of processes would get it."""
        cost = None if allowance is None else (allowance.timeout, allowance.processor, allowance.memory)
        return cls(factory=factory, arguments=arguments, allowance=cost, identity=identity)

    @property
    def name(self) -> str:
        """A short name, under which its shards are kept.

        >>> WorkSpec(factory="mathamr.index.build.buildpool:PostWork").name
        'postwork'
        """
        return self.factory.rpartition(":")[2].lower()

    def saying(self, hello: Any) -> WorkSpec:
        """The same, after the first machine was ready."""
        return replace(self, hello=hello)

    def key(self, request: Any) -> str:
        """The name of the shard of a request."""
        known = {"version": __version__, "work": self.name, "hello": str(self.hello)}
        return shard_key(known | self.identity, request)

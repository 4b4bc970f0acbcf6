"""`WorkSpec`: a kind of work that another machine can do."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from mathamr.core.version import __version__
from mathamr.core.workers import Allowance
from mathamr.index.indexing.cluster.shardstore import shard_key


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkSpec:
    """A factory of `Work` with its arguments, its allowance, and the identity after which shards are named."""

    factory: str
    arguments: tuple[Any, ...] = ()
    allowance: tuple[float, float | None, int | None] | None = None
    identity: dict[str, str] = field(default_factory=dict)
    """What the answers depend on besides the request: models and parsers by their fingerprints, not by their paths."""
    hello: Any = None
    """The hello of the work on the first machine; it must be the same everywhere."""

    @classmethod
    def of(
        cls, factory: str, arguments: tuple[Any, ...], allowance: Allowance | None, identity: dict[str, str]
    ) -> WorkSpec:
        """Creates the description from the arguments of a worker pool."""
        cost = None if allowance is None else (allowance.timeout, allowance.processor, allowance.memory)
        return cls(factory=factory, arguments=arguments, allowance=cost, identity=identity)

    @property
    def name(self) -> str:
        """A short name for the folder of its shards.

        >>> WorkSpec(factory="mathamr.index.indexing.buildpool:PostWork").name
        'postwork'
        """
        return self.factory.rpartition(":")[2].lower()

    def saying(self, hello: Any) -> WorkSpec:
        """A copy with the hello of the first machine."""
        return replace(self, hello=hello)

    def key(self, request: Any) -> str:
        """The name of the shard of a request."""
        known = {"version": __version__, "work": self.name, "hello": str(self.hello)}
        return shard_key(known | self.identity, request)

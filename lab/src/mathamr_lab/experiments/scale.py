"""`Scale`: the size of an experiment's models and the length of their training, by name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from mathamr.core.errors import UnknownNameError


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """A named configuration of the encoder and its training, with some fields changed.

    `pairs` bounds the training pairs, `pieces` the word pieces that are read of a post's line; the text encoder of the box has positions for 510.
    """

    name: str
    config: str
    changes: tuple[str, ...] = ()
    pairs: int | None = None
    pieces: int = 510

    def changed(self, changes: Iterable[str]) -> Scale:
        """Return the scale with further changes, which override earlier ones of the same field."""
        kept = {change.partition("=")[0]: change for change in (*self.changes, *changes)}
        return replace(self, changes=tuple(kept.values()))

    def effective(self, changes: Iterable[str]) -> tuple[str, ...]:
        """Return the changes that make a difference, so that a variant may name what is the default of some scales.

        >>> SCALES["thesis"].effective(["beta=1.0"]), SCALES["thesis-full"].effective(["beta=1.0"])
        ((), ('beta=1.0',))
        """
        own = self.configurations((), 0)
        return tuple(change for change in changes if self.configurations((change,), 0) != own)

    def configurations(self, changes: Iterable[str], seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return (model, training) as JSON, with a variant's own changes, which are the subject of the experiment."""
        from mathamr_lab.systems.mathamrplus.graph.configuration import configured

        model, training = configured(self.config, self.settings(changes, seed))
        return model.to_json(), training.to_json()

    def settings(self, changes: Iterable[str], seed: int) -> tuple[str, ...]:
        """Return all fields that differ from the named configuration, as ``name=value``."""
        return (*self.changed(changes).changes, f"seed={seed}")


SCALES = {
    scale.name: scale
    for scale in (
        Scale(name="tiny", config="small", changes=("epochs=2", "layers=1"), pairs=100, pieces=30),
        Scale(name="small", config="small"),
        Scale(name="thesis", config="thesis", pairs=50_000),
        Scale(name="thesis-full", config="thesis-full"),
    )
}


def scale_named(name: str) -> Scale:
    """Return the scale of that name."""
    if name not in SCALES:
        raise UnknownNameError("scale", name, list(SCALES))
    return SCALES[name]

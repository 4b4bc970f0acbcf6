"""`Amr`: an immutable meaning graph with alignments to tokens; its text form is Penman."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Amr:
    """The meaning of one sentence, or of several joined under `multi-sentence`.

    `instances` are (variable, concept) in the order in which Penman writes them, `edges` are
    (source variable, role, target variable), `attributes` are (variable, role, constant); roles start with ``:``
    and are never inverted (no ``-of`` unless the role itself is, like ``:consist-of``).
    `alignments` are (variable, token numbers) for the variables whose words are known.
    """

    top: str
    instances: tuple[tuple[str, str], ...]
    edges: tuple[tuple[str, str, str], ...] = ()
    attributes: tuple[tuple[str, str, str], ...] = ()
    tokens: tuple[str, ...] = ()
    alignments: tuple[tuple[str, tuple[int, ...]], ...] = ()
    metadata: tuple[tuple[str, str], ...] = field(default=(), compare=False)

"""`Judge`: what the labels of results look at in an index, and the weights by which its model labels them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mathamr.core.errors import MathAMRError
from mathamr.index.chosenmodel import chosen_model
from mathamr.index.lexical.lexicalindex import LexicalPart
from mathamr.index.storage import IndexStorage
from mathamr.search.confidence import MOST_LOOKED_AT, Confidence
from mathamr.search.labelweights import DEFAULT_WEIGHTS, LabelWeights, read_label_weights
from mathamr.search.namequery import is_declaration
from mathamr.search.query import Query
from mathamr.search.results import RankedResult
from mathamr.systems.models import model_folder


class Judge:
    """Says how surely results are what was asked; `has_declarations` tells whether the index is a library's."""

    def __init__(self, archive: IndexStorage, has_declarations: Callable[[], bool]) -> None:
        self._archive, self._has_declarations = archive, has_declarations
        self._read: tuple[str, LabelWeights] | None = None

    def confidence(
        self,
        query: Query,
        ranked: Sequence[RankedResult],
        lexicon: LexicalPart | None,
    ) -> Confidence:
        """Return what judges the results of a query; `lexicon` has the words of other posts than those of the index."""
        first = [each.id for each in ranked[:MOST_LOOKED_AT]]
        known = self._archive.payloads(
            "posts", [each.id for each in ranked] if self._has_declarations() else first
        )
        return Confidence(
            query,
            lexicon or self._archive.lexical.posts,
            self._weights,
            ranked,
            declarations=frozenset(name for name, each in known.items() if is_declaration(each)),
            answers=frozenset(name for name in first if name in known and known[name].kind == "answer"),
            previews=self._archive.catalogue.previews,
        )

    @property
    def _weights(self) -> LabelWeights:
        """The weights of the labels that the model of the index has."""
        recorded = self._archive.manifest.model
        if self._read is None or self._read[0] != recorded.fingerprint:
            try:
                folder = model_folder(chosen_model(recorded, self._archive.model_source))
                weights = read_label_weights(folder)
            except (MathAMRError, OSError):  # an index whose model has gone is still searched by words
                weights = DEFAULT_WEIGHTS
            self._read = (recorded.fingerprint, weights)
        return self._read[1]

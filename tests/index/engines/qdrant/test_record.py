"""Names of points for Qdrant."""

from __future__ import annotations

import uuid

from hypothesis import given
from hypothesis import strategies as st

from mathamr.index.engines.qdrant.collection import point_uuid

NAMESPACE = uuid.UUID("6f1d7d2e-3f0b-5c1c-9a6e-6d6174686d72")


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_the_name_of_a_point_is_the_standard_uuid_of_its_id(identifier: str) -> None:
    assert point_uuid(identifier) == str(uuid.uuid5(NAMESPACE, identifier))

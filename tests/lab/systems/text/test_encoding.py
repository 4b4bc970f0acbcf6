"""Posts are cut here, encoded elsewhere, and what comes back is taken by whoever reads the same posts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mathamr.systems.system import Item
from mathamr.systems.text.system import TextSystem, save_text_system
from mathamr.text.precomputed import PrecomputedEncoder
from mathamr.text.torchfolder import save_text_encoder
from mathamr_lab.systems.text.encoding import main
from tests.index.small import note, write_posts
from tests.text.small import small_text_encoder

POSTS = [
    note("groups", "Every subgroup of a cyclic group is cyclic: $gH = Hg$."),
    note("sums", "The sum of squares $a^2+b^2=c^2$ has many solutions. So has $a+b$."),
]


@pytest.mark.parametrize("files", [1, 2])
def test_vectors_made_elsewhere_of_one_file_of_texts_or_several_are_those_of_the_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: int
) -> None:
    monkeypatch.setattr("mathamr.text.published.packaged_minilm", lambda: small_text_encoder())
    save_text_encoder(tmp_path / "model" / "text", small_text_encoder(projection=8))
    save_text_system(tmp_path / "model", "tiny")
    texts, vectors = [], tmp_path / "vectors"
    vectors.mkdir()
    for number in range(files):
        source = write_posts(tmp_path / f"posts{number}.jsonl", POSTS[number::files])
        texts.append(str(tmp_path / f"texts{number}.npz"))
        assert main(["texts", str(source), "--out", texts[-1]]) == 0
    made = vectors / "posts.npz"
    assert main(["vectors", *texts, "--model", str(tmp_path / "model" / "text"), "--out", str(made)]) == 0
    plain = TextSystem.load(tmp_path / "model", "cpu")
    monkeypatch.setenv("MATHAMR_VECTORS", str(vectors))
    knowing = TextSystem.load(tmp_path / "model", "cpu")
    assert isinstance(knowing.encoder, PrecomputedEncoder)
    items = [Item(post=post) for post in POSTS]
    for ours, theirs in zip(knowing.encode(items), plain.encode(items), strict=True):
        assert ours.post["parts"].references == theirs.post["parts"].references
        np.testing.assert_allclose(ours.post["parts"].vectors, theirs.post["parts"].vectors, atol=0.03)
    assert knowing.encoder._found == len(POSTS)


def test_a_damaged_file_of_texts_is_a_clear_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "texts.npz").write_bytes(b"nothing")
    save_text_encoder(tmp_path / "text", small_text_encoder())
    arguments = [str(tmp_path / "texts.npz"), "--model", str(tmp_path / "text"), "--out", str(tmp_path / "v")]
    assert main(["vectors", *arguments]) == 1
    assert "not a corpus of texts" in capsys.readouterr().err


def test_vectors_that_cannot_be_written_are_a_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("mathamr.text.published.packaged_minilm", lambda: small_text_encoder())
    source = write_posts(tmp_path / "posts.jsonl", POSTS)
    assert main(["texts", str(source), "--out", str(tmp_path / "texts.npz")]) == 0
    save_text_encoder(tmp_path / "text", small_text_encoder())
    out = tmp_path / "missing" / "vectors.npz"
    arguments = [str(tmp_path / "texts.npz"), "--model", str(tmp_path / "text"), "--out", str(out)]
    assert main(["vectors", *arguments]) == 1
    assert f"cannot write the precomputed vectors to {out}" in capsys.readouterr().err

"""mpnet's layers against the published ones, and its base from parts of a zip."""

from __future__ import annotations

import hashlib
import zipfile
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pytest
import torch

from mathamr.core.errors import MathAMRError, MissingExtraError
from mathamr.core.tensorfile import tensor_bytes
from mathamr.text import mpnet, published
from mathamr.text.configuration import relative_buckets
from mathamr.text.transformer import Transformer, TransformerConfiguration
from mathamr.text.wordpieces import WordPieces

needs_transformers = pytest.mark.skipif(not find_spec("transformers"), reason="needs transformers")
SHAPE = TransformerConfiguration(
    pieces=40, size=16, layers=2, heads=4, inner=24, positions=300, buckets=32, epsilon=1e-5
)


@needs_transformers
@pytest.mark.slow
def test_states_are_those_of_the_published_layers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from transformers import MPNetConfig, MPNetModel

    torch.manual_seed(3)
    theirs = MPNetModel(
        MPNetConfig(
            vocab_size=40,
            hidden_size=16,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=24,
            max_position_embeddings=302,
            layer_norm_eps=1e-5,
        )
    ).eval()
    for parameter in theirs.parameters():
        torch.nn.init.normal_(parameter, std=0.4)
    path = tmp_path / "model.safetensors"
    path.write_bytes(tensor_bytes(theirs.state_dict()))
    monkeypatch.setattr(published, "MPNET", SHAPE)
    configuration, weights = published.published_weights(path)
    ours = Transformer(configuration).eval()
    ours.load_state_dict(weights)
    # Beyond 128 pieces all distances are in one bucket.
    numbers = torch.randint(5, 40, (2, 200))
    lengths = torch.tensor([200, 37])
    numbers[1, 37:] = 1
    with torch.inference_mode():
        found = ours(numbers, lengths)
        expected = theirs(numbers, attention_mask=(numbers != 1).long()).last_hidden_state
    np.testing.assert_allclose(found[0].numpy(), expected[0].numpy(), atol=1e-5)
    np.testing.assert_allclose(found[1, :37].numpy(), expected[1, :37].numpy(), atol=1e-5)


@needs_transformers
def test_buckets_are_the_published_ones() -> None:
    from transformers.models.mpnet.modeling_mpnet import MPNetEncoder

    places = torch.arange(300)
    expected = MPNetEncoder.relative_position_bucket(places[None, :] - places[:, None])
    assert np.array_equal(relative_buckets(300, 32), expected.numpy())


def test_marks_are_the_vocabulary_s_own() -> None:
    bert = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "prime"]
    plain, other = WordPieces(bert), WordPieces(["<s>", "<pad>", "</s>", "<unk>", *bert, "<mask>"])
    assert (plain.pad, plain.begin, plain.end) == (0, 2, 3)
    assert (other.pad, other.begin, other.end) == (1, 0, 2)


@pytest.fixture
def packages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Path]:
    """A published encoder as a zip in five parts, each the file of an installed package."""
    weights = tensor_bytes({"a": torch.randn(50, 40), "position_ids": torch.arange(3)})
    halved = tensor_bytes(
        {"a": torch.frombuffer(bytearray(weights[-8000:]), dtype=torch.float32).view(50, 40).half(),
         "position_ids": torch.arange(3)},
        {"format": "pt"},
    )  # fmt: skip
    files = {mpnet.MODEL: weights, mpnet.VOCABULARY: b"<s>\n<pad>\n"}
    whole = tmp_path / "whole.zip"
    with zipfile.ZipFile(whole, "w") as archive:
        for name, content in files.items():
            archive.writestr(f"{mpnet.NAME}/{name}", content)
    content = whole.read_bytes()
    size = -(-len(content) // 5)
    parts = [tmp_path / f"{mpnet.NAME}.zip.00{number}" for number in range(1, 6)]
    for number, part in enumerate(parts):
        part.write_bytes(content[number * size : (number + 1) * size])

    class Installed(PurePosixPath):
        def locate(self) -> Path:
            return Path(self)

    monkeypatch.setattr(
        mpnet.metadata, "files", lambda name: [Installed(str(parts[mpnet.PACKAGES.index(name)]))]
    )
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    monkeypatch.setattr(mpnet, "PUBLISHED", hashes)
    monkeypatch.setattr(mpnet, "KEPT", {**hashes, mpnet.MODEL: hashlib.sha256(halved).hexdigest()})
    monkeypatch.setenv("MATHAMR_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("MATHAMR_MPNET", raising=False)
    return parts


def test_the_base_is_joined_once_and_checked_always(packages: list[Path]) -> None:
    folder = mpnet.mpnet_folder()
    assert sorted(path.name for path in folder.parent.iterdir()) == [mpnet.NAME]
    for part in packages:
        part.unlink()
    assert mpnet.mpnet_folder() == folder
    content = (folder / mpnet.MODEL).read_bytes()
    (folder / mpnet.MODEL).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(MathAMRError, match="damaged"):
        mpnet.mpnet_folder()


@pytest.mark.parametrize("damage", ["cut", "changed"])
def test_damaged_packages_make_no_base(packages: list[Path], damage: str) -> None:
    content = bytearray(packages[2].read_bytes())
    if damage == "cut":
        packages[2].write_bytes(content[:-7])
    else:
        content[100] ^= 255
        packages[2].write_bytes(content)
    with pytest.raises(MathAMRError, match=r"do not join|another model"):
        mpnet.mpnet_folder()
    assert not (packages[0].parent / "cache" / mpnet.NAME).exists()


def test_without_the_packages_the_message_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def missing(name: str) -> Any:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setenv("MATHAMR_CACHE", str(tmp_path))
    monkeypatch.delenv("MATHAMR_MPNET", raising=False)
    monkeypatch.setattr(mpnet.metadata, "files", missing)
    with pytest.raises(MissingExtraError, match=r'pip install "mathamr\[large\]"'):
        mpnet.mpnet_folder()

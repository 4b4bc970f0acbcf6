"""No library sees more of an encoder's folder than what `choices` allows."""

from __future__ import annotations

import json
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mathamr.core.choices import CANONICAL
from mathamr.core.errors import MathAMRError
from mathamr.systems.encoders.cleancopy import make_clean_copy
from mathamr.systems.encoders.libraries import LibraryEncoder
from tests.systems.encoders.examples import tiny_late_interaction, tiny_sentence_transformer

CONFIG, MODULES = "config.json", "modules.json"


def plain_folder(folder: Path) -> Path:
    """Write a folder as Sentence-Transformers does, with weights of no numbers."""
    (folder / "1_Pooling").mkdir(parents=True)
    (folder / "2_Dense").mkdir()
    rows = [
        {"idx": at, "name": str(at), "path": path, "type": CANONICAL[kind]}
        for at, (kind, path) in enumerate(
            {"Transformer": "", "Pooling": "1_Pooling", "Dense": "2_Dense"}.items()
        )
    ]
    say(folder / MODULES, rows)
    say(folder / CONFIG, {"model_type": "bert", "hidden_size": 24})
    say(folder / "tokenizer_config.json", {"tokenizer_class": "BertTokenizer", "mask_token": "[MASK]"})
    say(folder / "config_sentence_transformers.json", {"prompts": {"query": "ask: "}})
    say(folder / "sentence_bert_config.json", {"max_seq_length": 64})
    say(folder / "1_Pooling" / CONFIG, {"word_embedding_dimension": 24, "pooling_mode_mean_tokens": True})
    say(folder / "2_Dense" / CONFIG, {"in_features": 24, "out_features": 8})
    for name in ("tokenizer.json", "model.safetensors", "2_Dense/model.safetensors"):
        (folder / name).touch()
    return folder


def say(path: Path, row: object) -> None:
    path.write_text(json.dumps(row), encoding="utf-8")


def change(path: Path, **changes: object) -> None:
    say(path, {**(json.loads(path.read_bytes()) if path.exists() else {}), **changes})


def clean(folder: Path, copy: Path) -> Path:
    copy.mkdir()
    make_clean_copy(folder, copy)
    return copy


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    return plain_folder(tmp_path / "plain")


def test_the_copy_says_what_the_folder_says_and_holds_nothing_else(plain: Path, tmp_path: Path) -> None:
    for name in (
        "README.md",
        "modeling.py",
        "adapter_config.json",
        "chat_template.jinja",
        "processor_config.json",
    ):
        (plain / name).write_text("{}")
    for name in ("pytorch_model.bin", "training_args.bin", "1_Pooling/evil.py"):
        (plain / name).touch()
    same = plain_folder(tmp_path / "same")
    copy = clean(plain, tmp_path / "copy")
    assert sorted(each.relative_to(copy) for each in copy.rglob("*")) == sorted(
        each.relative_to(same) for each in same.rglob("*")
    )
    for name in (MODULES, CONFIG, "1_Pooling/config.json", "2_Dense/config.json"):
        assert json.loads((copy / name).read_bytes()) == json.loads((plain / name).read_bytes())


@pytest.mark.parametrize(
    "kind",
    [
        "os.abort",
        "os.system",
        "evil.Module",
        "torch.hub.load",
        "transformers.AutoModel",
        "sentence_transformers.SentenceTransformer",
        "sentence_transformers.models.Router",
        "sentence_transformers.models.Asym",
        "sentence_transformers.base.modules.router.Router",
        "sentence_transformers.models.CLIPModel",
        "sentence_transformers.models.WordEmbeddings",
        "sentence_transformers.util.import_from_string",
        "pylate.models.ColBERT",
        "",
        None,
        7,
        ["os.abort"],
    ],
)
def test_a_class_that_is_not_on_the_list_is_refused(plain: Path, tmp_path: Path, kind: object) -> None:
    for at in range(3):
        rows = json.loads((plain / MODULES).read_bytes())
        rows[at]["type"] = kind
        say(plain / MODULES, rows)
        with pytest.raises(MathAMRError, match="such a file may not choose"):
            clean(plain, tmp_path / f"copy-{at}")


@pytest.mark.parametrize("path", ["..", "../..", "/etc", "1_Pooling/../..", ".", "a\\b", "x" * 200, "1\n", 5])
def test_a_module_lies_right_in_the_folder(plain: Path, tmp_path: Path, path: object) -> None:
    rows = json.loads((plain / MODULES).read_bytes())
    rows[1]["path"] = path
    say(plain / MODULES, rows)
    with pytest.raises(MathAMRError, match="such a file may not choose"):
        clean(plain, tmp_path / "copy")


@pytest.mark.parametrize(
    "rows", [{}, [], "text", [5], [[]], [{}], [{"type": CANONICAL["Pooling"], "path": "", "name": "0"}] * 13]
)
def test_a_list_of_modules_that_is_none_is_refused(plain: Path, tmp_path: Path, rows: object) -> None:
    say(plain / MODULES, rows)
    with pytest.raises(MathAMRError, match="damaged"):
        clean(plain, tmp_path / "copy")


REFUSED: list[tuple[str, str, object]] = [
    ("2_Dense/config.json", "activation_function", "os.abort"),
    ("2_Dense/config.json", "activation_function", "torch.load"),
    ("2_Dense/config.json", "activation_function", "torch.nn.modules.linear.Linear"),
    ("2_Dense/config.json", "activation_function", ["torch.nn.Tanh"]),
    ("2_Dense/config.json", "in_features", 1 << 40),
    ("2_Dense/config.json", "out_features", -1),
    ("2_Dense/config.json", "bias", "yes"),
    ("2_Dense/config.json", "init_weight", [1]),
    ("2_Dense/config.json", "module_input_name", "input_ids"),
    ("1_Pooling/config.json", "pooling_mode", "os.abort"),
    ("1_Pooling/config.json", "trust_remote_code", True),
    (CONFIG, "model_type", "evil"),
    (CONFIG, "model_type", "clip"),
    (CONFIG, "hidden_act", "stranger/kernel"),
    (CONFIG, "_attn_implementation", "stranger/kernel"),
    (CONFIG, "quantization_config", {"quant_method": "gptq"}),
    (CONFIG, "trust_remote_code", True),
    (CONFIG, "base_model_name_or_path", "stranger/repository"),
    (CONFIG, "num_hidden_layers", 10**9),
    (CONFIG, "vocab_size", 10**12),
    (CONFIG, "vocab_size", 10**400),
    (CONFIG, "layer_norm_eps", 10**400),
    (CONFIG, "text_config", {"model_type": "bert"}),
    (CONFIG, "rope_scaling", {"type": {"deep": {}}}),
    ("sentence_bert_config.json", "model_args", {"trust_remote_code": True}),
    ("sentence_bert_config.json", "config_kwargs", {"name_or_path": "stranger/repository"}),
    ("sentence_bert_config.json", "tokenizer_name_or_path", "stranger/repository"),
    ("sentence_bert_config.json", "transformer_task", "text-generation"),
    ("sentence_bert_config.json", "backend", "onnx"),
    (
        "sentence_bert_config.json",
        "modality_config",
        {"text": {"method": "save_pretrained", "method_output_name": "last_hidden_state"}},
    ),
    ("sentence_bert_config.json", "processing_kwargs", {"chat_template": {}}),
    ("config_sentence_transformers.json", "model_type", "SparseEncoder"),
    ("config_sentence_transformers.json", "prompts", {"query": ["x"]}),
    ("config_sentence_transformers.json", "prompts", {"query": "x" * 100_000}),
    ("config_sentence_transformers.json", "loss", "os.abort"),
    ("tokenizer_config.json", "tokenizer_class", "EvilTokenizer"),
    ("tokenizer_config.json", "tokenizer_class", "MistralCommonTokenizer"),
    ("tokenizer_config.json", "vocab_file", "/etc/passwd"),
    ("tokenizer_config.json", "sp_model_kwargs", {"model_file": "/etc/passwd"}),
    ("tokenizer_config.json", "backend", "custom"),
    ("tokenizer_config.json", "mask_token", {"content": "[MASK]", "class": "os.abort"}),
    ("special_tokens_map.json", "evil_token", "x"),
]


@pytest.mark.parametrize(("name", "key", "value"), REFUSED)
def test_a_key_or_value_that_is_not_on_the_list_is_refused(
    plain: Path, tmp_path: Path, name: str, key: str, value: object
) -> None:
    change(plain / name, **{key: value})
    with pytest.raises(MathAMRError, match=f"{name}.*{key}.*such a file may not"):
        clean(plain, tmp_path / "copy")


@pytest.mark.parametrize(
    ("name", "key"),
    [
        (CONFIG, "auto_map"),
        (CONFIG, "_name_or_path"),
        (CONFIG, "attn_implementation"),
        ("tokenizer_config.json", "auto_map"),
        ("tokenizer_config.json", "tokenizer_file"),
        ("tokenizer_config.json", "special_tokens_map_file"),
        ("tokenizer_config.json", "chat_template"),
    ],
)
def test_what_published_folders_say_of_code_and_of_other_places_reaches_no_library(
    plain: Path, tmp_path: Path, name: str, key: str
) -> None:
    change(plain / name, **{key: "stranger/repository"})
    copy = clean(plain, tmp_path / "copy")
    assert key not in json.loads((copy / name).read_bytes())


@pytest.mark.parametrize("name", ["../secret.safetensors", "/etc/passwd", "model.bin", 5])
def test_parts_of_weights_lie_right_in_the_folder(plain: Path, tmp_path: Path, name: object) -> None:
    (plain / "model.safetensors").unlink()
    say(plain / "model.safetensors.index.json", {"weight_map": {"a": name}})
    with pytest.raises(MathAMRError, match="does not list files"):
        clean(plain, tmp_path / "copy")


def test_weights_in_parts_are_linked(plain: Path, tmp_path: Path) -> None:
    (plain / "model.safetensors").rename(plain / "model-00001-of-00001.safetensors")
    say(plain / "model.safetensors.index.json", {"weight_map": {"a": "model-00001-of-00001.safetensors"}})
    assert (clean(plain, tmp_path / "copy") / "model-00001-of-00001.safetensors").is_file()


@pytest.mark.parametrize("place", ["", "2_Dense"])
def test_a_folder_with_pickles_alone_is_refused(plain: Path, tmp_path: Path, place: str) -> None:
    (plain / place / "model.safetensors").rename(plain / place / "pytorch_model.bin")
    with pytest.raises(MathAMRError, match="no weights in safetensors"):
        clean(plain, tmp_path / "copy")


def test_a_description_that_is_too_deep_or_no_json_is_refused(plain: Path, tmp_path: Path) -> None:
    for at, content in enumerate((b"[" * 100_000, b"\xff", b'{"vocab_size": ' + b"9" * 10_000 + b"}")):
        (plain / CONFIG).write_bytes(content)
        with pytest.raises(MathAMRError, match="damaged"):
            clean(plain, tmp_path / f"copy-{at}")


# What follows needs Sentence-Transformers.


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_sentence_transformer(tmp_path_factory.mktemp("encoder") / "tiny")


@pytest.fixture(scope="module")
def late(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_late_interaction(tmp_path_factory.mktemp("encoder") / "late")


@pytest.fixture
def looked_up(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Every name that is looked up and every address that is connected to."""
    found: list[object] = []

    def refuse(*asked: object, **_: object) -> None:
        found.append(asked)
        raise OSError("no network in tests")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    return found


def test_a_strangers_code_is_not_run_and_nothing_is_looked_up(
    made: Path, tmp_path: Path, looked_up: list[object]
) -> None:
    folder, mark = tmp_path / "stranger", tmp_path / "was here"
    shutil.copytree(made, folder)
    code = f"open({str(mark)!r}, 'w')\nclass Evil: pass\n"
    (folder / "evil.py").write_text(code)
    change(folder / CONFIG, auto_map={"AutoConfig": "evil.Evil", "AutoModel": "stranger/code--evil.Evil"})
    change(folder / CONFIG, _name_or_path="stranger/repository")
    change(folder / "tokenizer_config.json", auto_map={"AutoTokenizer": ["evil.Evil", "evil.Evil"]})
    say(folder / "adapter_config.json", {"peft_type": "LORA", "base_model_name_or_path": "stranger/base"})
    assert LibraryEncoder(folder, "cpu", by_token=False).size == 24
    assert not mark.exists()
    assert not looked_up


def test_the_copy_gives_the_vectors_of_the_folder(made: Path) -> None:
    library = pytest.importorskip("sentence_transformers")
    peer = library.SentenceTransformer(str(made), device="cpu")
    rows = LibraryEncoder(made, "cpu", by_token=False).encode(["a prime number"], are_queries=True)
    assert np.allclose(rows[0][0], peer.encode_query("a prime number", normalize_embeddings=True), atol=1e-6)


def as_pylate_writes(folder: Path) -> None:
    """Turn a late-interaction model into the form in which PyLate stored it."""
    rows = json.loads((folder / MODULES).read_bytes())[:2]
    rows[1]["type"] = "pylate.models.Dense.Dense"
    rows[0]["type"] = "sentence_transformers.models.Transformer"
    say(folder / MODULES, rows)
    dense = folder / "1_Dense" / CONFIG
    say(dense, {key: value for key, value in json.loads(dense.read_bytes()).items() if "module" not in key})
    say(
        folder / "config_sentence_transformers.json",
        {
            "model_type": "ColBERT",
            "query_prefix": "[Q] ",
            "document_prefix": "[D] ",
            "query_length": 16,
            "document_length": 48,
            "attend_to_expansion_tokens": False,
            "skiplist_words": [",", "."],
            "prompts": {},
        },
    )


@pytest.mark.parametrize("form", [lambda folder: None, as_pylate_writes], ids=["ours", "PyLate's"])
def test_late_interaction_gives_the_rows_of_the_library(
    late: Path, tmp_path: Path, form: Callable[[Path], Any], looked_up: list[object]
) -> None:
    library = pytest.importorskip("sentence_transformers")
    folder = tmp_path / "late"
    shutil.copytree(late, folder)
    form(folder)
    peer = library.MultiVectorEncoder(str(folder), device="cpu", local_files_only=True)
    encoder = LibraryEncoder(folder, "cpu", by_token=True)
    for are_queries, encode in ((True, peer.encode_query), (False, peer.encode_document)):
        wanted = encode(["a group, of order 5."], convert_to_numpy=True)[0]
        found = encoder.encode(["a group, of order 5."], are_queries=are_queries)[0]
        assert np.allclose(found, wanted, atol=1e-6)
    assert encoder.encode(["x"], are_queries=True)[0].shape == (
        (16, 8) if form is as_pylate_writes else (3, 8)
    )
    assert not looked_up

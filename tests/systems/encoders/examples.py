"""Encoders of other people, made here: a server of embeddings, and a tiny model of Sentence-Transformers."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

SIZE = 128


def embed(text: str) -> list[float]:
    """Return a vector that has something in common with that of a text with the same words."""
    found = np.full(SIZE, 0.01)
    for word in text.lower().split():
        found[sha256(word.encode()).digest()[0] % SIZE] += 1
    return [float(number) for number in found]


class EmbeddingsServer(ThreadingHTTPServer):
    """Answers ``/v1/embeddings`` as the common servers do; `answer` replaces the body, `asked` holds what was sent."""

    answer: bytes | None = None
    status = 200

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[dict[str, Any]] = []
        self.headers: dict[str, str] = {}

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: EmbeddingsServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append({"path": self.path, **body})
        rows = [
            {"index": number, "embedding": embed(text), "object": "embedding"}
            for number, text in enumerate(body["input"])
        ]
        content = self.server.answer or json.dumps({"data": rows[::-1]}).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(content)))
        for name, value in self.server.headers.items():
            self.send_header(name, value)
        self.end_headers()
        with suppress(OSError):  # who asked may have read enough
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def embeddings_server() -> Iterator[EmbeddingsServer]:
    """Run a server on this machine until the block ends."""
    server = EmbeddingsServer()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def tiny_bert(folder: Path) -> Path:
    """Write a BERT with random weights and letters as its words."""
    transformers = pytest.importorskip("transformers")
    torch, tokenizers = pytest.importorskip("torch"), pytest.importorskip("tokenizers")
    folder.mkdir(parents=True, exist_ok=True)
    letters = "abcdefghijklmnopqrstuvwxyz0123456789+-=^_$\\{}()<>.,:?!'"
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters)]
    vocabulary = {word: number for number, word in enumerate(words)}
    tokenizer = tokenizers.BertWordPieceTokenizer(vocabulary, lowercase=True)
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer._tokenizer, model_max_length=64, pad_token="[PAD]", unk_token="[UNK]",
        cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]",
    ).save_pretrained(folder)  # fmt: skip
    torch.manual_seed(0)
    shape = transformers.BertConfig(
        vocab_size=len(words), hidden_size=24, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=64,
    )  # fmt: skip
    transformers.BertModel(shape).save_pretrained(folder)
    return folder


def tiny_sentence_transformer(folder: Path) -> Path:
    """Write a model of Sentence-Transformers with prompts of its own."""
    library = pytest.importorskip("sentence_transformers")
    bert = tiny_bert(folder.with_name(f"{folder.name}-bert"))
    model = library.SentenceTransformer(
        str(bert), device="cpu", prompts={"query": "query: ", "document": "passage: "}
    )
    model.save_pretrained(str(folder))
    return folder


def tiny_late_interaction(folder: Path) -> Path:
    """Write a late-interaction model of Sentence-Transformers, with eight numbers a token."""
    library = pytest.importorskip("sentence_transformers")
    torch = pytest.importorskip("torch")
    modules = library.sentence_transformer.modules
    bert = tiny_bert(folder.with_name(f"{folder.name}-bert"))
    torch.manual_seed(0)
    tokens = {"module_input_name": "token_embeddings"}
    parts = [
        modules.Transformer(str(bert)),
        modules.Dense(24, 8, bias=False, activation_function=torch.nn.Identity(), **tokens),
        library.multi_vector_encoder.modules.MultiVectorMask(),
        modules.Normalize(**tokens),
    ]
    library.MultiVectorEncoder(modules=parts, device="cpu").save_pretrained(str(folder))
    return folder

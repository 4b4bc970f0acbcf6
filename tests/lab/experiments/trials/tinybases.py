"""Tiny untrained bases in the folders that `transformers` writes: BERT, RoBERTa and Qwen3."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from tokenizers import Regex, Tokenizer, models, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertModel,
    PreTrainedTokenizerFast,
    Qwen3Config,
    Qwen3Model,
    RobertaConfig,
    RobertaModel,
)

_SIZES = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
_MARKS = {
    "bert": ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    "roberta": ("<pad>", "<unk>", "<s>", "</s>", "<mask>"),
    "qwen3": ("<|pad|>", "<|unk|>", "<|begin|>", "<|end|>", "<|mask|>"),
}


def tiny_published(folder: Path, kind: str = "bert") -> str:
    """Writes a base whose tokens are single characters, and returns its folder."""
    pad, unknown, begin, end, mask = _MARKS[kind]
    tokens = [*_MARKS[kind], *map(chr, range(33, 127))]
    tokenizer = Tokenizer(models.WordLevel({each: place for place, each in enumerate(tokens)}, unknown))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Whitespace(), pre_tokenizers.Split(Regex("."), "isolated")]
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{begin} $A {end}", pair=f"{begin} $A {end} $B {end}", special_tokens=[(begin, 2), (end, 3)]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=pad,
        unk_token=unknown,
        cls_token=begin,
        sep_token=end,
        mask_token=mask,
    ).save_pretrained(folder)
    torch.manual_seed(0)
    given: dict[str, Any] = {"vocab_size": len(tokens), "pad_token_id": 0, **_SIZES}
    model: Any = {
        "bert": lambda: BertModel(BertConfig(max_position_embeddings=64, **given)),
        "roberta": lambda: RobertaModel(RobertaConfig(max_position_embeddings=64, **given)),
        "qwen3": lambda: Qwen3Model(Qwen3Config(num_key_value_heads=2, head_dim=8, **given)),
    }[kind]()
    model.save_pretrained(folder)
    return str(folder)

"""What a folder of somebody else may choose: the one list of keys and values, by description; everything else is refused.

`docs/secure.md` has it as a table with the tests. An index is described by its manifest, a model by its `config.json`, and an encoder of
other people by the files that Sentence-Transformers (and PyLate and ColBERT before it) and transformers write. A published encoder holds
keys that decide nothing of its vectors, or that would choose code, files or addresses: those that are common are ignored, which means
that no library ever sees them. What a server of embeddings may answer is the schema in `mathamr.systems.encoders.server`.
"""

from __future__ import annotations

from mathamr.core.rules import (
    Rule,
    either,
    file,
    flag,
    hash256,
    many,
    maybe,
    name,
    number,
    one_of,
    record,
    table,
    text,
    whole,
    word,
)

SIZE = whole(0, 1 << 24)
LAYERS = whole(0, 512)
LENGTH = maybe(whole(1, 1 << 24))
PLAIN: Rule = maybe(either(flag, number, word))

COUNT = whole(0, 1 << 53)
MANIFEST_MODEL: dict[str, Rule] = {
    "name": text,
    "system": name,
    "fingerprint": text,
    "fields": many(record({"name": word, "of": word, "size": whole(1, 1 << 16), "many": flag})),
    "folder": maybe(text),
    "text_backend": word,
    "default_rankings": table(word, word),
    "weights": table(word, table(word, number)),
}
MANIFEST_PARSER: dict[str, Rule] = {"name": text, "fingerprint": text, "model": maybe(text)}
MANIFEST_ENGINE: dict[str, Rule] = {
    "name": text,
    "options": table(word, maybe(either(flag, number, text))),
}
MANIFEST_INPUT: dict[str, Rule] = {
    "path": text,
    "format": maybe(word),
    "beside": many(text),
    "exclude": many(text),
}
MANIFEST: dict[str, Rule] = {
    "model": record(MANIFEST_MODEL),
    "engine": record(MANIFEST_ENGINE),
    "parser": maybe(record(MANIFEST_PARSER)),
    "finished": flag,
    "inputs": many(record(MANIFEST_INPUT)),
    "revision": COUNT,
    "counts": table(text, COUNT),
    "created": text,
    "updated": text,
    "made_by": text,
    "format": COUNT,
}
"""`manifest.json` of an index.

Systems and engines are those of registries, a parser is one of ours (`mathamr.amr.parser`), a model is one of the box or of our own kind
(`mathamr.index.chosenmodel`), and inputs are read only by who indexes.
"""

MODEL: dict[str, Rule] = {
    "format": COUNT,
    "system": name,
    "encoder": name,
    "name": text,
    "text": name,
    "graph": name,
    "reader": either(one_of(""), name),
    "windows": flag,
    "graphs": word,
    "base": record({"name": text, "fingerprint": word}),
    "shares": table(word, number),
    "sha256": table(file, hash256),
}
"""What `config.json` of a model of ours chooses, beside `default_rankings` and the shape of its network (`model`, `configuration`,
`transformer`), which dataclasses check. All other keys are about the model, and nothing reads them but people.

`text`, `graph` and `reader` (or "" for none) are names of models in the box; `base` may be a folder, which must have the fingerprint.
"""

CANONICAL = {
    "Transformer": "sentence_transformers.base.modules.transformer.Transformer",
    "Dense": "sentence_transformers.base.modules.dense.Dense",
    "Normalize": "sentence_transformers.base.modules.normalize.Normalize",
    "Pooling": "sentence_transformers.sentence_transformer.modules.pooling.Pooling",
    "LayerNorm": "sentence_transformers.sentence_transformer.modules.layer_norm.LayerNorm",
    "Dropout": "sentence_transformers.sentence_transformer.modules.dropout.Dropout",
    "StaticEmbedding": "sentence_transformers.sentence_transformer.modules.static_embedding.StaticEmbedding",
    "MultiVectorMask": "sentence_transformers.multi_vector_encoder.modules.multi_vector_mask.MultiVectorMask",
}
"""The modules that an encoder may consist of, and the class of each."""
CLASSES = {
    **{path: kind for kind, path in CANONICAL.items()},
    **{f"sentence_transformers.models.{kind}": kind for kind in CANONICAL},
    **{f"sentence_transformers.models.{kind}.{kind}": kind for kind in CANONICAL},
    **{f"sentence_transformers.sentence_transformer.modules.{kind}": kind for kind in CANONICAL},
    **{f"sentence_transformers.base.modules.{kind}": kind for kind in CANONICAL},
    "sentence_transformers.multi_vector_encoder.modules.MultiVectorMask": "MultiVectorMask",
    "pylate.models.Dense.Dense": "Dense",
}
"""The modules by every name under which a `modules.json` may list them."""
MODULE: dict[str, Rule] = {
    "idx": whole(0, 100),
    "name": word,
    "path": either(one_of(""), name),
    "type": one_of(*CLASSES),
    "kwargs": many(one_of("task")),
}
"""A row of `modules.json`."""

_ACTIVATIONS = (
    "ELU", "GELU", "Hardswish", "Hardtanh", "LeakyReLU", "Mish", "ReLU", "ReLU6", "SELU", "SiLU", "Sigmoid", "Softplus",
    "Softsign", "Tanh",
)  # fmt: skip
ACTIVATIONS = (
    "torch.nn.Identity",
    "torch.nn.modules.linear.Identity",
    *(f"torch.nn.{each}" for each in _ACTIVATIONS),
    *(f"torch.nn.modules.activation.{each}" for each in _ACTIVATIONS),
)
"""The functions that a dense layer may apply."""
_FEATURE = one_of("sentence_embedding", "token_embeddings")
_POOLINGS = one_of("cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken")
MODULE_CONFIGS: dict[str, dict[str, Rule]] = {
    "Dense": {
        "in_features": whole(1, 1 << 16),
        "out_features": whole(1, 1 << 16),
        "bias": flag,
        "activation_function": one_of(*ACTIVATIONS),
        "module_input_name": _FEATURE,
        "module_output_name": maybe(_FEATURE),
        "use_residual": flag,
    },
    "Normalize": {"module_input_name": _FEATURE, "module_output_name": maybe(_FEATURE)},
    "Pooling": {
        "embedding_dimension": whole(1, 1 << 16),
        "word_embedding_dimension": whole(1, 1 << 16),
        "pooling_mode": either(_POOLINGS, many(_POOLINGS)),
        "pooling_mode_cls_token": flag,
        "pooling_mode_max_tokens": flag,
        "pooling_mode_mean_tokens": flag,
        "pooling_mode_mean_sqrt_len_tokens": flag,
        "pooling_mode_weightedmean_tokens": flag,
        "pooling_mode_lasttoken": flag,
        "include_prompt": flag,
    },
    "LayerNorm": {"dimension": whole(1, 1 << 16)},
    "Dropout": {"dropout": number},
    "MultiVectorMask": {
        "skiplist_words": maybe(many(text)),
        "skiplist_tasks": maybe(either(one_of("query", "document"), many(one_of("query", "document")))),
        "keep_only_token_ids": maybe(many(SIZE)),
    },
}
"""`config.json` of each module beside the transformer."""

_EXPANSION = maybe(
    record(
        {
            "strategy": one_of("fixed", "min"),
            "attend": flag,
            "token": maybe(text),
            "length": whole(1, 1 << 16),
        }
    )
)
TRANSFORMER: dict[str, Rule] = {
    "max_seq_length": LENGTH,
    "do_lower_case": flag,
    "query_length": LENGTH,
    "document_length": LENGTH,
    "query_expansion": _EXPANSION,
    "transformer_task": one_of("feature-extraction"),
    "module_output_name": one_of("token_embeddings"),
    "modality_config": record(
        {"text": one_of({"method": "forward", "method_output_name": "last_hidden_state"})}
    ),
    "unpad_inputs": maybe(flag),
}
"""`sentence_bert_config.json`, under each of its names."""
NOT_TEXT = frozenset({"audio", "image", "message", "video"})
"""Other inputs that its `modality_config` may have; they are left out."""
TRANSFORMER_NAMES = tuple(
    f"sentence_{each}_config.json"
    for each in ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
)
ENCODER: dict[str, Rule] = {
    "prompts": table(text, maybe(text)),
    "default_prompt_name": maybe(text),
    "similarity_fn_name": maybe(one_of("cosine", "dot", "euclidean", "manhattan", "maxsim", "MaxSim")),
    "model_type": one_of("SentenceTransformer", "MultiVectorEncoder", "ColBERT"),
    "query_prefix": maybe(text),
    "document_prefix": maybe(text),
    "query_length": LENGTH,
    "document_length": LENGTH,
    "query_expansion": _EXPANSION,
    "do_query_expansion": maybe(flag),
    "attend_to_expansion_tokens": maybe(flag),
    "attend_to_mask_tokens": maybe(flag),
    "skiplist_words": maybe(many(text)),
}
"""`config_sentence_transformers.json`; what stands last is PyLate's."""
ENCODER_IGNORED = frozenset({"__version__", "truncate_dim"})
COLBERT: dict[str, Rule] = {
    "query_token_id": text,
    "doc_token_id": text,
    "query_maxlen": LENGTH,
    "doc_maxlen": LENGTH,
    "attend_to_mask_tokens": flag,
    "mask_punctuation": flag,
}
"""What is taken of `artifact.metadata`, the settings of ColBERT's training; all else of it is ignored."""

ARCHITECTURES = (
    "albert", "bert", "camembert", "deberta", "deberta-v2", "distilbert", "electra", "eurobert", "gemma3_text", "llama", "mistral",
    "modernbert", "mpnet", "mt5", "nomic_bert", "qwen2", "qwen3", "roberta", "roformer", "t5", "xlm-roberta",
)  # fmt: skip
"""The architectures of transformers that an encoder may have; each is part of that library."""
_LAYERS = (
    "inner_group_num", "max_window_layers", "n_heads", "n_layers", "num_attention_heads", "num_decoder_layers", "num_heads",
    "num_hidden_groups", "num_hidden_layers", "num_key_value_heads", "num_layers",
)  # fmt: skip
_SIZES = (
    "d_ff", "d_kv", "d_model", "dim", "embedding_size", "head_dim", "hidden_dim", "hidden_size", "intermediate_size",
    "max_position_embeddings", "type_vocab_size", "vocab_size",
)  # fmt: skip
_PLAIN = (
    "activation", "add_cross_attention", "attention_bias", "attention_dropout", "attention_probs_dropout_prob", "attn_logit_softcapping",
    "bos_token_id", "classifier_activation", "classifier_bias", "classifier_dropout", "classifier_dropout_prob", "classifier_pooling",
    "cls_token_id", "conv_act", "conv_groups", "conv_kernel_size", "decoder_bias", "decoder_start_token_id", "dense_act_fn",
    "deterministic_flash_attn", "dropout", "dropout_rate", "embedding_dropout", "eos_token_id", "feed_forward_proj",
    "final_logit_softcapping", "global_attn_every_n_layers", "global_rope_theta", "hidden_act", "hidden_activation",
    "hidden_dropout_prob", "initializer_cutoff_factor", "initializer_factor", "initializer_range", "is_causal", "is_decoder",
    "is_encoder_decoder", "is_gated_act", "layer_norm_eps", "layer_norm_epsilon", "legacy", "local_attention", "local_rope_theta",
    "mask_token_id", "max_relative_positions", "mlp_bias", "mlp_dropout", "norm_bias", "norm_eps", "norm_rel_ebd", "pad_token_id",
    "partial_rotary_factor", "pooler_dropout", "pooler_hidden_act", "pooler_hidden_size", "position_biased_input", "position_buckets",
    "pretraining_tp", "qa_dropout", "query_pre_attn_scalar", "relative_attention", "relative_attention_max_distance",
    "relative_attention_num_buckets", "rms_norm_eps", "rope_local_base_freq", "rope_theta", "rotary_value", "scale_decoder_outputs",
    "sep_token_id", "seq_classif_dropout", "share_att_key", "sinusoidal_pos_embds", "sliding_window", "sliding_window_pattern",
    "summary_activation", "summary_last_dropout", "summary_type", "summary_use_proj", "tie_word_embeddings",
    "use_bidirectional_attention", "use_sliding_window",
)  # fmt: skip
NETWORK: dict[str, Rule] = {
    "model_type": one_of(*ARCHITECTURES),
    "dtype": maybe(one_of("float32", "float16", "bfloat16")),
    "torch_dtype": maybe(one_of("float32", "float16", "bfloat16")),
    **dict.fromkeys(_LAYERS, maybe(LAYERS)),
    **dict.fromkeys(_SIZES, maybe(SIZE)),
    **dict.fromkeys(_PLAIN, PLAIN),
    "architectures": maybe(many(word)),
    "layer_types": maybe(many(word)),
    "pos_att_type": maybe(either(word, many(word))),
    "rope_scaling": maybe(table(word, either(PLAIN, many(number)))),
    "rope_parameters": maybe(
        table(word, either(PLAIN, many(number), table(word, either(PLAIN, many(number)))))
    ),
}
"""`config.json` of the network."""
NETWORK_IGNORED = frozenset({
    "_name_or_path", "_commit_hash", "_num_labels", "_sliding_window_pattern", "adapters", "attn_implementation", "auto_map", "chunk_size_feed_forward",
    "directionality", "finetuning_task", "gradient_checkpointing", "id2label", "label2id", "matryoshka_dimensions", "max_2d_position_embeddings", "max_source_positions",
    "model_max_length", "n_positions", "output_attentions", "output_hidden_states", "output_past", "pooler_fc_size",
    "pooler_num_attention_heads", "pooler_num_fc_layers", "pooler_size_per_head", "pooler_type", "position_embedding_type",
    "problem_type", "reference_compile", "repad_logits_with_grad", "return_dict", "sentence_transformers", "sparse_pred_ignore_index",
    "sparse_prediction", "task_specific_params", "tie_weights_", "transformers_version", "use_cache", "xla_device",
})  # fmt: skip
"""What its other keys are for: other tasks, training, code of its own (`auto_map`), and where it was."""

_TOKEN = maybe(
    either(
        text,
        record(
            {
                "__type": one_of("AddedToken"),
                "content": text,
                **dict.fromkeys(("lstrip", "normalized", "rstrip", "single_word", "special"), flag),
            }
        ),
    )
)
SPECIAL_TOKENS: dict[str, Rule] = {
    **dict.fromkeys(
        (
            "bos_token", "cls_token", "eod_token", "eos_token", "image_token", "boi_token", "eoi_token", "mask_token", "pad_token",
            "sep_token", "unk_token",
        ),
        _TOKEN,
    ),
    "additional_special_tokens": maybe(many(_TOKEN)),
    "extra_special_tokens": maybe(either(many(_TOKEN), table(text, _TOKEN))),
}  # fmt: skip
"""`special_tokens_map.json`"""
_TOKENIZERS = (
    "Albert", "Bert", "Camembert", "Deberta", "DebertaV2", "DistilBert", "Electra", "Gemma", "Llama", "MPNet", "Qwen2", "Roberta",
    "RoFormer", "T5", "XLMRoberta",
)  # fmt: skip
TOKENIZER: dict[str, Rule] = {
    **SPECIAL_TOKENS,
    "tokenizer_class": one_of(
        "PreTrainedTokenizer",
        "PreTrainedTokenizerFast",
        "TokenizersBackend",
        *(f"{each}Tokenizer{fast}" for each in _TOKENIZERS for fast in ("", "Fast")),
    ),
    "added_tokens_decoder": table(word, _TOKEN),
    "backend": one_of("tokenizers"),
    "model_max_length": maybe(number),
    "model_input_names": maybe(many(word)),
    "never_split": maybe(many(text)),
    "sp_model_kwargs": maybe(record({})),
    **dict.fromkeys(
        (
            "add_bos_token", "add_eos_token", "add_prefix_space", "clean_up_tokenization_spaces", "do_basic_tokenize", "do_lower_case",
            "errors", "extra_ids", "keep_accents", "legacy", "max_length", "pad_to_multiple_of", "pad_token_type_id", "padding_side",
            "remove_space", "spaces_between_special_tokens", "split_by_punct", "split_special_tokens", "stride", "strip_accents",
            "tokenize_chinese_chars", "trim_offsets", "truncation_side", "truncation_strategy", "unk_id", "use_default_system_prompt",
            "vocab_type",
        ),
        PLAIN,
    ),
}  # fmt: skip
"""`tokenizer_config.json`"""
TOKENIZER_IGNORED = frozenset({
    "auto_map", "chat_template", "device_map", "from_slow", "is_local", "local_files_only", "name_or_path", "processor_class",
    "special_tokens_map_file", "tokenizer_file",
})  # fmt: skip
"""Code and files elsewhere."""
ADDED_TOKENS = table(text, SIZE)
"""`added_tokens.json`"""
VOCABULARIES = (
    "tokenizer.json", "vocab.txt", "vocab.json", "merges.txt", "spiece.model", "sentencepiece.bpe.model", "tokenizer.model", "spm.model",
)  # fmt: skip
"""Files of vocabularies, which hold data for the library of tokenizers alone."""

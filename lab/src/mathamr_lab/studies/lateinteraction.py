"""Train a late-interaction model on our pairs and save it as PyLate does, for `--model pylate:FOLDER`.

    MATHAMR_OUT=FOLDER        where the model is written
    MATHAMR_BASE=FOLDER       the model to start from; all-MiniLM-L6-v2 of its package
    MATHAMR_SECONDS=150       how long it is trained, reading aside; the learning rate falls to 0 in that time
    MATHAMR_BATCH=256         pairs in a step, each a negative for the others

A linear layer of 128 numbers, orthogonal at first, stands behind the base. The score is the mean over the question's tokens of the best cosine with
a token of the answer. Pairs are those of arqmath-mini and of the other collection, without held-out ones. Needs PyLate.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from multiprocessing import get_context
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, normalize

from mathamr.posts.passage import passage
from mathamr.posts.post import Post
from mathamr.systems.encoders.source import EncoderSource
from mathamr.text.wording import written
from mathamr_lab.data import data_folder, environment
from mathamr_lab.systems.text.materials import TextMaterials, read_materials

TEMPERATURE = 0.02
LENGTHS = (128, 256)
"""The greatest numbers of tokens of a question and of an answer."""
RATES = (5e-5, 1e-3)
"""The highest learning rates of the base and of the new layer."""
WARM = 0.05
"""The share of the time in which the learning rate rises."""


def training_materials() -> TextMaterials:
    """Return all pairs that may be trained on."""
    materials, data = TextMaterials(), data_folder()
    read_materials(data / "arqmath-mini/Posts.xml", [data / "arqmath-mini/heldout-questions.txt"], materials)
    read_materials(data / "pairs/pairs.jsonl.gz", [data / "pairs/heldout-pairs.txt"], materials)
    materials.pairs = [pair for pair in materials.pairs if materials.groups[pair[0]] not in materials.held]
    return materials


def maxsim(questions: Tensor, asked: Tensor, answers: Tensor, there: Tensor) -> Tensor:
    """Return the score of every question with every answer; `asked` and `there` say which tokens are real."""
    similar = torch.einsum("qth,dsh->qdts", questions, answers)
    best = similar.masked_fill(~there[None, :, None], -1).amax(-1)
    return (best * asked[:, None]).sum(-1) / asked.sum(-1)[:, None]


def loss_of(scores: Tensor, groups: Sequence[str]) -> Tensor:
    """Return the contrastive loss, both ways; other answers of the same thread are no negatives."""
    numbers = {group: number for number, group in enumerate(groups)}
    own = torch.tensor([numbers[group] for group in groups], device=scores.device)
    same = own[:, None] == own
    same &= ~torch.eye(len(groups), dtype=torch.bool, device=scores.device)
    logits = (scores.float() / TEMPERATURE).masked_fill(same, -torch.inf)
    right = torch.arange(len(groups), device=scores.device)
    return (cross_entropy(logits, right) + cross_entropy(logits.T, right)) / 2


def text_of(post: Post) -> str:
    """Return a post as an index gives it to an encoder."""
    return written(post, passage(post))[0].strip() or "."


def _batches(
    materials: TextMaterials, texts: Sequence[str], model: Any, size: int
) -> Iterator[tuple[Any, Any, list[str]]]:
    """Yield tokens of questions and answers and their groups, made in processes of their own, without end."""

    def tokens(numbers: Sequence[int], *, is_query: bool) -> dict[str, Tensor]:
        return dict(model.tokenize([texts[number] for number in numbers], is_query=is_query))

    def collate(numbers: Sequence[int]) -> tuple[Any, Any, list[str]]:
        questions, answers, _ = zip(*(materials.pairs[number] for number in numbers), strict=True)
        threads = [materials.groups[question] for question in questions]
        return tokens(questions, is_query=True), tokens(answers, is_query=False), threads

    loader: torch.utils.data.DataLoader[Any] = torch.utils.data.DataLoader(
        range(len(materials.pairs)),  # type: ignore[arg-type]
        batch_size=size,
        shuffle=True,
        drop_last=True,
        collate_fn=collate,
        num_workers=min(8, os.cpu_count() or 1),
        multiprocessing_context="fork",
    )
    while True:
        yield from loader


def run() -> None:
    from pylate import models

    out, base = environment("MATHAMR_OUT"), os.environ.get("MATHAMR_BASE")
    seconds, size = (
        int(os.environ.get(f"MATHAMR_{name}", usual)) for name, usual in (("SECONDS", 150), ("BATCH", 256))
    )
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    materials = training_materials()
    with get_context("fork").Pool() as pool:
        texts = pool.map(text_of, materials.posts, 100)
    model = models.ColBERT(
        base or str(EncoderSource("st", "all-MiniLM-L6-v2").files()),
        device=device,
        query_length=LENGTHS[0],
        document_length=LENGTHS[1],
        do_query_expansion=False,
        skiplist_words=[],
        local_files_only=True,
    )
    torch.nn.init.orthogonal_(model[1].linear.weight)
    groups = [
        {"params": list(part.parameters()), "lr": rate} for part, rate in zip(model, RATES, strict=True)
    ]
    optimiser = torch.optim.AdamW(groups, weight_decay=0.01)
    print(f"{len(materials.pairs):,} pairs on {device}", flush=True)
    model.train()
    began, step, total = time.monotonic(), 0, torch.zeros((), device=device)
    for questions, answers, threads in _batches(materials, texts, model, size):
        done = (time.monotonic() - began) / seconds
        if done >= 1:
            break
        for group, rate in zip(optimiser.param_groups, RATES, strict=True):
            group["lr"] = rate * min(done / WARM, (1 - done) / (1 - WARM))
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            sides = [{name: rows.to(device) for name, rows in side.items()} for side in (questions, answers)]
            found = [normalize(model(dict(side))["token_embeddings"].float(), dim=-1) for side in sides]
            masks = [side["attention_mask"].bool() for side in sides]
            scores = maxsim(found[0], masks[0], found[1], masks[1])
        loss = loss_of(scores, threads)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        step, total = step + 1, total + loss.detach()
        if step % 50 == 0:
            print(f"step {step}, {time.monotonic() - began:.0f} s, loss {float(total) / 50:.3f}", flush=True)
            total = torch.zeros_like(total)
    model.eval()
    model.save_pretrained(out)
    print(f"{step} steps of {size} pairs; written to {out}", flush=True)

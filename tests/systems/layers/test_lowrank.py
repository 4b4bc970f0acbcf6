from __future__ import annotations

import pytest
import torch
from torch import nn

from mathamr.core.errors import MathAMRError
from mathamr.systems.layers.lowrank import merge
from mathamr.text.transformer import Transformer, TransformerConfiguration
from mathamr_lab.training.lowrank import add_changes, changes_of

SHAPE = TransformerConfiguration(pieces=9, size=8, layers=2, heads=2, inner=12, positions=6, dropout=0.0)
NUMBERS, LENGTHS = torch.tensor([[1, 2, 3, 0], [4, 5, 6, 7]]), torch.tensor([3, 4])


def changed() -> tuple[Transformer, Transformer]:
    torch.manual_seed(1)
    plain = Transformer(SHAPE).eval()
    other = Transformer(SHAPE).eval()
    other.load_state_dict(plain.state_dict())
    add_changes(other, 2)
    return plain, other


def test_changes_begin_as_no_change_and_alone_can_learn() -> None:
    plain, other = changed()
    assert torch.equal(plain(NUMBERS, LENGTHS), other(NUMBERS, LENGTHS))
    learned = {name for name, each in other.named_parameters() if each.requires_grad}
    assert learned == set(changes_of(other))
    assert len(learned) == 2 * 4 * SHAPE.layers


def test_merged_changes_give_what_the_changed_network_gave() -> None:
    plain, other = changed()
    for name, each in other.named_parameters():
        if name.endswith(".up"):
            nn.init.normal_(each, std=0.3)
    wanted = other(NUMBERS, LENGTHS)
    assert not torch.allclose(plain(NUMBERS, LENGTHS), wanted, atol=1e-3)
    merge(plain, changes_of(other))
    torch.testing.assert_close(plain(NUMBERS, LENGTHS), wanted, atol=1e-5, rtol=1e-4)


def test_changes_of_another_network_are_refused() -> None:
    plain, other = changed()
    changes = changes_of(other)
    with pytest.raises(MathAMRError, match="do not fit this text encoder"):
        merge(nn.Linear(2, 2), changes)
    name = next(iter(changes)).rpartition(".")[0]
    with pytest.raises(MathAMRError, match="another shape"):
        merge(plain, {f"{name}.down": torch.zeros(2, 3), f"{name}.up": torch.zeros(5, 2)})
    with pytest.raises(MathAMRError, match="rank"):
        add_changes(Transformer(SHAPE), 100)

"""A MaRF network at the start of its training, and the weights that are stored at the end."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mathamr.core.tensorfile import halved
from mathamr.systems.marf.configuration import MarfConfiguration
from mathamr.systems.marf.model import COMPONENTS
from mathamr.systems.marf.network import ContextEncoder, FormulaEncoder, MarfNetwork
from mathamr_lab.systems.stateencoder import StateEncoder

_TRANSFORMER = "context.transformer."


def fresh_network(base: StateEncoder, configuration: MarfConfiguration, tokens: int) -> MarfNetwork:
    """Create a network that starts from a base; its formula encoder reads this many tokens of LaTeX."""
    context = ContextEncoder(base, base.size, configuration.size)
    if isinstance(context.head, nn.Linear):
        nn.init.orthogonal_(context.head.weight)
    return MarfNetwork(context, FormulaEncoder(configuration, tokens), configuration)


def stored_weights(network: MarfNetwork, components: Tensor) -> dict[str, Tensor]:
    """Return the weights for a folder: what was learned, the base as changes to it; of a full training in eight bits."""
    base = network.context.transformer
    assert isinstance(base, StateEncoder)
    kept = {name: each for name, each in network.state_dict().items() if not name.startswith(_TRANSFORMER)}
    kept |= {f"{_TRANSFORMER}{name}": each for name, each in base.changes(network.configuration.rank).items()}
    kept[f"{_TRANSFORMER}pieces.added"] = base.model.pieces.get_parameter("added")
    return {**base.rounded(kept), **halved({COMPONENTS: components})}


def principal_components(rows: Tensor, size: int) -> Tensor:
    """Return the directions (size of a row, size) that best preserve products of rows."""
    products = rows.float().T @ rows.float()
    directions: Tensor = torch.linalg.eigh(products.double())[1].flip(1)
    return directions[:, :size].float().contiguous()

"""`TorchTransformer`: the layers of the text encoder over one window by torch, in the bits that the processor multiplies quickest."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch

from mathamr.core.arrays import AnyArray, FloatArray
from mathamr.core.unfilled import unfilled
from mathamr.text.configuration import TransformerConfiguration
from mathamr.text.encoder import precision
from mathamr.text.files import restored
from mathamr.text.transformer import Transformer

UNREAD = ("pieces.weight", "positions.weight", "head.weight", "relative.table.weight")
"""What stands before the layers and behind them."""


class TorchTransformer:
    """Computes states from embeddings."""

    def __init__(self, configuration: TransformerConfiguration, weights: Mapping[str, AnyArray]) -> None:
        own = {
            name: torch.from_numpy(np.array(each))
            for name, each in weights.items()
            if not name.startswith(UNREAD)
        }
        with unfilled():
            model = Transformer(configuration)
        model.load_state_dict(restored(own), strict=False, assign=True)
        self._norm, self._layers = model.norm.eval(), model.layers.eval()
        self._device = torch.device("cpu")

    def __call__(self, embedded: FloatArray, added: FloatArray | None = None) -> FloatArray:
        """The states (width, size) of embeddings before their normalisation; `added`: (heads, width, width)."""
        mask = None if added is None else torch.from_numpy(added)[None]
        with torch.inference_mode(), precision(self._device):
            x = self._norm(torch.from_numpy(embedded)[None])
            for layer in self._layers:
                x = layer(x, mask)
        states: FloatArray = x[0].float().numpy()
        return states

"""MaRF's network: token vectors of a post, of its formulas, and of both fused (Wang, Zheng and Kani, section 3)."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional

from mathamr.systems.marf.configuration import MarfConfiguration
from mathamr.systems.marf.fusion import GatedFusion
from mathamr.systems.marf.llama import LlamaLayers
from mathamr.text.transformer import Transformer, TransformerConfiguration


class ContextEncoder(nn.Module):
    """Token vectors of a post's text, of length one: a transformer's states, projected if the size is another."""

    def __init__(self, transformer: nn.Module, own: int, size: int) -> None:
        super().__init__()
        self.transformer = transformer
        self.head: nn.Module = nn.Identity() if own == size else nn.Linear(own, size, bias=False)

    def forward(self, numbers: Tensor, lengths: Tensor) -> Tensor:
        """Return the token vectors (rows, width, size); positions beyond a row's length are padding."""
        return functional.normalize(self.head(self.transformer(numbers, lengths)).float(), dim=-1)


class FormulaEncoder(nn.Module):
    """Token vectors of a formula, of length one: a small transformer over normalised LaTeX tokens, projected (section 3.2)."""

    def __init__(self, configuration: MarfConfiguration, tokens: int) -> None:
        super().__init__()
        inner = configuration.formula_inner or 4 * configuration.formula_size
        self.transformer: nn.Module
        if configuration.formula_kind == "llama":
            self.transformer = LlamaLayers(
                tokens,
                configuration.formula_size,
                configuration.formula_layers,
                configuration.formula_heads,
                inner,
            )
        else:
            made = Transformer(
                TransformerConfiguration(
                    pieces=tokens,
                    size=configuration.formula_size,
                    layers=configuration.formula_layers,
                    heads=configuration.formula_heads,
                    inner=inner,
                    positions=configuration.formula_length,
                )
            )
            for parameter in (made.pieces.weight, made.positions.weight):
                nn.init.normal_(parameter, std=0.02)
            self.transformer = made
        self.head = nn.Linear(configuration.formula_size, configuration.size, bias=False)

    def forward(self, numbers: Tensor, lengths: Tensor) -> Tensor:
        """Return (rows, width, size)."""
        return functional.normalize(self.head(self.transformer(numbers, lengths)).float(), dim=-1)


class MarfNetwork(nn.Module):
    """The three parts together."""

    def __init__(
        self, context: ContextEncoder, formula: FormulaEncoder, configuration: MarfConfiguration
    ) -> None:
        super().__init__()
        self.configuration = configuration
        self.context, self.formula = context, formula
        self.fusion = GatedFusion(
            configuration.size, configuration.fusion_heads, configuration.fusion_inner or None
        )

    def fused(self, context: Tensor, formula: Tensor, counts: Tensor) -> Tensor:
        """Return fused token vectors, of length one."""
        return functional.normalize(self.fusion(context, formula, counts).float(), dim=-1)

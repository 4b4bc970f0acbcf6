"""Untrained models of the systems that read formulas, as small as they can be."""

from __future__ import annotations

from pathlib import Path

import torch

from mathamr.formulas.parse import parse
from mathamr.graphs.formulashard import FormulaShard
from mathamr.systems.formulagraph.network import FormulaGraphConfiguration, FormulaGraphNetwork
from mathamr.systems.formulagraph.system import FormulaGraphSystem
from mathamr.systems.ssemb.network import StructEmb, StructEmbConfiguration
from mathamr.systems.ssemb.system import SsembSystem

LATEX = (
    "x",
    "-x",
    "x^2",
    "a+b=c",
    r"\frac{a}{b}<c",
    "a^2+b^2=c^2",
    "x-y-x",
    r"\frac{a+b}{b+a}",
    r"\sum_{n=1}^\infty \frac{1}{n^2}=\frac{\pi^2}{6}",
    r"\int_0^1 f(x)\,dx",
    r"\sqrt{x^2+1}",
    r"\binom{n}{k}=\binom{n-1}{k-1}+\binom{n-1}{k}",
)


def shard(latex: tuple[str, ...] = LATEX) -> FormulaShard:
    """The trees of a few formulas."""
    return FormulaShard.of((parsed.slt, parsed.opt) for parsed in map(parse, latex))


def tiny_formula_graph(seed: int = 0) -> FormulaGraphSystem:
    """A network that has learnt nothing."""
    torch.manual_seed(seed)
    labels = shard().labels
    configuration = FormulaGraphConfiguration(hidden=16, size=8, layers=2, bases=4, types=True)
    return FormulaGraphSystem(FormulaGraphNetwork(configuration, labels), labels)


def tiny_ssemb(text: Path, seed: int = 0) -> SsembSystem:
    """A network that has learnt nothing, with a text encoder in that folder."""
    torch.manual_seed(seed)
    labels = shard().labels
    network = StructEmb(StructEmbConfiguration(size=16), len(labels))
    return SsembSystem(network, labels, reader="own", own_text=text)

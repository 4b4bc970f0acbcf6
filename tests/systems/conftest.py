"""The fixtures of the layers serve the systems made of them."""

from __future__ import annotations

from tests.systems.layers.conftest import _one_thread, shard

__all__ = ["_one_thread", "shard"]

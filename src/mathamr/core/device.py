"""Chooses the device to compute on."""

from __future__ import annotations

import torch

from mathamr.core.errors import MathAMRError


def chosen_device(name: str = "auto") -> torch.device:
    """Return the device of that name; ``auto`` means the GPU if there is one."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise MathAMRError(f"unknown device {name!r}; known: auto, cpu, cuda, cuda:NUMBER") from error
    if device.type == "cuda":
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if not 0 <= (device.index or 0) < count:
            raise MathAMRError(f"there is no device {name!r} on this machine; use cpu or auto")
        # cuDNN plans attention anew for every shape of a batch, which takes longer than the attention itself.
        torch.backends.cuda.enable_cudnn_sdp(False)
        return torch.device("cuda", device.index if device.index is not None else torch.cuda.current_device())
    return device

"""Work for the tests of `WorkerPool`: it can be slow, wrong, or deadly."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from typing import Any

from mathamr.core.errors import MathAMRError


class Doubling:
    """Doubles numbers; some words have other effects."""

    def __init__(self, greeting: str) -> None:
        if greeting == "fail":
            raise MathAMRError("no model here; install one")
        if greeting == "die":
            os._exit(3)
        self.identity = greeting

    def __call__(self, request: Any) -> Any:
        if request == "die":
            os._exit(7)
        if request == "sleep":
            time.sleep(60)
        if request == "backtrack":
            re.match(r"(a*)*b", "a" * 40)
        if request == "memory":
            bytearray(1 << 30)
        if request == "print":
            print("noise on stdout", flush=True)
        if isinstance(request, float):
            time.sleep(request)
        if isinstance(request, dict):
            # Held back until a file is there: what others do meanwhile does not depend on how quick they are.
            while not Path(request["until"]).exists():
                time.sleep(0.02)
            return 2 * int(request["number"])
        return request * 2

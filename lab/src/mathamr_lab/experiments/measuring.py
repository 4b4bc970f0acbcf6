"""All that follows a training, in a process of its own: so that several models can be measured at a time."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mathamr.core.progress import duration
from mathamr_lab.experiments.child import as_child, run_child
from mathamr_lab.experiments.plan import planned
from mathamr_lab.experiments.setting import ExperimentSetting

LOG = "measuring.log"


def measure_apart(settings: Sequence[ExperimentSetting], model: Path) -> None:
    """Does the stages of some experiments that need a model, known by the mark of its training, in another process."""
    command = [sys.executable, "-m", "mathamr_lab.experiments.measuring"]
    given = json.dumps([[setting.to_json() for setting in settings], str(model.resolve())]).encode()
    run_child("measuring", command, model.parent, LOG, settings[0].threads, given)


def measure(settings: Sequence[ExperimentSetting], model: Path) -> None:
    """Does these stages here."""
    for setting in settings:
        for stage in planned(setting).stages:
            if stage.follows(model) and stage.mark() is None:
                began = time.monotonic()
                stage.do()
                print(
                    f"{stage.name}: done in {duration(time.monotonic() - began)}", file=sys.stderr, flush=True
                )


def _asked(given: tuple[list[dict[str, Any]], str]) -> None:
    settings, model = given
    measure([ExperimentSetting.from_json(row) for row in settings], Path(model))


if __name__ == "__main__":
    sys.exit(as_child(_asked))

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BASELINE = """
import sys
from mathamr.evaluation.baselines.bm25 import Bm25
from mathamr.evaluation.baselines.candidate import Candidate
one = Candidate(id="a", text="every compact set is closed", formulas=(), full_text="every compact set is closed")
(hits,) = Bm25([one]).rank([one], 5)
print([hit.id for hit in hits], "jax" in sys.modules)
"""


@pytest.mark.slow
def test_the_baseline_leaves_an_accelerators_memory_alone(tmp_path: Path) -> None:
    """bm25s asks for JAX where it is installed, which takes most of the memory of a GPU when it is loaded."""
    (tmp_path / "jax").mkdir()
    (tmp_path / "jax" / "__init__.py").touch()
    (tmp_path / "jax" / "lax.py").write_text("def top_k(scores, k): return scores[:k], range(k)\n")
    code = f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\n{BASELINE}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "['a'] False", done.stderr

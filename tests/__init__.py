"""Tests of the product, the laboratory and the docs.

This package is imported before numpy and PyTorch: the test processes run side by side, so each of them, and each process that
it starts, computes with one thread. Threads of one process that wait for work would take the processors from the others.
Processes that tests start keep the compiled modules, so that each need not compile the package.
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

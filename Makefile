# Two commands are all a fresh machine needs: `make demo` and `make test`.
# Both set up .venv by themselves and are quick the second time.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CODE := src lab tests benchmarks scripts
unexport PYTHONDONTWRITEBYTECODE  # the tests start hundreds of processes, which would each compile the package

.PHONY: help setup demo test test-all lint bench docs package clean

help:
	@echo "make demo    install into $(VENV) and show mathamr at work on the bundled sample"
	@echo "make test    install into $(VENV) and run the product's tests, in a few minutes"
	@echo "make test-all  also the laboratory, browsers, kills, engines and hostile files"
	@echo "make setup   only install, with the laboratory and the developers' tools"
	@echo "make lint    ruff and mypy"
	@echo "make bench   benchmarks: ratios against a peer measured in the same run"
	@echo "make docs    the documentation as a site, in site/"
	@echo "make package wheels in dist/, tried in a bare environment"
	@echo "make clean   remove $(VENV) and caches"

$(VENV)/.product: pyproject.toml scripts/setup.sh
	@PYTHON="$(PYTHON)" VENV="$(VENV)" bash scripts/setup.sh product

$(VENV)/.test: pyproject.toml scripts/setup.sh
	@PYTHON="$(PYTHON)" VENV="$(VENV)" bash scripts/setup.sh test

$(VENV)/.developer: pyproject.toml lab/pyproject.toml scripts/setup.sh
	@PYTHON="$(PYTHON)" VENV="$(VENV)" bash scripts/setup.sh developer

setup: $(VENV)/.developer

demo: $(VENV)/.product
	@$(BIN)/mathamr demo

test: $(VENV)/.test
	@echo "mathamr: running the product's tests"
	@$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow" tests src

test-all: $(VENV)/.developer
	@echo "mathamr: running all tests"
	@$(BIN)/python -m pytest -n 2 --dist worksteal

lint: $(VENV)/.developer
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/python scripts/check_docstrings.py src lab/src
	$(BIN)/python scripts/check_patterns.py src/mathamr
	$(BIN)/python scripts/count_words.py
	$(BIN)/mypy

bench: $(VENV)/.developer
	$(BIN)/python -m benchmarks

docs: $(VENV)/.developer
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check "mkdocs>=1.6,<2" "mkdocs-material>=9.5,<10"
	@$(BIN)/python -m mkdocs build --quiet && echo "mathamr: site/README.html"

package:
	@PYTHON="$(PYTHON)" bash scripts/package.sh

clean:
	rm -rf site $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist lab/dist

# Two commands: `make demo` shows Emily at work on real files, `make test` checks her.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: setup demo test test-slow test-rerank lint bench clean

setup: $(STAMP)

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/pip install --quiet --disable-pip-version-check --editable . --group dev
	touch $@

demo: setup
	$(BIN)/python -m examples.demo

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

# Three at a time, for each waits often, and each with a database server of its own. A file's tests
# stay together; those that take long are in the folders that come first, so that none ends alone.
test: setup lint
	$(BIN)/pytest --numprocesses=3 --dist=loadfile --no-loadscope-reorder

test-slow: setup
	$(BIN)/pytest -m slow -o timeout=1800

# Rerankers that run in this process; plain "torch" brings CUDA, so name a CPU build where you can.
TORCH ?= torch
test-rerank: setup
	$(BIN)/pip install --quiet --disable-pip-version-check '$(TORCH)'
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[rerank]'
	$(BIN)/pytest tests/unit/models/test_local_rerankers.py

bench: setup
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis

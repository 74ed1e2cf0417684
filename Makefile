# Everything runs in .venv, which is made on first use. Needs Python 3.10 or newer, and make.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed

.PHONY: help setup demo test check fix bench clean

help:
	@echo "make demo    make models of a built-in corpus and show what they can do (some minutes)"
	@echo "make test    lint, types and tests"
	@echo "make check   lint and types only"
	@echo "make fix     format, and fix what the linter can fix"
	@echo "make bench   the quick benchmarks"
	@echo "make setup   create .venv and install (the others do it by themselves)"

setup: $(INSTALLED)

$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
		{ echo "setup: $(PYTHON) is older than 3.10; name a newer one: make PYTHON=python3.12 ..."; exit 2; }
	@echo "setup: creating .venv and installing fewwords and its tools (once; a minute or two) ..."
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev,demo]"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -c constraints.txt pyctcdecode pygtrie
	@touch $(INSTALLED)
	@echo "setup: done"

demo: setup
	@$(BIN)/fewwords demo

check: setup
	@echo "check: lint ..."
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@echo "check: types ..."
	@$(BIN)/mypy

test: check
	@echo "test: tests ..."
	@$(BIN)/python -m pytest

fix: setup
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

bench: setup
	@for benchmark in benchmarks/*.py; do echo "bench: $$benchmark"; $(BIN)/python $$benchmark --quick || exit 1; done

clean:
	rm -rf .venv demo .pytest_cache .mypy_cache .ruff_cache .hypothesis

# chat: set everything up and talk to the bot; test: the whole test suite. Each target does what CI does.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: chat setup test lint types check catalogue wheel playground serve bench

chat: setup
	$(BIN)/sizewise chat

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml constraints.txt
	@echo "Setting up $(VENV): packages are downloaded once, which takes some minutes and says nothing meanwhile."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[embeddings,dev]'
	$(BIN)/sizewise knowledge refresh
	touch $@

test: setup
	$(BIN)/python -m pytest -n auto --dist loadgroup

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: setup
	$(BIN)/mypy

check: lint types test

catalogue: setup
	$(BIN)/python -m sizing.catalogue.build

wheel: setup
	$(BIN)/python -m build --wheel

playground: setup
	$(BIN)/sizewise playground

serve: setup
	$(BIN)/sizewise serve

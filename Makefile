# Every target sets up what it needs in .venv; nothing has to be installed by hand.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint bench reproduce setup clean

setup: .venv/.dev
.venv/.demo: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[nn,data]'
	@touch $@

.venv/.dev: .venv/.demo
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[all,dev]'
	@touch $@

demo: .venv/.demo  ## a network learns to read digits, rules add them and judge Sudokus
	$(BIN)/python -m pinesy demo

lint: .venv/.dev  ## ruff and mypy --strict
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint  ## lint, then every test (README, docs and examples included), on all cores
	$(BIN)/pytest --numprocesses auto --dist worksteal

bench: .venv/.dev  ## the speed figures, as ratios measured in one run
	$(BIN)/python benchmarks/run.py

reproduce: .venv/.dev  ## the paper's experiments: make reproduce ARGS='addition --quick'
	$(BIN)/python -m reproduction $(ARGS)

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis

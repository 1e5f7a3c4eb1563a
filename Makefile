# Every target sets up what it needs in .venv; nothing has to be installed by hand.
PYTHON ?= python3
BIN := .venv/bin
# Modules are compiled when they are first imported: most of those of PyTorch and others never are.
# Some machines ask Python to store none of it: each process of the tests would compile them again.
unexport PYTHONDONTWRITEBYTECODE
INSTALL := $(BIN)/pip install --quiet --no-compile --constraint constraints.txt --editable

.PHONY: demo studio quick test fuzz supply lint kernels browser bench engines tabular reproduce outputs pictures docs setup clean

setup: .venv/.dev
.venv/.demo: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(INSTALL) '.[nn,data]'
	@touch $@

.venv/.studio: .venv/.demo
	$(INSTALL) '.[nn,data,studio]'
	@touch $@

.venv/.dev: .venv/.demo
	$(BIN)/pip install --quiet --upgrade 'pip>=25.1'  # for groups of dependencies
	$(INSTALL) '.[all,reproduction]' --group dev
	@touch $@

.venv/.docs: .venv/.demo
	$(INSTALL) '.[docs]'
	@touch $@

.venv/.tabular: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(INSTALL) '.[tabular]'
	@touch $@

demo: .venv/.demo  ## a network learns to read digits, rules add them and judge Sudokus
	$(BIN)/python -m pinesy demo

studio: .venv/.studio  ## the same in the browser: draw digits, see the sum, ask why
	$(BIN)/python -m pinesy studio $(ARGS)

lint: .venv/.dev  ## ruff and mypy --strict
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

kernels: .venv/.dev  # compiled before the tests, whose processes would all do so at the same time
	PYTHONPATH=src:benchmarks $(BIN)/python tests/warm_kernels.py

browser: .venv/.dev  # finds one for the tests of pages, or gets it, or says what to do
	$(BIN)/python tests/get_browser.py

quick: .venv/.dev  ## the core without PyTorch, browser, Dask and other processes, in about a minute
	$(BIN)/pytest $(QUICK) --numprocesses auto --dist worksteal --hypothesis-profile=quick \
	    -m 'not torch and not browser and not dask and not process'

test: .venv/.dev  ## lint, then every test (README, docs and examples included), on all cores
	$(MAKE) --jobs=3 lint kernels browser
	$(BIN)/pytest --numprocesses auto --dist worksteal

QUICK := $(addprefix tests/,calibration engine equations explanations inverse learning paper rulebase rules semantics transforms)
FUZZ ?= 20000
SEED ?= 1
KILLS ?= 20
SOAK ?= 200000
fuzz: .venv/.dev  ## changed files and killed writers, long: make fuzz FUZZ=100000 KILLS=100 SEED=7
	PYTHONPATH=src:tests:. $(BIN)/python tests/hostile/hostile_texts.py
	PYTHONPATH=src:tests:. $(BIN)/python tests/hostile/fuzzing.py $(FUZZ) $(SEED)
	PYTHONPATH=src:tests:. $(BIN)/python tests/hostile/killing.py $(KILLS) $(SEED)
	PINESY_SOAK=$(SOAK) PINESY_LOADS=5000 $(BIN)/pytest tests/hostile/test_load.py tests/hostile/test_model_archives.py

engines: .venv/.dev  ## SQL in PostgreSQL (of the system) and Spark (with the Java of the system)
	$(BIN)/pip install --quiet --no-compile --constraint constraints.txt --group engines
	PINESY_ENGINES=1 $(BIN)/pytest tests/emitters/test_engines.py

supply:  ## installs into fresh environments: lowest versions, wheel, sdist, other Pythons; long
	$(PYTHON) tests/supply.py $(ARGS)

bench: .venv/.dev  ## the speed figures, as ratios measured in one run
	$(BIN)/python benchmarks/run.py

tabular: .venv/.tabular  ## rules from 43 tables against other learners; takes up what is there
	OMP_NUM_THREADS=$(or $(OMP_NUM_THREADS),1) $(BIN)/python benchmarks/tabular.py $(or $(ARGS),run blanks synthetic page)

reproduce: .venv/.dev  ## the paper's experiments: make reproduce ARGS='addition --quick'
	$(BIN)/python -m reproduction $(ARGS)

outputs: .venv/.dev  ## runs the pages of docs that show outputs, and writes these and their pictures
	PYTHONPATH=src:tests $(BIN)/python tests/documents.py
	PYTHONPATH=src $(BIN)/python docs/command_reference.py

pictures: .venv/.dev browser  ## the screenshots of the docs, from the tests in the browser
	PINESY_PICTURES=1 $(BIN)/pytest -n0 tests/common tests/studio tests/exchange/test_page.py -m browser

docs: .venv/.docs  ## the documentation as a site in docs/_build/html, without the network
	$(BIN)/sphinx-build --fail-on-warning --keep-going --jobs auto -d docs/_build/trees docs docs/_build/html

clean:
	rm -rf .venv docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis

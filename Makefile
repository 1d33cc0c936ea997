# Everything runs in .venv, which the first target to need it creates and fills.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
PIP    := $(BIN)/python -m pip install --disable-pip-version-check --quiet -c constraints.txt

# Tests that want Triton's interpreter set this themselves; set globally it would disable compilation.
unexport TRITON_INTERPRET

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# Of the tests: a process a core, eight at most; JOBS=0 runs them in one process.
WORKERS = -n $(or $(JOBS),auto) --maxprocesses 8 --dist worksteal
# For each worker, from its start: libraries read these when they are loaded.
ALONE = OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=

.PHONY: help install demo test gpu campaigns native fuzz mutants lint types docs format clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(STAMP)  ## create .venv and install the tested versions into it

# The stamp is written last, so an interrupted installation is taken up again by the next make.
$(STAMP): pyproject.toml constraints.txt
	@rm -f $@
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV) || \
	  { echo "make: '$(PYTHON) -m venv' failed; is the venv module of Python 3.11+ installed?"; exit 1; }
	@echo "installing into $(VENV) (torch is large: this may take some minutes)"
	@$(PIP) torch
	@$(PIP) -e ".[test,docs]"
	@touch $@

demo: $(STAMP)  ## derive, check, time: one table over the example formulas
	@$(BIN)/python -m einderive.frontend.bench.demo

test: $(STAMP)  ## the tests, in parallel (JOBS=auto)
	@$(ALONE) $(BIN)/python -m pytest -q $(WORKERS)

# On a machine with an NVIDIA GPU and torch's CUDA wheel, in at most eight minutes; with another
# Python than the one in .venv: make gpu STAMP= BIN=/usr/bin
gpu: $(STAMP)  ## the tests and benchmarks that need a GPU, written to docs/measurements/gpu.md
	@$(BIN)/python -m tools.gpu report

# What `make test` leaves out, and the tests by random examples.  SEED=: other random programs;
# MINUTES=: only what is begun in that time, in an order drawn by the seed, without the mutants.
campaigns: $(STAMP)  ## the long tests, in full or as a sample (SEED=0 MINUTES= JOBS=auto)
	@$(PIP) basedpyright || echo "without basedpyright: its test is skipped"
	@$(ALONE) $(BIN)/python -m pytest -q $(WORKERS) -m "campaign or hypothesis" --seed $(or $(SEED),0) \
	  --hypothesis-seed $(or $(SEED),0) $(if $(MINUTES),--minutes $(MINUTES) --ignore tests/mutants)

# MINUTES= or COUNT= (rule applications) ends it; SEED=, JOBS= processes; Ctrl-C gives the summary so far.
fuzz: $(STAMP)  ## random programs, every rule everywhere, compared exactly (MINUTES=1 SEED=0 COUNT= JOBS=1)
	@$(BIN)/python -m tests.fuzz $(if $(MINUTES),--minutes $(MINUTES)) $(if $(COUNT),--count $(COUNT)) \
	  --seed $(or $(SEED),0) --jobs $(or $(JOBS),1)

# MODULES= kernel, matcher, checker, or modules; JOBS= processes; Ctrl-C prints the table so far.
mutants: $(STAMP)  ## conditions left out one by one: each has to be noticed (MODULES= JOBS=1)
	@$(BIN)/python -m tests.mutants $(MODULES) --jobs $(or $(JOBS),1)

# Needs a C compiler; the tree itself stays as it is, and nothing depends on this.  Left out are the tests
# that read sources and docstrings or put another function in the place of one.
native: $(STAMP)  ## a copy in build/native with the search's core compiled: its tests, states/s
	@$(BIN)/python -m tools.native build/native
	@cp -r tests docs README.md build/native/
	@cd build/native && PYTHONPATH=. $(CURDIR)/$(BIN)/python -m pytest -q -p no:cacheprovider -m '' tests/ta \
	  tests/derivations \
	  -k 'not (record_is_complete or size_is_as_stated or mistake_in_the_kernel)'
	@cd build/native && PYTHONPATH=. $(CURDIR)/$(BIN)/python -m einderive.frontend.cli.main bench search --throughput

lint: $(STAMP)  ## ruff: rules and formatting
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

# mypy sees einderive as it is installed: a folder of links.
types: $(STAMP)  ## mypy, strict
	@mkdir -p build/types/einderive
	@ln -sfn $(foreach part,$(wildcard einderive/*.py) einderive/py.typed ta derivations eops frontend,$(CURDIR)/$(part)) build/types/einderive/
	@$(BIN)/mypy

docs: $(STAMP)  ## HTML documentation in docs/_build/html; warnings are errors
	@$(BIN)/python -m sphinx -q -W --keep-going -b html -d docs/_build/doctrees docs docs/_build/html
	@echo "docs/_build/html/index.html"

format: $(STAMP)  ## apply ruff's fixes and formatting
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

clean:  ## remove .venv and everything generated
	rm -rf $(VENV) build dist *.egg-info docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

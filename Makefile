# Two commands do everything on a fresh machine: make reproduce, make test. Nothing here needs root.
PYTHON ?= python3
VENV ?= .venv
PYTEST_ARGS ?=
PROCESSORS ?=
# Processes that run tests, one a core; WORKERS=0 runs all in one, for a debugger.
WORKERS ?= auto

BIN := $(VENV)/bin
STAMP := $(VENV)/.azlab-installed
LOG := .venv-install.log

.DEFAULT_GOAL := help
.PHONY: help reproduce test quick processors thorough notebooks lab clean

help:
	@echo "make reproduce   install into $(VENV) if needed, then run every reproduction small and write the report"
	@echo "make test        install into $(VENV) if needed, then run ruff, mypy and all tests, on all cores"
	@echo "make quick       the same without slow tests, browsers and notebooks: an answer in about two minutes"
	@echo "make processors  run the tests of learning as other processors would round; PROCESSORS=sse for one setting"
	@echo "make thorough    what takes longer: random input 20 times as often, the tests of learning in every such setting"
	@echo "make notebooks   execute all notebooks and store their outputs in place"
	@echo "make lab         install into $(VENV) if needed, then open JupyterLab on notebooks/"
	@echo "make clean       remove $(VENV) and every cache"
	@echo "Settings: PYTHON=$(PYTHON)  VENV=$(VENV)  PYTEST_ARGS=$(PYTEST_ARGS)"

reproduce: $(STAMP)
	@echo "Running every reproduction at profile smoke (azlab reproduce); the report is named at the end."
	@"$(BIN)/azlab" reproduce --profile smoke

test: $(STAMP)
	@echo "Checking style (ruff)."
	@"$(BIN)/ruff" check .
	@echo "Checking types (mypy)."
	@"$(BIN)/mypy"
	@echo "Running the tests and all notebooks (pytest, nbval)."
	@"$(BIN)/python" -m pytest -q -n $(WORKERS) --dist loadgroup --durations=15 $(PYTEST_ARGS)

quick: $(STAMP)
	@"$(BIN)/ruff" check .
	@"$(BIN)/mypy"
	@"$(BIN)/python" -m pytest -q -n $(WORKERS) --dist loadgroup --durations=5 -m "not slow and not learns" $(PYTEST_ARGS)

processors: $(STAMP)
	@echo "Running the tests of learning as other processors would (tests/processors.py)."
	@"$(BIN)/python" tests/processors.py $(PROCESSORS) $(PYTEST_ARGS)

thorough: $(STAMP)
	@AZLAB_FUZZ=20 "$(BIN)/python" -m pytest -q -n $(WORKERS) --dist loadgroup --durations=15 $(PYTEST_ARGS)
	@$(MAKE) processors PROCESSORS=all

notebooks: $(STAMP)
	@echo "Executing the notebooks and storing their outputs."
	@"$(BIN)/python" -m azlab.repro.refresh

lab: $(STAMP)
	@echo "Opening JupyterLab on notebooks/, whose lessons are marked as trusted, so that stored boards are drawn. Ctrl-C ends it."
	@"$(BIN)/jupyter" trust notebooks/*.ipynb > "$(LOG)" 2>&1 || { cat "$(LOG)"; false; }
	@"$(BIN)/jupyter" lab --notebook-dir=notebooks

clean:
	rm -rf "$(VENV)" "$(LOG)" build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find azlab tests -type d -name __pycache__ -prune -exec rm -rf {} +

# Made again only when the list of packages changes.
$(STAMP): pyproject.toml constraints.txt
	@command -v "$(PYTHON)" >/dev/null || { \
	  echo "There is no program called $(PYTHON). Install Python 3.11 or newer, or name yours: make PYTHON=/path/to/python3"; \
	  exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "azlab needs Python 3.11 or newer, and $(PYTHON) is $$("$(PYTHON)" --version 2>&1). Name a newer one: make PYTHON=python3.12"; \
	  exit 1; }
	@echo "Installing azlab and what it needs into $(VENV). The first time this takes a few minutes and about 3 GB; progress is in $(LOG)."
	@"$(PYTHON)" -m venv "$(VENV)" >"$(LOG)" 2>&1 || { \
	  tail -n 5 "$(LOG)"; \
	  echo "The virtual environment $(VENV) could not be made. On Debian and Ubuntu install the package python3-venv;"; \
	  echo "elsewhere see that this folder is writable and the disk is not full. The whole log is in $(LOG)."; \
	  exit 1; }
	@"$(BIN)/python" -m pip install -c constraints.txt -e ".[solver,interop,dev]" >>"$(LOG)" 2>&1 || { \
	  tail -n 15 "$(LOG)"; \
	  echo "The packages could not be installed; the whole log is in $(LOG). See that the network can be reached and that"; \
	  echo "about 6 GB of disk are free (df -h .), then run the same command again: it goes on where it stopped."; \
	  echo "If one package has no build for your Python, try another: make clean, then make PYTHON=python3.11 ..."; \
	  exit 1; }
	@touch "$@"

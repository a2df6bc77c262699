# Two commands on a fresh machine: `make demo` runs the main job, `make test` passes the tests.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
TATQA = ../shared/data/tatqa/tatqa_dataset_dev.json

.PHONY: demo test lint bench nightly golden clean

$(BIN)/diag: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --editable .
	@touch $@

$(VENV)/.dev: $(BIN)/diag
	$(BIN)/pip install --quiet --editable '.[dev]'
	@touch $@

demo: $(BIN)/diag  ## diag check on the golden set, and on TAT-QA where it lies beside the project
	@rm -rf runs/demo-golden runs/demo-tatqa
	$(BIN)/diag check datasets/diag_data/golden --out runs/demo-golden
	@if [ -f $(TATQA) ]; then $(BIN)/diag check $(TATQA) --out runs/demo-tatqa; fi

test: $(VENV)/.dev  ## all tests but the slow ones
	$(BIN)/python -m pytest -n auto

nightly: $(VENV)/.dev  ## the slow tests too
	$(BIN)/python -m pytest -n auto -m ''

lint: $(VENV)/.dev  ## format, lint, types, and who may import whom
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports

bench: $(VENV)/.dev  ## side by side with the peers, in their own environment (.venv-peers)
	$(BIN)/python tests/benchmarks/run.py

golden: $(VENV)/.dev  ## make the golden set anew
	$(BIN)/python datasets/generator/golden.py

clean:
	rm -rf $(VENV) .venv-peers runs dist build

# Two commands on a fresh machine: `make demo` runs the main job, `make test` passes the tests.
# TORCH takes another build: make demo TORCH='torch==2.13.0+cu130'. Pinned, since a plain `torch` may bring a CUDA build of several GB.
PYTHON ?= python3
TORCH ?= torch==2.13.0
VENV ?= .venv
BIN = $(VENV)/bin
TATQA = ../shared/data/tatqa/tatqa_dataset_dev.json

.PHONY: demo check test lint bench nightly golden clean

$(BIN)/diag: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet $(TORCH)
	$(BIN)/pip install --quiet --editable '.[model]'
	@touch $@

$(VENV)/.dev: $(BIN)/diag
	$(BIN)/pip install --quiet --editable '.[model,dev]'
	@touch $@

demo: $(BIN)/diag  ## the main job on the embedded model: 48 records of the golden test split, answered, scored, judged
	@rm -rf runs/demo
	$(BIN)/diag qa datasets/diag_data/golden/test.jsonl --sample 48 --source-tokens 512 --out runs/demo

check: $(BIN)/diag  ## diag check, without a model: on the golden set, and on TAT-QA where it lies beside the project
	@rm -rf runs/check-golden runs/check-tatqa
	$(BIN)/diag check datasets/diag_data/golden --out runs/check-golden
	@if [ -f $(TATQA) ]; then $(BIN)/diag check $(TATQA) --out runs/check-tatqa; fi

test: $(VENV)/.dev  ## all tests but the slow ones
	$(BIN)/diag models fetch
	$(BIN)/python -m pytest -n auto

nightly: $(VENV)/.dev  ## the slow tests too
	$(BIN)/diag models fetch
	$(BIN)/python -m pytest -n auto -m ''

lint: $(VENV)/.dev  ## format, lint, types, and who may import whom
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports

bench: $(VENV)/.dev  ## side by side with the peers, in their own environments (.venv-peers); about an hour on 2 cores
	$(BIN)/python tests/benchmarks/run.py
	$(BIN)/python tests/benchmarks/risk.py --work runs/bench-risk
	$(BIN)/python tests/benchmarks/throughput.py
	python3 -m venv .venv-attribution
	.venv-attribution/bin/pip install -q $(TORCH) && .venv-attribution/bin/pip install -q captum inseq context-cite
	$(BIN)/python tests/benchmarks/attribution.py --peers .venv-attribution/bin/python
	$(BIN)/python tests/benchmarks/neighbours.py
	$(BIN)/python tests/benchmarks/scan.py

golden: $(VENV)/.dev  ## make the golden set anew
	$(BIN)/python datasets/generator/golden.py

clean:
	rm -rf $(VENV) .venv-peers .venv-attribution runs dist build

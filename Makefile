# Everything a contributor or a CI runs. `make help` lists the targets.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
COMPILED := $(VENV)/.compiled
TESTS  ?= tests
WORKERS ?= $(shell $(PYTHON) -c 'import os; n = os.cpu_count() or 1; print(min(4 * n, n + 8))')
# many tests wait for a host or a server, so more of them run at once than there are cores
RERUNS ?= 2
# a test that real time decides is tried again on a loaded machine; the last line counts such reruns

# what is compiled is kept: each worker and every process of a test would compile it again
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup system check lint types contracts test test-live trees fuzz soak lint-report sglang-cpu demo demo-cpu aa-cpu bench lab-scale pictures schemas wheel clean

help:            ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## */\t/' | expand -t 16

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("specctl needs Python 3.11 or newer, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --editable '.[web]' --group dev
	$(BIN)/python -m compileall -q $(VENV)/lib
	@touch $(STAMP)

setup: $(STAMP)  ## make the virtual environment and install specctl with its tools

$(COMPILED): $(STAMP)
	$(BIN)/python -m compileall -q specctl
	$(BIN)/pytest tests --collect-only -qq >/dev/null || true
	@touch $(COMPILED)

system:          ## install what the tests need from the system (as root), or say what is missing
	@sh tests/system.sh

check: lint types contracts  ## what a commit has to pass, without the tests

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

contracts: $(STAMP)
	$(BIN)/lint-imports --no-logo 2>/dev/null || $(BIN)/lint-imports

test: setup system check $(COMPILED)  ## set everything up, check and test (no GPU, no SGLang needed)
	$(BIN)/pytest $(TESTS) -m 'not live and not trees and not soak' -n $(WORKERS) --dist worksteal --reruns $(RERUNS) -q

sglang-cpu: setup system ## build the environment with real SGLang on this machine's CPU
	sh tests/sglang_cpu/build.sh

test-live: setup system sglang-cpu  ## drive real SGLang on the CPU
	$(BIN)/pytest tests/live -m live -n 2 --dist loadgroup --reruns 1 -q

soak: setup system  ## what is long by its nature: a day replayed, many hosts, the story at full length
	$(BIN)/pytest $(TESTS) -m soak --reruns $(RERUNS) -q

fuzz: setup      ## every reading of remote text on a million inputs
	FUZZ=$${FUZZ:-48000} $(BIN)/pytest tests/unit/facts -m hypothesis -n $(WORKERS) --dist worksteal -q

trees: setup     ## read all sampled releases of SGLang; downloads 300 MB the first time
	$(BIN)/pytest tests/trees -m 'trees or not trees' -n $(WORKERS) --dist worksteal -q

lint-report: setup sglang-cpu  ## say of every rule of `check` how it is shown: by real SGLang, or by a line of its source
	$(BIN)/pytest tests/trees/test_lint_releases.py tests/live/test_arguments.py -m 'not trees' -q

demo: setup      ## a practice host and its story, on the screen; printed with HEADLESS=1
	@$(BIN)/specctl lab demo $(if $(filter-out 0,$(HEADLESS)),--print)

demo-cpu: setup sglang-cpu  ## the main job on real SGLang: baseline against n-gram and EAGLE on the CPU
	$(BIN)/specctl compare cpu tiny-baseline tiny-ngram tiny-eagle --yes

aa-cpu: setup sglang-cpu  ## real SGLang against itself, 8 + 8 launches: what this machine's noise is (20 minutes)
	$(BIN)/specctl compare cpu tiny-baseline tiny-twin --workload tiny --launches 8 --one-look --yes

bench: setup system  ## ratios against the ways people do it today; writes bench-*.json
	$(BIN)/python -m tests.bench

lab-scale: setup ## 64 practice hosts at once: what they cost, and whether it is as promised
	$(BIN)/python -m tests.lab.scale

pictures: setup  ## render the screens of docs/pictures again
	$(BIN)/python -m tests.pictures

schemas: setup   ## write schema/*.json and the golden examples again, after a printed value changed
	$(BIN)/python -m tests.unit.cli.examples

wheel: setup     ## build the wheel
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

clean:           ## remove what was built, environments included
	rm -rf $(VENV) .sglang-cpu .demo build dist bench-*.json

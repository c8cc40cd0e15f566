PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
ARGS ?=
DEV = $(BIN)/kubewright dev examples/database/database_operator/operator.py --apply examples/database/sample.yaml $(ARGS)

.PHONY: e2e e2e-election bench-start bench-cache bench-controllers bench-devcluster run soak test test-real conformance conformance-record conformance-planted lint generate clean

# In a terminal it runs as a job of its own (set -m), so that Ctrl-C stops it cleanly instead of killing make.
run: .venv/.run  ## the Database operator on an embedded cluster
	@if [ -t 0 ] && command -v bash >/dev/null; then exec bash -mc '$(DEV); exit $$?'; else exec $(DEV); fi

test: .venv/.clients .tools/kubectl  ## the whole suite
	$(BIN)/python -m pytest $(ARGS)

e2e: .venv/.clients .tools/kubectl  ## real processes, on the embedded cluster and on both real servers
	$(REAL) tests/e2e $(ARGS)

e2e-election: .venv/.test .tools/kubectl  ## leader election among real processes; ARGS="--kills 50" kills more leaders
	$(REAL) tests/e2e/test_election.py tests/e2e/test_replicas_killed.py --capture=no $(ARGS)

REAL = $(BIN)/python tools/with_real_servers.py $(BIN)/python -m pytest

test-real: .venv/.clients .tools/kubectl  ## the whole suite, with its conformance part against both real servers too
	$(REAL) $(ARGS)

conformance: .venv/.clients .tools/kubectl  ## the conformance suite, against the embedded cluster and both real servers
	$(REAL) tests/conformance $(ARGS)

conformance-record: .venv/.test  ## takes down what the real servers answer
	$(REAL) tests/conformance/test_cases.py --record $(ARGS)

conformance-planted: .venv/.test  ## whether the suite notices each of the planted deviations
	$(BIN)/python -m tests.conformance.planted

EXAMPLES = examples/database/database_operator examples/podreaper/podreaper examples/website/website_operator

lint: .venv/.lint  ## style, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --strict $(EXAMPLES)
	$(BIN)/pyright $(EXAMPLES) tests/unit/client/test_types.py tests/unit/controller/test_workflow_types.py tests/unit/operator/test_types.py
	$(BIN)/lint-imports

generate: .venv/.run  ## the built-in kinds, from the data in src/kubewright/devcluster/builtin
	$(BIN)/python -m tools.generate_kinds

bench-devcluster: .venv/.bench  ## how fast the embedded cluster is, beside a real API server and kmock
	@$(BIN)/python -m benchmarks.devcluster $(ARGS)

bench-start: .venv/.bench  ## from a manager's start to its first reconcile, and what its commands take
	@$(BIN)/python -m benchmarks.operator $(ARGS)

bench-cache: .venv/.bench  ## how fast and large the informer cache and the client are, beside client-go and other Python clients
	@$(BIN)/python -m benchmarks.cache $(ARGS)

bench-controllers: .venv/.bench  ## how fast reconciles, restarts and the queue are, beside client-go, Kopf and a bare loop
	@$(BIN)/python -m benchmarks.controllers $(ARGS)

soak: .venv/.bench  ## whether memory, tasks and descriptors stay as they are under constant churn
	@$(BIN)/python -m benchmarks.soak $(ARGS)

clean:  ## everything that make made
	rm -rf .venv .tools benchmarks/out .mypy_cache .ruff_cache .hypothesis .import_linter_cache

.venv/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Kubewright needs Python 3.11 or newer; $(PYTHON) is older. Name another: make PYTHON=python3.12 …" >&2; exit 1; }
	$(PYTHON) -m venv .venv
	$(PIP) install --constraint constraints.txt pip
	@touch $@

.venv/.run: .venv/.made pyproject.toml constraints.txt examples/database/pyproject.toml
	$(PIP) install --constraint constraints.txt --editable '.[dev]' --editable examples/database
	@touch $@

.venv/.test: .venv/.run examples/podreaper/pyproject.toml examples/website/pyproject.toml
	$(PIP) install --constraint constraints.txt --group test --editable examples/podreaper --editable examples/website
	@touch $@

.venv/.bench: .venv/.run
	$(PIP) install --constraint constraints.txt --group bench
	@touch $@

.venv/.clients: .venv/.test
	$(PIP) install --constraint constraints.txt --group clients
	@touch $@

.venv/.lint: .venv/.test
	$(PIP) install --constraint constraints.txt --group lint
	@touch $@

.tools/kubectl: tools/get_kubectl.py
	$(PYTHON) tools/get_kubectl.py .tools
	@touch $@

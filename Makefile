# Every target is documented by its `##` comment; `make help` prints them.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UPSTREAM := $(VENV)/upstream
PYTEST := $(BIN)/pytest --cov --cov-report= --cov-fail-under=0
RECEIPTS := $(BIN)/receipts
# the pinned engine that is built from source, once, which takes some minutes
BUILT := llama-server-b11434
# of pip's own settings only index, proxy, certificates and cache are taken (docs/surroundings.md)
PIP := $(BIN)/python -I tools/pip_install.py --disable-pip-version-check
LOCKED := --progress-bar off --require-hashes --no-deps --no-build-isolation --only-binary :all: --no-binary jieba
PIP_INSTALL := $(PIP) $(LOCKED)
# counts packages as pip meets them: on one line of a terminal, every tenth elsewhere
COUNT := awk -v tty="$$([ -t 1 ] && echo 1)" '/^Collecting / { n++; if (tty) { printf "\r  %d packages ", n; fflush() } else if (n % 10 == 0) print "  " n " packages" } /^ERROR/ { print } END { if (tty) print "" }'
UV_LOCK := $(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --no-annotate --quiet

.PHONY: help receipts receipts-all site serve audit test check upstream bench mutants clean lock

help: ## Show this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# an environment names its own place and its interpreter: one that was copied or moved, or whose
# interpreter is gone, is made anew
ifneq ($(wildcard $(VENV)/.run),)
ifneq ($(shell cat $(VENV)/.place 2>/dev/null),$(abspath $(VENV)))
STRANGE := yes
else ifneq ($(shell $(BIN)/python -I -c 'print(1)' 2>/dev/null),1)
STRANGE := yes
endif
endif
ifdef STRANGE
$(VENV)/.run: anew
endif
.PHONY: anew
anew:
	@echo "The environment in $(VENV) was moved, or its interpreter is gone: it is made anew."
	@rm -rf $(VENV)

$(VENV)/.run: requirements/build.txt requirements/run.txt pyproject.toml
	@$(PYTHON) -I tools/make_venv.py $(VENV)
	@echo "Installing the locked packages into $(VENV) …"
	@$(PIP_INSTALL) -r requirements/build.txt | $(COUNT)
	@$(PIP_INSTALL) -r requirements/run.txt | $(COUNT)
	@$(PIP) --quiet --no-deps --no-build-isolation --editable .
	@printf '%s\n' '$(abspath $(VENV))' > $(VENV)/.place
	@touch $@

$(VENV)/.dev: $(VENV)/.run requirements/dev.txt
	@echo "Installing the locked test tools …"
	@$(PIP_INSTALL) -r requirements/dev.txt | $(COUNT)
	@touch $@

$(VENV)/.source: $(VENV)/.run requirements/source.txt
	@echo "Installing the locked tools that build an engine …"
	@$(PIP_INSTALL) -r requirements/source.txt | $(COUNT)
	@touch $@

$(UPSTREAM)/.run: $(VENV)/.run requirements/upstream.txt
	@$(PYTHON) -I tools/make_venv.py $(UPSTREAM)
	@echo "Installing what llama-server's own tests need …"
	@$(UPSTREAM)/bin/python -I tools/pip_install.py --disable-pip-version-check $(LOCKED) -r requirements/upstream.txt | $(COUNT)
	@touch $@

$(VENV)/.mutants: $(VENV)/.dev requirements/mutants.txt
	@echo "Installing the locked mutation tool …"
	@$(PIP_INSTALL) -r requirements/mutants.txt | $(COUNT)
	@touch $@

lock: $(VENV)/.dev ## Renew the lock files (versions and hashes) from pyproject.toml
	$(UV_LOCK) requirements/build.in -o requirements/build.txt
	$(UV_LOCK) pyproject.toml -o requirements/run.txt
	$(UV_LOCK) --group dev -c requirements/run.txt -o requirements/dev.txt
	$(UV_LOCK) --group source -o requirements/source.txt
	$(UV_LOCK) --group upstream -o requirements/upstream.txt
	$(UV_LOCK) --group mutants -c requirements/run.txt -c requirements/dev.txt -o requirements/mutants.txt

receipts: $(VENV)/.run $(if $(ENGINE),$(VENV)/.source) ## Measure the first set again, write receipts, build the site into public/ (ENGINE=, ARGS=)
	@$(RECEIPTS) run --build $(if $(ENGINE),--engine $(ENGINE)) $(ARGS)

receipts-all: $(VENV)/.run $(VENV)/.source ## The same with the second set: every experiment, engine and model
	@$(RECEIPTS) run --all --build $(ARGS)

site: $(VENV)/.run ## Render and build from the receipts in the repository; no engine
	@$(RECEIPTS) build

serve: site ## Build, and serve public/ on this machine
	@$(RECEIPTS) serve

audit: $(VENV)/.run ## Check every receipt and page offline
	@$(RECEIPTS) audit

check: $(VENV)/.dev ## Lint, types, imports, spelling, declarations
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/shellcheck tools/*.sh .ci/run
	@$(BIN)/codespell *.md docs generator templates site tools receipts/*.yaml
	@$(RECEIPTS) check
	@$(RECEIPTS) audit

test: check $(VENV)/.tools $(VENV)/.source ## Everything: check, and all tests with the real engines and browser
	@$(RECEIPTS) fetch why-outputs-differ --engine $(BUILT)
	@mkdir -p .work; rm -f .coverage*
	@echo "Testing: engines, faults and browser beside the units …"
	@COVERAGE_FILE=.coverage.real $(PYTEST) tests/engine tests/faults tests/browser tests/unit/engines > .work/real.log 2>&1 & real=$$!; \
	  failed=0; COVERAGE_FILE=.coverage.unit $(PYTEST) tests/unit --ignore tests/unit/engines || failed=1; \
	  wait $$real || failed=1; cat .work/real.log; exit $$failed
	@$(BIN)/coverage combine --quiet
	@$(BIN)/coverage report --skip-covered

$(VENV)/.tools: tools/install_test_tools.sh $(VENV)/.dev
	@bash tools/install_test_tools.sh
	@touch $@

upstream: $(UPSTREAM)/.run $(VENV)/.source ## Run llama-server's own tests on our build of it (docs/upstream-tests.md)
	@$(BIN)/python tools/upstream_tests.py --python $(UPSTREAM)/bin/python $(ARGS)

bench: $(VENV)/.run ## Print our share of the wall time beside the engine's
	@$(BIN)/python tools/bench.py

mutants: $(VENV)/.mutants ## Change the code that decides truth, and report what no test notices (ARGS=; docs/mutants.md)
	@nice -n 19 $(BIN)/python tools/mutants.py $(ARGS)

clean: ## Remove what was made: environment, site, unfinished runs
	rm -rf $(VENV) public .work .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage*

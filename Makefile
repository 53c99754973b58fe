# Two commands: `make demo` shows the main job, `make test` checks everything. Each sets up what it
# needs in .venv; only Python 3.11 or newer and make have to be there.
PYTHON ?= python3
BIN := .venv/bin
# Hundreds of tests start Python anew; without bytecode each would compile every library again.
unexport PYTHONDONTWRITEBYTECODE
# uv takes seconds where pip takes minutes; pip steps in where uv cannot reach its index.
define install
	$(BIN)/uv pip install --quiet --python $(BIN)/python $(1) || \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check $(1)
endef

.PHONY: audit chaos fuzz integration trackers mutants demo test check format-check lint types floors tests smoke wheel release-check browser pages pages-check pages-compared bench bench-peers docs format lock clean

demo: .venv/.runtime
	@$(BIN)/judgekit demo

test: check tests smoke wheel
	@echo "all checks passed"

check: format-check lint types floors

format-check: .venv/.dev
	$(BIN)/ruff format --check .

lint: .venv/.dev
	$(BIN)/ruff check .

types: .venv/.dev
	$(BIN)/mypy
	$(BIN)/mypy --config-file= --strict --cache-dir .mypy_cache/plain -p tests.typing

floors: .venv/.dev
	$(BIN)/lint-imports

# CI sets COVERAGE, which takes half as long again: fewer than 97 % of lines run are an error.
# Published sets add none of them: what they go through is covered before.
tests: .venv/.dev
	$(BIN)/pytest -n 2 --dist worksteal -m "not smoke" --ignore tests/public_data --ignore tests/browser --ignore tests/integration \
		$(if $(COVERAGE),--cov --cov-report=term)
	$(BIN)/pytest -n 2 --dist worksteal tests/public_data

# Drives a real (tiny) local model through litellm, with one thread.
smoke: .venv/.smoke
	JUDGEKIT_LOCAL_THREADS=1 $(BIN)/pytest -m smoke -p no:cacheprovider

# Builds the wheel, installs it with its locked dependencies into an empty environment, uses it.
wheel: .venv/.dev
	$(BIN)/python tests/use_wheel.py

# Locks, licences and start-up files, without a network; pip-audit compares with known weaknesses.
audit: .venv/.dev
	$(BIN)/python -m tests.audit

# What a release would publish: two equal builds, their metadata and contents, the licences and bill
# of materials of the install, the wheel in use. Everything stays in dist/; nothing is published.
release-check: .venv/.release
	$(BIN)/python -m tests.release_check .venv/release/bin

# Pages in a real browser. Chromium comes from the system's packages where it may be installed.
browser: .venv/.dev pages-check
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || \
		{ apt-get update -qq && apt-get install -y -qq chromium >/dev/null; } || \
		echo "Chromium is not installed: tests of pages are skipped" >&2
	$(BIN)/pytest -n 2 --dist worksteal -m browser tests/browser

# Caches and stores on real servers, each on a free port and in a folder of its own. They come from
# the system's packages where these may be installed; what is missing then is skipped.
integration: .venv/.dev
	@{ command -v initdb || ls /usr/lib/postgresql/*/bin/initdb; } >/dev/null 2>&1 || \
		{ apt-get update -qq && apt-get install -y -qq postgresql; } >/dev/null 2>&1 || \
		echo "PostgreSQL is not installed: its tests are skipped" >&2
	@command -v redis-server >/dev/null || command -v valkey-server >/dev/null || \
		{ apt-get update -qq && apt-get install -y -qq redis-server; } >/dev/null 2>&1 || \
		echo "Redis is not installed: its tests are skipped" >&2
	@$(MAKE) --no-print-directory .venv/.ray || echo "Ray is not installed: its tests are skipped" >&2
	$(BIN)/pytest -n 2 --dist loadfile -m integration tests/integration

# Runs logged to MLflow and, offline, to W&B. The client of W&B is too large for every test run,
# where a small imitation takes its place.
trackers: .venv/.wandb
	$(BIN)/pytest -p no:cacheprovider tests/exports/test_trackers.py

# The script and the style sheet of pages. Node.js is needed only to change them.
SCRIPT := judgekit/report/script
pages: $(SCRIPT)/node_modules/.package-lock.json
	cd $(SCRIPT) && npm run --silent build

pages-check:
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory pages-compared; \
		else echo "npm is not installed: the script of pages is not compared with its sources" >&2; fi

pages-compared: $(SCRIPT)/node_modules/.package-lock.json
	cd $(SCRIPT) && npm run --silent check

$(SCRIPT)/node_modules/.package-lock.json: $(SCRIPT)/package-lock.json
	cd $(SCRIPT) && npm ci --silent
	@touch $@

# The documentation as a site that opens from disk: build/site/index.html. A broken link is an error.
docs: .venv/.dev
	$(BIN)/python docs/site/build.py

# What judgekit is made to survive, at nightly length; `python -m tests.chaos --short` takes minutes.
chaos: .venv/.dev
	$(BIN)/python -m tests.chaos

# Mutated inputs for everything that reads; what breaks a rule stays in tests/fuzz/corpus/found.
fuzz: .venv/.dev
	$(BIN)/python -m tests.fuzz

# Removes each security and safety check once, and runs the tests that must notice.
mutants: .venv/.dev
	$(BIN)/python -m tests.mutation

bench: .venv/.dev
	$(BIN)/python -m benchmarks

# Other tools beside judgekit, each in an environment of its own; those that cannot be installed are
# left out. The tables of docs/performance.md are written anew.
bench-peers: .venv/.dev
	$(BIN)/python -m benchmarks.peers --write docs/performance.md

format: .venv/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock: .venv/.dev
	PATH="$(CURDIR)/$(BIN):$$PATH" .ci/lock

clean:
	rm -rf .venv dist build

.venv/.uv: requirements-uv.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "judgekit needs Python 3.11 or newer; set PYTHON=..." >&2; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-uv.lock
	@touch $@

.venv/.runtime: .venv/.uv requirements.lock pyproject.toml
	$(call install,--require-hashes -r requirements.lock)
	$(call install,--no-deps --editable .)
	@touch $@

.venv/.dev: .venv/.runtime requirements-dev.lock
	$(call install,--require-hashes -r requirements-dev.lock)
	@touch $@

.venv/.smoke: .venv/.dev requirements-smoke.lock
	$(call install,--no-deps --require-hashes -r requirements-smoke.lock)
	@touch $@

.venv/.wandb: .venv/.dev requirements-wandb.lock
	$(call install,--require-hashes -r requirements-wandb.lock)
	@touch $@

# Ray, with its 250 MB, in a place of its own: no other test needs it.
.venv/.ray: .venv/.dev requirements-ray.lock
	$(PYTHON) -m venv .venv/ray
	$(BIN)/uv pip install --quiet --python .venv/ray/bin/python --require-hashes -r requirements-ray.lock
	$(BIN)/uv pip install --quiet --python .venv/ray/bin/python --no-deps --editable .
	@touch $@

# Tools of releases, in a place of their own: nothing else needs their dependencies.
.venv/.release: .venv/.dev requirements-release.lock
	$(PYTHON) -m venv .venv/release
	.venv/release/bin/python -m pip install --quiet --disable-pip-version-check \
		--require-hashes -r requirements-release.lock
	@touch $@

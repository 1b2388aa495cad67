# make demo   grow a tree on a bundled table and read it
# make test   everything that must be green before a change lands
# make test-core   the core without its extensions
# Each target sets up what it needs; a machine with python3 and make will do.

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
# Without it every process that a test starts would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE
PIP = $(BIN)/python -m pip --quiet --disable-pip-version-check
# The dependency groups of pyproject.toml; pip itself knows them only since 25.1.
TOOLS = $(BIN)/python -c "import tomllib; groups = tomllib.load(open('pyproject.toml', \
  'rb'))['dependency-groups']; print(*groups['test'], *groups['lint'], sep='\n')"

.PHONY: axe demo test test-core suite lint test-kernels test-fallback test-spark test-fuzz test-slow fuzz-files trust hostile mutate coverage study forests speed everyday clean

demo: $(VENV)/.installed
	@$(BIN)/python examples/demo.py

# The type checker has one thread: it runs beside the tests.
test: $(VENV)/.tools
	@$(MAKE) --no-print-directory --output-sync --jobs 2 lint suite

# Threads that wait for others to multiply matrices sleep; else they keep a processor
# busy that the other worker, or the type checker, has use for.
suite: export OPENBLAS_THREAD_TIMEOUT = 4
suite: export OMP_WAIT_POLICY = passive
# "+" lets make show the dots as they come, though it keeps the linters' words together.
suite: $(VENV)/.tools
	+$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow" $(PYTEST_ARGS)

# The core alone, without the tests of extensions.
test-core: PYTEST_ARGS += --ignore=tests/extensions --ignore=src/spinney/extensions
test-core: suite

lint: $(VENV)/.tools
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Recipes side by side: make study DATA=folder [ARGS="--tables iris,vote"]
study: $(VENV)/.installed
	$(BIN)/python -m benchmarks.recipes --data $(DATA) $(ARGS)

# Forests side by side: make forests DATA=folder [ARGS="--programs 'spinney;sklearn'"]
forests: $(VENV)/.installed
	$(PIP) install --constraint constraints.txt --editable '.[pandas]'
	$(BIN)/python -m benchmarks.forests --data $(DATA) $(ARGS)

# Spinney beside its peers: make speed [ARGS="--tasks tree2,forest --data folder"]
speed: $(VENV)/.installed
	$(PIP) install --constraint constraints.txt --editable '.[bench]'
	$(BIN)/python -m benchmarks.speed $(ARGS)

# What a person waits for: make everyday [ARGS="--only iris --data folder"]
everyday: $(VENV)/.installed
	$(PIP) install --constraint constraints.txt --editable '.[bench]'
	$(BIN)/python -m benchmarks.everyday $(ARGS)

cluster-speed: $(VENV)/.installed
	$(PIP) install --constraint constraints.txt --editable '.[bench]'
	$(BIN)/python -m benchmarks.clusters $(ARGS)

# The compiled kernels with every index checked, and as plain Python.
test-kernels: $(VENV)/.tools
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -m pytest -n 2 tests/growth tests/trees/test_flat_layout.py \
	  tests/extensions/clustering/test_fit_k_means.py tests/extensions/clustering/test_fit_k_prototypes.py
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n 2 -W ignore::RuntimeWarning \
	  tests/growth/test_binned_kernels.py tests/growth/test_grow_binned.py \
	  tests/growth/test_grow_multiway.py tests/trees/test_flat_layout.py \
	  tests/extensions/clustering/test_fit_k_means.py tests/extensions/clustering/test_fit_k_prototypes.py

# Trees whose loops are compiled by Numba's own njit alone. It stores code by the file of a
# loop, and would not see that another loop has changed: so it begins with nothing.
test-fallback: $(VENV)/.tools
	rm -rf $(VENV)/fallback
	SPINNEY_PLAIN_JIT=1 NUMBA_CACHE_DIR=$(abspath $(VENV))/fallback $(BIN)/python -m pytest \
	  -n 2 tests/_support/test_numba_fallback.py tests/extensions/streaming/test_streaming.py

# What checks the pages for those who cannot see them; tests/extensions/explorer/browser takes it if there.
axe:
	npm install --silent --no-audit --no-fund --prefix $(VENV)/axe axe-core

# Trees that Spark counts, where there is Java; pyspark is too large for every test run.
test-spark: $(VENV)/.tools
	$(PIP) install --constraint constraints.txt 'pyspark>=4' || \
	  echo "pyspark could not be installed: its tests will be skipped"
	$(BIN)/python -m pytest -m slow tests/slow/test_spark.py -k "cart or id3"

# The property tests with sixteen times as many examples.
test-fuzz: $(VENV)/.tools
	SPINNEY_FUZZ=4 $(BIN)/python -m pytest -n 2 -m "not slow" tests/properties \
	  tests/sources tests/growth tests/trees tests/search tests/extensions/clustering tests/output

# Damaged model files: half an hour of a processor, and a run that was ended goes on.
# Finds are kept and tried again by make test.
fuzz-files: $(VENV)/.tools
	$(BIN)/python -m tools.fuzz_files --count 1000000 --record tests/golden/mutations.json $(ARGS)

# What is checked, counted, and written into docs/trust.md.
trust: $(VENV)/.tools
	$(BIN)/python -m tools.trust $(ARGS)

# Damaged files and hostile tables, given to Spinney and its peers.
hostile: $(VENV)/.installed
	$(PIP) install --constraint constraints.txt --editable '.[bench]'
	$(BIN)/python -m benchmarks.hostile $(ARGS)

# Small changes of criteria, search and pruners that no test notices.
mutate: $(VENV)/.tools
	$(BIN)/python -m tools.mutate $(ARGS)

# Branches that tests take, with loops as plain Python; fails below 95 %.
coverage: $(VENV)/.tools
	$(BIN)/python -m tools.branches $(ARGS)

test-slow: $(VENV)/.tools
	$(BIN)/python -m pytest -n 2 -m slow $(PYTEST_ARGS)

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install --constraint constraints.txt --editable .
	@touch $@

$(VENV)/.tools: $(VENV)/.installed
	$(TOOLS) > $(VENV)/tools.txt
	$(PIP) install --constraint constraints.txt --requirement $(VENV)/tools.txt
	@touch $@

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis

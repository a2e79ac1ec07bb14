# Everything runs in .venv/, made here with pip from the versions, and the hashes, that requirements.txt pins.
#
#   make demo    release a lesson, take in submissions, grade them, write feedback
#   make test    lint, format, types, tests; then which tests were the slowest, and the processor time of all
#   make site    the course as pages, in site/_build/html/: see docs/site.md
#   make lab     the course's start page in JupyterLab, on a copy of the course in work/
#
# On Linux, plain pip brings PyTorch's large CUDA packages. For the small CPU build, name PyTorch's index of CPU
# wheels (pytorch.org, "Get Started", shows its address): make demo TORCH_INDEX=https://... Only PyTorch comes from it.

PYTHON ?= python3
TORCH_INDEX ?=
COURSE ?= .

BIN := .venv/bin
# In a container one often is root, and Jupyter asks whether that is meant.
JUPYTER_LAB := PATH="$(abspath $(BIN)):$$PATH" jupyter lab $(if $(filter 0,$(shell id -u)),--allow-root)
INSTALL := TORCH_INDEX=$(TORCH_INDEX) $(BIN)/python environment/install.py
PINS := pyproject.toml requirements.txt environment/install.py

.PHONY: demo test lint marks claims kills bench build site site-messages site-numbers publish-site lab formgrader lock clean

demo: .venv/ready
	@$(BIN)/grader demo

# Compiled modules are kept: every process that a test starts would compile the course anew.
test: lint
	@OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder --durations 15 \
	$(if $(SAMPLE),--sample $(SAMPLE))
	@OMP_NUM_THREADS=1 $(BIN)/python -m tests.ordinary_user  # root has other walls: once more without its rights

lint: .venv/ready-to-test
	@$(BIN)/ruff format --check --quiet . || { echo "Run: .venv/bin/ruff format"; exit 1; }
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy

# Writes anew what each mistake and answer earns, of all lessons or of one (make marks LESSON=03): see tests/lessons/marks.py.
marks: .venv/ready-to-test
	@OMP_NUM_THREADS=1 $(BIN)/python -m tests.lessons.marks $(LESSON)

# Everything that `make test` leaves to the night, as tests/nightly.py says; some hours.
claims: .venv/ready-to-test
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests/lessons tests/audit tests/gradebook/test_equal_marks.py tests/assignments \
	tests/packing tests/similarity tests/learning tests/publishing tests/browser/test_site.py --long --verbose

# Kills `grader autograde` at 30 random moments and goes on; some ten minutes.
kills: .venv/ready-to-test
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests/gradebook/long --long --verbose

bench: .venv/ready-to-test
	@OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.bench

build: .venv/ready-to-test
	@$(BIN)/grader build

# Nothing is executed, and every warning is an error.
SPHINX := OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet

# In another language, as far as it is translated: make site SITE_LANGUAGE=de
SITE_LANGUAGE ?=
SITE_PAGES := site/_build/html$(if $(SITE_LANGUAGE),/$(SITE_LANGUAGE))

site: .venv/ready-for-site
	@$(SPHINX) --builder html $(if $(SITE_LANGUAGE),--define language=$(SITE_LANGUAGE)) site $(SITE_PAGES)
	@echo "Open $(SITE_PAGES)/index.html"

site-messages: .venv/ready-for-site
	@$(SPHINX) --builder gettext site site/_build/messages

site-numbers: site
	@$(BIN)/python -m grader.publishing.weights site/_build/html

# The branch holds what was built last, and no history.
publish-site: site
	@address=$$(git remote get-url origin) && cd site/_build/html && rm -rf .git && git init --quiet && git add --all \
	&& git commit --quiet --message "The site" && git push --force "$$address" HEAD:gh-pages && rm -rf .git

# What is in work/ already is the learner's and stays as it is. An editable install does not switch the start page on.
# A learner needs neither nbgrader's tools for instructors nor Jupyter's news: see the settings in grader/lab/learner/.
lab: .venv/ready
	@mkdir -p work && cp -Rn notebooks/. nbgrader_config.py work/ 2>/dev/null; \
	cd work && JUPYTER_CONFIG_PATH="$(abspath grader/lab/learner):$$JUPYTER_CONFIG_PATH" \
	$(JUPYTER_LAB) --ServerApp.jpserver_extensions=grader.lab=True --LabApp.default_url=/course

formgrader: .venv/ready
	@cd "$(COURSE)" && $(JUPYTER_LAB) --no-browser --LabApp.default_url=/formgrader

# Name PyTorch's index of CPU wheels too, and their hashes are read there: make lock TORCH_INDEX=https://...
lock: .venv/ready-to-test
	@TORCH_INDEX=$(TORCH_INDEX) $(BIN)/python environment/lock.py

clean:
	rm -rf .venv

.venv/made:
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if (3, 11) <= v <= (3, 13) else \
	"Python 3.11, 3.12 or 3.13 is needed, and $(PYTHON) is %d.%d: name another, as in make demo PYTHON=python3.12" % v)'
	@$(PYTHON) -m venv .venv
	@touch $@

.venv/ready: .venv/made $(PINS)
	@echo "Setting up .venv (the first time takes a few minutes)"
	@$(INSTALL) grading
	@touch $@

.venv/ready-for-site: .venv/ready $(PINS)
	@$(INSTALL) grading site
	@touch $@

.venv/ready-to-test: .venv/ready $(PINS)
	@echo "Adding what the tests need"
	@$(INSTALL) grading cluster tensorflow tokenizers sacrebleu transformers site dev
	@touch $@

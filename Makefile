# Everything runs in .venv/, made here with pip from the versions, and the hashes, that requirements.txt pins.
# `make help` lists the commands.
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
PINS := pyproject.toml grader/pyproject.toml requirements.txt environment/install.py

ADDRESS ?=

.PHONY: help address wheels demo test quick lesson lint marks claims margins wild kills bench build site site-messages site-numbers pictures publish-site lab formgrader lock clean

help:  ## this list
	@echo "The first command sets up .venv/, which takes a few minutes. Then, on two cores:"; echo
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1|\2/p' Makefile | column -t -s '|' 2>/dev/null || grep -E '^[a-z-]+:.*## ' Makefile

demo: .venv/ready  ## two lessons released, submitted, graded, with feedback pages; a minute
	@$(BIN)/cellcheck demo

# Compiled modules are kept: every process that a test starts would compile the course anew. A test that hangs ends with
# its name, and where it stood.
test: lint  ## format, lint, types, tests, as CI does; half an hour
	@OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(BIN)/python -m tests.twice --numprocesses 2 --dist loadfile --no-loadscope-reorder \
	--durations 60 -o faulthandler_timeout=1200 -o faulthandler_exit_on_timeout=true
	@OMP_NUM_THREADS=1 $(BIN)/python -m tests.ordinary_user  # root has other walls: once more without its rights

quick: lint  ## format, lint, types, and the tests nearest to what you changed; two minutes
	@OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(BIN)/python -m tests.quick

LESSON_TESTS := tests/lessons tests/audit tests/building tests/gradebook/test_equal_marks.py tests/pyodide \
	tests/test_other_processors.py
lesson: .venv/ready-to-test  ## all about one lesson: its cases, seeds, marks, claims (LESSON=08); ten minutes
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest $(LESSON_TESTS) --lesson $(or $(LESSON),$(error Name a lesson: make lesson LESSON=08)) \
	--numprocesses 2 --no-loadscope-reorder

lint: .venv/ready-to-test  ## format, lint and types; a minute
	@$(BIN)/ruff format --check --quiet . || { echo "Run: .venv/bin/ruff format"; exit 1; }
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy

# Writes anew what each mistake and answer earns, of all lessons or of one (make marks LESSON=03): see tests/lessons/marks.py.
marks: .venv/ready-to-test  ## writes what every mistake and answer earns; LESSON=03 or 03/Linear: minutes, all: an hour
	@OMP_NUM_THREADS=1 $(BIN)/python -m tests.lessons.marks $(LESSON)

# Everything that `make test` leaves to the night, as tests/nightly.py says; some hours.
claims: .venv/ready-to-test  ## all that make test leaves to the night; some hours
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests/lessons tests/audit tests/building tests/gradebook/test_equal_marks.py \
	tests/gradebook/test_resume.py tests/gradebook/test_postgresql.py \
	tests/assignments tests/sentences tests/packing tests/running/test_judging.py tests/similarity tests/learning tests/publishing \
	tests/attacks/test_patients.py tests/cluster/test_cluster.py tests/course/test_length_generalization.py \
	tests/pyodide tests/browser/test_site.py tests/browser/test_nothing_to_install.py tests/serving/test_rush.py \
	tests/serving/test_jupyterhub.py tests/serving/test_open_edx.py tests/tutoring tests/test_other_processors.py --long --verbose

# Tries the claims on this processor, and without its newer instructions: see tests/margins.py.
margins: .venv/ready-to-test  ## the room around each number that lessons claim (LESSON=01); a quarter of an hour
	@$(BIN)/python -m tests.margins $(LESSON)

# Judges the wild set, here and by others (tests/wild/figures.py): what is caught, what is named, what misleads.
wild: .venv/ready-to-test  ## mistakes that people really made: caught, named, and what other judges say; minutes
	@OMP_NUM_THREADS=1 $(BIN)/python -m tests.wild.figures --into docs/wild.md

# Kills `cellcheck autograde` at 30 random moments and goes on; grades a class of sixty on a busy machine.
kills: .venv/ready-to-test  ## stops grading at 30 random moments; grades beside the worst neighbours; half an hour
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests/gradebook/long --long --verbose

bench: .venv/ready-to-test  ## speed and memory, next to nbgrader; half an hour
	@OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.bench

build: .venv/ready-to-test  ## notebooks/ and solutions/ from the lessons; seconds, or minutes where code changed
	@$(BIN)/cellcheck build

# Nothing is executed, and every warning is an error.
SPHINX := OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet

# In another language, as far as it is translated: make site SITE_LANGUAGE=de
SITE_LANGUAGE ?=
SITE_PAGES := site/_build/html$(if $(SITE_LANGUAGE),/$(SITE_LANGUAGE))

# Where Pyodide can't be fetched, or what is fetched isn't what was tested, it says so, and there is no lab/.
site: .venv/ready-for-site  ## the course as pages, in site/_build/html/; a minute (SITE_LANGUAGE=de: in German)
	@$(BIN)/python environment/browser.py .venv/pyodide || true
	@$(SPHINX) --builder html $(if $(SITE_LANGUAGE),--define language=$(SITE_LANGUAGE)) site $(SITE_PAGES)
	@echo "Open $(SITE_PAGES)/index.html"

site-messages: .venv/ready-for-site  ## the texts to translate, as gettext catalogues; a minute
	@$(SPHINX) --builder gettext site site/_build/messages

site-numbers: site  ## how heavy the pages are; a minute
	@$(BIN)/python -m cellcheck.publishing.weights site/_build/html

# Taken by Chromium of a real card and of classes that were really graded; a test says when the first three are out of date.
pictures: .venv/ready-to-test  ## the README's picture, the site's preview, the guides' pictures; two minutes
	@$(BIN)/python -m environment.pictures
	@$(BIN)/python -m environment.formgrader

# The branch holds what was built last, and no history.
publish-site: site  ## pushes the site to the branch gh-pages; two minutes
	@address=$$(git remote get-url origin) && cd site/_build/html && rm -rf .git && git init --quiet && git add --all \
	&& git commit --quiet --message "The site" && git push --force "$$address" HEAD:gh-pages && rm -rf .git

# What is in work/ already is the learner's and stays as it is. An editable install does not switch the start page on.
# A learner needs neither nbgrader's tools for instructors nor Jupyter's news: see the settings in grader/cellcheck/lab/learner/.
lab: .venv/ready  ## learn: JupyterLab on your own copy of the course, in work/; seconds
	@mkdir -p work && cp -Rn notebooks/. nbgrader_config.py work/ 2>/dev/null; \
	$(BIN)/cellcheck assistants work; cd work && JUPYTER_CONFIG_PATH="$(abspath grader/cellcheck/lab/learner):$$JUPYTER_CONFIG_PATH" \
	$(JUPYTER_LAB) --ServerApp.jpserver_extensions=cellcheck.lab=True --LabApp.default_url=/course --LabApp.log_level=ERROR --ServerApp.log_level=ERROR

formgrader: .venv/ready  ## nbgrader's Formgrader in the course's folder; seconds
	@cd "$(COURSE)" && $(JUPYTER_LAB) --no-browser --LabApp.default_url=/formgrader

# Name PyTorch's index of CPU wheels too, and their hashes are read there: make lock TORCH_INDEX=https://...
lock: .venv/ready-to-test  ## writes requirements.txt; a minute, with a network
	@TORCH_INDEX=$(TORCH_INDEX) $(BIN)/python environment/lock.py

# The repository's public address, everywhere: badges, first cells, links.
address: .venv/ready  ## checks where everything leads (ADDRESS=https://...: moves it there); a minute
	@$(BIN)/python environment/address.py $(ADDRESS)

wheels: .venv/ready-to-test  ## the two distributions, in dist/, checked as the index does; seconds
	@rm -rf dist && for project in grader .; do \
	$(BIN)/python -m build --no-isolation --outdir dist $$project > /dev/null || exit 1; done
	@$(BIN)/twine check --strict dist/* && $(BIN)/check-wheel-contents dist/*.whl

clean:  ## removes .venv/; at once
	rm -rf .venv

.venv/made:
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if (3, 11) <= v else \
	"Python 3.11 or newer is needed, and $(PYTHON) is %d.%d: name another, as in make demo PYTHON=python3.12" % v)'
	@$(PYTHON) -m venv .venv
	@touch $@

.venv/ready: .venv/made $(PINS)
	@echo "Setting up .venv (the first time takes a few minutes)"
	@$(INSTALL) grading tutor
	@touch $@

.venv/ready-for-site: .venv/ready $(PINS)
	@$(INSTALL) grading tutor site
	@touch $@

.venv/ready-to-test: .venv/ready $(PINS)
	@echo "Adding what the tests need"
	@$(INSTALL) grading tutor cluster service lti tensorflow tokenizers sacrebleu transformers site dev
	@touch $@

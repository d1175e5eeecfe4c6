# The verbs of this project; `make` alone lists them.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.ONESHELL:
.SILENT:
.PHONY: help run install starter test test-cluster check bench moved
MAKEFLAGS += --no-builtin-rules
export HOST PORT PYTHON

# Always through the interpreter: the scripts beside it break when the clone is moved.
python := .venv/bin/python

help:
	echo 'make run      install what is missing, then open TuneDesk in the browser'
	echo '              HOST=0.0.0.0 PORT=7860 SHARE=1 TUNEDESK_LANG=zh'
	echo 'make install  set up .venv and the starter model only; PYTHON=python3.12 picks the interpreter'
	echo 'make test     every test, with its time by part'
	echo 'make test-cluster  two hosts and a Slurm of their own on this machine; needs root on Linux'
	echo 'make check    linter, types, import rules and unit tests'
	echo 'make bench    what TuneDesk costs: start, memory, idle, beside a training run'

run: install
	exec $(python) -P -m gui $${HOST:+--host "$$HOST"} $${PORT:+--port "$$PORT"} \
	  $(if $(filter 1 yes true,$(SHARE)),--share)

install: .venv/installed starter

starter: .venv/installed
	$(python) -P -m services.models.starter
	$(python) -P -m services.swift.read_arguments --help-to-cache 2>> .venv/install.log \
	  || echo 'Note: the help of ms-swift could not be read (.venv/install.log says why); TuneDesk has its own for the form.'

test: .venv/installed-dev starter
	$(python) -m tests

test-cluster: .venv/installed-dev
	$(python) -m tests.cluster

check: .venv/installed-dev
	$(python) -m ruff check .
	$(python) -m mypy
	$(python) -c 'from importlinter.cli import lint_imports_command as lint; lint()'
	$(python) -m pytest tests/unit

bench: .venv/installed-dev starter
	$(python) -m tests.bench

# A stamp is written last, and holds where the clone was: what was cut short or moved is done again.
.venv/installed: pyproject.toml $(if $(findstring |$(CURDIR)|,|$(file <.venv/installed)|),,moved)
	$(make_venv)
	echo 'Installing TuneDesk into .venv'
	$(call pip_install,.)
	command -v g++ > /dev/null || echo 'Note: there is no C++ compiler (g++); only DeepSpeed ZeRO-2 on the CPU needs one.'
	pwd -P > $@

.venv/installed-dev: .venv/installed
	echo 'Installing what the tests need'
	$(call pip_install,.[dev])
	touch $@

# The version TuneDesk was tried with comes first. One without venv and ensurepip cannot set up anything.
define make_venv
works() { "$$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null; }
if ! { works $(python) && $(python) -m pip --version; } > /dev/null 2>&1; then
  chosen= lacking=
  if [ -n "$$PYTHON" ]; then set -- "$$PYTHON"; else set -- python3.11 python3.12 python3.13 python3; fi
  for candidate; do
    works "$$candidate" || continue
    if "$$candidate" -c 'import venv, ensurepip' 2> /dev/null; then chosen=$$candidate; break; fi
    lacking=$$candidate
  done
  if [ -n "$$chosen" ]; then
    echo "Making .venv with $$("$$chosen" --version)"
    "$$chosen" -m venv --clear .venv
  elif [ -n "$$lacking" ]; then
    version=$$("$$lacking" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    echo "$$lacking cannot make virtual environments: install its venv package (Debian, Ubuntu: apt install python$$version-venv), then run make again." >&2
    exit 2
  else
    echo "TuneDesk needs Python 3.11 or newer and found none (looked for: $$*). Install one, or name it: make install PYTHON=/path/to/python3" >&2
    exit 2
  fi
fi
endef

# Everything pip says goes to .venv/install.log; the terminal shows the phase and the large downloads.
define pip_install
packages=0
if ! PYTHONUNBUFFERED=1 $(python) -m pip install --no-input --progress-bar off --editable '$(1)' 2>&1 \
    | tee .venv/install.log | while read -r line; do
      case $$line in
        Collecting*) packages=$$((packages + 1)); if ((packages % 25 == 0)); then echo "  packages found: $$packages"; fi ;;
        Downloading*[0-9][0-9].[0-9]' MB)') echo "  $$line" ;;
        'Installing collected'*) echo '  installing them (a minute or two)' ;;
      esac
    done; then
  { grep -E '^ *(ERROR|error):|No space left' .venv/install.log || tail -n 5 .venv/install.log; } | tail -n 5 >&2
  echo 'Installing failed; pip says why above (all it said: .venv/install.log). Run make again to go on.' >&2
  exit 1
fi
endef

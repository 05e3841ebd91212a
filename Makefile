# SPDX-License-Identifier: GPL-2.0
#
# dm-align: everything is built, tested and installed from here. What is made
# goes to out/, but for kmod/dm-align.ko; kernels and the like to a cache that
# checkouts share, $(DM_ALIGN_CACHE), by default ~/.cache/dm-align.

OUT := $(CURDIR)/out
PREFIX ?= /usr/local
include userspace/install.mk
$(if $(findstring $(blank),$(CURDIR)),$(error $(CURDIR): has a blank; move the tree to a folder without one))
PYTHON := scripts/python
PROGRAMS := alignctl drive512e

export OUT

# The series that tests run on; all without it.
ifdef KERNELS
export DM_ALIGN_KERNELS := $(KERNELS)
endif

# These boot guests of one series, regardless of KERNELS.
usual = $(shell sed -n 's/^USUAL = "\(.*\)"$$/\1/p' scripts/lab/linux/kernels.py)
demo dashboard fleet-dashboard: export DM_ALIGN_KERNELS := $(usual)
bench: export DM_ALIGN_KERNELS := $(or $(KERNELS),$(usual))

.DEFAULT_GOAL := all

# A line "target  what it does" for each target that has a comment behind it.
help:  ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  \1  \2/p' $(MAKEFILE_LIST) | \
		awk '{ name = $$1; $$1 = ""; printf "  make %-14s%s\n", name, $$0 }'

all: programs modules  ## the programs and the kernel module; installs nothing, as the next two

programs:  ## alignctl and the emulated drive, in out/bin/
	@scripts/needs $(PROGRAMS)
	@for program in $(PROGRAMS); do \
		$(MAKE) --no-print-directory -C userspace/$$program OUT=$(OUT) all || exit 1; \
	done

# A compiler is passed on only if one was named: make's own default is no choice.
compiler := $(if $(filter command environment,$(firstword $(origin CC))),CC=$(CC)) $(if $(LLVM),LLVM=$(LLVM))

modules:  ## kmod/dm-align.ko [KVER=<release or series>] [CC=<compiler>] [LAYERS=report|pad]
	@scripts/needs modules
	scripts/modules $(if $(KVER),KVER=$(KVER)) $(compiler) $(if $(LAYERS),LAYERS=$(LAYERS))

test-tools:
	@scripts/needs $(PROGRAMS)
	@$(MAKE) --no-print-directory -C kmod/tests/tools OUT=$(OUT) all

setup:  ## what demo and tests want: packages, virtual environment, kernels; as far as they are missing
	scripts/setup check

quoted = '$(subst ','\'',$(1))'

# What a target wants of scripts/setup, and then the builds.
prepare = @scripts/setup $(1) && $(submake) $(2)

# For lines that have more in them: make -n runs each line that says MAKE itself.
submake = $(MAKE) --no-print-directory

# Most guests have one processor and wait for their drives much of the time: five workers fill two processors.
JOBS ?= 5

check:  ## the tests, in one pytest run: all on one kernel, on the others what differs [JOBS=5] [KERNELS="6.12 7.2"] [PYTEST_ARGS=...]
check-all:  ## every test on every kernel, slices at full length, KUnit in QEMU as well: hours; arguments as of check
check-all: export DM_ALIGN_ALL := 1
check-all: export DM_ALIGN_BUDGET_MINUTES ?= 0
# System images are booted in check-all only.
check-all: needed := images
# What tests compile is compiled once for all checkouts.
check check-all test upstream: export PATH := /usr/lib/ccache:$(PATH)
check check-all test upstream: export CCACHE_DIR ?= $(or $(DM_ALIGN_CACHE),$(HOME)/.cache/dm-align)/ccache
check check-all test upstream: export CCACHE_BASEDIR := $(CURDIR)
check check-all test upstream: export CCACHE_NOHASHDIR := 1

check check-all:
	$(call prepare,$(or $(needed),check),programs modules test-tools)
	$(PYTHON) -m pytest -rs -n $(JOBS) --dist loadgroup -p no:cacheprovider $(PYTEST_ARGS)

lint:  ## the static checks, which make check runs as well [GATES="ruff mypy"]
	@scripts/setup check
	@$(PYTHON) -m lab.lint $(GATES)

test:  ## the tests that a word names, at once: T=<file, or part of a name> [KERNELS=7.2] [PYTEST_ARGS=...]
	@scripts/setup venv
	@$(PYTHON) -m lab.pick $(if $(T),$(call quoted,$(T))) $(PYTEST_ARGS)

# PROOF names parts; what scripts/proof --help lists.
proof:  ## what shows that nothing is lost, at full length: hours; HOURS: what is furthest from it [HOURS=N] [PROOF="parts"] [PROOF_ARGS=...]
	$(call prepare,proof,programs modules test-tools)
	scripts/proof $(if $(HOURS),--hours $(HOURS)) $(PROOF) $(PROOF_ARGS)

htmldocs:  ## the documents as pages with a search, in out/html/
	@scripts/setup venv
	@$(PYTHON) -m sphinx -q -W --keep-going -b html -d $(OUT)/doctrees Documentation $(OUT)/html
	@echo "the first page is $(OUT)/html/index.html"

matrix:  ## Documentation/target/kernels.rst, with what the runs of this checkout have found on which kernel
	scripts/setup venv
	$(PYTHON) -m lab.linux.matrix update

upstream:  ## the target as patches for Linux 7.2, a series for each mode, in out/upstream/, checked as kernel code is [UPSTREAM="checks"]
	@scripts/setup upstream
	$(PYTHON) -m lab.upstream $(UPSTREAM)

SIM_SECONDS ?= 60

sim:  ## the engine itself in simulated worlds, behind the last seed of these sources [SIM_SECONDS=60] [SIM_SEED=N]
	@scripts/setup venv
	@$(submake) -s -C kmod/tests/sim OUT=$(OUT) LINUX="$$($(PYTHON) -m lab.linux.kernels source $(usual))"
	@$(PYTHON) -m lab.proof.lives $(OUT)/bin/sim --seconds $(SIM_SECONDS) $(if $(SIM_SEED),--seed $(SIM_SEED))

SIM_EXHAUSTIVE ?= 3 4-few

sim-exhaustive:  ## all orders of small sets of operations there, what is left of these sources [SIM_EXHAUSTIVE="3 4-few"]
	@scripts/setup venv
	@$(submake) -s -C kmod/tests/sim OUT=$(OUT) LINUX="$$($(PYTHON) -m lab.linux.kernels source $(usual))"
	@$(PYTHON) -m lab.proof.orders $(OUT)/bin/sim --sets "$(SIM_EXHAUSTIVE)"

sim-mutants:  ## mutants of the engine by rules, which lives there must kill; half an hour [MUTANTS_ARGS="--jobs 2 --update"]
	@scripts/setup venv
	$(PYTHON) -m lab.mutants $(MUTANTS_ARGS)

SOAK_MINUTES ?= 30

soak:  ## the sector model on random configurations [SOAK_MINUTES=30] [SOAK_SEED=N]
	$(call prepare,check,programs modules test-tools)
	scripts/soak --minutes $(SOAK_MINUTES) $(if $(SOAK_SEED),--seed $(SOAK_SEED))

fuzz:  ## random input for all that the programs parse, ten million times each [RUNS=N] [JOBS=5]
	@scripts/setup packages
	@for program in $(PROGRAMS); do $(MAKE) --no-print-directory -C userspace/$$program OUT=$(OUT) JOBS=$(JOBS) fuzz || exit 1; done

kunit:  ## the KUnit suites in User Mode Linux 6.12 and 7.2, with KASAN and lockdep
	scripts/setup packages venv
	scripts/kunit um
	scripts/kunit um-7.2

kunit-qemu:  ## the same suites on x86_64 in QEMU, with two processors and Linux 6.12 and 7.2
	scripts/setup check
	scripts/kunit x86_64
	scripts/kunit x86_64-7.2

memory-model:  ## litmus tests of the engine's handshakes, by the kernel's memory model; needs herd7 [MODEL_ARGS="--herd PROGRAM"]
	@scripts/setup venv
	$(PYTHON) -m lab.proof.memory_model $(MODEL_ARGS)

coverage:  ## which lines and branches of kmod/ the tests run, and why the others are not [COVERAGE_ARGS=...]
	$(call prepare,check,programs test-tools)
	$(PYTHON) -m lab.proof.coverage $(COVERAGE_ARGS)

debug-stress:  ## the stress on kernels with KASAN and with KCSAN in QEMU [DEBUG_STRESS_ARGS=...]
	$(call prepare,check,test-tools)
	$(PYTHON) -m lab.proof.debug_stress $(DEBUG_STRESS_ARGS)

irqs-off:  ## the longest sections with interrupts off, by the kernel's tracer, in instructions [IRQS_OFF_ARGS="hold flush --json"]
	scripts/setup check
	$(PYTHON) -m lab.proof.irqs_off $(IRQS_OFF_ARGS)

demo:  ## five workloads on two emulated drives, raw and through each mode [FULL=1]
	$(call prepare,demo,programs modules)
	$(PYTHON) -m lab.demo $(if $(FULL),--full)

# BENCH names rows; what `python -m lab.bench --help` lists.
bench:  ## dm-align against raw, dm-linear and dm-ebs, and its required figures [QUICK=1] [BENCH="rows"] [KERNELS=7.2] [BENCH_ARGS=...]
	$(call prepare,check,programs modules)
	$(PYTHON) -m lab.bench $(if $(QUICK),--quick) $(if $(BENCH),--only $(BENCH)) $(BENCH_ARGS)

# What probe tells of each profile, too: block-size in so many RUNS with noise.
bench-drive:  ## the drive's profiles against publications, out/bench-drive.html, and probe against the profiles [DOCUMENTS=1] [RUNS=100] [BENCH_ARGS=...]
	$(call prepare,packages venv,programs)
	@$(submake) -C userspace/drive512e OUT=$(OUT) $(OUT)/bin/drive512e-nbd
	@status=0; $(PYTHON) -m lab.drive $(if $(DOCUMENTS),--documents) $(BENCH_ARGS) || status=$$?; \
		$(if $(DOCUMENTS),$(PYTHON) -m lab.drive.probed || status=$$?;) \
		$(PYTHON) -m lab.drive.probe_truth $(if $(DOCUMENTS),--document) || status=$$?; \
		$(PYTHON) -m lab.drive.block_size_truth $(or $(RUNS),100) $(if $(DOCUMENTS),--document) || status=$$?; \
		$(PYTHON) -m lab.drive.real_time_truth $(if $(DOCUMENTS),--document) || status=$$?; \
		exit $$status

bench-fleet:  ## how long alignctl fleet takes over 5000 hosts [BENCH_ARGS="--hosts N"]
	$(call prepare,packages venv,programs)
	$(PYTHON) -m lab.bench.fleet $(BENCH_ARGS)

bench-check:  ## processor time of alignctl check on a host of 24 disks and 200 volumes [BENCH_ARGS="--disks N --volumes N"]
	$(call prepare,packages venv,programs)
	$(PYTHON) -m lab.bench.check $(BENCH_ARGS)

bench-prometheus:  ## series, scrapes, rules and memory of a Prometheus over 5000 hosts; 15 minutes [BENCH_ARGS="--hosts N --json"]
	$(call prepare,check,programs)
	$(PYTHON) -m lab.bench.prometheus $(BENCH_ARGS)

TRACES ?= alibaba --rows 1000000 --order any

traces:  ## a synthetic set of block traces in a published set's format, and as Parquet, in out/traces [TRACES="tencent --rows N --seed N"]
	$(call prepare,venv,programs)
	rm -rf $(OUT)/traces
	mkdir -p $(OUT)/traces
	$(PYTHON) -m lab.traces $(TRACES) > $(OUT)/traces/$(firstword $(TRACES)).csv
	$(PYTHON) -m align_reports parquet $(firstword $(TRACES)) $(OUT)/traces/$(firstword $(TRACES)).csv --output $(OUT)/traces/$(firstword $(TRACES))

STUDY ?= $(OUT)/traces/$(firstword $(TRACES))

study:  ## what physical blocks of 4 to 256 KiB cost each volume of a set in Parquet, as a page [STUDY=FOLDER] [STUDY_ARGS="--scheduler ADDRESS -- --touches-only"]
	$(call prepare,venv,programs)
	[ -e $(STUDY) ] || $(submake) traces
	PATH="$$(scripts/python --where)/bin:$$PATH" $(PYTHON) userspace/align_reports/plan_cluster.py $(STUDY)/volume=*/part.parquet \
		--alignctl $(OUT)/bin/alignctl --output $(OUT)/study.part --html $(OUT)/study.html $(STUDY_ARGS)
	@echo "the page is $(OUT)/study.html"

conform:  ## alignctl conform on devices of the kernel and on dm-align, in a guest [CONFORM_ARGS="--seconds N --update"]
	$(call prepare,check,programs)
	$(PYTHON) -m lab.conform $(CONFORM_ARGS)

conform-cuts:  ## the same before and after power cuts [CUTS_ARGS="--cuts N --update"]
	$(call prepare,check,programs)
	$(PYTHON) -m lab.conform.cuts $(CUTS_ARGS)

# Documentation/admin/dashboard.svg is from a quiet machine.
dashboard:  ## Documentation/admin/dashboard.svg: Grafana's panels, over a load in each mode [DASHBOARD_ARGS=...]
	$(call prepare,check,programs modules)
	$(PYTHON) -m lab.dashboard $(DASHBOARD_ARGS)

fleet-dashboard:  ## Documentation/admin/fleet-dashboard.svg: Grafana's panels over three guests, of which one is mended [DASHBOARD_ARGS=...]
	$(call prepare,check,programs)
	$(PYTHON) -m lab.dashboard.fleet $(DASHBOARD_ARGS)

# Users other than root may have no sbin in their PATH.
kmod_path := PATH="$$PATH:/usr/sbin:/sbin"

# The release that modules was built for, told by the module itself.
built_for = $(firstword $(shell $(kmod_path) modinfo -F vermagic kmod/dm-align.ko 2>/dev/null))

# All users may read what depmod writes, with any umask.
depmod = umask 022; $(kmod_path) depmod $(if $(DESTDIR),-b $(DESTDIR)) $(1)

install:  ## alignctl, the drive, man pages and the module (below DESTDIR, PREFIX) [KVER=<release>]
	@test -e kmod/dm-align.ko || { echo "kmod/dm-align.ko does not exist: run make modules" >&2; exit 1; }
	@test -n "$(built_for)" || \
		{ echo "kmod/dm-align.ko: modinfo names no kernel that it is built for: install kmod, or run make modules" >&2; exit 1; }
	@test -z "$(KVER)" -o -n "$(filter $(KVER) $(KVER).%,$(built_for))" || \
		{ echo "kmod/dm-align.ko is built for $(built_for): run make modules KVER=$(KVER)" >&2; exit 1; }
	@for program in $(PROGRAMS); do \
		$(MAKE) --no-print-directory -C userspace/$$program OUT=$(OUT) DESTDIR=$(DESTDIR) PREFIX=$(PREFIX) install || exit 1; \
	done
	install -D -m 644 kmod/dm-align.ko $(DESTDIR)/lib/modules/$(built_for)/updates/dm-align.ko
	$(call depmod,$(built_for))

uninstall:  ## removes what install put there
	@for program in $(PROGRAMS); do \
		$(MAKE) --no-print-directory -C userspace/$$program OUT=$(OUT) DESTDIR=$(DESTDIR) PREFIX=$(PREFIX) uninstall || exit 1; \
	done
	@for module in $(DESTDIR)/lib/modules/*/updates/dm-align.ko; do \
		test -e "$$module" || continue; \
		release=$$(basename "$${module%/updates/dm-align.ko}"); \
		rm -f "$$module"; \
		$(call depmod,"$$release") || exit 1; \
	done

deb:  ## Debian packages: the module (DKMS), alignctl, the drive; in out/deb/
	@scripts/setup deb
	scripts/packaging/build deb

rpm:  ## the same as RPM packages, in out/rpm/
	@scripts/setup rpm
	scripts/packaging/build rpm

dist:  ## the source tarball of a release and its checksum, the same bytes each time; in out/dist/
	scripts/dist

clean:  ## everything that was built here; the cache stays
	rm -rf out kmod/dm-align.ko .pytest_cache

.PHONY: all bench bench-check bench-drive bench-fleet bench-prometheus check check-all clean conform conform-cuts coverage dashboard deb debug-stress demo dist fleet-dashboard fuzz help htmldocs install irqs-off kunit kunit-qemu lint matrix memory-model modules programs proof rpm setup sim sim-exhaustive sim-mutants soak study test test-tools traces uninstall upstream

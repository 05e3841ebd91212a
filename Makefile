# SPDX-License-Identifier: GPL-2.0
#
# dm-align: everything is built, tested and installed from here. What is made
# goes to out/, but for kmod/dm-align.ko; kernels and the like to a cache that
# checkouts share, $(DM_ALIGN_CACHE), by default ~/.cache/dm-align.

OUT := $(CURDIR)/out
PREFIX ?= /usr/local
PYTHON := scripts/python
PROGRAMS := alignctl drive512e

export OUT

# The series that tests run on; all without it.
ifdef KERNELS
export DM_ALIGN_KERNELS := $(KERNELS)
endif

# These boot guests of one series, whatever the tests run on.
demo bench: export DM_ALIGN_KERNELS := $(shell sed -n 's/^USUAL = "\(.*\)"$$/\1/p' scripts/lab/linux/kernels.py)

.DEFAULT_GOAL := all

# A line "target  what it does" for each target that has a comment behind it.
help:  ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  \1  \2/p' $(MAKEFILE_LIST) | \
		awk '{ name = $$1; $$1 = ""; printf "  make %-14s%s\n", name, $$0 }'

all: programs modules  ## the programs and the kernel module

setup:  ## packages, virtual environment and kernels, as far as they are missing
	scripts/setup

packages:
	scripts/setup packages venv

programs: packages  ## alignctl and the emulated drive, in out/bin/
	@for program in $(PROGRAMS); do \
		$(MAKE) --no-print-directory -C userspace/$$program OUT=$(OUT) all || exit 1; \
	done

# A compiler is passed on only if somebody named one: make's own default is no choice.
compiler := $(if $(filter command environment,$(firstword $(origin CC))),CC=$(CC)) $(if $(LLVM),LLVM=$(LLVM))

modules: setup  ## kmod/dm-align.ko [KVER=<release or series>] [CC=<compiler>]
	scripts/modules $(if $(KVER),KVER=$(KVER)) $(compiler)

test-tools: packages
	@for room in tools sim; do $(MAKE) --no-print-directory -C kmod/tests/$$room OUT=$(OUT) all || exit 1; done

# Guests wait for their drives much of the time, and User Mode Linux has one processor: two workers fill two of them.
JOBS ?= 2

check: setup programs modules test-tools  ## every test, in one pytest run [JOBS=2] [KERNELS="6.12 7.2"] [PYTEST_ARGS=...]
	$(PYTHON) -m pytest -rs -n $(JOBS) --dist loadgroup -p no:cacheprovider $(PYTEST_ARGS)

# PROOF names parts; what scripts/proof --help lists.
proof: setup programs modules test-tools  ## what shows that nothing is lost, at full length: hours [PROOF="parts"] [PROOF_ARGS=...]
	scripts/setup proof
	scripts/proof $(PROOF) $(PROOF_ARGS)

matrix: packages  ## Documentation/kernels.rst, with what the runs of this checkout have found on which kernel
	$(PYTHON) -m lab.linux.matrix update

SOAK_MINUTES ?= 30

soak: setup programs modules test-tools  ## the sector model on random configurations [SOAK_MINUTES=30] [SOAK_SEED=N]
	scripts/soak --minutes $(SOAK_MINUTES) $(if $(SOAK_SEED),--seed $(SOAK_SEED))

fuzz: packages  ## random input for all that the programs parse, ten million times each [RUNS=N] [JOBS=2]
	@for program in $(PROGRAMS); do $(MAKE) --no-print-directory -C userspace/$$program OUT=$(OUT) JOBS=$(JOBS) fuzz || exit 1; done

kunit: packages  ## the KUnit suites in User Mode Linux 6.12 and 7.2, with KASAN and lockdep
	scripts/kunit um
	scripts/kunit um-7.2

kunit-qemu: setup  ## the same suites on x86_64 in QEMU, with two processors and Linux 6.12 and 7.2
	scripts/kunit x86_64
	scripts/kunit x86_64-7.2

coverage: setup programs test-tools  ## which lines and branches of kmod/ the tests run, and why the others are not [COVERAGE_ARGS=...]
	$(PYTHON) -m lab.proof.coverage $(COVERAGE_ARGS)

debug-stress: setup test-tools  ## the stress on kernels with KASAN and with KCSAN in QEMU [DEBUG_STRESS_ARGS=...]
	$(PYTHON) -m lab.proof.debug_stress $(DEBUG_STRESS_ARGS)

demo: setup programs modules  ## five workloads on two emulated drives, raw and through each mode [FULL=1]
	$(PYTHON) -m lab.demo $(if $(FULL),--full)

# BENCH names rows; what `python -m lab.bench --help` lists.
bench: setup programs modules  ## dm-align against raw, dm-linear and dm-ebs, and its required figures [QUICK=1] [BENCH="rows"] [BENCH_ARGS=...]
	$(PYTHON) -m lab.bench $(if $(QUICK),--quick) $(if $(BENCH),--only $(BENCH)) $(BENCH_ARGS)

bench-drive: programs  ## the emulated drive alone against the published figures
	@$(MAKE) --no-print-directory -C userspace/drive512e OUT=$(OUT) bench

# The release that modules was built for, told by the module itself.
built_for = $(firstword $(shell modinfo -F vermagic kmod/dm-align.ko))

install:  ## alignctl, the drive, man pages and the module (below DESTDIR, PREFIX) [KVER=<release>]
	@test -e kmod/dm-align.ko || { echo "kmod/dm-align.ko does not exist: run make modules" >&2; exit 1; }
	@for program in $(PROGRAMS); do \
		$(MAKE) --no-print-directory -C userspace/$$program OUT=$(OUT) DESTDIR=$(DESTDIR) PREFIX=$(PREFIX) install || exit 1; \
	done
	@test -z "$(KVER)" -o -n "$(filter $(KVER) $(KVER).%,$(built_for))" || \
		{ echo "kmod/dm-align.ko is built for $(built_for): run make modules KVER=$(KVER)" >&2; exit 1; }
	install -D -m 644 kmod/dm-align.ko $(DESTDIR)/lib/modules/$(built_for)/updates/dm-align.ko
	depmod $(if $(DESTDIR),-b $(DESTDIR)) $(built_for)

uninstall:  ## removes what install put there
	@for program in $(PROGRAMS); do \
		$(MAKE) --no-print-directory -C userspace/$$program OUT=$(OUT) DESTDIR=$(DESTDIR) PREFIX=$(PREFIX) uninstall || exit 1; \
	done
	@for module in $(DESTDIR)/lib/modules/*/updates/dm-align.ko; do \
		test -e "$$module" || continue; \
		release=$$(basename "$${module%/updates/dm-align.ko}"); \
		rm -f "$$module"; \
		depmod $(if $(DESTDIR),-b $(DESTDIR)) "$$release" || exit 1; \
	done

clean:  ## everything that was built here; the cache stays
	rm -rf out kmod/dm-align.ko .pytest_cache

.PHONY: all bench bench-drive check clean coverage debug-stress demo fuzz help install kunit kunit-qemu matrix modules packages programs proof setup soak test-tools uninstall

# SPDX-License-Identifier: GPL-2.0
# The fuzz targets of a program: fuzz/fuzz_<name>.c beside its Makefile makes OUT/fuzz/<program>/<name>, with libFuzzer,
# ASan and UBSan. A Makefile that includes this sets before
#   fuzz_program          its name
#   fuzz_root             its folder
#   fuzz_sources          what the targets link, relative to that folder: as a library, so that a target may include a
#                         source instead, for what is static in it
#   fuzz_flags fuzz_libs  for compiling and linking
#   fuzz_wrap_<name>      functions that target <name> replaces, as the linker's --wrap has it
#
#   fuzz-targets   builds them [FUZZ_CC, FUZZ_CFLAGS, FUZZ_LD, FUZZ_LDFLAGS, FUZZ_ENGINE: see oss_fuzz/build.sh]
#   fuzz           builds and runs each RUNS times (10 million), JOBS (2) of them at once, and prints a table
#                  [TARGETS="names": only these] [SEED=N]
RUNS ?= 10000000
JOBS ?= 2
SEED ?= 1

fuzz_build := $(OUT)/build/$(fuzz_program)/fuzz
fuzz_bin := $(OUT)/fuzz/$(fuzz_program)
fuzz_names := $(patsubst $(fuzz_root)/fuzz/fuzz_%.c,%,$(wildcard $(fuzz_root)/fuzz/fuzz_*.c))
fuzz_library := $(fuzz_build)/$(fuzz_program).a
# A conversion that loses bits is a number that wraps.
fuzz_sanitize := -fsanitize=address,undefined,implicit-integer-truncation -fno-sanitize-recover=all

FUZZ_CC ?= clang
FUZZ_CFLAGS ?= -O2 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link $(fuzz_sanitize)
FUZZ_LD ?= clang
FUZZ_LDFLAGS ?= -g -fuse-ld=lld $(fuzz_sanitize)
FUZZ_ENGINE ?= -fsanitize=fuzzer

fuzz-targets: $(fuzz_names:%=$(fuzz_bin)/%)

# The program refuses names that no target has.
fuzz: $(patsubst %,$(fuzz_bin)/%,$(if $(TARGETS),$(filter $(TARGETS),$(fuzz_names)),$(fuzz_names)))
	OUT=$(OUT) $(fuzz_root)/../../scripts/python -m lab.proof.fuzz $(fuzz_program) --runs $(RUNS) --jobs $(JOBS) --seed $(SEED) $(TARGETS)

$(fuzz_bin)/%: $(fuzz_build)/fuzz/fuzz_%.o $(fuzz_library)
	@mkdir -p $(@D)
	$(FUZZ_LD) $(FUZZ_LDFLAGS) $(fuzz_wrap_$*:%=-Wl,--wrap=%) -o $@ $^ $(FUZZ_ENGINE) $(fuzz_libs)

$(fuzz_library): $(fuzz_sources:%.c=$(fuzz_build)/%.o)
	rm -f $@
	ar qcs $@ $^

$(fuzz_build)/%.o: $(fuzz_root)/%.c
	@mkdir -p $(@D)
	$(FUZZ_CC) $(fuzz_flags) -I$(fuzz_root) -I$(fuzz_root)/../fuzz $(FUZZ_CFLAGS) -MMD -MP -MT $@ -c -o $@ $<

.PHONY: fuzz fuzz-targets
.SECONDARY:
-include $(wildcard $(fuzz_build)/*.d $(fuzz_build)/*/*.d)

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Build the fuzz targets by the rules of OSS-Fuzz, which runs this in a checkout of the tree: compilers and flags are those of
# CC, CFLAGS, CXX, CXXFLAGS and LIB_FUZZING_ENGINE, objects go to WORK, and to OUT each target PROGRAM_TARGET, with its corpus
# PROGRAM_TARGET_seed_corpus.zip, its dictionary and its options, and in lib/ the libraries that the machines that fuzz do not have.
#
#   build.sh [PROGRAM...]      alignctl and drive512e; all without arguments
set -eu
[ $# -gt 0 ] || set -- alignctl drive512e
# OSS-Fuzz's own clang may be built without BPF.
bpf_clang=${BPF_CLANG:-/usr/bin/clang}
# Newer compilers have warnings that no other build has seen.
compile="$CFLAGS -Wno-error"
libraries="-Wl,-rpath,'\$\$ORIGIN/lib'"
# make takes names from the environment.
out=$OUT

# What the C library and the compiler bring is on each machine.
foreign()
{
	ldd "$@" 2>/dev/null | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
		grep -vE '/(libc|libm|libdl|librt|libpthread|libresolv|libgcc_s|ld-linux[^/]*)\.so[.0-9]*$' || true
}

for program in "$@"; do
	make -C "userspace/$program" -j "$(nproc)" OUT="$WORK" BPF_CLANG="$bpf_clang" FUZZ_CC="$CC" FUZZ_CFLAGS="$compile" \
		FUZZ_LD="$CXX" FUZZ_LDFLAGS="$CXXFLAGS $libraries" FUZZ_ENGINE="$LIB_FUZZING_ENGINE" fuzz-targets
	for source in "userspace/$program"/fuzz/fuzz_*.c; do
		name=$(basename "$source" .c)
		name=${name#fuzz_}
		target=$out/${program}_$name
		dictionary=userspace/$program/fuzz/$name.dict
		cp "$WORK/fuzz/$program/$name" "$target"
		rm -f "${target}_seed_corpus.zip"
		zip -qj "${target}_seed_corpus.zip" "userspace/$program/fuzz/corpus/$name"/*
		[ ! -e "$dictionary" ] || cp "$dictionary" "$target.dict"
		# The programs' messages would be most of what a target does.
		printf '[libfuzzer]\nclose_fd_mask = 3\n' >"$target.options"
	done
	mkdir -p "$out/lib"
	foreign "$WORK/fuzz/$program"/* | xargs -r cp -Lt "$out/lib"
done

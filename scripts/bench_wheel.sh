#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Times the library as scripts/wheels.sh compiles and links it for x86-64 beside the one that scripts/bench.sh times, on
# the same benchmarks and in turns, and prints the figures that differ most. Fails where one is more than 5 % slower.
# Run scripts/wheels.sh before, with the options for its sources (--debian-sources) repeated here.
#   scripts/bench_wheel.sh [--debian-sources] [PROGRAM [BENCHMARK-OPTION...]]
source "$(dirname "$0")/common.sh"
need_packages $BUILD_PACKAGES $BENCH_PACKAGES
options=()
if [ "${1-}" = --debian-sources ]; then
  mapfile -t options < <(scripts/sources.sh)
  shift
fi
programs=(core sample without_replacement decode projective lanes)
[ $# = 0 ] || { programs=("$1") && shift; }
targets=() program=
for program in "${programs[@]}"; do targets+=("bench_$program"); done
build bench "${targets[@]}"
glibc=$(echo build/wheels/glibc-*-x86_64)
[ -d "$glibc" ] || die "run scripts/wheels.sh first"
# The benchmarks' libraries are the system's, and ask for its glibc when the program starts. With the CMake of
# scripts/wheels.sh and a folder beside its own, ccache has the library's objects.
cmake=build/wheels/python3.12/bin/cmake
quietly env LDFLAGS=-Wl,--allow-shlib-undefined "$cmake" --preset bench -B build/wheels/bench "${options[@]}" -DTAPROOT_FETCH=ON -DTAPROOT_WERROR=OFF -DTAPROOT_CLI=OFF -DCMAKE_SYSTEM_PROCESSOR=x86_64 \
  "-DCMAKE_TOOLCHAIN_FILE=$PWD/cmake/older_glibc.cmake" "-DTAPROOT_GLIBC=$PWD/$glibc"
quietly "$cmake" --build build/wheels/bench --target "${targets[@]}"

export TRAINED=data
out=build/wheels/bench/times
rm -rf "$out"
mkdir -p "$out"
for round in $(seq "${ROUNDS:-25}"); do
  for program in "${programs[@]}"; do
    for folder in bench wheels/bench; do
      "build/$folder/bench/bench_$program" --benchmark_min_time="${MIN_TIME:-0.01}" "$@" --benchmark_out_format=json \
        --benchmark_out="$out/$program.${folder%/*}.$round.json" >/dev/null 2>"$out/log" || die "$(cat "$out/log")"
    done
  done
done
python3 bench/wheel_table.py "$out"

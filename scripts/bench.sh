#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the benchmarks on one thread and prints a table of medians and ratios.
source "$(dirname "$0")/common.sh"
need_packages $BUILD_PACKAGES $BENCH_PACKAGES
build bench
out=build/bench/core.json
build/bench/bench/bench_core --benchmark_min_time="${MIN_TIME:-0.1}" --benchmark_repetitions="${REPETITIONS:-15}" \
  --benchmark_enable_random_interleaving=true --benchmark_out="$out" --benchmark_out_format=json >/dev/null
python3 bench/table.py "$out"

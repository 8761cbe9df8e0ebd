#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the benchmarks on one thread and prints tables of medians and ratios.
source "$(dirname "$0")/common.sh"
need_packages $BUILD_PACKAGES $BENCH_PACKAGES
python=python3
if ! $python -c 'import numpy' 2>/dev/null; then
  need_packages python3-numpy
  python=/usr/bin/python3
fi
build bench
run() { # run PROGRAM OUT: medians over interleaved repetitions
  build/bench/bench/"$1" --benchmark_min_time="${MIN_TIME:-0.1}" \
    --benchmark_repetitions="${REPETITIONS:-15}" --benchmark_enable_random_interleaving=true --benchmark_out="$2" --benchmark_out_format=json >/dev/null
}
run bench_core build/bench/core.json 2>build/bench/log || die "$(cat build/bench/log)"
$python bench/table.py build/bench/core.json
export TRAINED=data  # The folder whose trained scores are timed too.
$python bench/reference/samplers.py data/en_ewt.npz data/wo_wtb.npz >build/bench/reference.json
run bench_sample build/bench/sample.json 2>build/bench/log || die "$(cat build/bench/log)"
echo
$python bench/sample_table.py build/bench/sample.json build/bench/reference.json
$python bench/reference/without_replacement.py >build/bench/reference_without_replacement.json
REPETITIONS=${REPETITIONS:-5} run bench_without_replacement build/bench/without_replacement.json 2>build/bench/log || die "$(cat build/bench/log)"
echo
$python bench/without_replacement_table.py build/bench/without_replacement.json build/bench/reference_without_replacement.json
$python bench/reference/decode.py >build/bench/reference_decode.json
run bench_decode build/bench/decode.json 2>build/bench/log || die "$(cat build/bench/log)"
echo
$python bench/decode_table.py build/bench/decode.json build/bench/reference_decode.json
run bench_projective build/bench/projective.json 2>build/bench/log || die "$(cat build/bench/log)"
REPETITIONS=${REPETITIONS:-5} run bench_lanes build/bench/lanes.json 2>build/bench/log || die "$(cat build/bench/log)"
echo
$python bench/projective_table.py build/bench/projective.json build/bench/lanes.json
need_packages $BROWSER_PACKAGES
echo
/usr/bin/python3 bench/report.py build/bench/cli/taproot

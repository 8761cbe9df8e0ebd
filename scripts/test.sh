#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every test: the rules of the text, the release build, its report in a browser, the Python package, the experiments in
# short, the sanitizer build, CUDA (compiled; run where there is a device), a short fuzzing run. With TAPROOT_TEST_TORCH=1 PyTorch is installed too (several GB); where it is not, its tests
# are skipped.
source "$(dirname "$0")/common.sh"
need_packages $BUILD_PACKAGES $TEST_PACKAGES $BROWSER_PACKAGES $PYTHON_PACKAGES

section() { printf '\n== %s\n' "$*"; }

section "Rules: layers, headers, formatting, banned names"
scripts/check.sh

section "Release build"
build release -DTAPROOT_TESTS=ON
ctest --test-dir build/release -j2 --output-on-failure --no-tests=error | tail -n +3

section "The report's page in Chromium"
/usr/bin/python3 tests/browser/report_test.py build/release/cli/taproot 2>&1 | tail -n 60

section "Python package"
scripts/test_python.sh

section "Experiments, in short"
PYTHON=$PWD/build/python/wheel/bin/python scripts/reproduce.sh --quick

section "Address and undefined-behavior sanitizers"
build dev
ctest --test-dir build/dev -j2 --output-on-failure --no-tests=error | tail -n +3

section "CUDA"
if nvcc=$(scripts/nvcc.sh 2>&1); then
  # Machine code for one of the two architectures and PTX for the other: both are compiled, in half the time.
  CUDACXX=$nvcc build cuda "-DCMAKE_CUDA_ARCHITECTURES=80-virtual;90-real" -DTAPROOT_CLI=OFF -DTAPROOT_EXAMPLES=OFF cuda_test cuda_bench
  echo "Compiled with $("$nvcc" --version | grep release)"
  ctest --test-dir build/cuda -R '^Cuda' --output-on-failure --no-tests=error | tail -n 25
else
  echo "SKIPPED, not compiled: $nvcc"
fi

section "Fuzzing, 30 seconds each"
build fuzz factor_fuzz reader_fuzz
for target in factor_fuzz reader_fuzz; do
  log=$(mktemp)
  if ! build/fuzz/tests/$target -max_total_time=30 -seed=1 -max_len=1500 -print_final_stats=1 \
    -artifact_prefix=build/fuzz/ >"$log" 2>&1; then
    tail -n 60 "$log" >&2
    die "$target found something"
  fi
  echo "$target: $(grep number_of_executed_units "$log")"
  rm -f "$log"
done

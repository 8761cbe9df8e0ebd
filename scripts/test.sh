#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The tests. Without arguments everything that a contributor needs before a commit: the rules, the release build with
# all its tests, the Python package, and the report's page in a browser. With --all it adds the reference site, one engine
# of each kind for corpora, the shared library, TBB, the sanitizers, CUDA (compiled everywhere, run where there is a
# device), fuzzing and the experiments.
# TAPROOT_TEST_TORCH=1 installs PyTorch (several GB); where it is missing, its tests are skipped.
source "$(dirname "$0")/common.sh"
all=
case "${1-}" in
  --all) all=1 ;;
  '') ;;
  *) die "usage: test.sh [--all]" ;;
esac

packages="$BUILD_PACKAGES $TEST_PACKAGES $BROWSER_PACKAGES $PYTHON_PACKAGES"
wheels="the Python test tools${TAPROOT_TEST_TORCH:+ and PyTorch} into build/python/environment"
if [ -n "$all" ]; then
  packages+=" $FUZZ_PACKAGES $TBB_PACKAGES $DOCS_PACKAGES"
  wheels+=", Sphinx, Ray and Polars there, too"
  command -v nvcc >/dev/null || [ -x "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" ] || wheels+=", nvcc into build/nvcc"
fi
# shellcheck disable=SC2086
missing=$(missing_packages $packages)
echo "This will install: ${missing:-no packages} with apt-get; with pip, unless they are there, $wheels."
# shellcheck disable=SC2086
need_packages $packages
use_ccache # It may be new.

begin=$SECONDS
last=$SECONDS
done_with() { # done_with NAME: prints how long the section took.
  printf -- '-- %s: %d s\n' "$1" $((SECONDS - last))
  last=$SECONDS
}
section() { printf '\n== %s\n' "$*"; }

section "Rules: layers, names, formatting, headers, prose"
scripts/check.sh
done_with rules

section "Release build and its tests"
build release -DTAPROOT_TESTS=ON
run_tests release -E FetchContent # That compiles the library once more: see --all.
done_with release

# Browsers, pip and Sphinx leave a core idle, which compiles meanwhile what is tested later.
if [ -n "$all" ]; then
  set -m # In a process group of its own, so that it ends with this script.
  (
    renice -n 19 $BASHPID >/dev/null
    # The laws of samples need many trees, and no other code.
    build dev unit_test property_test cli_test factor_fuzz reader_fuzz
    build tsan unit_test
  ) &
  compiling=$!
  set +m
  trap 'kill -- -$compiling 2>/dev/null || true' EXIT
fi

section "The report's page in Chromium"
/usr/bin/python3 tests/browser/report_test.py build/release/cli/taproot 2>&1 | tail -n 60
done_with "report page"

section "Python package"
scripts/test_python.sh ${all:+--isolated}
done_with Python

if [ -z "$all" ]; then
  printf '\nAll passed in %d s. scripts/test.sh --all adds the site, engines, sanitizers, CUDA, fuzzing and experiments.\n' $((SECONDS - begin))
  exit
fi

section "Reference site"
scripts/docs.sh --no-examples # The tests of Python ran the examples, those with PyTorch if it was there.
done_with "reference site"

section "Corpora on Polars and Ray"
scripts/test_corpora.sh --quick # All engines, and those that are killed, belong to a release.
done_with corpora

section "Shared library, with a project that uses it"
build shared taproot taproot_cli cli_test quickstart
run_tests shared -R '^(consumer_Installed|quickstart)$'
run_tests release -R '^consumer_FetchContent$'
run_tests shared -L cli_test
done_with shared

section "Threads from TBB"
build tbb unit_test
run_tests tbb -L unit_test
done_with TBB

section "Address and undefined-behavior sanitizers"
wait $compiling || die "the sanitized builds failed; see above"
# The preset leaves two kinds of tests out. Charts of 300 words run no other code than those of a hundred, and take ten
# times as long. In the child of a fork, the allocator of clang 14's address sanitizer may be locked forever; release
# builds run these tests.
run_tests dev -L '^(unit_test|property_test|cli_test)$'
done_with "address and undefined behavior"

section "Fuzzing, 15 seconds for each target"
fuzz() { # fuzz TARGET: fails with the end of its output if the target finds something.
  local log=build/dev/$1.log
  if ! build/dev/tests/"$1" -max_total_time=15 -seed=1 -max_len=1500 -print_final_stats=1 \
    -artifact_prefix=build/dev/ >"$log" 2>&1; then
    tail -n 60 "$log" >&2
    return 1
  fi
  echo "$1: $(grep number_of_executed_units "$log")"
}
fuzz factor_fuzz &
factor=$!
fuzz reader_fuzz || die "reader_fuzz found something"
wait $factor || die "factor_fuzz found something"
done_with fuzzing

section "Thread sanitizer, on the tests that use threads"
run_tests tsan
done_with threads

section "CUDA"
if nvcc=$(scripts/nvcc.sh 2>&1); then
  # Machine code for one architecture, or none where nothing can run it: each takes half the time.
  architecture=90-virtual
  ! nvidia-smi >/dev/null 2>&1 || architecture=90-real
  CUDACXX=$nvcc build cuda -DCMAKE_CUDA_ARCHITECTURES=$architecture -DTAPROOT_CLI=OFF -DTAPROOT_EXAMPLES=OFF cuda_test cuda_bench
  echo "Compiled with $("$nvcc" --version | grep release)"
  ctest --test-dir build/cuda -R '^Cuda' --output-on-failure --no-tests=error | tail -n 25
else
  echo "SKIPPED, not compiled: $nvcc"
fi
done_with CUDA

section "Experiments, in short"
PYTHON=$PWD/build/python/environment/bin/python scripts/reproduce.sh --quick
done_with experiments
printf '\nAll passed in %d s.\n' $((SECONDS - begin))

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the CUDA backend, compares it with the CPU, times it, and prints a table: the median
# milliseconds by CUDA events, the target, and what the bytes and the multiply-adds alone would
# take. An argument picks marginals, step, argmax, sample, beam or questions; "check" runs every
# kernel on little data, for compute-sanitizer.
source "$(dirname "$0")/../../scripts/common.sh"
nvcc=$(scripts/nvcc.sh)
CUDACXX=$nvcc build cuda -DTAPROOT_CLI=OFF -DTAPROOT_EXAMPLES=OFF cuda_bench
exec build/cuda/bench/cuda/cuda_bench "${1:-all}"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every experiment of experiments/ and writes their READMEs, figures and summaries, and a page with all results,
# build/experiments/full/REPORT.md, in under 30 minutes on two cores. With --quick it runs a small version of each in
# under 3 minutes and writes to build/experiments/quick/ only. PYTHON names an interpreter that has taproot and
# matplotlib; without it both are installed into a virtual environment, with CUDA where there is a GPU and nvcc.
source "$(dirname "$0")/common.sh"
quick=()
case "${1-}" in
  --quick) quick=(--quick) ;;
  '') ;;
  *) die "usage: reproduce.sh [--quick]" ;;
esac
folder=build/experiments
mkdir -p $folder
log=$folder/log
if [ -z "${PYTHON-}" ]; then
  need_packages $BUILD_PACKAGES $PYTHON_PACKAGES
  options=()
  if nvidia-smi >/dev/null 2>&1 && nvcc=$(command -v nvcc); then
    options=("--config-settings=cmake.define.TAPROOT_CUDA=ON")
    export CUDACXX=$nvcc
  fi
  echo "Installing taproot and matplotlib into $folder/environment"
  PYTHON=$PWD/$folder/environment/bin/python
  { python3 -m venv $folder/environment && "$PYTHON" -m pip install "${options[@]}" . matplotlib; } >$log 2>&1 ||
    die "$(tail -n 40 $log)"
fi
# Popping is compared with walks in C++ (experiments/walks.py).
if [ -z "${TAPROOT_BENCH_POP-}" ]; then
  # shellcheck disable=SC2086
  need_packages $BUILD_PACKAGES $BENCH_PACKAGES
  { cmake --preset bench && cmake --build --preset bench --target bench_pop; } >$log 2>&1 || die "$(tail -n 40 $log)"
fi
"$PYTHON" -c 'import taproot, matplotlib' || die "$PYTHON has no taproot or no matplotlib"
failed=()
start=$SECONDS
for run in experiments/[0-9]*/run.py; do
  name=$(basename "$(dirname "$run")")
  begin=$SECONDS
  printf '%-22s' "$name"
  if PYTHONPATH=experiments "$PYTHON" "$run" "${quick[@]}" >$log 2>&1; then
    printf '%4d s\n' $((SECONDS - begin))
  else
    printf '%4d s  FAILED\n' $((SECONDS - begin))
    tail -n 30 $log >&2
    failed+=("$name")
  fi
done
if [ ${#quick[@]} = 0 ]; then
  from=experiments page=$folder/full/REPORT.md
else
  from=$folder/quick page=$folder/quick/REPORT.md
fi
PYTHONPATH=experiments "$PYTHON" experiments/report.py "$from" "$page"
echo "$page, $((SECONDS - start)) s"
[ ${#failed[@]} = 0 ] || die "failed: ${failed[*]}"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Taproot under the engines that people run over a corpus: Ray, Spark, Hugging Face datasets, Polars and DuckDB, and what
# happens when one of their nodes, or the whole run, is killed. Everything is installed into build/python/environment,
# with the wheel that scripts/test_python.sh has built. TAPROOT_TEST_TORCH=1 installs PyTorch, which the example needs.
# With --quick it takes one engine of each kind, Polars in the process and Ray outside it, and kills nothing.
source "$(dirname "$0")/common.sh"
quick=
case "${1-}" in
  --quick) quick=1 ;;
  '') ;;
  *) die "usage: test_corpora.sh [--quick]" ;;
esac
wheels=(build/python/wheels/taproot_trees-*.whl)
[ -e "${wheels[0]}" ] || die "there is no wheel in build/python/wheels: run scripts/test_python.sh first"
packages=("ray[data]" polars pyarrow psutil pytest xxhash)
tests=(tests/corpora/engines_test.py -k "batches or seed or polars or ray_data or hash")
if [ -z "$quick" ]; then
  packages+=(pyspark datasets duckdb)
  tests=(tests/corpora/*_test.py)
  [ -z "${TAPROOT_TEST_TORCH-}" ] || packages+=(torch)
fi
# shellcheck disable=SC2086
need_packages $PYTHON_PACKAGES $([ -n "$quick" ] || echo "$CORPORA_PACKAGES")

python=$PYTHON_ENVIRONMENT/bin/python
echo "Installing with pip, unless they are there: ${packages[*]} into build/python/environment"
need_wheels "${packages[@]}"
quietly "$python" -m pip --disable-pip-version-check install --force-reinstall --no-deps "${wheels[0]}"
# Python runs in a folder without a package named taproot, so that the installed one is imported.
root=$PWD
cd build/python
export HF_HUB_OFFLINE=1 HF_DATASETS_OFFLINE=1 RAY_USAGE_STATS_ENABLED=0 PYSPARK_PYTHON=$python
exec "$python" -m pytest -q -r s -p no:cacheprovider -c /dev/null --rootdir "$root/tests/corpora" "${tests[@]/#tests/$root/tests}"

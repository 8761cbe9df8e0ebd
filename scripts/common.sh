# SPDX-License-Identifier: Apache-2.0
# Sourced by the scripts: where the project is, and what it needs from the system.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

BUILD_PACKAGES="g++ cmake ninja-build libhwy-dev librandom123-dev libtbb-dev libcli11-dev libfmt-dev libzip-dev nlohmann-json3-dev zlib1g-dev"
TEST_PACKAGES="libgtest-dev libboost-dev libgmp-dev libmpfr-dev clang-format clang libclang-rt-dev"
PYTHON_PACKAGES="python3-dev python3-venv"
BROWSER_PACKAGES="chromium chromium-driver python3-selenium fonts-dejavu-core"
BENCH_PACKAGES="libbenchmark-dev libeigen3-dev libboost-dev libgmp-dev libmpfr-dev python3"

die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# need_packages NAME...: installs those that are missing; silent if there are none.
need_packages() {
  command -v dpkg-query >/dev/null ||
    die "this is no Debian system: install the equivalents of: $* (and then run cmake --preset release)"
  local missing=() package
  for package in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
      missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  local as_root=()
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || die "these packages are missing, and there is no sudo to install them: ${missing[*]}"
    as_root=(sudo)
  fi
  echo "Installing ${missing[*]}"
  local log
  log=$(mktemp)
  if ! { "${as_root[@]}" apt-get update -qq &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
    cat "$log" >&2
    die "the packages could not be installed: ${missing[*]}"
  fi
  rm -f "$log"
}

# build PRESET [-DOPTION=VALUE...] [TARGET...]: configures and builds, quietly unless it fails.
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

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tries the wheels that scripts/wheels.sh made as users would: in bare Debians 12 (Python 3.11) and 13 (Python 3.13) with
# Python and pip only, those for aarch64 under qemu-user. Each is installed, timed, and run through the tests of the
# package. Needs root, for debootstrap and chroot. No Debian has Python 3.10: its wheel is tried in an environment of
# this machine's Python 3.10, and the one for aarch64 is only looked at.
#   scripts/test_wheels.sh [amd64|arm64]... [bookworm|trixie|python3.10]...
source "$(dirname "$0")/common.sh"
source scripts/bare.sh
need_packages debootstrap binutils
architectures=() suites=()
for argument in "$@"; do
  case "$argument" in
    amd64 | arm64) architectures+=("$argument") ;;
    bookworm | trixie | python3.10) suites+=("$argument") ;;
    *) die "usage: test_wheels.sh [amd64|arm64]... [bookworm|trixie|python3.10]..." ;;
  esac
done
[ ${#architectures[@]} != 0 ] || architectures=(amd64 arm64)
[ ${#suites[@]} != 0 ] || suites=(bookworm trixie python3.10)
declare -A machine=([amd64]=x86_64 [arm64]=aarch64) tag=([bookworm]=cp311-cp311 [trixie]=cp312-abi3 [python3.10]=cp310-cp310)
dist=$PWD/build/wheels/dist
# Under qemu this test takes longer than the minute that it gives itself; all others run there.
SLOW="not test_a_signal_handler_that_calls_us"
MOST_BYTES=10000000 MOST_BYTES_CUDA=40000000 MOST_SECONDS=10

# check_file WHEEL: size, and what it asks of the system.
check_file() {
  local most=$MOST_BYTES bytes folder names
  [[ $1 != *cuda* ]] || most=$MOST_BYTES_CUDA
  bytes=$(stat -c %s "$1")
  [ "$bytes" -le $most ] || die "$1 has $bytes bytes; $most is the limit"
  folder=$(mktemp -d)
  python3 -m zipfile -e "$1" "$folder"
  # Only libraries of glibc, and one name for the world: the module's entry. C++ libraries of two kinds must not meet.
  ! readelf -dW "$folder"/taproot/*.so | grep NEEDED | grep -vE '\[(libc|libm|libdl|libpthread|librt|ld-linux-.*)\.so' ||
    die "$1 needs libraries that are not in it"
  # What is bound to no version of glibc must be Python's: a name that only later versions of glibc have would be, too.
  names=$(readelf --dyn-syms -W "$folder"/taproot/*.so | awk '$1 ~ /^[0-9]+:$/ && $8 != "" && $5 != "LOCAL" { print $7 == "UND" ? "needs" : "defines", $5, $8 }')
  ! grep '^defines' <<<"$names" | grep -vE ' (PyInit__taproot|_init|_fini)$' || die "$1 exports these names"
  ! grep '^needs GLOBAL' <<<"$names" | grep -vE ' (_?Py\w+$|\w+@GLIBC_)' || die "$1 needs these names, which nobody promises"
  rm -rf "$folder"
  awk "BEGIN { printf \"%s: %.1f MB\\n\", \"$(basename "$1")\", $bytes / 1e6 }"
}

# sources FOLDER: puts there what the tests read, and no sources that could be imported in place of the wheel.
sources() {
  mkdir "$1"
  git ls-files -z | grep -zvE '^(experiments|bench|cuda|src)/' | xargs -0 cp --parents -t "$1"
}

# try_here PYTHON WHEEL: in an environment of this machine.
try_here() {
  local root=$PWD/build/wheels/try-$1
  use_all_pythons
  "$1" -c '' 2>/dev/null || { echo "there is no $1 to try it with" && return; }
  rm -rf "$root"
  quietly "$1" -m venv "$root"
  quietly "$root/bin/pip" install "$2" pytest hypothesis
  sources "$root/sources"
  (cd "$root" && bin/python -c 'import taproot; taproot.show_versions()' &&
    bin/python -m pytest -q -r s --rootdir sources sources/python/tests)
  rm -rf "$root"
}

# try SUITE ARCH WHEEL
try() {
  local suite=$1 arch=$2 wheel=$3 root seconds pip
  root=$(bare_copy "$suite" "$arch" "try-$suite-$arch")
  cp "$wheel" "$root/root/"
  # NumPy is downloaded beforehand: the time is that of installing.
  pip=(bare_run "$root" python3 -m pip --quiet)
  quietly "${pip[@]}" download -d /root/wheels "/root/$(basename "$wheel")" pytest hypothesis
  # First in the queue for the processor, so that other programs on the machine hardly change the time.
  TIMEFORMAT=%R
  (time quietly bare_run "$root" nice -n -20 python3 -m pip --quiet install --break-system-packages --no-index --find-links /root/wheels "/root/$(basename "$wheel")") \
    2>"$root/time" || { cat "$root/time" >&2 && die "$wheel cannot be installed"; }
  seconds=$(tail -n 1 "$root/time")
  echo "$suite $arch: pip install takes $seconds s"
  [ "$arch" != amd64 ] || awk "BEGIN { exit !($seconds <= $MOST_SECONDS) }" || die "$MOST_SECONDS s is the limit"
  quietly "${pip[@]}" install --break-system-packages --no-index --find-links /root/wheels pytest hypothesis
  sources "$root/sources"
  bare_run "$root" /bin/sh -c 'cd /root && python3 -c "import taproot; taproot.show_versions()"'
  local select=()
  [ "$arch" = amd64 ] || select=(-k "$SLOW")
  bare_run "$root" /bin/sh -c 'cd /root && exec python3 -m pytest -q -r s --rootdir /sources /sources/python/tests "$@"' pytest "${select[@]}"
  bare_remove "$root"
}

for arch in "${architectures[@]}"; do
  for suite in "${suites[@]}"; do
    found=0
    for wheel in "$dist"/*"${tag[$suite]}"*"${machine[$arch]}".whl; do
      [ -e "$wheel" ] || continue
      found=1
      check_file "$wheel"
      if [ "$suite" != python3.10 ]; then
        try "$suite" "$arch" "$wheel"
      elif [ "$arch" = "$(dpkg --print-architecture)" ]; then
        try_here python3.10 "$wheel"
      fi
    done
    [ $found = 1 ] || die "there is no wheel for $suite on $arch: run scripts/wheels.sh"
  done
done

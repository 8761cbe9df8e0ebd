#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tries the wheels that scripts/wheels.sh made as users would: in bare Debians 12 (Python 3.11) and 13 (Python 3.13) with
# Python and pip only, those for aarch64 under qemu-user. Each is installed, timed, and run through the tests of the
# package. Needs root, for debootstrap and chroot. Wheels of a Python that neither Debian has (3.10) are installed into
# an environment of that Python, where there is one.
#   scripts/test_wheels.sh [amd64|arm64]... [bookworm|trixie]...
source "$(dirname "$0")/common.sh"
source scripts/bare.sh
need_packages debootstrap binutils
architectures=() suites=()
for argument in "$@"; do
  case "$argument" in
    amd64 | arm64) architectures+=("$argument") ;;
    bookworm | trixie) suites+=("$argument") ;;
    *) die "usage: test_wheels.sh [amd64|arm64]... [bookworm|trixie]..." ;;
  esac
done
[ ${#architectures[@]} != 0 ] || architectures=(amd64 arm64)
[ ${#suites[@]} != 0 ] || suites=(bookworm trixie)
declare -A machine=([amd64]=x86_64 [arm64]=aarch64) tag=([bookworm]=cp311-cp311 [trixie]=cp312-abi3)
dist=$PWD/build/wheels/dist
MOST_BYTES=10000000 MOST_BYTES_CUDA=40000000 MOST_SECONDS=10
# Under qemu, minutes each; they test nothing that a processor changes.
SLOW="not documents and not notebook and not docstrings and not law and not threads and not corpus and not types"

# check_file WHEEL: size, and what it asks of the system.
check_file() {
  local most=$MOST_BYTES bytes extension
  [[ $1 != *cuda* ]] || most=$MOST_BYTES_CUDA
  bytes=$(stat -c %s "$1")
  [ "$bytes" -le $most ] || die "$1 has $bytes bytes; $most is the limit"
  extension=$(mktemp -d)
  python3 -m zipfile -e "$1" "$extension"
  # Only libraries of glibc, and one name for the world: the module's entry. C++ libraries of two kinds must not meet.
  ! readelf -dW "$extension"/taproot/*.so | grep NEEDED | grep -vE '\[(libc|libm|libdl|libpthread|librt|ld-linux-.*)\.so' ||
    die "$1 needs libraries that are not in it"
  ! nm -D --defined-only "$extension"/taproot/*.so | grep -vE ' (PyInit__taproot|_init|_fini)$' || die "$1 exports these names"
  rm -rf "$extension"
  printf '%s: %.1f MB; ' "$(basename "$1")" "$(bc -l <<<"$bytes / 1000000")"
}

# try SUITE ARCH WHEEL
try() {
  local suite=$1 arch=$2 wheel=$3 root wall user system seconds
  check_file "$wheel"
  root=$(bare_copy "$suite" "$arch" "try-$suite-$arch")
  cp "$wheel" "$root/root/"
  # NumPy is downloaded beforehand: the time is that of installing.
  pip=(bare_run "$root" python3 -m pip --quiet)
  quietly "${pip[@]}" download -d /root/wheels "/root/$(basename "$wheel")" pytest hypothesis
  # The limit is for the processor's time, which other programs on the machine do not change.
  TIMEFORMAT='%R %U %S'
  (time quietly "${pip[@]}" install --break-system-packages --no-index --find-links /root/wheels "/root/$(basename "$wheel")") \
    2>"$root/time" || { cat "$root/time" >&2 && die "$wheel cannot be installed"; }
  read -r wall user system < <(tail -n 1 "$root/time")
  seconds=$(awk "BEGIN { printf \"%.1f\", $user + $system }")
  echo "$suite $arch: pip install takes $seconds s of the processor, $wall s by the clock"
  [ "$arch" != amd64 ] || awk "BEGIN { exit !($seconds <= $MOST_SECONDS) }" || die "$MOST_SECONDS s is the limit"
  quietly "${pip[@]}" install --break-system-packages --no-index --find-links /root/wheels pytest hypothesis
  mkdir "$root/sources"
  git ls-files -z --cached --others --exclude-standard | grep -zvE '^(experiments|bench|cuda|src)/' | xargs -0 cp --parents -t "$root/sources" 2>/dev/null || true
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
      try "$suite" "$arch" "$wheel"
    done
    [ $found = 1 ] || die "there is no wheel for $suite on $arch: run scripts/wheels.sh"
  done
done

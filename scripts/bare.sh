# SPDX-License-Identifier: Apache-2.0
# Sourced by scripts that try things in a bare Debian: a folder made by debootstrap with Python, pip and nothing else,
# entered with chroot. It takes the package sources and pip's settings of this machine. Needs root. Foreign
# architectures run under qemu-user.
BARE=$PWD/build/bare

# bare_base SUITE ARCH: prints the folder of a bare Debian, which is made the first time and must not be changed.
bare_base() {
  local suite=$1 arch=$2 base=$BARE/$1-$2 mirror
  [ "$(id -u)" = 0 ] || die "debootstrap and chroot need root"
  [ "$arch" = "$(dpkg --print-architecture)" ] || run_foreign "$arch"
  if [ ! -e "$base/.complete" ]; then
    mirror=$(grep -hoP '^(URIs:|deb(-src)?( \[.*?\])?) *\Khttps?://\S+' /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources} 2>/dev/null | head -n 1 || true)
    [ -n "$mirror" ] || die "this machine's sources of packages name no mirror"
    rm -rf "$base"
    mkdir -p "$BARE/cache-$arch"
    debootstrap --variant=minbase --arch="$arch" --include=python3,python3-pip,ca-certificates \
      --cache-dir="$BARE/cache-$arch" "$suite" "$base" "$mirror" >"$BARE/$suite-$arch.log" 2>&1 || die "see $BARE/$suite-$arch.log"
    touch "$base/.complete"
  fi
  echo "$base"
}

# run_foreign ARCH: makes the kernel run programs of another architecture, as Debian's qemu-user-static does.
run_foreign() {
  [ "$1" = arm64 ] || die "only arm64 runs under qemu here"
  need_packages qemu-user-static >&2
  local registry=/proc/sys/fs/binfmt_misc
  [ -e $registry/register ] || mount -t binfmt_misc none $registry || die "the kernel has no binfmt_misc"
  [ -e $registry/qemu-aarch64 ] || printf '%s' ':qemu-aarch64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:/usr/bin/qemu-aarch64-static:F' >$registry/register
}

# bare_copy SUITE ARCH NAME: prints the folder of a fresh copy, with this machine's network, certificates and pip settings.
bare_copy() {
  local base copy=$BARE/$3 file
  base=$(bare_base "$1" "$2")
  bare_remove "$copy"
  cp -a "$base" "$copy"
  for file in /etc/resolv.conf /etc/hosts /etc/pip.conf /etc/ssl/certs/ca-certificates.crt; do
    [ ! -e "$file" ] || install -D -m 644 "$file" "$copy$file"
  done
  mount --bind /proc "$copy/proc"
  mount --bind /dev "$copy/dev"
  echo "$copy"
}

# bare_remove FOLDER: also where a run was interrupted.
bare_remove() {
  local mounted
  for mounted in "$1/proc" "$1/dev" "$1/sources"; do
    ! mountpoint -q "$mounted" 2>/dev/null || umount "$mounted"
  done
  ! mountpoint -q "$1/proc" && ! mountpoint -q "$1/dev" || die "$1 is still mounted"
  rm -rf --one-file-system "$1"
}

# bare_run FOLDER COMMAND...: with pip's and the proxies' variables of this machine, and no others.
bare_run() {
  local folder=$1 settings=()
  shift
  mapfile -t settings < <(env | grep -iE '^(PIP_|https?_proxy|no_proxy)' || true)
  chroot "$folder" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive PIP_ROOT_USER_ACTION=ignore \
    "${settings[@]}" "$@"
}

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the sdist, and builds a wheel from it in a bare Debian that has a compiler and Python's headers, and no other
# -dev package. The sources of Highway, Random123 and fmt come from scripts/sources.sh, for want of a network that
# reaches their releases. Compiles without optimization, because only whether it builds and works is asked: set
# BUILD_TYPE=Release for the other. Needs root, for debootstrap and chroot.
source "$(dirname "$0")/common.sh"
source scripts/bare.sh
need_packages debootstrap
mapfile -t options < <(scripts/sources.sh)
[ ${#options[@]} = 3 ] || die "there are no sources"
folder=$PWD/build/sdist
mkdir -p "$folder"
[ -x "$folder/environment/bin/python" ] || quietly python3 -m venv "$folder/environment"
quietly "$folder/environment/bin/pip" --disable-pip-version-check install build
# From a copy of the last commit, because the sdist's maker walks through all of build/, with the bare Debians in it.
rm -rf "$folder/dist" "$folder/copy"
mkdir "$folder/copy"
git archive HEAD | tar -x -C "$folder/copy"
quietly "$folder/environment/bin/python" -m build --sdist -o "$folder/dist" "$folder/copy"
rm -rf "$folder/copy"

suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
root=$(bare_copy "$suite" "$(dpkg --print-architecture)" try-sdist)
cp "$folder"/dist/taproot_trees-*.tar.gz "$root/root/"
settings=("--config-settings=cmake.build-type=${BUILD_TYPE:-Debug}")
for option in "${options[@]}"; do
  name=${option#-D}
  mkdir -p "$root/root/${name%%=*}"
  cp -r "${name#*=}/." "$root/root/${name%%=*}"
  settings+=("--config-settings=cmake.define.${name%%=*}=/root/${name%%=*}")
done
quietly bare_run "$root" apt-get update -qq
quietly bare_run "$root" apt-get install -y -qq --no-install-recommends g++ python3-dev python3-venv
begin=$SECONDS
bare_run "$root" /bin/sh -c 'cd /root && python3 -m venv v && v/bin/pip install --quiet "$@" /root/taproot_trees-*.tar.gz' sh "${settings[@]}"
echo "Built and installed in $((SECONDS - begin)) s, with these -dev packages:" \
  "$(bare_run "$root" dpkg-query -W -f='${db:Status-Status} ${Package}\n' '*-dev' | sed -n 's/^installed //p' | paste -sd' ')"
bare_run "$root" /bin/sh -c 'cd /root && v/bin/python -c "import taproot; taproot.show_versions()"'
bare_remove "$root"

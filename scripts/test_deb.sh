#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the Debian package, installs it in a bare Debian of the same release, and runs the README's C++ and shell
# examples there, and a project that finds the library by CMake. Needs root, for debootstrap and chroot.
source "$(dirname "$0")/common.sh"
source scripts/bare.sh
# shellcheck disable=SC2086
need_packages $BUILD_PACKAGES debootstrap dpkg-dev file
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
build deb
rm -f build/deb/taproot_*.deb
quietly cpack --preset deb
package=$(ls build/deb/taproot_*.deb)
dpkg-deb --info "$package" | grep -E ' (Package|Version|Depends|Installed-Size):'

root=$(bare_copy "$suite" "$(dpkg --print-architecture)" try-deb)
cp "$package" "$root/root/taproot.deb"
quietly bare_run "$root" apt-get update -qq
quietly bare_run "$root" apt-get install -y -qq --no-install-recommends /root/taproot.deb
# The command line needs nothing else.
mkdir "$root/root/data"
cp data/demo.* "$root/root/data/"
in_root() { bare_run "$root" /bin/sh -c "cd /root && $1"; }
in_root 'taproot --version'
command=$(sed -n 's/^\$ \(taproot show .*\)/\1/p' README.md)
sed -n '/^\$ taproot show/,/^```/p' README.md | sed '1d;$d' >"$root/root/expected.txt"
in_root "$command >shown.txt && diff -B expected.txt shown.txt" || die "README.md: '$command' prints something else"
in_root 'taproot report data/demo.npz --words data/demo.txt -o report.html && test -s report.html'
for file in man/man1/taproot.1 bash-completion/completions/taproot zsh/site-functions/_taproot fish/vendor_completions.d/taproot.fish; do
  [ -e "$root/usr/share/$file" ] || [ -e "$root/usr/share/$file.gz" ] || die "the package has no $file"
done
# The library, with a compiler, pkg-config and CMake.
quietly bare_run "$root" apt-get install -y -qq --no-install-recommends g++ cmake make pkg-config
sed -n '/^```cpp/,/^```/p' README.md | sed '1d;$d' >"$root/root/quickstart.cc"
cp -r tests/consumer "$root/root/consumer"
in_root 'g++ quickstart.cc -o quickstart $(pkg-config --cflags --libs taproot) && ./quickstart' | tee "$root/root/quickstart.txt"
grep -q 'p(saw -> stars) = 0.9880' "$root/root/quickstart.txt" || die "README.md: its C++ example prints something else"
quietly in_root 'cmake -S consumer -B build && cmake --build build && build/consumer'
bare_remove "$root"
echo "The package works in a bare Debian $suite"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes a folder of libraries that a program for an older glibc is linked with (cmake/older_glibc.cmake): libraries that
# define the names of that version and have no code, which zig makes for any version and architecture, the objects
# that glibc links into every program, and what GCC's C++ library asks of a later glibc.
#   scripts/older_glibc.sh ZIG VERSION x86_64|aarch64 FOLDER
source "$(dirname "$0")/common.sh"
[ $# = 4 ] || die "usage: older_glibc.sh ZIG VERSION x86_64|aarch64 FOLDER"
zig=$1 version=$2 architecture=$3 folder=$4
[ ! -e "$folder/libc.so" ] || exit 0
command -v "$architecture-linux-gnu-g++" >/dev/null || need_packages "g++-${architecture/_/-}-linux-gnu"
rm -rf "$folder"
mkdir -p "$folder/made"
echo 'void nothing(void) {}' >"$folder/made/nothing.c"
export ZIG_GLOBAL_CACHE_DIR=$folder/made/cache ZIG_LOCAL_CACHE_DIR=$folder/made/cache
quietly "$zig" build-lib -dynamic -target "$architecture-linux-gnu.$version" -lc -fno-compiler-rt -fno-ubsan-rt \
  "-femit-bin=$folder/made/nothing.so" "$folder/made/nothing.c"
for library in libc.so.6 libm.so.6 libdl.so.2 libpthread.so.0 librt.so.1 libld.so.2 libc_nonshared.a; do
  mv "$folder"/made/cache/o/*/"$library" "$folder/"
done
for library in libm.so.6 libdl.so.2 libpthread.so.0 librt.so.1; do ln -s "$library" "$folder/${library%.*}"; done
"$architecture-linux-gnu-gcc" -O2 -Wall -Wextra -Werror -fPIC -fvisibility=hidden -c cmake/older_glibc.c -o "$folder/made/older_glibc.o"
"$architecture-linux-gnu-ar" rcs "$folder/libolder_glibc.a" "$folder/made/older_glibc.o"
rm -rf "$folder/made"
# The C++ library needs threads and thread-local memory, which were not in libc.so.6 before 2.34.
echo 'GROUP ( libc.so.6 libolder_glibc.a libc_nonshared.a AS_NEEDED ( libpthread.so.0 libld.so.2 ) )' >"$folder/libc.so"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds taproot and shows what it makes of the demo sentences: how sure a parser is of each, and
# which heads it wavers between.
source "$(dirname "$0")/common.sh"
need_packages $BUILD_PACKAGES
# The first build needs no test packages; one that is there stays as it is configured.
[ -f build/release/CMakeCache.txt ] && options=() || options=(-DTAPROOT_TESTS=OFF)
build release "${options[@]}" taproot_cli
exec build/release/cli/taproot edges data/demo.npz --words data/demo.txt

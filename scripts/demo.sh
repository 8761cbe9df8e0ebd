#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds taproot and shows what it makes of the demo sentences: how sure a parser is of each, and
# which heads it wavers between.
source "$(dirname "$0")/common.sh"
need_packages $BUILD_PACKAGES
build release -DTAPROOT_TESTS=OFF taproot_cli
exec build/release/cli/taproot edges data/demo.npz --words data/demo.txt

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the command line and shows what it makes of the demo sentences: how certain a parser is of each, and between
# which heads it hesitates.
source "$(dirname "$0")/common.sh"
# shellcheck disable=SC2086
need_packages $BUILD_PACKAGES
# A first build needs no test packages; a build folder that is there keeps its options.
[ -f build/release/CMakeCache.txt ] && options=() || options=(-DTAPROOT_TESTS=OFF)
build release "${options[@]}" taproot_cli
taproot=build/release/cli/taproot
echo "The least certain words of the first sentences:"
$taproot edges data/demo.npz --words data/demo.txt --sentences :8 --top 2
echo
echo "Ten sampled trees of the first sentence (word/head). Who has the telescope?"
$taproot sample data/demo.npz --words data/demo.txt --sentences :1 -k 10 --format text
echo
echo "Its two best trees, with their probabilities:"
$taproot kbest data/demo.npz --sentences :1 -k 2
echo
echo "All its edges, by their probability:"
$taproot show data/demo.npz --words data/demo.txt --sentences :1 --marginals
$taproot report data/demo.npz --words data/demo.txt -o build/report.html
echo "All sentences, as a page for a browser: build/report.html"

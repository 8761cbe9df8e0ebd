#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds taproot and shows what it makes of the demo sentences: how sure a parser is of each, and
# which heads it wavers between.
source "$(dirname "$0")/common.sh"
need_packages $BUILD_PACKAGES
# The first build needs no test packages; one that is there stays as it is configured.
[ -f build/release/CMakeCache.txt ] && options=() || options=(-DTAPROOT_TESTS=OFF)
build release "${options[@]}" taproot_cli
taproot=build/release/cli/taproot
echo "What a parser is least sure of, in each of the first sentences:"
$taproot edges data/demo.npz --words data/demo.txt --sentences :8 --top 2
echo
echo "Ten trees of the first sentence, drawn by their probability (word/head): with whom is the telescope?"
$taproot sample data/demo.npz --words data/demo.txt --sentences :1 -k 10 --format text
echo
echo "Its two best trees, with their probability:"
$taproot kbest data/demo.npz --sentences :1 -k 2
echo
echo "All its edges, by their probability:"
$taproot show data/demo.npz --words data/demo.txt --sentences :1 --marginals
$taproot report data/demo.npz --words data/demo.txt -o build/report.html
echo "All sentences, for a browser: build/report.html"

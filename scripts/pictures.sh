#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes the README's pictures anew: the report of the demo sentences, light and dark.
source "$(dirname "$0")/common.sh"
need_packages $BUILD_PACKAGES $BROWSER_PACKAGES pngquant
build release taproot_cli
report=build/release/report.html
build/release/cli/taproot report data/demo.npz --words data/demo.txt -o $report
for scheme in light dark; do
  /usr/bin/python3 tests/browser/picture.py $report 9 12 $scheme docs/report-$scheme.png
  pngquant --force --nofs --output docs/report-$scheme.png 256 docs/report-$scheme.png # A third of the bytes.
done
ls -l docs/report-*.png

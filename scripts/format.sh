#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Formats the sources in place.
source "$(dirname "$0")/common.sh"
need_packages clang-format
git ls-files --cached --others --exclude-standard -- '*.h' '*.cc' '*.cuh' '*.cu' | xargs clang-format -i

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints the path of an nvcc: the one in PATH, the one in CUDA_HOME or /usr/local/cuda, or one from wheels, which it
# installs into build/nvcc. Fails, and says why, if there is none.
source "$(dirname "$0")/common.sh"

for found in "$(command -v nvcc || true)" "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc"; do
  [ -x "$found" ] && { echo "$found"; exit; }
done
packages=()
for name in nvcc crt runtime cccl; do packages+=("nvidia-cuda-$name==13.0.*"); done
packages+=("nvidia-nvvm==13.0.*")
if [ ! -x build/nvcc/bin/python ]; then
  python3 -m venv build/nvcc >/dev/null 2>&1 || die "there is no nvcc, and python3 has no venv to get one"
fi
build/nvcc/bin/python -m pip install --quiet --disable-pip-version-check "${packages[@]}" >/dev/null 2>&1 ||
  die "there is no nvcc, and the wheels ${packages[*]} could not be installed"
found=$(find "$PWD/build/nvcc" -path '*/bin/nvcc' -type f | head -n 1)
[ -x "$found" ] || die "the wheels have no nvcc"
root=$(dirname "$(dirname "$found")")
# CMake expects the layout of a toolkit: lib64, and CCCL's headers beside the others.
[ -e "$root/lib64" ] || ln -s lib "$root/lib64"
for header in cuda nv thrust cub; do
  [ -e "$root/include/$header" ] || [ ! -e "$root/include/cccl/$header" ] || ln -s "cccl/$header" "$root/include/$header"
done
echo "$found"

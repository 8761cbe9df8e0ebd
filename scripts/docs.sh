#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The reference site: builds it into build/docs, where warnings are errors, checks its links, and runs the examples of
# all pages. Python is documented from the installed package, C++ from the headers, the command line from its help.
# Once the packages are there, nothing is fetched. --no-examples leaves the examples to the tests of the package, and
# then PyTorch (several GB), which some of them need, is not installed.
source "$(dirname "$0")/common.sh"
examples=1
case "${1-}" in
  --no-examples) examples= ;;
  '') ;;
  *) die "usage: docs.sh [--no-examples]" ;;
esac
# shellcheck disable=SC2086
need_packages $BUILD_PACKAGES $PYTHON_PACKAGES $DOCS_PACKAGES

python=$PYTHON_ENVIRONMENT/bin/python
pip=("$python" -m pip --disable-pip-version-check)
needed=(sphinx myst-parser furo sphinx-design breathe numpy pyarrow jax pytest pytest-xdist hypothesis
  scikit-build-core nanobind jaxlib cmake ninja)
[ -z "$examples" ] || needed+=(torch)
need_wheels "${needed[@]}"

build release -DTAPROOT_TESTS=ON taproot taproot_cli
rm -rf build/docs-wheel
# With the options of test_python.sh, whose build folder this is.
quietly env PATH="$PYTHON_ENVIRONMENT/bin:$PATH" "${pip[@]}" wheel --no-build-isolation --no-deps --no-index \
  --config-settings=cmake.define.TAPROOT_WERROR=ON -w build/docs-wheel .
quietly "${pip[@]}" install --force-reinstall --no-deps --no-index build/docs-wheel/*.whl

rm -rf build/docs build/docs-doxygen
mkdir -p build/docs-doxygen
quietly doxygen docs/Doxyfile
# Python runs in a folder without a package named taproot, so that the installed one is imported.
(cd build/docs-doxygen && quietly "$python" -m sphinx -b html -j auto -W --keep-going -q -d "$PWD/doctrees" ../../docs ../docs)
"$python" docs/check_site.py build/docs
if [ -n "$examples" ]; then
  (cd build/docs-doxygen && "$python" -m pytest -q -r s -n "$(nproc)" --rootdir ../.. ../../python/tests/test_pages.py) |
    tee build/docs-doxygen/examples.txt
  ! grep -q SKIPPED build/docs-doxygen/examples.txt || die "some examples were not run"
fi
echo "The site is in build/docs: open build/docs/index.html"

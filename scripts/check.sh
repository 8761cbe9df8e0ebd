#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The rules that a compiler does not check; HACKING.md gives the reasons. Prints what breaks them, and fails if anything
# does. With --text it leaves out what has to run a compiler or a formatter.
source "$(dirname "$0")/common.sh"
text_only=
case "${1-}" in
  --text) text_only=1 ;;
  '') ;;
  *) die "usage: check.sh [--text]" ;;
esac

failed=0
broken() {
  printf '%s\n' "$*" >&2
  failed=1
}
[ -n "$(git ls-files | head -n 1)" ] || die "git lists no files here: this is not a checkout, or git does not trust it"
files() { # files PATTERN...: tracked and new files, but not those that were deleted.
  git ls-files --cached --others --exclude-standard -- "$@" | while read -r file; do [ ! -e "$file" ] || echo "$file"; done
}
outside() { # outside PATTERN WHAT PATH...: no file of PATH... matches.
  local pattern=$1 what=$2 hits
  shift 2
  hits=$(files "$@" | xargs -r grep -nP "$pattern" || true)
  [ -z "$hits" ] || broken "$what:"$'\n'"$hits"
}

# 1. Includes go one way: a stage of src/ sees itself, the stages before it, and the public headers that belong to them.
layers="core scores tree projective eliminate reverse lanes query sample decode batch draw"
declare -A first_layer=( # The first stage that may include a public header.
  [types.h]=core [version.h]=core [cuda.h]=core [scores.h]=scores [constraints.h]=scores [labels.h]=scores
  [tree.h]=tree [factorization.h]=eliminate [query.h]=query [sample.h]=sample [estimate.h]=sample [without_replacement.h]=sample
  [decode.h]=decode [dependency_trees.h]=batch [draw.h]=draw [taproot.h]=nobody
)
allowed=""
for layer in $layers; do
  allowed="$allowed|$layer"
  while IFS=: read -r file include; do
    folder=${include%%/*}
    if [ "$folder" = taproot ]; then
      header=${include#taproot/}
      folder=${first_layer[$header]-}
      [ -n "$folder" ] || broken "scripts/check.sh does not know which stage taproot/$header belongs to"
    fi
    case "$allowed|" in
      *"|$folder|"*) ;;
      *) broken "$file: src/$layer may not include \"$include\"" ;;
    esac
  done < <(files "src/$layer/*" | xargs -r grep -HoP '#include "\K[^"]+(?=")' | grep -v ':hwy/')
done
for folder in src/*/; do
  case " $layers " in
    *" $(basename "$folder") "*) ;;
    *) broken "$folder is not a stage that scripts/check.sh knows" ;;
  esac
done
internals='(core|scores|tree|projective|eliminate|reverse|lanes|query|sample|decode|batch|draw)/'
outside '#include "(?!taproot/)' "the public headers include only each other" 'include/*'
outside '#include <(Eigen|tbb|hwy|Random123|iostream|nanobind|cuda)' "no such types in the public surface" 'include/*'
outside '#include <nanobind' "only python/src/ includes nanobind" ':!python/src/*' ':!scripts/check.sh'
outside '#include <zip\.h>' "only cli/io/ includes libzip" 'cli/*' ':!cli/io/*'
outside "#include \"$internals" "the bindings and the examples include public headers only" 'python/src/*' 'examples/*' 'tests/consumer/*'
outside "#include \"(?!core/utf8\.h)$internals" "the command line includes public headers and core/utf8.h only" 'cli/*'
outside '#include "(?!testing/|taproot/)' "the oracle shares nothing with the library" 'testing/*' ':!testing/positive_matrix.h' ':!testing/trained_scores.h' ':!testing/targets.h'
outside '#include "cuda/|#include <cuda' "only cuda/ includes CUDA" 'src/*' 'cli/*' 'include/*' 'examples/*'

# 2. Names and flags that must not occur.
outside 'ffast-math|-Ofast|funsafe-math|fassociative-math|use_fast_math' "fast-math" ':!scripts/check.sh' ':!*.md'
outside 'march=native' "code for this machine only" ':!scripts/check.sh' ':!bench/*' ':!*.md'
outside 'std::(mt19937|minstd|random_device|(uniform|normal|exponential|discrete|bernoulli)_\w*distribution)|\brand\(\)' "randomness outside core/random.h" 'src/*' 'include/*' 'cli/*' 'cuda/*'
outside '\b(printf|puts|abort|exit)\(|std::(cout|cerr|clog)' "the library never prints, aborts or exits" 'src/*' 'include/*' 'cuda/*'

# 3. Every source names its license, and none is longer than 400 lines.
while read -r file; do
  head -n 3 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' || broken "$file: no SPDX line"
done < <(files '*.h' '*.cc' '*.cuh' '*.cu' '*.js' '*.css' '*.sh' '*.py' '*.toml' '*.yaml' '*.cmake' '*CMakeLists.txt' .ci/run .editorconfig)
while read -r lines file; do
  [ "$file" = total ] || [ "$lines" -le 400 ] || broken "$file: $lines lines; 400 is the limit"
done < <(files 'include/*' 'src/*.cc' 'src/*.h' 'cli/*.cc' 'cli/*.h' 'cuda/*' 'python/src/*' | xargs wc -l)

# 4. Tests mirror sources. src/STAGE/NAME.cc is tested by tests/unit/STAGE/NAME_test.cc, or tests/mirror.txt names the test
# that covers it; every unit test is named after a source, or stands in that list.
declare -A covered=() listed=()
while read -r source test; do
  [ -e "$source" ] || broken "tests/mirror.txt: there is no $source"
  [ -e "$test" ] || broken "tests/mirror.txt: there is no $test"
  covered[$source]=$test
  listed[$test]=1
done < <(grep -v '^#' tests/mirror.txt)
while read -r source; do
  own=tests/unit/${source#src/}
  own=${own%.cc}_test.cc
  if [ -e "$own" ]; then
    [ -z "${covered[$source]-}" ] || broken "tests/mirror.txt: $source has $own; take it off the list"
  else
    [ -n "${covered[$source]-}" ] || broken "$source: write $own, or name the test that covers it in tests/mirror.txt"
  fi
done < <(files 'src/*.cc')
while read -r test; do
  source=src/${test#tests/unit/}
  source=${source%_test.cc}
  [ -e "$source.cc" ] || [ -e "$source.h" ] || [ -e "$source-inl.h" ] || [ -n "${listed[$test]-}" ] ||
    broken "$test: it is named after no source, and tests/mirror.txt does not list it"
done < <(files 'tests/unit/*_test.cc')

# 5. Prose: Markdown is wrapped at 100 columns (tables excepted), the README is short, and its example is compiled.
python3 - $(files '*.md') <<'PYTHON' || failed=1
import glob, re, sys
status = 0
for name in sys.argv[1:]:
    lines = open(name, encoding="utf-8").read().splitlines()
    for number, line in enumerate(lines, 1):
        if len(line) > 100 and (name == "README.md" or not line.startswith("|")):
            print(f"{name}:{number}: {len(line)} columns; 100 is the limit", file=sys.stderr)
            status = 1
    # Paths in prose exist. HACKING.md's recipe for a new query is about files that do not.
    for path in re.findall(r"`((?:bench|cli|cmake|cuda|data|docs|examples|experiments|include|python|scripts|src|testing|tests)/[\w./*-]*)`", "\n".join(lines)):
        if name != "CHANGELOG.md" and not re.search("variance|NAME", path) and not glob.glob(path):
            print(f"{name}: there is no {path}", file=sys.stderr)
            status = 1
    if name == "README.md" and len(lines) > 130:
        print(f"README.md: {len(lines)} lines; 130 is the limit", file=sys.stderr)
        status = 1
sys.exit(status)
PYTHON
diff <(sed -n '/^```cpp/,/^```/p' README.md | sed '1d;$d') <(tail -n +2 examples/quickstart.cc) ||
  broken "README.md: its example is not examples/quickstart.cc"

version=$(sed -n 's/^#define TAPROOT_VERSION "\(.*\)"$/\1/p' include/taproot/version.h)
grep -qx "version: $version" CITATION.cff && grep -q "version = {$version}," docs/project/cite.md ||
  broken "CITATION.cff or docs/project/cite.md has another version than include/taproot/version.h"

for folder in src/*/ src/sample/*/ */; do
  case "$folder" in
    build/ | cmake/ | docs/ | examples/ | scripts/ | src/) ;;
    *) grep -q "^| \`$folder" HACKING.md || broken "HACKING.md: $folder is not in its table" ;;
  esac
done

# 6. The repository holds no build products: under 7.2 MB, and no file over 300 kB but data.
while read -r bytes file; do
  case "$file" in
    total) [ "$bytes" -le 7200000 ] || broken "tracked files have $bytes bytes; 7,200,000 is the limit" ;;
    data/*) ;;
    *) [ "$bytes" -le 300000 ] || broken "$file: $bytes bytes; 300,000 is the limit" ;;
  esac
done < <(files | xargs -d '\n' du -cb)

if [ -z "$text_only" ]; then
  # 7. Formatting.
  command -v clang-format >/dev/null || die "clang-format is missing"
  files '*.h' '*.cc' '*.cuh' '*.cu' | xargs -P "$(nproc)" -n 40 clang-format --dry-run --Werror || broken "run scripts/format.sh"

  # 8. Every header can be included alone. A header that the source of its name includes first is compiled alone by every
  # build. The others are compiled as sources of their own, so that ccache knows them the next time. Those of cuda/ need
  # the CUDA runtime's headers, and are skipped without them.
  mkdir -p build/headers
  comes_first() { # comes_first HEADER: the source of its name includes it before anything else.
    local source=${1%.h}.cc first
    [ -e "$source" ] || source=${source/include\/taproot/src}
    [ -e "$source" ] || return 1
    first=$(grep -m1 '^#include' "$source" | grep -oP '"\K[^"]+') && [[ /$1 == */$first ]]
  }
  stands_alone() { # stands_alone HEADER FLAG...
    local header=$1 alone=build/headers/${1//\//_}
    shift
    [ -e "$alone.cc" ] || echo "#include \"$header\"" >"$alone.cc"
    ${CMAKE_CXX_COMPILER_LAUNCHER-} g++ -std=c++20 -Iinclude -Isrc -Itests -Itests/cli -Icli -I. "$@" -c -o "$alone.o" "$alone.cc" ||
      { echo "$header cannot be included alone" >&2 && return 1; }
  }
  export -f stands_alone
  files 'include/*.h' 'src/*.h' 'cli/*.h' 'tests/*.h' 'testing/*.h' | grep -v -e '-inl\.h$' -e '^tests/cuda/' -e device_array |
    while read -r header; do comes_first "$header" || echo "$header"; done |
    xargs -P "$(nproc)" -I{} bash -c 'stands_alone {}' || failed=1
  cuda_include=${CUDA_HOME:-/usr/local/cuda}/include
  if [ -e "$cuda_include/cuda_runtime_api.h" ]; then
    files 'cuda/*.h' 'tests/cuda/*.h' testing/device_array.h | grep -v launch |
      xargs -P "$(nproc)" -I{} bash -c "stands_alone {} -isystem '$cuda_include'" || failed=1
  fi
fi

[ "$failed" = 0 ] && echo "All rules hold"
exit "$failed"

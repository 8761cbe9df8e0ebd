#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The rules that a compiler does not check. Prints what breaks them and fails; says so if all hold.
source "$(dirname "$0")/common.sh"

failed=0
broken() {
  printf '%s\n' "$*" >&2
  failed=1
}
[ -n "$(git ls-files | head -n 1)" ] || die "git lists no files here: this is no checkout, or git does not trust it"
files() { git ls-files --cached --others --exclude-standard -- "$@"; }

# 1. Includes go one way: a folder of src/ sees itself and those before it.
layers="core scores tree eliminate reverse query sample decode draw"
allowed=""
for layer in $layers; do
  allowed="$allowed|$layer"
  while IFS=: read -r file include; do
    folder=${include%%/*}
    case "|taproot$allowed|" in
      *"|$folder|"*) ;;
      *) broken "$file: src/$layer may not include \"$include\"" ;;
    esac
  done < <(files "src/$layer/*" | xargs -r grep -HoP '#include "\K[^"]+(?=")' | grep -v ':hwy/')
done
for folder in src/*/; do
  case " $layers " in
    *" $(basename "$folder") "*) ;;
    *) broken "$folder is no layer that scripts/check.sh knows" ;;
  esac
done
outside() { # outside PATTERN WHAT PATH...: no file of PATH... matches.
  local pattern=$1 what=$2
  shift 2
  local hits
  hits=$(files "$@" | xargs -r grep -nP "$pattern" || true)
  [ -z "$hits" ] || broken "$what:"$'\n'"$hits"
}
outside '#include "(?!taproot/)' "the public headers include only each other" 'include/*'
outside '#include <(Eigen|tbb|hwy|Random123|iostream|nanobind|cuda)' "no such types in the public surface" 'include/*'
outside '#include <nanobind' "nanobind is seen by python/src/ alone" ':!python/src/*' ':!scripts/check.sh'
outside '#include "(core|scores|tree|eliminate|query|sample|decode|draw)/' "the bindings see the public surface alone" 'python/src/*'
outside '#include "(?!testing/|taproot/)' "the oracle shares nothing with the library" 'testing/*'
outside '#include "(?!core/utf8\.h")(core|scores|tree|eliminate|query|sample|decode|draw)/' "the command line sees the public surface and core/utf8.h alone" 'cli/*'
outside '#include "(core|scores|tree|eliminate|query|sample|decode|draw)/' "examples see the public surface alone" 'examples/*' 'tests/consumer/*'
outside '#include <zip\.h>' "libzip is seen by cli/io/ alone" 'cli/*' ':!cli/io/*'

# 2. Names and flags that must not occur.
outside '#include "cuda/|#include <cuda' "CUDA is in cuda/ alone" 'src/*' 'cli/*' 'include/*' 'examples/*'
outside 'ffast-math|-Ofast|funsafe-math|fassociative-math|use_fast_math' "fast-math" ':!scripts/check.sh' ':!*.md'
outside 'march=native' "code for this machine alone" ':!scripts/check.sh' ':!bench/*' ':!*.md'
outside 'std::(mt19937|minstd|random_device|(uniform|normal|exponential|discrete|bernoulli)_\w*distribution)|\brand\(\)' "randomness outside core/random.h" 'src/*' 'include/*' 'cli/*' 'cuda/*'
outside '\b(printf|puts|abort|exit)\(|std::(cout|cerr|clog)' "the library never prints, aborts or exits" 'src/*' 'include/*' 'cuda/*'

# 3. Every source names its license.
while read -r file; do
  head -n 2 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' || broken "$file: no SPDX line"
done < <(files '*.h' '*.cc' '*.cuh' '*.cu' '*.sh' '*.py' '*.cmake' '*CMakeLists.txt')

# 4. Formatting.
command -v clang-format >/dev/null || die "clang-format is missing"
files '*.h' '*.cc' '*.cuh' '*.cu' | xargs clang-format --dry-run --Werror || broken "run scripts/format.sh"

# 5. Every header stands alone.
while read -r header; do
  g++ -std=c++20 -fsyntax-only -Iinclude -Isrc -Itests -Itests/cli -Icli -I. -x c++ - <<<"#include \"$header\"" ||
    broken "$header does not stand alone"
done < <(files 'include/*.h' 'src/*.h' 'cli/*.h' 'tests/*.h' | grep -v -e '-inl\.h$')

# Those of cuda/ need the CUDA runtime's headers; where they are not, this is left to the next machine.
cuda_include=${CUDA_HOME:-/usr/local/cuda}/include
if [ -e "$cuda_include/cuda_runtime_api.h" ]; then
  while read -r header; do
    g++ -std=c++20 -fsyntax-only -Iinclude -Isrc -I. -isystem "$cuda_include" -x c++ - <<<"#include \"$header\"" ||
      broken "$header does not stand alone"
  done < <(files 'cuda/*.h' | grep -v launch)
fi

# 6. The README's example is the one that is compiled.
diff <(sed -n '/^```cpp/,/^```/p' README.md | sed '1d;$d') <(tail -n +2 examples/quickstart.cc) ||
  broken "README.md: its example is not examples/quickstart.cc"

[ "$failed" = 0 ] && echo "All rules hold"
exit "$failed"

// SPDX-License-Identifier: Apache-2.0
#include "formats/convert.h"

#include "commands/commands.h"

namespace taproot::cli {

int run_convert(const ConvertOptions& options) {
  convert(options.trees, options.output, options.format, options.words);
  return kAllFine;
}

}  // namespace taproot::cli

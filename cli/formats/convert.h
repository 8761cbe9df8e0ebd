// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "formats/tree_writer.h"

namespace taproot::cli {

/// Copies the trees of `from` (jsonl, npz or conllu, by its ending) to `to`, or to standard output
/// if `to` is empty. The words come from `words_file`, or, if that is empty, from `from`. An .npz
/// archive does not keep the messages of sentences that failed. Throws InputError.
void convert(const std::string& from, const std::string& to, Format format,
             const std::string& words_file);

}  // namespace taproot::cli

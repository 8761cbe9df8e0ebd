// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trees/tree_writer.h"

namespace taproot::cli {

/// Copies the trees of `from` (jsonl, npz or conllu, by its ending) to `to`, standard output if
/// empty. Words are those of `words_file`, or, if that is empty, those that `from` has. npz does
/// not keep sentences that failed, nor that a support ran out; text is not read. Throws InputError.
void convert(const std::string& from, const std::string& to, Format format,
             const std::string& words_file);

}  // namespace taproot::cli

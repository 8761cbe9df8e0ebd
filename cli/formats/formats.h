// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "formats/tree_reader.h"
#include "formats/tree_writer.h"

// The formats that TreeWriter::open and TreeReader::open choose from.
namespace taproot::cli {

std::unique_ptr<TreeWriter> jsonl_writer(const std::string& file, IndexKind kind);
std::unique_ptr<TreeWriter> npz_writer(const std::string& file, IndexKind kind);
std::unique_ptr<TreeWriter> conllu_writer(const std::string& file, IndexKind kind);
std::unique_ptr<TreeWriter> text_writer(const std::string& file, IndexKind kind);

std::unique_ptr<TreeReader> jsonl_reader(const std::string& file);
std::unique_ptr<TreeReader> npz_reader(const std::string& file);
std::unique_ptr<TreeReader> conllu_reader(const std::string& file);

}  // namespace taproot::cli

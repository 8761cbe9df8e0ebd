// SPDX-License-Identifier: Apache-2.0
//
// The trees of a chunk's sentences: what the commands that write or show trees have in common.
#pragma once

#include <string>
#include <vector>

#include "chunk.h"
#include "options.h"
#include "taproot/taproot.h"
#include "trees/tree_row.h"

namespace taproot::cli {

/// The trees of one sentence, or why there are none.
struct Result {
  Outcome outcome;
  std::vector<TreeRow> rows;
  bool exhausted = false;
};

struct Context {
  const Options& options;
  const Chunk& chunk;
  const std::vector<std::string>& label_names;

  bool labeled() const { return !label_names.empty(); }
  std::size_t number(std::size_t i) const { return chunk.sentences[i].number; }
  LabelView labels(std::size_t i) const { return chunk.label_view(i, label_names.size()); }
  void name_labels(std::span<const std::int32_t> labels, TreeRow& row) const {
    for (const std::int32_t l : labels)
      row.labels.push_back(label_names[static_cast<std::size_t>(l)]);
  }
};

TreeRow row_of(const Context& context, std::size_t i, std::size_t index, TreeView heads);

/// A decoded tree: labels, score, and its probability where the scores have one.
void complete(const Context& context, std::size_t i, const Factorization& f, TreeRow& row);

/// The k best trees of every sentence. Decoding takes scores that inference does not: what it finds
/// counts.
void decode(Pool& pool, const Context& context, std::size_t k, std::vector<Result>& results);

/// options.k trees of sentence i, drawn with replacement, with labels if there are any. `drawn`, if
/// not null, has the trees already: k n heads.
void sample_trees(const Context& context, std::size_t i, const SampleOptions& how,
                  const Factorization& f, Workspace& workspace, std::vector<TreeRow>& rows,
                  const std::int32_t* drawn = nullptr);

/// Samples that are the same tree, labels included.
struct TreeGroup {
  TreeRow row;
  std::size_t count = 0;
};

/// The most frequent first; of those equally frequent the more probable.
std::vector<TreeGroup> grouped(const std::vector<TreeRow>& rows);

}  // namespace taproot::cli

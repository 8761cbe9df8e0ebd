// SPDX-License-Identifier: Apache-2.0
//
// The trees of a chunk's sentences: what the commands that write or show trees have in common.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "chunk.h"
#include "engine.h"
#include "formats/tree_row.h"
#include "options.h"
#include "taproot/taproot.h"

namespace taproot::cli {

/// The trees of one sentence, or why there are none.
struct SentenceTrees {
  Outcome outcome;
  std::vector<TreeRow> rows;
  bool exhausted = false;
};

/// What a command works on.
struct Context {
  const Options& options;
  const Chunk& chunk;
  const std::vector<std::string>& label_names;

  bool labeled() const { return !label_names.empty(); }
  std::size_t number(std::size_t i) const { return chunk.sentences[i].number; }
  LabelView labels(std::size_t i) const { return chunk.labels[i].view(); }
  void name_labels(std::span<const std::int32_t> labels, TreeRow& row) const;
};

/// Fills in the trees of all sentences of a chunk.
using TreeQuery = std::function<void(Engine&, const Context&, std::vector<SentenceTrees>&)>;

/// Reads the input, asks `query`, which finds up to `trees` trees per sentence, and writes them.
/// Returns the exit code.
int write_trees(const Options& options, IndexKind kind, std::size_t trees, const TreeQuery& query);

TreeRow row_of(const Context& context, std::size_t i, std::size_t index, TreeView heads);

/// Adds the best labels, the score and, if the scores have one, the probability of a decoded tree.
void complete(const Context& context, std::size_t i, const Factorization& f, TreeRow& row);

/// Finds the k best trees of every sentence. Decoding accepts scores that are too large for
/// inference; such trees have no probability.
void decode(Pool& pool, const Context& context, std::size_t k, std::vector<SentenceTrees>& results);

/// Samples options.k trees of sentence i with replacement, with labels if there are any. `sampled`,
/// if it is not null, holds the trees already: k n heads.
void sample_trees(const Context& context, std::size_t i, const SampleOptions& how,
                  const Factorization& f, Workspace& workspace, std::vector<TreeRow>& rows,
                  const std::int32_t* sampled = nullptr);

/// A tree, and how many of the samples it is. Labels count.
struct TreeGroup {
  TreeRow row;
  std::size_t count = 0;
};

/// Groups equal trees. The most frequent comes first, and of equally frequent trees the more
/// probable one.
std::vector<TreeGroup> grouped(const std::vector<TreeRow>& rows);

}  // namespace taproot::cli

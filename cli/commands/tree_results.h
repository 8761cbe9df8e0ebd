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

/// The trees of one sentence in flat arrays, or why there are none. Arrays that a command does not
/// fill are empty.
struct SentenceTrees {
  Outcome outcome;
  std::size_t n = 0;
  std::size_t count = 0;
  std::vector<std::int32_t> heads;   ///< [count][n]
  std::vector<std::int32_t> labels;  ///< [count][n]
  std::vector<double> score;
  std::vector<double> log_prob;
  std::vector<double> gumbel;
  std::vector<double> weight;
  bool exhausted = false;
};

/// The trees of a chunk's sentences, and the number of the first of them.
struct ChunkTrees {
  std::vector<SentenceTrees> sentences;
  std::size_t first_tree = 0;
  bool last = true;  ///< Whether no more trees of these sentences follow.
};

/// What a command works on.
struct Context {
  const Options& options;
  const Chunk& chunk;
  const std::vector<std::string>& label_names;

  std::size_t number(std::size_t i) const { return chunk.sentences[i].number; }
};

/// Finds the trees of all sentences of a chunk, and gives them away, all at once or, of a single
/// sentence, some at a time. Memory that is left in what was given may serve for the next trees.
using GiveTrees = std::function<void(ChunkTrees&)>;
using TreeQuery = std::function<void(Engine&, const Context&, const GiveTrees&)>;

/// A question that has one tree per sentence: DependencyTrees::argmax or mbr.
using Decoder = std::vector<Outcome> (DependencyTrees::*)(std::span<const TreeOutput>);

/// Reads the input, asks `query`, which finds up to `trees` trees per sentence, and writes them.
/// Returns the exit code.
int write_trees(const Options& options, IndexKind kind, std::size_t trees, const TreeQuery& query);

/// The same for a question with one tree per sentence.
int write_decoded(const Options& options, Decoder decoder);

/// How many trees of n words a query should give away at a time if it can: as many as become text
/// together, which is written while the next do.
std::size_t trees_at_a_time(const Options& options, const Pool& pool, int n);

/// Tree `s` of sentence i. `row` is overwritten, and its memory reused.
void fill_row(const Context& context, std::size_t i, const SentenceTrees& trees, std::size_t s,
              TreeRow& row);

/// The tree of every sentence, with its score.
std::vector<SentenceTrees> decoded_trees(DependencyTrees& trees, Decoder decoder);

/// `count` trees of every sentence, sampled with replacement. They are put into `memory`, which
/// spares the system's when it held as many trees before.
std::vector<SentenceTrees> sample_trees(DependencyTrees& trees, const SampleOptions& how,
                                        std::size_t count, std::vector<SentenceTrees> memory = {});

/// The labels of the edges of one sentence; all empty without labels.
struct EdgeLabels {
  std::vector<std::string> best;    ///< [n+1][n+1]: the name of the best label of every edge.
  std::vector<double> probability;  ///< [n+1][n+1]: of the edge with this label.
  std::vector<double> of_all;       ///< [n+1][n+1][labels]: of the edge with each label.
};

/// The labels of the edges of sentence i, whose marginals are given.
EdgeLabels edge_labels(const Context& context, std::size_t i, std::span<const double> marginals);

/// A tree, and how many of the samples it is. Labels count.
struct TreeGroup {
  TreeRow row;
  std::size_t count = 0;
};

/// Groups equal trees of sentence i. The most frequent comes first, and of equally frequent trees
/// the more probable one.
std::vector<TreeGroup> grouped(const Context& context, std::size_t i, const SentenceTrees& trees);

}  // namespace taproot::cli

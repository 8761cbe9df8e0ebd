// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>

#include "columns/answers.h"

namespace taproot::python {
namespace {

// Notes that a sentence has `count` trees.
void add_trees(const Rows& rows, std::size_t sentence, std::size_t count, TreeColumns& to) {
  to.rows.add_at(rows.row(sentence), count);
  for (std::size_t s = 0; s < count; ++s) to.words.add(rows.words(sentence));
}

// Questions with the same number of trees for every sentence: the library writes to the columns.
using Ask = std::function<std::vector<Outcome>(DependencyTrees&, std::span<const TreeOutput>)>;
TreeColumns find_trees(Rows& rows, std::size_t k, bool scores, const Ask& ask) {
  rows.prepare();
  TreeColumns found;
  const bool labeled = rows.label_count() > 0;
  const auto heads_of = [&](std::size_t i) { return k * rows.words(i); };
  std::size_t heads = 0;
  for (std::size_t i = 0; i < rows.sentences(); ++i) heads += heads_of(i);
  found.heads.reserve(heads);
  if (labeled) found.labels.reserve(heads);
  found.log_prob.reserve(k * rows.sentences());
  if (scores) found.score.reserve(k * rows.sentences());
  found.words.reserve(k * rows.sentences());
  found.rows.reserve(rows.size());
  std::size_t first_head = 0;
  std::size_t first_tree = 0;
  rows.ask(
      [&](DependencyTrees& trees, std::size_t first) {
        first_head = found.heads.size();
        first_tree = found.log_prob.size();
        std::vector<TreeOutput> out(trees.size());
        for (std::size_t b = 0; b < trees.size(); ++b) {
          out[b].heads = found.heads.grow(heads_of(first + b));
          if (labeled) out[b].labels = found.labels.grow(heads_of(first + b));
          out[b].stride = static_cast<std::ptrdiff_t>(rows.words(first + b));
          out[b].log_prob = found.log_prob.grow(k);
          if (scores) out[b].score = found.score.grow(k);
        }
        return ask(trees, out);
      },
      [&](std::size_t first, std::size_t end) {
        const auto trees_of = [&](std::size_t) { return k; };
        close_gaps(rows, first, end, first_head, heads_of, found.heads);
        if (labeled) close_gaps(rows, first, end, first_head, heads_of, found.labels);
        close_gaps(rows, first, end, first_tree, trees_of, found.log_prob);
        if (scores) close_gaps(rows, first, end, first_tree, trees_of, found.score);
        for (std::size_t i = first; i < end; ++i) {
          if (rows.ok(i)) add_trees(rows, i, k, found);
        }
      });
  found.rows.fill(rows.size());
  return found;
}

void append(const std::vector<double>& values, std::size_t count, Column<double>& to) {
  to.append(values.data(), std::min(values.size(), count));
}

// Questions whose sentences have different numbers of trees, which come in records.
template <typename Record, typename Fill>
TreeColumns find_records(Rows& rows, std::size_t k, const Fill& ask) {
  rows.prepare();
  TreeColumns found;
  std::vector<Record> records;
  std::fill_n(found.exhausted.grow(rows.size()), rows.size(), std::uint8_t{0});
  std::fill_n(found.kappa.grow(rows.size()), rows.size(), 0.0);
  rows.ask(
      [&](DependencyTrees& trees, std::size_t) {
        records.assign(trees.size(), {});
        return ask(trees, std::span<Record>(records));
      },
      [&](std::size_t first, std::size_t end) {
        for (std::size_t i = first; i < end; ++i) {
          if (!rows.ok(i)) continue;
          const Record& own = records[i - first];
          const std::size_t count = std::min(own.size(), k);
          add_trees(rows, i, count, found);
          found.heads.append(own.heads.data(), count * rows.words(i));
          if (rows.label_count() > 0) {
            found.labels.append(own.labels.data(), count * rows.words(i));
          }
          append(own.log_prob, count, found.log_prob);
          if constexpr (std::is_same_v<Record, BestTrees>) {
            append(own.score, count, found.score);
            found.exhausted.data()[rows.row(i)] = own.size() <= k ? 1 : 0;
          } else {
            append(own.gumbel, count, found.gumbel);
            append(own.weight, count, found.weight);
            found.kappa.data()[rows.row(i)] = own.kappa;
            found.exhausted.data()[rows.row(i)] = own.exhausted ? 1 : 0;
          }
        }
      });
  found.rows.fill(rows.size());
  return found;
}

}  // namespace

TreeColumns find_best(Rows& rows, bool mbr) {
  return find_trees(rows, 1, true, [&](DependencyTrees& trees, std::span<const TreeOutput> out) {
    return mbr ? trees.mbr(out) : trees.argmax(out);
  });
}

TreeColumns find_samples(Rows& rows, std::size_t k, const SampleOptions& options) {
  return find_trees(rows, k, false, [&](DependencyTrees& trees, std::span<const TreeOutput> out) {
    return trees.sample(k, options, out);
  });
}

TreeColumns find_without_replacement(Rows& rows, std::size_t k,
                                     const WithoutReplacementOptions& options) {
  using Sample = WithoutReplacementSample;
  return find_records<Sample>(rows, k, [&](DependencyTrees& trees, std::span<Sample> out) {
    return trees.sample_without_replacement(k, options, out);
  });
}

TreeColumns find_kbest(Rows& rows, std::size_t k) {
  // One more than was asked for tells whether there are further trees.
  return find_records<BestTrees>(rows, k, [&](DependencyTrees& trees, std::span<BestTrees> out) {
    return trees.kbest(k + 1, true, out);
  });
}

}  // namespace taproot::python

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "distribution.h"
#include "threads.h"

namespace taproot::python {
namespace {

// Where sentence b's tree goes; all -1 at first.
std::span<std::int32_t> place(const Distribution& d, std::size_t b, std::int32_t* trees) {
  const auto row = static_cast<std::size_t>(d.padded_n());
  std::fill_n(trees + b * row, row, -1);
  return {trees + b * row, static_cast<std::size_t>(d.n(b))};
}

// decode(b, heads, workspace) for every sentence, and the best labels of what it finds.
template <typename Decode>
std::vector<Outcome> decode_all(Distribution& d, Interrupt& interrupt, Trees out, Decode&& decode) {
  std::vector<Outcome> outcomes(d.size());
  for_each(d.size(), d.longest(), interrupt, [&](std::size_t b, Own& own) {
    const std::span<std::int32_t> heads = place(d, b, out.heads);
    outcomes[b] = decode(b, heads, own.workspace);
    if (out.labels == nullptr) return;
    const std::span<std::int32_t> labels = place(d, b, out.labels);
    if (outcomes[b].ok()) best_labels(d.labels(b), heads, labels);
  });
  return outcomes;
}

}  // namespace

std::vector<Outcome> mbr(Distribution& d, Trees out) {
  Interrupt interrupt;
  d.factor(interrupt);
  return decode_all(d, interrupt, out,
                    [&](std::size_t b, std::span<std::int32_t> heads, Workspace& workspace) {
                      if (d.outcome(b).ok()) taproot::mbr(d[b], heads, workspace);
                      return d.outcome(b);
                    });
}

std::vector<Outcome> argmax(Distribution& d, Trees out) {
  Interrupt interrupt;
  return decode_all(d, interrupt, out,
                    [&](std::size_t b, std::span<std::int32_t> heads, Workspace& workspace) {
                      return taproot::argmax(d.decode_scores(b), d.root(), heads, workspace);
                    });
}

TreeTable kbest(Distribution& d, std::size_t k) {
  Interrupt interrupt;
  TreeTable table;
  table.outcomes.resize(d.size());
  std::vector<std::vector<ScoredTree>> best(d.size());
  for_each(d.size(), d.longest(), interrupt, [&](std::size_t b, Own&) {
    KBestIterator trees;
    table.outcomes[b] = trees.build(d.decode_scores(b), d.root());
    if (!table.outcomes[b].ok()) return;
    ScoredTree tree{Tree(static_cast<std::size_t>(d.n(b))), 0};
    while (best[b].size() < k && interrupt.go_on() && trees.next(tree.heads, tree.score)) {
      best[b].push_back(tree);
    }
  });

  const auto row = static_cast<std::size_t>(d.padded_n());
  for (const auto& trees : best) table.k = std::max(table.k, trees.size());
  table.heads.assign(table.k * d.size() * row, -1);
  if (d.labeled()) table.labels.assign(table.heads.size(), -1);
  table.score.assign(table.k * d.size(), -HUGE_VAL);
  for (std::size_t b = 0; b < d.size(); ++b) {
    table.counts.push_back(static_cast<std::int32_t>(best[b].size()));
    for (std::size_t s = 0; s < best[b].size(); ++s) {
      const std::size_t at = s * d.size() + b;
      const Tree& heads = best[b][s].heads;
      std::copy(heads.begin(), heads.end(), table.heads.data() + at * row);
      table.score[at] = best[b][s].score;
      if (d.labeled()) {
        best_labels(d.labels(b), heads, {table.labels.data() + at * row, heads.size()});
      }
    }
  }
  return table;
}

}  // namespace taproot::python

// SPDX-License-Identifier: Apache-2.0
#include "core/check.h"
#include "taproot/decode.h"

namespace taproot {

Attachment& Attachment::operator+=(const Attachment& other) {
  words += other.words;
  heads += other.heads;
  labels += other.labels;
  trees += other.trees;
  exact += other.exact;
  return *this;
}

Attachment evaluate(TreeView heads, TreeView gold, std::span<const std::int32_t> labels,
                    std::span<const std::int32_t> gold_labels) {
  detail::require(heads.size() == gold.size(), "evaluate", "the trees differ in length");
  detail::require(
      labels.size() == gold_labels.size() && (labels.empty() || labels.size() == heads.size()),
      "evaluate", "labels must be given for all words of both trees, or for none");
  Attachment result;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    if (gold[i] < 0) continue;
    ++result.words;
    if (heads[i] != gold[i]) continue;
    ++result.heads;
    if (!labels.empty() && labels[i] == gold_labels[i]) ++result.labels;
  }
  result.trees = result.words > 0 ? 1 : 0;
  result.exact = result.words > 0 && result.heads == result.words ? 1 : 0;
  return result;
}

}  // namespace taproot

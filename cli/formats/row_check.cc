// SPDX-License-Identifier: Apache-2.0
#include "formats/row_check.h"

#include <utility>

#include "error.h"

namespace taproot::cli {

void RowCheck::operator()(const TreeRow& row, const std::string& where) {
  const std::size_t n = row.heads.size();
  for (std::size_t i = 0; i < n; ++i) {
    if (std::cmp_equal(row.heads[i], i + 1)) fail("{}: word {} is its own head", where, i + 1);
    if (row.heads[i] >= 0 && std::cmp_less_equal(row.heads[i], n)) continue;
    fail("{}: the head of word {} is {}, not one of 0 to {}", where, i + 1, row.heads[i], n);
  }
  if (!row.labels.empty() && row.labels.size() != n) {
    fail("{}: the tree has {} labels but {} heads", where, row.labels.size(), n);
  }
  if (sentence_ == row.sentence && n != n_) {
    fail("{}: the tree has {} heads, but the tree before it of sentence {} has {}", where, n,
         row.sentence, n_);
  }
  sentence_ = row.sentence;
  n_ = n;
}

void check_words(std::size_t sentence, int n, const WordSentence& words) {
  if (std::cmp_equal(words.words.size(), n)) return;
  fail("sentence {} has {} words, but {} in the file of words; do the two files belong together?",
       sentence, n, words.words.size());
}

}  // namespace taproot::cli

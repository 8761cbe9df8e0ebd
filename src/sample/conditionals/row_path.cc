// SPDX-License-Identifier: Apache-2.0
#include "sample/conditionals/row_path.h"

#include <algorithm>

namespace taproot::detail {

void RowPath::start(const Conditionals& conditionals, int sink) {
  conditionals_ = &conditionals;
  ld_ = conditionals.ld();
  sink_ = sink;
  visits_ = conditionals.visits(sink);
  amplification_ = 1;
  decided_ = 0;
  const std::size_t nodes = node_count(conditionals.n());
  rows_.resize(nodes * ld_);
  words_.resize(nodes);
  double* leads_to = leads_to_.resize(ld_);
  for (std::size_t x = 0; x < ld_; ++x) leads_to[x] = static_cast<double>(x);
  leads_to[0] = sink;
}

void RowPath::compute(int i) {
  conditionals_->start_row(sink_, i, row(i));
  reduce_rows(words_.data(), decided_, ld_, 1, row(i));
}

void RowPath::probabilities(int i, double* p) {
  visits_ = std::max(visits_, row(i)[i] * conditionals_->total_weight(i));
  error_ = row_error(visits_, amplification_);
  row_law(conditionals_->weights<double>(i), row(i), leads_to_.data(), i, ld_, p);
}

void RowPath::decide(int i, int head) {
  const double* own = row(i);
  const double pivot = own[i] - own[head];
  amplification_ *=
      pivot_amplification(std::max(own[i], conditionals_->row_scale(sink_, i)), pivot);
  words_[decided_++] = {own, i, head, 1 / pivot};
  merge_leads(leads_to_.data(), i, leads_to_[head], ld_, leads_to_.data());
}

}  // namespace taproot::detail

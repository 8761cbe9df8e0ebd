// SPDX-License-Identifier: Apache-2.0
#include "sample/without_replacement/head_laws.h"

#include <algorithm>
#include <type_traits>

#include "core/format.h"
#include "sample/sample_scratch.h"

namespace taproot::detail {
namespace {

// For sentences of up to this length contraction is used throughout, because it costs about as
// much as rows and has no error to watch.
constexpr int kAlwaysContracted = 8;

}  // namespace

template <typename T>
void HeadLaws<T>::build(const Conditionals& conditionals) {
  conditionals_ = &conditionals;
  kept_.clear();
  cache_.reset(conditionals.ld());
}

template <typename T>
void HeadLaws<T>::start(std::size_t limit, Scratch& scratch) {
  limit_ = limit;
  path_ = &scratch.get<SampleScratch>().path;
  path_->heads.resize(node_count(conditionals_->n()));
  i_ = conditionals_->single() ? 0 : 1;
  sink_ = 0;
  if (!conditionals_->single()) start_at(0);
}

template <typename T>
void HeadLaws<T>::start_at(int sink) {
  path_->template contraction<T>().start(*conditionals_, sink);
  rows_hold_ = false;
  if constexpr (std::is_same_v<T, double>) {
    rows_hold_ = conditionals_->n() > kAlwaysContracted &&
                 row_error(conditionals_->visits(sink), 1) <= kTrieError;
    if (rows_hold_) path_->rows.start(*conditionals_, sink);
  }
}

template <typename T>
double HeadLaws<T>::find(std::int32_t node, const T& left, T* p) {
  if (i_ == 0) {
    std::copy_n(conditionals_->template roots<T>(), width(), p);
    return 0;
  }
  if constexpr (std::is_same_v<T, double>) {
    if (rows_hold_) {
      Kept& kept = kept_[node];
      if (kept.row != cache_.kNone) {
        std::copy_n(cache_.data(kept.row), width(), path_->rows.row(i_));
      } else {
        path_->rows.compute(i_);
        if (kept.revisited) kept.row = take_slot(node, 0);
        if (kept.row != cache_.kNone) {
          std::copy_n(path_->rows.row(i_), width(), cache_.data(kept.row));
        }
      }
      path_->rows.probabilities(i_, p);
      const double error = path_->rows.error();
      rows_hold_ = error <= kTrieError;
      if (rows_hold_ && !kept.exact && error <= kTrieError * left) return error;
    }
  }
  find_exact(node, i_, p);
  return 0;
}

template <typename T>
void HeadLaws<T>::find_exact(std::int32_t node, std::int32_t place, T* p) {
  Kept& kept = kept_[node];
  if (kept.law != cache_.kNone) {
    std::copy_n(cache_.data(kept.law), width(), p);
    return;
  }
  path_->template contraction<T>().probabilities(place, path_->heads.data(), p);
  kept.exact = true;
  if (kept.revisited) kept.law = take_slot(node, 1);
  if (kept.law != cache_.kNone) std::copy_n(p, width(), cache_.data(kept.law));
}

template <typename T>
void HeadLaws<T>::decide(std::int32_t node, int choice) {
  kept_[node].revisited = true;
  if (i_ == 0) {
    sink_ = choice;
    path_->heads[sink_] = 0;
    start_at(sink_);
  } else {
    path_->heads[i_] = choice;
    if (rows_hold_) path_->rows.decide(i_, choice);
  }
  ++i_;
  if (i_ == sink_) ++i_;
}

template <typename T>
void HeadLaws<T>::write_heads(std::int32_t* heads) const {
  conditionals_->to_words(path_->heads.data(), heads);
}

template <typename T>
void HeadLaws<T>::read_heads(const std::int32_t* heads) {
  read_.resize(node_count(conditionals_->n()));
  conditionals_->to_nodes(heads, read_.data());
  // Place 0 is that of the root.
  const auto root = std::find(read_.begin() + 1, read_.end(), 0) - read_.begin();
  read_[0] = static_cast<std::int32_t>(root);
}

template <typename T>
void HeadLaws<T>::evict(std::uint64_t owner) {
  Kept& kept = kept_[owner / 2];
  (owner % 2 == 0 ? kept.row : kept.law) = cache_.kNone;
}

template <typename T>
std::int32_t HeadLaws<T>::take_slot(std::int32_t node, int kind) {
  const auto owner = static_cast<std::uint64_t>(node) * 2 + static_cast<std::uint64_t>(kind);
  return cache_.take(owner, limit_, [this](std::uint64_t other) { evict(other); });
}

template <typename T>
void HeadLaws<T>::shrink(std::size_t limit) {
  cache_.shrink(limit, [this](std::uint64_t owner) { evict(owner); });
}

template class HeadLaws<double>;
template class HeadLaws<Wide>;

}  // namespace taproot::detail

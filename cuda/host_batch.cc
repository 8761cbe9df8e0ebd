// SPDX-License-Identifier: Apache-2.0
#include "cuda/host_batch.h"

#include <algorithm>
#include <type_traits>

#include "cuda/core/arena.h"

namespace taproot::cuda {

HostBatch::HostBatch(const Cuda& cuda, std::span<const ScoreView> scores,
                     std::span<const std::uint64_t> ids, RootRule root, TreeFamily family)
    : cuda_(CudaAccess::share(cuda)), scores_(scores), ids_(ids), root_(root), family_(family) {}

template <typename T>
void HostBatch::send_scores(T* to) const {
  transfer().send(to, bounds_, [&](std::size_t b, T* cells) {
    const ScoreView& view = scores_[b];
    if (!on_device(b) || view.n() == 0) return;
    const int side = view.n() + 1;
    const T* data = nullptr;
    if constexpr (std::is_same_v<T, double>) {
      data = view.double_data();
    } else {
      data = view.float_data();
    }
    const bool rows = data != nullptr && view.modifier_stride() == 1;
    for (int h = 0; h < side; ++h, cells += side) {
      if (rows) {
        std::copy_n(data + h * view.head_stride(), side, cells);
      } else {
        for (int m = 0; m < side; ++m) cells[m] = static_cast<T>(view(h, m));
      }
    }
  });
}

void HostBatch::send() {
  if (trees_) return;
  bool all_float = true;
  std::vector<std::int32_t> lengths(size());
  bounds_.assign(1, 0);
  for (std::size_t b = 0; b < size(); ++b) {
    lengths[b] = on_device(b) ? scores_[b].n() : 0;
    max_n_ = std::max(max_n_, static_cast<int>(lengths[b]));
    const std::int64_t side = on_device(b) ? lengths[b] + 1 : 0;
    bounds_.push_back(bounds_.back() + side * side);
    all_float = all_float && scores_[b].double_data() == nullptr;
  }
  CudaScores in;
  in.is_double = !all_float;
  in.size = size();
  in.max_n = max_n_;
  in.cells = static_cast<std::size_t>(bounds_.back());
  in.root = root_;
  in.family = family_;
  void* data = nullptr;
  std::int32_t* lengths_there = nullptr;
  std::int64_t* offsets_there = nullptr;
  std::uint64_t* ids_there = nullptr;
  memory_ = take_block(engine().pool, stream(), [&](Arena& arena) {
    data = all_float ? static_cast<void*>(arena.take<float>(in.cells))
                     : static_cast<void*>(arena.take<double>(in.cells));
    lengths_there = arena.take<std::int32_t>(size());
    offsets_there = arena.take<std::int64_t>(size());
    ids_there = arena.take<std::uint64_t>(size());
  });
  if (all_float) {
    send_scores(static_cast<float*>(data));
  } else {
    send_scores(static_cast<double*>(data));
  }
  transfer().send(lengths_there, lengths);
  transfer().send(offsets_there, {bounds_.begin(), bounds_.end() - 1});
  transfer().send(ids_there, {ids_.begin(), ids_.end()});
  in.data = data;
  in.lengths = lengths_there;
  in.offsets = offsets_ = offsets_there;
  in.ids = ids_there;
  trees_.emplace(cuda_, in);
}

void HostBatch::settle() {
  if (settled_) return;
  const DeviceBlock there(engine().pool, size() * sizeof(CudaOutcome), stream());
  auto* outcomes = static_cast<CudaOutcome*>(there.data());
  trees_->outcomes(outcomes, stream());
  const std::vector<CudaOutcome> found = transfer().fetch(outcomes, size());
  outcomes_.resize(size());
  for (std::size_t b = 0; b < size(); ++b) {
    const auto& [status, head, modifier] = found[b];
    outcomes_[b] = {static_cast<Status>(status), head, modifier};
    if (on_device(b) && status != kCudaOutOfRange) continue;
    outcomes_[b] = factored(b).outcome();
    refused_.insert(b);
  }
  settled_ = true;
}

const Factorization& HostBatch::factored(std::size_t b) {
  const auto [place, is_new] = factored_.try_emplace(b);
  if (is_new) {
    factorize(scores_[b], root_, family_, place->second, workspace_);
    engine().on_cpu.fetch_add(1, std::memory_order_relaxed);
  }
  return place->second;
}

}  // namespace taproot::cuda

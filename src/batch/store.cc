// SPDX-License-Identifier: Apache-2.0
#include "batch/store.h"

#include <atomic>
#include <utility>

namespace taproot::detail {
namespace {

constexpr std::size_t kMostBytes = std::size_t{128} << 20;

struct Store {
  // Never block here. After a fork the child may inherit a busy store, so a thread that finds it
  // busy allocates new memory instead.
  std::atomic<bool> busy = false;
  std::vector<KeptFactorization> kept;
  std::size_t bytes = 0;
};

Store& store() {
  static auto* instance = new Store;  // Never destroyed: objects may come back to it at exit.
  return *instance;
}

std::size_t bytes_of(const KeptFactorization& kept) {
  const auto side = static_cast<std::size_t>(kept.longest) + 1;
  const auto chart = static_cast<std::size_t>(kept.longest_chart);
  return 32 * side * (side + 8) + 64 * chart * (chart + 16) + 1024;
}

}  // namespace

std::vector<KeptFactorization> take_factorizations(std::size_t count) {
  std::vector<KeptFactorization> taken;
  taken.reserve(count);
  Store& s = store();
  if (!s.busy.exchange(true, std::memory_order_acquire)) {
    while (taken.size() < count && !s.kept.empty()) {
      s.bytes -= bytes_of(s.kept.back());
      taken.push_back(std::move(s.kept.back()));
      s.kept.pop_back();
    }
    s.busy.store(false, std::memory_order_release);
  }
  taken.resize(count);
  return taken;
}

void give_back(std::vector<KeptFactorization>&& factorizations) {
  Store& s = store();
  if (s.busy.exchange(true, std::memory_order_acquire)) return;
  // From the last to the first: the next batch takes them from the end of the store, so that its
  // sentences get the memory of those in the same place.
  for (auto kept = factorizations.rbegin(); kept != factorizations.rend(); ++kept) {
    if (kept->longest == 0 || s.bytes + bytes_of(*kept) > kMostBytes) continue;
    s.bytes += bytes_of(*kept);
    s.kept.push_back(std::move(*kept));
  }
  s.busy.store(false, std::memory_order_release);
}

}  // namespace taproot::detail

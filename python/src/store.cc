// SPDX-License-Identifier: Apache-2.0
#include "store.h"

#include <atomic>
#include <iterator>
#include <utility>

namespace taproot::python {
namespace {

constexpr std::size_t kMostBytes = std::size_t{128} << 20;

struct Store {
  // Nobody waits: who finds it busy, as the child of a fork may for ever, does without.
  std::atomic<bool> busy = false;
  std::vector<Kept> kept;
  std::size_t bytes = 0;
};

Store& store() {
  static auto* instance = new Store;  // Outlives every object that may come back to it at exit.
  return *instance;
}

std::size_t bytes_of(const Kept& kept) {
  const auto side = static_cast<std::size_t>(kept.longest) + 1;
  return 24 * side * (side + 8) + 1024;
}

}  // namespace

std::vector<Kept> take_factorizations(std::size_t count) {
  std::vector<Kept> taken;
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

void give_back(std::vector<Kept>&& factorizations) {
  Store& s = store();
  if (s.busy.exchange(true, std::memory_order_acquire)) return;
  for (Kept& kept : factorizations) {
    if (kept.longest == 0 || s.bytes + bytes_of(kept) > kMostBytes) continue;
    s.bytes += bytes_of(kept);
    s.kept.push_back(std::move(kept));
  }
  s.busy.store(false, std::memory_order_release);
}

}  // namespace taproot::python

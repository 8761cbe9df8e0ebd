// SPDX-License-Identifier: Apache-2.0
#include "scores/reach.h"

#include <algorithm>

namespace taproot::detail {
namespace {

// A breadth-first search over words. Its queue and marks are in the scratch memory.
class Search {
 public:
  Search(const ScoreTable& table, ReachScratch& scratch) : table_(table) {
    seen_ = scratch.seen.resize(table.nodes());
    queue_ = scratch.queue.resize(table.nodes());
    clear();
  }

  void clear() {
    std::fill(seen_, seen_ + table_.n + 1, std::uint8_t{0});
    seen_[0] = 1;  // ROOT is never a modifier, so the search must not enter it.
    count_ = 0;
  }
  bool seen(int node) const { return seen_[node] != 0; }
  int count() const { return count_; }
  void avoid(int node) { seen_[node] = 1; }
  void start(int node) {
    if (seen(node)) return;
    seen_[node] = 1;
    queue_[count_++] = node;
  }
  void start_at_modifiers_of(int head) {
    for (int m = 1; m <= table_.n; ++m) {
      if (!seen(m) && table_.allows(head, m)) start(m);
    }
  }
  // Follows edges from head to modifier until no new word is found.
  void run() {
    for (; done_ < count_; ++done_) start_at_modifiers_of(queue_[done_]);
  }
  // Follows edges from modifier to head, except into ROOT.
  void run_backwards() {
    for (; done_ < count_; ++done_) {
      for (int h = 1; h <= table_.n; ++h) {
        if (!seen(h) && table_.allows(h, queue_[done_])) start(h);
      }
    }
  }
  void restart() {
    clear();
    done_ = 0;
  }

 private:
  const ScoreTable& table_;
  std::uint8_t* seen_;
  std::int32_t* queue_;
  int count_ = 0;
  int done_ = 0;
};

}  // namespace

bool find_last_words(const ScoreTable& table, ReachScratch& scratch, std::uint8_t* last) {
  const int n = table.n;
  std::fill(last, last + n + 1, std::uint8_t{1});
  if (!table.has_forbidden) return true;
  Search search(table, scratch);
  if (table.root == RootRule::kMulti) {
    search.start_at_modifiers_of(0);
    search.run();
    return search.count() == n;
  }
  // If some word reaches all others, then so does the word at which the last search of this loop
  // started: no earlier search found it.
  int mother = 1;
  for (int word = 1; word <= n; ++word) {
    if (search.seen(word)) continue;
    mother = word;
    search.start(word);
    search.run();
  }
  search.restart();
  search.start(mother);
  search.run();
  if (search.count() < n) return false;
  search.restart();
  search.start(mother);
  search.run_backwards();
  bool any = false;
  for (int word = 1; word <= n; ++word) {
    last[word] = search.seen(word) && table.allows(0, word) ? 1 : 0;
    any |= last[word] != 0;
  }
  return any;
}

void find_supported_heads(const ScoreTable& table, const std::uint8_t* last, int modifier,
                          ReachScratch& scratch, std::uint8_t* supported) {
  Search search(table, scratch);
  search.avoid(modifier);
  if (table.root == RootRule::kMulti) {
    search.start_at_modifiers_of(0);
  } else {
    for (int word = 1; word <= table.n; ++word) {
      if (last[word] != 0) search.start(word);
    }
  }
  search.run();
  for (int h = 1; h <= table.n; ++h) {
    supported[h] = h != modifier && search.seen(h) && table.allows(h, modifier) ? 1 : 0;
  }
  const bool may_be_root = table.root == RootRule::kMulti || last[modifier] != 0;
  supported[0] = may_be_root && table.allows(0, modifier) ? 1 : 0;
}

}  // namespace taproot::detail

// SPDX-License-Identifier: Apache-2.0
#include "sample/without_replacement/decider.h"

#include <algorithm>
#include <cmath>

#include "core/format.h"
#include "sample/without_replacement/beam.h"
#include "sample/without_replacement/chart_beam_laws.h"
#include "sample/without_replacement/chart_laws.h"
#include "sample/without_replacement/head_beam_laws.h"
#include "sample/without_replacement/head_laws.h"
#include "sample/without_replacement/trie.h"

namespace taproot::detail {
namespace {

template <template <typename> class Laws, template <typename> class BeamLaws>
class FamilyDecider final : public Decider {
 public:
  void build(const FactorData& data, Scratch& scratch) override { tables_.build(data, scratch); }

  void start_trie(const TreeSet& sampled, std::size_t memory_limit, Scratch& scratch) override {
    memory_limit_ = memory_limit;
    in_wide_ = tables_.is_wide();
    in_wide_ ? fill(wide_trie_, sampled, scratch) : fill(trie_, sampled, scratch);
  }

  double log_left(const TreeSet& sampled, Scratch& scratch) override {
    if (!in_wide_ && trie_.left() < kLeastInDouble && !tables_.fits_double()) {
      tables_.widen(scratch);
      in_wide_ = true;
      fill(wide_trie_, sampled, scratch);
    }
    return in_wide_ ? log_of(wide_trie_.left()) : log_of(trie_.left());
  }

  void sample(Stream& stream, Scratch& scratch, std::int32_t* heads) override {
    in_wide_ ? wide_trie_.sample(stream, scratch, heads) : trie_.sample(stream, scratch, heads);
  }

  std::size_t trie_bytes() const override { return in_wide_ ? wide_trie_.bytes() : trie_.bytes(); }

  void sample_beam(std::size_t k, const StreamKey& key, WithoutReplacementSample& out,
                   Scratch& scratch) override {
    k = std::min(k, (std::size_t{1} << 31) - 2);  // States are numbered in 31 bits.
    const auto take = [&](auto& from) {
      from.run(tables_, k + 1, key, scratch);
      const std::size_t size = std::min(k, from.size());
      out.exhausted = from.size() <= k;
      out.kappa = out.exhausted ? -HUGE_VAL : from.gumbel(k);
      out.memory = from.bytes();
      out.heads.resize(size * static_cast<std::size_t>(out.n));
      from.heads(size, out.heads.data());
      out.gumbel.clear();
      for (std::size_t i = 0; i < size; ++i) out.gumbel.push_back(from.gumbel(i));
    };
    if (!tables_.is_wide()) {
      take(beam_);
      if (out.kappa >= kLeastGumbelInDouble || tables_.fits_double()) return;
      tables_.widen(scratch);
    }
    take(wide_beam_);
  }

 private:
  template <typename TrieOver>
  void fill(TrieOver& into, const TreeSet& sampled, Scratch& scratch) {
    into.build(tables_, memory_limit_);
    for (std::size_t t = 0; t < sampled.size(); ++t) into.insert(sampled[t], scratch);
  }

  typename Laws<double>::Tables tables_;
  std::size_t memory_limit_ = 0;
  bool in_wide_ = false;
  Trie<Laws<double>> trie_;
  Trie<Laws<Wide>> wide_trie_;
  Beam<BeamLaws<double>> beam_;
  Beam<BeamLaws<Wide>> wide_beam_;
};

}  // namespace

std::unique_ptr<Decider> make_decider(TreeFamily family) {
  if (family == TreeFamily::kProjective) {
    return std::make_unique<FamilyDecider<ChartLaws, ChartBeamLaws>>();
  }
  return std::make_unique<FamilyDecider<HeadLaws, HeadBeamLaws>>();
}

}  // namespace taproot::detail

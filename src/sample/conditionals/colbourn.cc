// SPDX-License-Identifier: Apache-2.0
#include "sample/conditionals/colbourn.h"
#include "core/format.h"

#include "sample/conditionals/choose.h"
#include "sample/sample_scratch.h"

namespace taproot::detail {
namespace {

// Samples the heads of nodes i..n given those before, by contraction.
template <typename T>
void sample_contracted(const Conditionals& conditionals, int sink, int i, Stream& stream,
                       PathScratch& path, std::int32_t* heads) {
  T* p = path.law<T>().resize(conditionals.ld());
  Contraction<T>& contraction = path.contraction<T>();
  contraction.start(conditionals, sink);
  for (; i <= conditionals.n(); ++i) {
    if (i == sink) continue;
    contraction.probabilities(i, heads, p);
    heads[i] = choose(p, conditionals.ld(), sum_of(p, conditionals.ld()), stream);
  }
}

}  // namespace

bool Colbourn::sample(int root, Stream& stream, Scratch& scratch, std::int32_t* heads) const {
  const Conditionals& c = conditionals_;
  PathScratch& path = scratch.get<SampleScratch>().path;
  std::int32_t* node_heads = path.heads.resize(node_count(c.n()));
  const int sink = c.node(root);
  node_heads[sink] = 0;
  int i = 1;
  if (row_error(c.visits(sink), 1) <= kColbournError) {
    double* p = path.law_double.resize(c.ld());
    path.rows.start(c, sink);
    for (; i <= c.n(); ++i) {
      if (i == sink) continue;
      path.rows.compute(i);
      path.rows.probabilities(i, p);
      if (!(path.rows.error() <= kColbournError)) break;
      const int head = choose(p, c.ld(), sum_of(p, c.ld()), stream);
      if (!(p[head] > path.rows.error())) break;  // It may be impossible.
      node_heads[i] = head;
      path.rows.decide(i, head);
    }
  }
  const bool contracted = i <= c.n();
  if (contracted && c.is_wide()) {
    sample_contracted<Wide>(c, sink, i, stream, path, node_heads);
  } else if (contracted) {
    sample_contracted<double>(c, sink, i, stream, path, node_heads);
  }
  c.to_words(node_heads, heads);
  return contracted;
}

}  // namespace taproot::detail

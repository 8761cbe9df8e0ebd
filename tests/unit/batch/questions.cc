// SPDX-License-Identifier: Apache-2.0
#include "unit/batch/sentences.h"

namespace taproot {
namespace {

constexpr std::uint64_t kSeed = 77;

Question numbers(const std::string& name,
                 std::vector<Outcome> (DependencyTrees::*ask)(std::span<double>),
                 double (*single)(const Factorization&)) {
  return {name,
          [ask](DependencyTrees& d, std::vector<Row>& rows) {
            std::vector<double> out(d.size(), kUntouched);
            const std::vector<Outcome> outcomes = (d.*ask)(out);
            for (std::size_t b = 0; b < d.size(); ++b) rows[b] = {out[b]};
            return outcomes;
          },
          [single](const ScoreView& view, const Rules& rules, std::uint64_t) {
            return Row{single(rules.factor(view))};
          }};
}

// Some value for every edge of a sentence.
Row edge_values(int n) {
  const auto side = static_cast<std::size_t>(n) + 1;
  Row values(side * side);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = std::sin(static_cast<double>(i) + static_cast<double>(n));
  }
  return values;
}

// The same in rows that are longer.
class EdgeValues {
 public:
  explicit EdgeValues(const DependencyTrees& d) {
    for (std::size_t b = 0; b < d.size(); ++b) {
      const Row values = edge_values(d.n(b));
      const std::size_t side = words(d, b) + 1;
      const std::size_t stride = side + b % 3;  // Some of them contiguous.
      data_.emplace_back(side * stride, std::nan(""));
      for (std::size_t i = 0; i < values.size(); ++i) {
        data_[b][i / side * stride + i % side] = values[i];
      }
      matrices_.push_back({data_[b].data(), static_cast<std::ptrdiff_t>(stride)});
    }
  }
  std::span<const ConstEdgeMatrix> matrices() const { return matrices_; }

 private:
  std::vector<Row> data_;
  std::vector<ConstEdgeMatrix> matrices_;
};

Question expectation_question() {
  return {"expectation",
          [](DependencyTrees& d, std::vector<Row>& rows) {
            const EdgeValues values(d);
            std::vector<double> out(d.size(), kUntouched);
            const std::vector<Outcome> outcomes = d.expectation(values.matrices(), out);
            for (std::size_t b = 0; b < d.size(); ++b) rows[b] = {out[b]};
            return outcomes;
          },
          [](const ScoreView& view, const Rules& rules, std::uint64_t) {
            return Row{expectation(rules.factor(view), edge_values(view.n()))};
          }};
}

// Against uniform scores, in a batch that keeps what it finds or not.
Question pair_question(const std::string& name, bool keep,
                       std::vector<Outcome> (DependencyTrees::*ask)(DependencyTrees&,
                                                                    std::span<double>),
                       double (*single)(const Factorization&, const Factorization&)) {
  return {name + (keep ? "" : " of a batch that keeps nothing"),
          [=](DependencyTrees& d, std::vector<Row>& rows) {
            std::vector<oracle::Problem> problems;
            std::vector<ScoreView> views;
            for (std::size_t b = 0; b < d.size(); ++b) {
              problems.push_back(oracle::uniform(std::max(1, d.n(b))));
            }
            for (std::size_t b = 0; b < d.size(); ++b) {
              views.emplace_back(problems[b].scores.data(), d.n(b));
            }
            Pool pool(2);
            DependencyTrees q(pool, views,
                              {.root = d.root_rule(),
                               .projective = d.family() == TreeFamily::kProjective,
                               .keep = keep});
            std::vector<double> out(d.size(), kUntouched);
            const std::vector<Outcome> outcomes = (d.*ask)(q, out);
            for (std::size_t b = 0; b < d.size(); ++b) rows[b] = {out[b]};
            return outcomes;
          },
          [single](const ScoreView& view, const Rules& rules, std::uint64_t) {
            const oracle::Problem uniform = oracle::uniform(view.n());
            return Row{single(rules.factor(view),
                              rules.factor(ScoreView(uniform.scores.data(), view.n())))};
          }};
}

Question marginals_question() {
  return {"marginals",
          [](DependencyTrees& d, std::vector<Row>& rows) {
            const EdgeMemory memory(d);
            const std::vector<Outcome> outcomes = d.marginals(memory.out());
            for (std::size_t b = 0; b < d.size(); ++b) rows[b] = memory.row(b);
            return outcomes;
          },
          [](const ScoreView& view, const Rules& rules, std::uint64_t) {
            return marginals(rules.factor(view));
          }};
}

Question hessian_question() {
  return {"hessian_product",
          [](DependencyTrees& d, std::vector<Row>& rows) {
            const EdgeValues direction(d);
            const EdgeMemory memory(d);
            const std::vector<Outcome> outcomes =
                d.hessian_product(direction.matrices(), memory.out());
            for (std::size_t b = 0; b < d.size(); ++b) rows[b] = memory.row(b);
            return outcomes;
          },
          [](const ScoreView& view, const Rules& rules, std::uint64_t) {
            return hessian_product(rules.factor(view), edge_values(view.n()));
          }};
}

Question root_marginals_question() {
  return {"root_marginals",
          [](DependencyTrees& d, std::vector<Row>& rows) {
            std::vector<double*> out;
            for (std::size_t b = 0; b < d.size(); ++b) {
              rows[b].assign(words(d, b), kUntouched);
              out.push_back(rows[b].data());
            }
            return d.root_marginals(out);
          },
          [](const ScoreView& view, const Rules& rules, std::uint64_t) {
            return root_marginals(rules.factor(view));
          }};
}

// A chain, which is a tree; a row that is not there; two words that are each other's heads.
Question log_prob_question() {
  const auto trees = [](std::size_t n) {
    std::vector<std::int32_t> heads(3 * n, 0);
    for (std::size_t m = 0; m < n; ++m) {
      heads[m] = static_cast<std::int32_t>(m);
      heads[n + m] = -1;
      heads[2 * n + m] = m == 0 && n > 1 ? 2 : static_cast<std::int32_t>(m);
    }
    return heads;
  };
  return {"log_prob",
          [=](DependencyTrees& d, std::vector<Row>& rows) {
            std::vector<std::vector<std::int32_t>> heads;
            std::vector<TreeBuffer> buffers;
            std::vector<std::vector<double>> values(d.size(), std::vector<double>(6, kUntouched));
            std::vector<double*> out;
            for (std::size_t b = 0; b < d.size(); ++b) heads.push_back(trees(words(d, b)));
            for (std::size_t b = 0; b < d.size(); ++b) {
              buffers.push_back({heads[b].data(), d.n(b)});
              out.push_back(values[b].data());
            }
            const std::vector<Outcome> outcomes = d.log_prob(3, buffers, {}, out, 2);
            for (std::size_t b = 0; b < d.size(); ++b) {
              for (const std::size_t gap : {1U, 3U, 5U}) EXPECT_EQ(values[b][gap], kUntouched);
              rows[b] = {values[b][0], values[b][2], values[b][4]};
            }
            return outcomes;
          },
          [=](const ScoreView& view, const Rules& rules, std::uint64_t) {
            const auto n = static_cast<std::size_t>(view.n());
            const std::vector<std::int32_t> heads = trees(n);
            const Factorization f = rules.factor(view);
            return Row{log_prob(f, TreeView(heads).first(n)), NAN,
                       log_prob(f, TreeView(heads).subspan(2 * n))};
          }};
}

Question sample_question(Algorithm algorithm, std::size_t k) {
  const SampleOptions options{algorithm, kSeed, 0, 3};
  return {"sample " + std::to_string(k) + " by " + std::string(to_string(algorithm)),
          [=](DependencyTrees& d, std::vector<Row>& rows) {
            const TreeMemory memory(d, k, false, true, false);
            const std::vector<Outcome> outcomes = d.sample(k, options, memory.out());
            EXPECT_TRUE(memory.gaps_untouched());
            for (std::size_t b = 0; b < d.size(); ++b) rows[b] = memory.row(b);
            return outcomes;
          },
          [=](const ScoreView& view, const Rules& rules, std::uint64_t id) {
            const Factorization f = rules.factor(view);
            Workspace workspace;
            Sampler sampler;
            sampler.build(f, algorithm, workspace);
            const auto n = static_cast<std::size_t>(view.n());
            std::vector<std::int32_t> heads(k * n);
            sampler.sample(id, options, k, {heads.data(), view.n()}, {}, nullptr, workspace);
            Row row;
            for (std::size_t s = 0; s < k; ++s) {
              append(row, TreeView(heads).subspan(s * n, n));
              row.push_back(log_prob(f, TreeView(heads).subspan(s * n, n)));
            }
            return row;
          }};
}

Row row_of(const WithoutReplacementSample& sample) {
  Row row;
  append(row, sample.heads);
  for (const Row* numbers : {&sample.log_prob, &sample.gumbel, &sample.weight}) {
    row.insert(row.end(), numbers->begin(), numbers->end());
  }
  if (sample.size() > 0) row.push_back(sample.exhausted ? 1 : 0);
  row.push_back(sample.kappa);
  return row;
}

Question without_replacement_question(WithoutReplacementAlgorithm algorithm) {
  const WithoutReplacementOptions options{algorithm, kSeed};
  return {"sample_without_replacement by " + std::string(to_string(algorithm)),
          [=](DependencyTrees& d, std::vector<Row>& rows) {
            std::vector<WithoutReplacementSample> out(d.size());
            for (WithoutReplacementSample& sample : out) sample.heads.resize(100, kNoHead);
            std::vector<Outcome> outcomes = d.sample_without_replacement(12, options, out);
            for (std::size_t b = 0; b < d.size(); ++b) {
              EXPECT_EQ(out[b].n, d.n(b));
              rows[b] = row_of(out[b]);
              // What list loses is a matter of its own; the row is compared all the same.
              if (outcomes[b].status == Status::kNumericalLoss) {
                EXPECT_EQ(algorithm, WithoutReplacementAlgorithm::kList);
                outcomes[b] = {};
              }
            }
            return outcomes;
          },
          [=](const ScoreView& view, const Rules& rules, std::uint64_t id) {
            const Factorization f = rules.factor(view);
            Workspace workspace;
            WithoutReplacementSampler sampler;
            WithoutReplacementSample sample;
            sampler.build(f, options, id, workspace);
            sampler.sample(12, sample, workspace);
            return row_of(sample);
          }};
}

Question argmax_question(bool with_log_prob) {
  return {with_log_prob ? "argmax with log_prob" : "argmax",
          [=](DependencyTrees& d, std::vector<Row>& rows) {
            const TreeMemory memory(d, 1, false, with_log_prob, true);
            const std::vector<Outcome> outcomes = d.argmax(memory.out());
            EXPECT_TRUE(memory.gaps_untouched());
            for (std::size_t b = 0; b < d.size(); ++b) rows[b] = memory.row(b);
            return outcomes;
          },
          [=](const ScoreView& view, const Rules& rules, std::uint64_t) {
            const ScoredTree best = argmax(view, rules.root, rules.family);
            Row row;
            append(row, best.heads);
            if (with_log_prob) row.push_back(log_prob(rules.factor(view), best.heads));
            row.push_back(best.score);
            return row;
          }};
}

Question mbr_question() {
  return {"mbr",
          [](DependencyTrees& d, std::vector<Row>& rows) {
            const TreeMemory memory(d, 1, false, true, true);
            const std::vector<Outcome> outcomes = d.mbr(memory.out());
            EXPECT_TRUE(memory.gaps_untouched());
            for (std::size_t b = 0; b < d.size(); ++b) rows[b] = memory.row(b);
            return outcomes;
          },
          [](const ScoreView& view, const Rules& rules, std::uint64_t) {
            const Factorization f = rules.factor(view);
            const Tree tree = mbr(f);
            Row row;
            append(row, tree);
            row.push_back(log_prob(f, tree));
            row.push_back(score(view, tree));
            return row;
          }};
}

// Against a chain in which every third word has no head.
Question expected_attachment_question() {
  const auto gold = [](std::size_t n) {
    Tree heads(n);
    for (std::size_t m = 0; m < n; ++m) heads[m] = m % 3 == 2 ? -1 : static_cast<std::int32_t>(m);
    return heads;
  };
  return {"expected_attachment",
          [=](DependencyTrees& d, std::vector<Row>& rows) {
            std::vector<Tree> heads;
            std::vector<TreeBuffer> buffers;
            std::vector<double> out(d.size(), kUntouched);
            for (std::size_t b = 0; b < d.size(); ++b) heads.push_back(gold(words(d, b)));
            for (Tree& of_sentence : heads) buffers.push_back({of_sentence.data(), 0});
            const std::vector<Outcome> outcomes = d.expected_attachment(buffers, out);
            for (std::size_t b = 0; b < d.size(); ++b) rows[b] = {out[b]};
            return outcomes;
          },
          [=](const ScoreView& view, const Rules& rules, std::uint64_t) {
            const Tree heads = gold(static_cast<std::size_t>(view.n()));
            return Row{expected_attachment(rules.factor(view), heads)};
          }};
}

Question kbest_question(bool with_log_prob) {
  constexpr std::size_t kTrees = 4;
  const auto row_of_best = [](const BestTrees& best) {
    Row row;
    append(row, best.heads);
    row.insert(row.end(), best.score.begin(), best.score.end());
    row.insert(row.end(), best.log_prob.begin(), best.log_prob.end());
    return row;
  };
  return {with_log_prob ? "kbest with log_prob" : "kbest",
          [=](DependencyTrees& d, std::vector<Row>& rows) {
            std::vector<BestTrees> out(d.size());
            for (BestTrees& best : out) best.score.resize(9);
            const std::vector<Outcome> outcomes = d.kbest(kTrees, with_log_prob, out);
            for (std::size_t b = 0; b < d.size(); ++b) {
              EXPECT_EQ(out[b].n, d.n(b));
              rows[b] = row_of_best(out[b]);
            }
            return outcomes;
          },
          [=](const ScoreView& view, const Rules& rules, std::uint64_t) {
            BestTrees best = kbest(view, kTrees, rules.root, rules.family);
            const Factorization f = rules.factor(view);
            for (std::size_t i = 0; with_log_prob && i < best.size(); ++i) {
              best.log_prob.push_back(log_prob(f, best[i]));
            }
            return row_of_best(best);
          }};
}

}  // namespace

std::vector<Question> all_questions(const Rules& rules) {
  const bool projective = rules.family == TreeFamily::kProjective;
  std::vector<Question> questions{
      {"outcomes", [](DependencyTrees& d, std::vector<Row>&) { return d.outcomes(); },
       [](const ScoreView&, const Rules&, std::uint64_t) { return Row(); }},
      numbers("log_partition", &DependencyTrees::log_partition, &log_partition),
      numbers("entropy", &DependencyTrees::entropy, &entropy),
      numbers("expected_tries", &DependencyTrees::expected_tries, &expected_tries),
      numbers("projective_mass", &DependencyTrees::projective_mass, &projective_mass),
      expectation_question(),
      marginals_question(),
      hessian_question(),
      root_marginals_question(),
      log_prob_question(),
      expected_attachment_question(),
      argmax_question(false),
      argmax_question(true),
      mbr_question(),
      kbest_question(false),
      kbest_question(true)};
  for (const bool keep : {true, false}) {
    questions.push_back(
        pair_question("cross_entropy", keep, &DependencyTrees::cross_entropy, &cross_entropy));
    questions.push_back(
        pair_question("kl_divergence", keep, &DependencyTrees::kl_divergence, &kl_divergence));
  }
  questions.push_back(sample_question(Algorithm::kAuto, 7));
  questions.push_back(sample_question(Algorithm::kAuto, 1100));  // More than one block.
  for (const WithoutReplacementAlgorithm algorithm :
       {WithoutReplacementAlgorithm::kAuto, WithoutReplacementAlgorithm::kTrie,
        WithoutReplacementAlgorithm::kBeam}) {
    questions.push_back(without_replacement_question(algorithm));
  }
  if (projective) return questions;
  questions.push_back(numbers("expected_steps", &DependencyTrees::expected_steps, &expected_steps));
  questions.push_back(sample_question(Algorithm::kElimination, 7));
  questions.push_back(sample_question(Algorithm::kColbourn, 7));
  questions.push_back(sample_question(
      rules.root == RootRule::kSingle ? Algorithm::kWilsonMarginal : Algorithm::kWilson, 7));
  questions.push_back(without_replacement_question(WithoutReplacementAlgorithm::kList));
  return questions;
}

}  // namespace taproot

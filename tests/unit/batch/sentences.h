// SPDX-License-Identifier: Apache-2.0
//
// Batches to ask, and every question that a DependencyTrees answers, with the functions of a single
// sentence beside it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "taproot/taproot.h"
#include "testing/families.h"

namespace taproot {

inline void PrintTo(const Outcome& outcome, std::ostream* out) {
  *out << to_string(outcome.status) << " " << outcome.head << " " << outcome.modifier;
}

/// What memory holds that nothing was written to.
inline constexpr double kUntouched = -12345;
inline constexpr std::int32_t kNoHead = -12345;

/// Sentences of many lengths, three of them without an answer: 5 has no tree, 17 a NaN, 23 no
/// words and no data.
class Sentences {
 public:
  explicit Sentences(std::size_t count = 28, std::uint64_t seed = 0) {
    for (std::size_t b = 0; b < count; ++b) {
      problems_.push_back(oracle::gaussian(1 + static_cast<int>(b * 7 % 23), 3, seed + b));
    }
    if (count > 5) problems_[5].scores.assign(problems_[5].scores.size(), -HUGE_VAL);
    if (count > 17) problems_[17].scores[1] = std::nan("");
    for (const auto& problem : problems_) views_.emplace_back(problem.scores.data(), problem.n);
    if (count > 23) views_[23] = ScoreView(static_cast<const double*>(nullptr), 0);
  }
  Sentences(const Sentences&) = delete;
  Sentences& operator=(const Sentences&) = delete;

  std::size_t size() const { return views_.size(); }
  const std::vector<ScoreView>& views() const { return views_; }

  static Outcome outcome(std::size_t sentence) {
    switch (sentence) {
      case 5:
        return {Status::kNoTree};
      case 17:
        return {Status::kBadScore, 0, 1};
      case 23:
        return {Status::kEmpty};
      default:
        return {};
    }
  }

 private:
  std::vector<oracle::Problem> problems_;
  std::vector<ScoreView> views_;
};

/// All numbers of a sentence's answer in one row: equal answers have equal rows, bit for bit.
using Row = std::vector<double>;

inline bool same(const Row& a, const Row& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

inline void append(Row& row, std::span<const std::int32_t> heads) {
  row.insert(row.end(), heads.begin(), heads.end());
}

inline std::size_t words(const DependencyTrees& d, std::size_t b) {
  return static_cast<std::size_t>(d.n(b));
}

/// Which trees a batch is about.
struct Rules {
  Rules(RootRule root_rule, TreeFamily of_trees = TreeFamily::kAll)  // NOLINT: implicit
      : root(root_rule), family(of_trees) {}

  Factorization factor(const ScoreView& view) const { return factorize(view, root, family); }
  BatchOptions options() const {
    BatchOptions made;
    made.root = root;
    made.projective = family == TreeFamily::kProjective;
    return made;
  }

  RootRule root;
  TreeFamily family;
};

/// Both root rules and both families.
inline const std::vector<Rules>& all_rules() {
  static const std::vector<Rules> all{{RootRule::kSingle},
                                      {RootRule::kMulti},
                                      {RootRule::kSingle, TreeFamily::kProjective},
                                      {RootRule::kMulti, TreeFamily::kProjective}};
  return all;
}

/// A question to a batch: `ask` fills one row per sentence, `alone` is the row of a sentence by
/// itself.
struct Question {
  std::string name;
  std::function<std::vector<Outcome>(DependencyTrees&, std::vector<Row>&)> ask;
  std::function<Row(const ScoreView&, const Rules&, std::uint64_t id)> alone;
};

/// Memory for k trees per sentence, in rows that are longer than the sentence and with numbers that
/// do not follow each other. read() tells whether anything was written beside them.
class TreeMemory {
 public:
  TreeMemory(const DependencyTrees& d, std::size_t k, bool labels, bool log_prob, bool score)
      : k_(k) {
    for (std::size_t b = 0; b < d.size(); ++b) {
      words_.push_back(words(d, b));
      const std::size_t stride = words(d, b) + kGap;
      heads_.emplace_back(k * stride, kNoHead);
      labels_.emplace_back(labels ? k * stride : 0, kNoHead);
      log_prob_.emplace_back(log_prob ? k * kStride : 0, kUntouched);
      score_.emplace_back(score ? k * kStride : 0, kUntouched);
      out_.push_back({heads_[b].data(), static_cast<std::ptrdiff_t>(stride),
                      labels ? labels_[b].data() : nullptr,
                      log_prob ? log_prob_[b].data() : nullptr, score ? score_[b].data() : nullptr,
                      kStride});
    }
  }

  std::span<const TreeOutput> out() const { return out_; }
  TreeView heads(std::size_t b, std::size_t s) const { return tree(heads_[b], b, s); }
  TreeView labels(std::size_t b, std::size_t s) const { return tree(labels_[b], b, s); }
  double log_prob(std::size_t b, std::size_t s) const { return log_prob_[b][s * kStride]; }
  double score(std::size_t b, std::size_t s) const { return score_[b][s * kStride]; }

  /// Tree by tree: heads, labels, log_prob, score, as far as they were asked for.
  Row row(std::size_t b) const {
    Row row;
    for (std::size_t s = 0; s < k_; ++s) {
      append(row, heads(b, s));
      if (!labels_[b].empty()) append(row, labels(b, s));
      if (!log_prob_[b].empty()) row.push_back(log_prob(b, s));
      if (!score_[b].empty()) row.push_back(score(b, s));
    }
    return row;
  }

  /// Whether nothing was written between the rows and between the numbers.
  bool gaps_untouched() const {
    for (std::size_t b = 0; b < words_.size(); ++b) {
      for (const auto* trees : {&heads_[b], &labels_[b]}) {
        for (std::size_t i = 0; i < trees->size(); ++i) {
          if (i % (words_[b] + kGap) >= words_[b] && (*trees)[i] != kNoHead) return false;
        }
      }
      for (const auto* values : {&log_prob_[b], &score_[b]}) {
        for (std::size_t i = 0; i < values->size(); ++i) {
          if (i % kStride != 0 && (*values)[i] != kUntouched) return false;
        }
      }
    }
    return true;
  }

 private:
  static constexpr std::size_t kGap = 3;
  static constexpr std::size_t kStride = 2;

  TreeView tree(const std::vector<std::int32_t>& trees, std::size_t b, std::size_t s) const {
    return TreeView(trees).subspan(s * (words_[b] + kGap), words_[b]);
  }

  std::size_t k_;
  std::vector<std::size_t> words_;
  std::vector<std::vector<std::int32_t>> heads_;
  std::vector<std::vector<std::int32_t>> labels_;
  std::vector<std::vector<double>> log_prob_;
  std::vector<std::vector<double>> score_;
  std::vector<TreeOutput> out_;
};

/// One matrix per sentence, its rows three longer than they need to be.
class EdgeMemory {
 public:
  explicit EdgeMemory(const DependencyTrees& d, std::size_t depth = 1) {
    for (std::size_t b = 0; b < d.size(); ++b) {
      sides_.push_back(words(d, b) + 1);
      rows_.push_back(sides_[b] * depth);
      data_.emplace_back(sides_[b] * (rows_[b] + 3), kUntouched);
      out_.push_back({data_[b].data(), static_cast<std::ptrdiff_t>(rows_[b] + 3)});
    }
  }

  std::span<const EdgeMatrix> out() const { return out_; }
  Row row(std::size_t b) const {
    Row row;
    for (std::size_t h = 0; h < sides_[b]; ++h) {
      const auto begin = data_[b].begin() + static_cast<std::ptrdiff_t>(h * (rows_[b] + 3));
      row.insert(row.end(), begin, begin + static_cast<std::ptrdiff_t>(rows_[b]));
      for (std::size_t i = 0; i < 3; ++i)
        EXPECT_EQ(begin[static_cast<std::ptrdiff_t>(rows_[b] + i)], kUntouched);
    }
    return row;
  }

 private:
  std::vector<std::size_t> sides_;
  std::vector<std::size_t> rows_;
  std::vector<std::vector<double>> data_;
  std::vector<EdgeMatrix> out_;
};

/// Every question about the trees of a rule and a family.
std::vector<Question> all_questions(const Rules& rules);

/// A sentence without an answer has NaN for its numbers and -1 for its heads and labels, or
/// nothing where trees come in a list.
inline bool is_lost(const Row& row) {
  return std::all_of(row.begin(), row.end(), [](double x) { return std::isnan(x) || x == -1; });
}

/// Asks a question and compares every sentence with `expected`.
inline void expect_answers(DependencyTrees& d, const Question& question,
                           const std::vector<Row>& expected) {
  SCOPED_TRACE(question.name);
  std::vector<Row> rows(d.size());
  const std::vector<Outcome> outcomes = question.ask(d, rows);
  ASSERT_EQ(outcomes.size(), d.size());
  for (std::size_t b = 0; b < d.size(); ++b) {
    EXPECT_EQ(outcomes[b], Sentences::outcome(b)) << b;
    if (outcomes[b].ok()) {
      EXPECT_TRUE(same(rows[b], expected[b])) << "sentence " << b << " of " << d.n(b) << " words";
    } else {
      EXPECT_TRUE(is_lost(rows[b])) << b;
    }
  }
}

/// The answers that the sentences give by themselves.
inline std::vector<Row> alone(const Question& question, const Sentences& sentences,
                              const Rules& rules, const std::vector<std::uint64_t>& ids = {}) {
  std::vector<Row> rows;
  for (std::size_t b = 0; b < sentences.size(); ++b) {
    rows.push_back(Sentences::outcome(b).ok()
                       ? question.alone(sentences.views()[b], rules, ids.empty() ? b : ids[b])
                       : Row());
  }
  return rows;
}

}  // namespace taproot

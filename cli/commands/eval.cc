// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>

#include "commands/commands.h"
#include "error.h"
#include "formats/tree_reader.h"
#include "io/output_file.h"
#include "io/standard_input.h"
#include "taproot/decode.h"

namespace taproot::cli {
namespace {

// Throws InputError unless every word has a head: a missing one would count as wrong.
void check_gold(const WordSentence& sentence, const std::string& file, std::size_t number) {
  if (sentence.heads.size() != sentence.words.size()) {
    fail("{} has no heads; the gold trees must be a .conllu file", file);
  }
  const auto open = std::ranges::find(sentence.heads, -1);
  if (open == sentence.heads.end()) return;
  fail("{} has no gold head for word {} of sentence {}: its HEAD is '_'", file,
       open - sentence.heads.begin() + 1, number);
}

// Gives each name of a relation a number, the same number to equal names.
class Names {
 public:
  std::vector<std::int32_t> operator()(const std::vector<std::string>& names) {
    std::vector<std::int32_t> numbers;
    for (const std::string& name : names) {
      numbers.push_back(
          known_.emplace(name, static_cast<std::int32_t>(known_.size())).first->second);
    }
    return numbers;
  }

 private:
  std::map<std::string, std::int32_t> known_;
};

}  // namespace

int run_eval(const EvalOptions& options) {
  const auto trees = TreeReader::open(options.trees);
  const std::string trees_name = shown_name(options.trees);
  WordReader gold(options.gold);
  WordSentence sentence;
  Names names;
  Attachment sum;
  std::size_t read = 0;
  std::size_t failed = 0;
  std::size_t evaluated = 0;
  bool labeled = true;
  bool gold_labeled = true;
  // The trees of the sentence that is being read.
  std::vector<TreeRow> rows;
  const auto finish = [&] {
    if (rows.empty()) return;
    const std::size_t number = rows[0].sentence;
    while (read <= number) {
      if (!gold.next(sentence)) {
        fail("{} has {} sentences, but {} has trees of sentence {}", options.gold, read, trees_name,
             number);
      }
      ++read;
    }
    check_gold(sentence, options.gold, number);
    if (options.over == "best") {
      const TreeRow* best = &rows[0];
      for (const TreeRow& row : rows) {
        if (row.log_prob.value_or(-HUGE_VAL) > best->log_prob.value_or(-HUGE_VAL)) best = &row;
      }
      rows = {TreeRow(*best)};
    }
    for (const TreeRow& row : rows) {
      if (row.heads.size() != sentence.words.size()) {
        fail("sentence {} has {} words in {}, but {} in {}", number, row.heads.size(), trees_name,
             sentence.words.size(), options.gold);
      }
      labeled &= !row.labels.empty();
      gold_labeled &= std::ranges::find(sentence.relations, "_") == sentence.relations.end();
      sum += row.labels.empty() ? evaluate(row.heads, sentence.heads)
                                : evaluate(row.heads, sentence.heads, names(row.labels),
                                           names(sentence.relations));
    }
    ++evaluated;
    rows.clear();
  };
  AnyRow row;
  while (trees->next(row)) {
    if (std::holds_alternative<FailedRow>(row)) ++failed;
    if (!std::holds_alternative<TreeRow>(row)) continue;
    TreeRow& tree = std::get<TreeRow>(row);
    if (!rows.empty() && rows[0].sentence != tree.sentence) {
      if (tree.sentence < rows[0].sentence) {
        fail("{}: sentence {} comes after sentence {}; trees must be in the order of the gold file",
             trees_name, tree.sentence, rows[0].sentence);
      }
      finish();
    }
    rows.push_back(std::move(tree));
  }
  finish();
  if (evaluated == 0) {
    fail("{} has no trees to compare{}", trees_name,
         failed == 0 ? "" : fmt::format(": all of its {} sentences failed", failed));
  }
  if (sum.words == 0) fail("there is nothing to compare: no tree of {} has a word", trees_name);
  while (gold.next(sentence)) ++read;
  std::string text = fmt::format("sentences  {}", evaluated);
  // Gold sentences without a tree that was compared do not go unsaid.
  if (evaluated < read) text += fmt::format(" of {} in {}", read, options.gold);
  text += fmt::format("\nwords      {}\n", sum.words);
  text += fmt::format("UAS        {:.4f}\n", sum.uas());
  if (labeled) {
    text += gold_labeled
                ? fmt::format("LAS        {:.4f}\n", sum.las())
                : fmt::format("LAS        - ({} has words without a relation)\n", options.gold);
  }
  text += fmt::format("exact      {:.4f}\n",
                      static_cast<double>(sum.exact) / static_cast<double>(sum.trees));
  if (failed > 0) text += fmt::format("failed     {}\n", failed);
  OutputFile out("");
  out.write(text);
  out.commit();
  return failed > 0 ? kSomeFailed : kAllFine;
}

}  // namespace taproot::cli

// SPDX-License-Identifier: Apache-2.0
//
// CoNLL-U through the command line's reader and writer, and the evaluation of trees.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "arrays.h"
#include "error.h"
#include "formats/formats.h"
#include "gil.h"
#include "input/words.h"
#include "module.h"
#include "taproot/decode.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace taproot::python {
namespace {

using Heads = Contiguous<const std::int32_t>;
using Strings = std::vector<std::string>;

// action(), with what is wrong in a file as a ValueError.
template <typename Action>
auto as_value_error(Action&& action) {
  try {
    return action();
  } catch (const cli::InputError& error) {
    throw nb::value_error(error.what());
  }
}

// Of each sentence: words, heads, relations, lines, and the line of each word.
using Block =
    std::tuple<Strings, NumpyArray<std::int32_t>, Strings, Strings, std::vector<std::size_t>>;

std::vector<Block> read_conllu(const std::string& path) {
  std::vector<cli::WordSentence> sentences;
  as_value_error([&] {
    const Released released;
    cli::WordReader reader(path, true);
    for (cli::WordSentence sentence; reader.next(sentence);) {
      sentences.push_back(std::move(sentence));  // next() clears what is left.
    }
  });
  std::vector<Block> blocks;
  for (cli::WordSentence& s : sentences) {
    const std::size_t n = s.heads.size();
    blocks.emplace_back(std::move(s.words), to_numpy(std::move(s.heads), {n}),
                        std::move(s.relations), std::move(s.lines), std::move(s.line_of_word));
  }
  return blocks;
}

// Of each tree: sentence, heads, labels (none, or one per word) and log_prob.
using TreeOfFile =
    std::tuple<std::size_t, NumpyArray<std::int32_t>, Strings, std::optional<double>>;

// The trees of a CoNLL-U file, and how many of its sentences failed.
std::tuple<std::vector<TreeOfFile>, std::size_t> read_conllu_trees(const std::string& path) {
  std::vector<cli::TreeRow> rows;
  std::size_t failed = 0;
  as_value_error([&] {
    const Released released;
    const auto reader = cli::conllu_reader(path);
    for (cli::AnyRow row; reader->next(row);) {
      if (auto* const tree = std::get_if<cli::TreeRow>(&row)) rows.push_back(std::move(*tree));
      if (std::holds_alternative<cli::FailedRow>(row)) ++failed;
    }
  });
  std::vector<TreeOfFile> trees;
  for (cli::TreeRow& row : rows) {
    const std::size_t n = row.heads.size();
    trees.emplace_back(row.sentence, to_numpy(std::move(row.heads), {n}), std::move(row.labels),
                       row.log_prob);
  }
  return {std::move(trees), failed};
}

class ConlluWriter {
 public:
  ConlluWriter(const std::string& path, bool many, bool ranked) {
    const auto kind = !many    ? cli::IndexKind::kNone
                      : ranked ? cli::IndexKind::kRank
                               : cli::IndexKind::kSample;
    writer_ = as_value_error([&] { return cli::conllu_writer(path, kind); });
  }

  void sentence(std::size_t number, Strings words, Strings lines,
                std::vector<std::size_t> line_of_word) {
    cli::WordSentence sentence;
    sentence.words = std::move(words);
    sentence.lines = std::move(lines);
    sentence.line_of_word = std::move(line_of_word);
    const auto n = static_cast<int>(sentence.words.size());
    as_value_error([&] { writer_->sentence(number, n, &sentence); });
  }

  void tree(std::size_t number, std::size_t index, Heads heads, Strings labels,
            std::optional<double> score, std::optional<double> log_prob,
            std::optional<double> gumbel, std::optional<double> weight) {
    const std::vector<std::int32_t> copy(heads.data(), heads.data() + heads.size());
    as_value_error([&] {
      writer_->tree({number, index, copy, std::move(labels), score, log_prob, gumbel, weight});
    });
  }

  void exhausted(std::size_t number, std::size_t trees) {
    as_value_error([&] { writer_->exhausted({number, trees}); });
  }

  void finish() {
    as_value_error([&] { writer_->finish(); });
  }

 private:
  std::unique_ptr<cli::TreeWriter> writer_;
};

// words, heads, labels, trees, exact
std::tuple<std::size_t, std::size_t, std::size_t, std::size_t, std::size_t> evaluate_one(
    Heads heads, Heads gold, std::optional<Heads> labels, std::optional<Heads> gold_labels) {
  const Attachment found =
      labels && gold_labels ? evaluate(span(heads), span(gold), span(*labels), span(*gold_labels))
                            : evaluate(span(heads), span(gold));
  return {found.words, found.heads, found.labels, found.trees, found.exact};
}

}  // namespace

void init_files(nb::module_& m) {
  m.def("read_conllu", &read_conllu, "path"_a);
  m.def("read_conllu_trees", &read_conllu_trees, "path"_a);
  nb::class_<ConlluWriter>(m, "ConlluWriter")
      .def(nb::init<const std::string&, bool, bool>(), "path"_a, "many"_a, "ranked"_a)
      .def("sentence", &ConlluWriter::sentence, "number"_a, "words"_a, "lines"_a, "line_of_word"_a)
      .def("tree", &ConlluWriter::tree, "number"_a, "index"_a, nb::arg("heads").noconvert(),
           "labels"_a, nb::arg("score").none(), nb::arg("log_prob").none(),
           nb::arg("gumbel").none(), nb::arg("weight").none())
      .def("exhausted", &ConlluWriter::exhausted, "number"_a, "trees"_a)
      .def("finish", &ConlluWriter::finish);
  m.def("evaluate", &evaluate_one, nb::arg("heads").noconvert(), nb::arg("gold").noconvert(),
        nb::arg("labels").noconvert().none(), nb::arg("gold_labels").noconvert().none());
}

}  // namespace taproot::python

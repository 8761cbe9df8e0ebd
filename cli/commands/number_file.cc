// SPDX-License-Identifier: Apache-2.0
#include "commands/number_file.h"

#include <cmath>
#include <memory>
#include <utility>

#include "background.h"
#include "formats/line_writer.h"

namespace taproot::cli {

int NumberSink::finish() {
  if (format_ == Format::kNpz) {
    write_npz(file_, name_, arrays());
  } else {
    flush();  // A header stands alone where there are no sentences.
  }
  file_.commit();
  return failed_ ? kSomeFailed : kAllFine;
}

NumberFile::NumberFile(const Options& options, std::string key)
    : NumberSink(options), key_(std::move(key)), of_edges_(key_ == "marginals") {}

void NumberFile::sentence(const Chunk& chunk, std::size_t i, const Outcome& outcome,
                          std::span<const double> values) {
  const Sentence& sentence = chunk.sentences[i];
  failed_ |= !outcome.ok();
  if (format_ == Format::kNpz) {
    lengths_.put(static_cast<std::int32_t>(sentence.n));
    if (outcome.ok()) {
      numbers_.write(values.data(), values.size_bytes());
    } else {
      const std::size_t side = static_cast<std::size_t>(sentence.n) + 1;
      for (std::size_t j = 0; j < (of_edges_ ? side * side : 1); ++j)
        numbers_.put(static_cast<double>(NAN));
    }
    return;
  }
  if (!outcome.ok()) {
    write_failure(line_, format_, chunk.failure(i, outcome));
  } else if (format_ == Format::kJsonl) {
    line_.text(fmt::format(R"({{"sentence":{},"n":{},"status":"ok","{}":)", sentence.number,
                           sentence.n, key_));
    if (of_edges_) {
      matrix(values, static_cast<std::size_t>(sentence.n) + 1);
    } else {
      line_.number(values[0]);
    }
    line_.text("}\n");
  } else {
    line_.text(fmt::format("{} {} {}\n", sentence.number, sentence.n, values[0]));
  }
  line_.flush_if_full(file_);
}

void NumberFile::matrix(std::span<const double> values, std::size_t side) {
  for (std::size_t h = 0; h < side; ++h) {
    line_.text(h == 0 ? "[[" : ",[");
    for (std::size_t m = 0; m < side; ++m) {
      if (m > 0) line_.byte(',');
      line_.number(values[h * side + m]);
    }
    line_.byte(']');
  }
  line_.byte(']');
}

std::vector<NpyArray> NumberFile::arrays() {
  return {spilled_array(key_, "<f8", sizeof(double), numbers_),
          spilled_array("lengths", "<i4", sizeof(std::int32_t), lengths_)};
}

int write_numbers(const Options& options, const OpenSink& open, const NumberQuery& query) {
  Engine engine(options);
  ChunkReader reader(options, 1);
  const std::unique_ptr<NumberSink> file = open(reader.label_names());
  Background writing(engine.pool().threads() > 1);
  for (auto chunk = std::make_shared<Chunk>(); reader.next(*chunk);
       chunk = std::make_shared<Chunk>()) {
    DependencyTrees trees = engine.trees(*chunk, false);
    auto numbers = std::make_shared<std::vector<std::vector<double>>>();
    const std::vector<Outcome> outcomes = query(trees, *numbers);
    writing.run([&file, chunk, numbers, outcomes] {
      for (std::size_t i = 0; i < chunk->size(); ++i) {
        file->sentence(*chunk, i, outcomes[i], (*numbers)[i]);
      }
      file->flush();
    });
  }
  writing.wait();
  return file->finish();
}

int write_scalars(const Options& options, const char* key,
                  std::vector<Outcome> (DependencyTrees::*question)(std::span<double>)) {
  const auto open = [&](const std::vector<std::string>&) {
    return std::make_unique<NumberFile>(options, key);
  };
  return write_numbers(options, open,
                       [&](DependencyTrees& trees, std::vector<std::vector<double>>& numbers) {
                         std::vector<double> values(trees.size());
                         std::vector<Outcome> outcomes = (trees.*question)(values);
                         for (const double value : values) numbers.push_back({value});
                         return outcomes;
                       });
}

}  // namespace taproot::cli

// SPDX-License-Identifier: Apache-2.0
#include "commands/number_file.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "error.h"
#include "io/archive_writer.h"

namespace taproot::cli {
namespace {

Format format_among(const Options& options, const std::string& key,
                    std::span<const Format> formats) {
  const Format format = chosen_format(options.format, options.output);
  if (std::ranges::find(formats, format) != formats.end()) return format;
  std::string names;
  for (const Format one : formats)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", to_string(one));
  fail("{} cannot be written as {}; choose one of {}", key, to_string(format), names);
}

}  // namespace

NumberFile::NumberFile(const Options& options, std::string key, std::span<const Format> formats)
    : name_(options.output),
      key_(std::move(key)),
      format_(format_among(options, key_, formats)),
      file_(options.output) {
  if (format_ == Format::kNpz && name_.empty()) {
    fail("an .npz archive cannot be written to standard output; name a file with -o");
  }
}

void NumberFile::sentence(const Chunk& chunk, std::size_t i, const Outcome& outcome,
                          std::span<const double> values) {
  const Sentence& sentence = chunk.sentences[i];
  failed_ |= !outcome.ok();
  if (format_ == Format::kNpz) {
    lengths_.put(static_cast<std::int32_t>(sentence.n));
    numbers_.write(values.data(), values.size_bytes());
    return;
  }
  if (!outcome.ok()) {
    failure(chunk.failure(i, outcome));
  } else if (format_ == Format::kJsonl) {
    line_.text(fmt::format(R"({{"sentence":{},"n":{},"status":"ok","{}":)", sentence.number,
                           sentence.n, key_));
    if (values.size() == 1) {
      line_.number(values[0]);
    } else {
      matrix(values, static_cast<std::size_t>(sentence.n) + 1);
    }
    line_.text("}\n");
  } else {
    line_.text(fmt::format("{} {} {}\n", sentence.number, sentence.n, values[0]));
  }
  line_.flush_if_full(file_);
}

void NumberFile::failure(const FailedRow& row) {
  if (format_ == Format::kJsonl) {
    line_.text(fmt::format(R"({{"sentence":{},"status":{},"message":{}}})"
                           "\n",
                           row.sentence, nlohmann::json(row.status).dump(),
                           nlohmann::json(row.message).dump()));
  } else {
    line_.text(fmt::format("# sentence {}: {}: {}\n", row.sentence, row.status, row.message));
  }
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

int NumberFile::finish() {
  if (format_ == Format::kNpz) {
    write_npz(file_, name_,
              {spilled_array(key_, "<f8", sizeof(double), numbers_),
               spilled_array("lengths", "<i4", sizeof(std::int32_t), lengths_)});
  } else {
    line_.flush(file_);
  }
  file_.commit();
  return failed_ ? kSomeFailed : kAllFine;
}

int write_scalars(const Options& options, const char* key, const ScalarQuery& query) {
  constexpr Format kFormats[] = {Format::kJsonl, Format::kNpz, Format::kText};
  ChunkReader reader(options, 1);
  NumberFile file(options, key, kFormats);
  Chunk chunk;
  while (reader.next(chunk)) {
    const Scores scores(chunk.views, options.root);
    std::vector<Outcome> outcomes(chunk.size());
    std::vector<double> values(chunk.size(), NAN);
    query(scores, outcomes, values);
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      file.sentence(chunk, i, outcomes[i], std::span(values).subspan(i, 1));
    }
  }
  return file.finish();
}

}  // namespace taproot::cli

// SPDX-License-Identifier: Apache-2.0
//
// Commands that write numbers: logz, entropy, marginals.
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "chunk.h"
#include "commands/commands.h"
#include "commands/on_device.h"
#include "error.h"
#include "output_file.h"
#include "taproot/taproot.h"
#include "trees/npz_archive.h"
#include "trees/spill.h"
#include "trees/tree_writer.h"

namespace taproot::cli {
namespace {

// One line of JSON for a sentence that has no answer.
void write_failure(const FailedRow& row, fmt::memory_buffer& line) {
  fmt::format_to(std::back_inserter(line), "{{\"sentence\":{},\"status\":{},\"message\":{}}}\n",
                 row.sentence, nlohmann::json(row.status).dump(),
                 nlohmann::json(row.message).dump());
}

// Numbers that were written one after the other, as a one-dimensional array.
NpyArray spilled(const char* name, const char* type, std::size_t width, Spill& numbers) {
  NpyArray array{name, type, {numbers.size() / width}, numbers.size(), {}, {}};
  array.rewind = [&numbers] { numbers.rewind(); };
  array.next = [&numbers](std::vector<char>& piece) {
    piece.resize(std::min<std::size_t>(numbers.left(), std::size_t{1} << 20));
    numbers.read(piece.data(), piece.size());
  };
  return array;
}

// What a command writes: lines of text, or numbers and lengths.
class NumberFile {
 public:
  NumberFile(const Options& options, Format format)
      : name_(options.output), is_npz_(format == Format::kNpz), file_(options.output) {
    if (is_npz_ && name_.empty()) fail("npz needs a file: use -o FILE.npz");
  }
  bool is_npz() const { return is_npz_; }
  void text(const fmt::memory_buffer& lines) { file_.write({lines.data(), lines.size()}); }
  void sentence(int n, std::span<const double> values) {
    if (!is_npz_) return;
    lengths_.put(static_cast<std::int32_t>(n));
    numbers_.write(values.data(), values.size_bytes());
  }
  void finish(const char* key) {
    if (is_npz_) {
      write_npz(file_, name_,
                {spilled(key, "<f8", 8, numbers_), spilled("lengths", "<i4", 4, lengths_)});
    }
    file_.commit();
  }

 private:
  std::string name_;
  bool is_npz_;
  OutputFile file_;
  Spill numbers_{file_.temporary()};
  Spill lengths_{file_.temporary()};
};

using Query = std::function<void(const Scores&, std::span<Outcome>, std::span<double>)>;

int run_scalar(const Options& options, const char* key, const Query& query) {
  const Format format =
      options.format.empty() ? format_of(options.output) : format_named(options.format);
  if (format == Format::kConllu)
    fail("numbers cannot be written as conllu: use jsonl, npz or text");
  ChunkReader reader(options, 1);
  NumberFile file(options, format);
  bool failed = false;
  Chunk chunk;
  while (reader.next(chunk)) {
    const Scores scores(chunk.views, options.root);
    std::vector<Outcome> outcomes(chunk.size());
    std::vector<double> values(chunk.size(), NAN);
    query(scores, outcomes, values);
    fmt::memory_buffer lines;
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      const std::size_t number = chunk.sentences[i].number;
      const int n = chunk.sentences[i].n;
      failed |= !outcomes[i].ok();
      file.sentence(n, std::span(values).subspan(i, 1));
      if (file.is_npz()) continue;
      if (!outcomes[i].ok()) {
        const FailedRow row = chunk.failure(i, outcomes[i]);
        if (format == Format::kJsonl) {
          write_failure(row, lines);
        } else {
          fmt::format_to(std::back_inserter(lines), "# sentence {}: {}: {}\n", number, row.status,
                         row.message);
        }
      } else if (format == Format::kJsonl) {
        fmt::format_to(std::back_inserter(lines),
                       "{{\"sentence\":{},\"n\":{},\"status\":\"ok\",\"{}\":{}}}\n", number, n, key,
                       values[i]);
      } else {
        fmt::format_to(std::back_inserter(lines), "{} {} {}\n", number, n, values[i]);
      }
    }
    if (!file.is_npz()) file.text(lines);
  }
  file.finish(key);
  return failed ? kSomeFailed : kAllFine;
}

}  // namespace

int run_logz(const Options& options) {
  return on_device(options, [&](auto& where) {
    return run_scalar(options, "log_partition", [&](const Scores& scores, auto outcomes, auto out) {
      log_partition(where, scores, outcomes, out);
    });
  });
}

int run_entropy(const Options& options) {
  Pool pool(options.threads);
  return run_scalar(options, "entropy", [&](const Scores& scores, auto outcomes, auto out) {
    entropy(pool, scores, outcomes, out);
  });
}

namespace {

template <typename Where>
int write_marginals(const Options& options, Where& where) {
  const Format format =
      options.format.empty() ? format_of(options.output) : format_named(options.format);
  if (format == Format::kConllu || format == Format::kText) {
    fail("marginals are written as jsonl or npz");
  }
  ChunkReader reader(options, 1);
  NumberFile file(options, format);
  bool failed = false;
  Chunk chunk;
  while (reader.next(chunk)) {
    const Scores scores(chunk.views, options.root);
    std::vector<Outcome> outcomes(chunk.size());
    std::vector<std::vector<double>> matrices(chunk.size());
    std::vector<EdgeMatrix> out;
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      const std::size_t side = static_cast<std::size_t>(chunk.sentences[i].n) + 1;
      matrices[i].assign(side * side, NAN);
      out.push_back({matrices[i].data(), static_cast<std::ptrdiff_t>(side)});
    }
    marginals(where, scores, outcomes, out);
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      const int n = chunk.sentences[i].n;
      failed |= !outcomes[i].ok();
      file.sentence(n, matrices[i]);
      if (file.is_npz()) continue;
      fmt::memory_buffer line;
      if (!outcomes[i].ok()) {
        write_failure(chunk.failure(i, outcomes[i]), line);
      } else {
        fmt::format_to(std::back_inserter(line),
                       R"({{"sentence":{},"n":{},"status":"ok","marginals":[)",
                       chunk.sentences[i].number, n);
        const auto side = static_cast<std::size_t>(n) + 1;
        for (std::size_t h = 0; h < side; ++h) {
          fmt::format_to(std::back_inserter(line), "{}[", h == 0 ? "" : ",");
          for (std::size_t m = 0; m < side; ++m) {
            fmt::format_to(std::back_inserter(line), "{}{}", m == 0 ? "" : ",",
                           matrices[i][h * side + m]);
          }
          line.push_back(']');
        }
        fmt::format_to(std::back_inserter(line), "]}}\n");
      }
      file.text(line);
    }
  }
  file.finish("marginals");
  return failed ? kSomeFailed : kAllFine;
}

}  // namespace

int run_marginals(const Options& options) {
  return on_device(options, [&](auto& where) { return write_marginals(options, where); });
}

}  // namespace taproot::cli

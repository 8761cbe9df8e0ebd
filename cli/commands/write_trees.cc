// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "background.h"
#include "commands/tree_results.h"
#include "formats/tree_writer.h"

namespace taproot::cli {
namespace {

// Heads of a piece. Their text has some 30 KB as JSON lines, and some 400 KB as CoNLL-U.
constexpr std::size_t kPieceHeads = std::size_t{1} << 13;
// What else is written of a tree takes as much text as this many heads.
constexpr std::size_t kTreeHeads = 8;
// So many bytes of a sentence's words or lines count as a head, if that gives more than its heads.
constexpr std::size_t kHeadBytes = 64;
// Heads that a device samples at a time, so that it is not called too often.
constexpr std::size_t kDeviceHeads = std::size_t{1} << 20;

// Pieces that become text before any of them is written: many enough for threads that end their
// last piece at different times, few enough for a small memory where there are many threads. With
// what else there is to do they are at most 16 for each thread, which is what a loop is cut into.
std::size_t pieces_at_a_time(const Pool& pool) {
  const auto threads = static_cast<std::size_t>(pool.threads());
  return std::min(16 * threads - 1, std::clamp<std::size_t>(2 * threads, 64, 256));
}

// A place among the trees of a chunk.
struct Place {
  std::size_t sentence = 0;
  std::size_t tree = 0;
};

// How many heads the text of a tree counts for. Some formats repeat all words of the sentence, or
// all its lines.
std::size_t size_of_tree(std::size_t n, const WordSentence* words) {
  std::size_t bytes = 0;
  if (words != nullptr) {
    const bool has_lines = !words->lines.empty();
    for (const std::string& text : has_lines ? words->lines : words->words) bytes += text.size();
  }
  return std::max(n + kTreeHeads, bytes / kHeadBytes);
}

// Moves `at` to the end of the piece that begins there, and returns how many heads that has:
// kPieceHeads or more, unless the trees end. What follows the last tree of a sentence is in the
// same piece as that tree.
std::size_t skip_piece(const Chunk& chunk, const ChunkTrees& trees, Place& at) {
  std::size_t heads = 0;
  while (heads < kPieceHeads && at.sentence < trees.sentences.size()) {
    const SentenceTrees& own = trees.sentences[at.sentence];
    const std::size_t each = size_of_tree(own.n, chunk.words_of(at.sentence));
    const std::size_t taken = std::min(own.count - at.tree, (kPieceHeads - heads) / each + 1);
    heads += std::max<std::size_t>(1, taken) * each;
    at.tree += taken;
    if (at.tree == own.count) at = {at.sentence + 1, 0};
  }
  return heads;
}

// Writes the trees of a piece; returns whether some sentence failed.
bool write_piece(TreeWriter& writer, const Context& context, const ChunkTrees& trees,
                 const Place& begin, const Place& end) {
  bool failed = false;
  TreeRow row;
  std::size_t s = begin.tree;
  for (std::size_t i = begin.sentence; i <= end.sentence; ++i, s = 0) {
    const bool ends = i < end.sentence;
    if (!ends && end.tree == 0) break;
    const SentenceTrees& own = trees.sentences[i];
    writer.sentence(context.number(i), context.chunk.sentences[i].n, context.chunk.words_of(i));
    for (; s < (ends ? own.count : end.tree); ++s) {
      fill_row(context, i, own, s, row);
      row.index = trees.first_tree + s;
      writer.tree(row);
    }
    if (!ends || !trees.last) continue;
    if (!own.outcome.ok()) {
      failed = true;
      writer.failed(context.chunk.failure(i, own.outcome));
    } else if (own.exhausted) {
      writer.exhausted({context.number(i), own.count});
    }
  }
  return failed;
}

// Makes the text of trees on all threads, and writes it while they go on with the trees after them.
class Output {
 public:
  Output(const Options& options, IndexKind kind, Pool& pool)
      : options_(options),
        pool_(pool),
        writer_(TreeWriter::open(options.format, options.output, kind)),
        writing_(pool.threads() > 1) {
    for (auto& wave : waves_) {
      wave.resize(pieces_at_a_time(pool));
      for (Part& part : wave) part.text = writer_->part();
    }
  }
  // After an error, which is reported: what was finished before it is written, too.
  ~Output() {
    try {
      add_written();
    } catch (...) {
    }
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  // Takes the trees if the format has no text; else they are no longer needed afterwards.
  void write(const std::shared_ptr<const Chunk>& chunk, const std::vector<std::string>& label_names,
             ChunkTrees& trees) {
    const auto put = [=, this, &label_names](TreeWriter& writer, const ChunkTrees& from,
                                             const Place& begin, const Place& end) {
      const Context context{options_, *chunk, label_names};
      if (write_piece(writer, context, from, begin, end)) failed_ = true;
    };
    if (waves_[0].front().text == nullptr) {
      const auto taken = std::make_shared<const ChunkTrees>(std::move(trees));
      writing_.run([=, this] { put(*writer_, *taken, {}, {taken->sentences.size(), 0}); });
      return;
    }
    for (Place at; at.sentence < trees.sentences.size();) {
      std::swap(waves_[0], waves_[1]);
      const std::span<Part> parts = cut(*chunk, trees, at);
      // One thread writes the wave before, while the others make the text of this one.
      pool_.for_each(parts.size() + 1, [&](std::size_t i) {
        if (i == 0) return add_written();
        // What cannot be written is reported in the order of the trees, whichever thread was first.
        Part& part = parts[i - 1];
        try {
          put(*part.text, trees, part.begin, part.end);
        } catch (...) {
          part.error = std::current_exception();
        }
      });
      written_ = parts;
    }
  }

  int finish() {
    add_written();
    writing_.wait();
    writer_->finish();
    return failed_ ? kSomeFailed : kAllFine;
  }

 private:
  struct Part {
    Place begin;
    Place end;
    std::unique_ptr<TreeWriter> text;  // Null if the format has none.
    std::exception_ptr error;          // Why the rest of it could not be written.
  };

  // Writes the parts whose text is made.
  void add_written() {
    for (const Part& part : std::exchange(written_, {})) {
      writer_->add(*part.text);
      if (part.error != nullptr) std::rethrow_exception(part.error);
    }
  }

  // The next parts from `at` on; moves `at` to their end.
  std::span<Part> cut(const Chunk& chunk, const ChunkTrees& trees, Place& at) {
    std::vector<Part>& wave = waves_[0];
    std::size_t count = 0;
    std::size_t heads = 0;
    while (count < wave.size() && heads < wave.size() * kPieceHeads &&
           at.sentence < trees.sentences.size()) {
      Part& part = wave[count++];
      part.begin = at;
      heads += skip_piece(chunk, trees, at);
      part.end = at;
    }
    return std::span(wave).first(count);
  }

  const Options& options_;
  Pool& pool_;
  std::unique_ptr<TreeWriter> writer_;
  std::atomic<bool> failed_ = false;
  std::array<std::vector<Part>, 2> waves_;  // What is made, and what is written meanwhile.
  std::span<const Part> written_;           // What is still to be written of the latter.
  Background writing_;                      // The last member, because its job uses the others.
};

}  // namespace

std::size_t trees_at_a_time(const Options& options, const Pool& pool, int n) {
  const std::size_t heads =
      options.device == Device::kCuda ? kDeviceHeads : kPieceHeads * pieces_at_a_time(pool);
  return std::max<std::size_t>(1, heads / (static_cast<std::size_t>(n) + kTreeHeads));
}

int write_trees(const Options& options, IndexKind kind, std::size_t trees, const TreeQuery& query) {
  Engine engine(options);
  ChunkReader reader(options, trees);
  Output output(options, kind, engine.pool());
  for (auto chunk = std::make_shared<Chunk>(); reader.next(*chunk);
       chunk = std::make_shared<Chunk>()) {
    query(engine, {options, *chunk, reader.label_names()},
          [&](ChunkTrees& found) { output.write(chunk, reader.label_names(), found); });
  }
  return output.finish();
}

int write_decoded(const Options& options, Decoder decoder) {
  return write_trees(options, IndexKind::kNone, 1,
                     [&](Engine& engine, const Context& context, const GiveTrees& give) {
                       DependencyTrees trees = engine.trees(context.chunk, false);
                       ChunkTrees found{decoded_trees(trees, decoder)};
                       give(found);
                     });
}

}  // namespace taproot::cli

// SPDX-License-Identifier: Apache-2.0
#include "input/score_source.h"

#include <span>
#include <tuple>
#include <utility>

#include "error.h"
#include "input/lengths.h"
#include "io/archive.h"
#include "io/npy_reader.h"
#include "io/standard_input.h"

namespace taproot::cli {
namespace {

template <typename Action>
void with_values(Sentence& sentence, bool is_double, const Action& action) {
  sentence.is_double = is_double;
  if (is_double) {
    sentence.narrow.clear();
    action(sentence.wide);
  } else {
    sentence.wide.clear();
    action(sentence.narrow);
  }
}

// The number of words of a matrix with `side` rows and columns.
int words(const NpyReader& in, std::uint64_t side) {
  if (side == 0 || side - 1 > static_cast<std::uint64_t>(kMostWords)) {
    fail("{} has shape {}; a sentence of n words has n+1 rows and columns, n from 0 to {}",
         in.name(), in.header().shape_text(), kMostWords);
  }
  return static_cast<int>(side) - 1;
}

int check_square(const NpyReader& in) {
  in.require_floats();
  const auto& shape = in.header().shape;
  if (shape.size() != 2 || shape[0] != shape[1]) {
    fail("{} must be a square matrix (n+1, n+1), and has shape {}", in.name(),
         in.header().shape_text());
  }
  return words(in, shape[0]);
}

void read_square(NpyReader& in, Sentence& sentence) {
  sentence.n = check_square(in);
  const auto side = static_cast<std::size_t>(sentence.n) + 1;
  in.require_plausible(side * side * in.header().width);
  with_values(sentence, in.is_double(), [&](auto& values) {
    in.read(values, 0, side * side);
    values.resize(side * side);
    if (!in.header().fortran) return;
    for (std::size_t i = 0; i < side; ++i) {
      for (std::size_t j = 0; j < i; ++j) std::swap(values[i * side + j], values[j * side + i]);
    }
  });
  in.finish();
}

// .npy with one matrix.
class MatrixSource final : public ScoreSource {
 public:
  explicit MatrixSource(NpyReader in) : in_(std::move(in)) { check_square(in_); }

  std::size_t count() const override { return 1; }
  void skip(std::size_t) override {}
  void read(Sentence& sentence) override { read_square(in_, sentence); }

 private:
  NpyReader in_;
};

// A batch (B, N+1, N+1): an .npy file, or `scores` of an .npz that has no `lengths`.
class PaddedSource final : public ScoreSource {
 public:
  PaddedSource(NpyReader in, const PaddedLengths& lengths, std::size_t first)
      : in_(std::move(in)), use_lengths_(!lengths.path.empty()) {
    const auto& shape = in_.header().shape;
    if (shape[1] != shape[2]) {
      fail("{} must be a batch of square matrices (B, N+1, N+1), and has shape {}", in_.name(),
           in_.header().shape_text());
    }
    const int most = words(in_, shape[1]);
    count_ = static_cast<std::size_t>(shape[0]);
    side_ = static_cast<std::size_t>(shape[1]);
    if (use_lengths_) take_lengths(lengths, first, most);
    constexpr std::uint64_t kMostInMemory = std::uint64_t{1} << 30;
    const std::uint64_t bytes = in_.header().count * (in_.is_double() ? 8 : 4);
    if (in_.header().fortran && bytes > kMostInMemory) {
      fail(
          "{} is in Fortran order and too large to be kept ({} bytes); save it in C order, with "
          "numpy.ascontiguousarray",
          in_.name(), bytes);
    }
  }

  std::size_t count() const override { return count_; }
  std::size_t lengths_used() const override { return use_lengths_ ? count_ : 0; }

  void skip(std::size_t sentences) override {
    at_ += sentences;
    if (!in_.header().fortran) in_.skip(sentences * side_ * side_);
  }

  void read(Sentence& sentence) override {
    sentence.n = use_lengths_ ? lengths_[at_] : static_cast<int>(side_) - 1;
    in_.require_plausible(in_.header().fortran ? in_.header().count * in_.header().width
                                               : cells(sentence.n) * in_.header().width);
    with_values(sentence, in_.is_double(), [&](auto& values) {
      if (in_.header().fortran) {
        gather(values, static_cast<std::size_t>(sentence.n) + 1);
      } else {
        in_.read_corner(values, static_cast<std::size_t>(sentence.n) + 1, side_, 1);
      }
    });
    if (++at_ == count_) in_.finish();
  }

 private:
  void take_lengths(const PaddedLengths& lengths, std::size_t first, int most) {
    const std::size_t left = lengths.values.size() - first;
    if (left < count_) {
      fail("{} has {} lengths, which are too few; {} has {} sentences, for which {} are left",
           lengths.path, lengths.values.size(), in_.name(), count_, left);
    }
    lengths_ = std::span(lengths.values).subspan(first, count_);
    for (std::size_t i = 0; i < count_; ++i) {
      if (lengths_[i] > most) {
        fail("{}: length {} is {}, outside 0..{}, because {} has shape {}; {}", lengths.path,
             first + i, lengths_[i], most, in_.name(), in_.header().shape_text(),
             kLengthsCountWords);
      }
    }
  }

  // In Fortran order a sentence is spread over the whole array, so the array is kept in memory.
  template <typename T>
  void gather(std::vector<T>& values, std::size_t side) {
    auto& all = std::get<std::vector<T>>(all_);
    if (all.empty()) in_.read(all, 0, static_cast<std::size_t>(in_.header().count));
    values.resize(side * side);
    for (std::size_t i = 0; i < side; ++i) {
      for (std::size_t j = 0; j < side; ++j) {
        values[i * side + j] = all[at_ + count_ * (i + side_ * j)];
      }
    }
  }

  NpyReader in_;
  bool use_lengths_;
  std::size_t count_ = 0;
  std::size_t side_ = 0;
  std::size_t at_ = 0;
  std::span<const std::int32_t> lengths_;
  std::tuple<std::vector<float>, std::vector<double>> all_;  // Fortran order only; one is empty.
};

// .npz with `scores`, padded or one sentence after the other, and `lengths`.
class RaggedSource final : public ScoreSource {
 public:
  explicit RaggedSource(const Archive& archive) : array_(archive, "scores", 1) {}

  std::size_t count() const override { return array_.lengths().size(); }
  void skip(std::size_t sentences) override { array_.skip(sentences); }
  void read(Sentence& sentence) override {
    sentence.n = array_.lengths()[array_.at()];
    with_values(sentence, array_.values().is_double(), [&](auto& values) { array_.read(values); });
  }

 private:
  RaggedArray array_;
};

// .npz with one array per sentence.
class EntriesSource final : public ScoreSource {
 public:
  explicit EntriesSource(Archive archive) : archive_(std::move(archive)) {}

  std::size_t count() const override { return archive_.entries().size(); }
  void skip(std::size_t sentences) override { at_ += sentences; }
  void read(Sentence& sentence) override {
    const Archive::Entry& entry = archive_.entries()[at_++];
    const std::string name =
        fmt::format("{}: {} (sentence {})", archive_.path(), quoted(entry.name), sentence.number);
    NpyReader in(archive_.open(entry), name);
    if (in.header().shape.size() == 3) {
      fail(
          "{} is a batch of shape {}; a batch must have the name 'scores', with 'lengths' beside "
          "it",
          name, in.header().shape_text());
    }
    if (in.header().shape.size() == 1 && entry.name == "scores") {
      fail("{} has all sentences in one array, but there is no array 'lengths' beside it", name);
    }
    read_square(in, sentence);
  }

 private:
  Archive archive_;
  std::size_t at_ = 0;
};

std::unique_ptr<ScoreSource> open_npz(const std::string& path, const PaddedLengths& lengths,
                                      std::size_t first_length) {
  Archive archive(path);
  if (archive.entries().empty()) {
    fail(
        "{} is an archive without arrays; it must hold scores and lengths, or one matrix per "
        "sentence",
        archive.path());
  }
  if (archive.find("lengths") != nullptr) {
    if (archive.find("scores") == nullptr && archive.find("label_scores") != nullptr) {
      fail(
          "{} has the scores of labels and no scores of edges; give it with --label-scores, beside "
          "a file with the scores of edges, and the names of the labels with --labels",
          archive.path());
    }
    return std::make_unique<RaggedSource>(archive);
  }
  if (archive.find("scores") != nullptr) {
    NpyReader scores = open_array(archive, "scores");
    if (scores.header().shape.size() == 3) {
      scores.require_floats();
      return std::make_unique<PaddedSource>(std::move(scores), lengths, first_length);
    }
  }
  return std::make_unique<EntriesSource>(std::move(archive));
}

std::unique_ptr<ScoreSource> open_npy(const std::string& path, const PaddedLengths& lengths,
                                      std::size_t first_length) {
  const std::string name = shown_name(path);
  if (const std::string content = describe_content(path); content == "a zip archive") {
    fail("{} is not an .npy array but a zip archive; rename it to end in .npz", name);
  }
  NpyReader in(open_file(path), name);
  in.require_floats();
  const std::size_t dimensions = in.header().shape.size();
  if (dimensions == 2) return std::make_unique<MatrixSource>(std::move(in));
  if (dimensions == 3) {
    return std::make_unique<PaddedSource>(std::move(in), lengths, first_length);
  }
  fail("{} must be a matrix (n+1, n+1) or a batch (B, N+1, N+1), and has shape {}", name,
       in.header().shape_text());
}

}  // namespace

std::unique_ptr<ScoreSource> open_scores(const std::string& path, const PaddedLengths& lengths,
                                         std::size_t first_length) {
  if (path.ends_with(".npz")) return open_npz(path, lengths, first_length);
  if (path.ends_with(".npy")) return open_npy(path, lengths, first_length);
  const std::string content = describe_content(path);
  const bool array = content == "an .npy array";
  if (is_standard_input(path)) {
    if (array) return open_npy(path, lengths, first_length);
    if (content == "a zip archive") return open_npz(path, lengths, first_length);
    fail("standard input is {}; it must be an .npy array or an .npz archive", content);
  }
  if (array || content == "a zip archive") {
    fail("{} ends neither in .npy nor in .npz, but is {}; rename it to end in {}", path, content,
         array ? ".npy" : ".npz");
  }
  fail("{} ends neither in .npy nor in .npz, and is {}; the input must be .npy or .npz files", path,
       content);
}

}  // namespace taproot::cli

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "error.h"
#include "output_file.h"
#include "trees/formats.h"
#include "trees/line_buffer.h"
#include "trees/npz_archive.h"
#include "trees/spill.h"
#include "trees/utf8.h"

namespace taproot::cli {
namespace {

static_assert(std::endian::native == std::endian::little);

// lengths has an entry for every number up to the largest: a mistaken number should not fill the
// disk.
constexpr std::size_t kMostSentences = 100'000'000;
constexpr std::size_t kPiece = std::size_t{1} << 18;

// A number a row.
NpyArray column(std::string name, std::string type, std::uint64_t count, Spill& values) {
  NpyArray array{std::move(name), std::move(type), {count}, values.size(), {}, {}};
  array.rewind = [&values] { values.rewind(); };
  array.next = [&values](std::vector<char>& piece) {
    piece.resize(std::min(values.left(), kPiece));
    values.read(piece.data(), piece.size());
  };
  return array;
}

class NpzWriter final : public TreeWriter {
 public:
  NpzWriter(const std::string& file, IndexKind kind)
      : name_(checked(file)), file_(file), kind_(kind), beside_(file_.temporary()) {}

  void sentence(std::size_t number, int n, const WordSentence*) override { length_of(number) = n; }

  void tree(const TreeRow& row) override {
    const auto n = static_cast<std::int32_t>(row.heads.size());
    std::int32_t& length = length_of(row.sentence);
    if (length == 0) length = n;
    if (length != n) fail("sentence {}: {} heads for {} words", row.sentence, n, length);
    sentences_.put(static_cast<std::int64_t>(row.sentence));
    indices_.put(static_cast<std::int64_t>(row.index));
    heads_.put(n);
    heads_.write(row.heads.data(), row.heads.size() * sizeof(std::int32_t));
    longest_ = std::max(longest_, row.heads.size());
    for (Value& value : values_) {
      const std::optional<double>& number = row.*value.member;
      same_keys(row, value.name, number.has_value(), value.is_there);
      if (number) value.numbers.put(*number);
    }
    if (n > 0) same_keys(row, "labels", !row.labels.empty(), has_labels_);
    put_labels(row);
    ++rows_;
  }

  // An array has no place for what is not a tree.
  void failed(const FailedRow&) override {}
  void exhausted(const ExhaustedRow&) override {}

  void finish() override {
    std::vector<NpyArray> arrays;
    arrays.push_back(heads());
    if (has_labels_.value_or(false)) arrays.push_back(labels());
    for (Value& value : values_) {
      // Without rows nothing says which there are; log_prob is the one that all commands have.
      const bool nothing = rows_ == 0 && value.member == &TreeRow::log_prob;
      if (!value.is_there.value_or(nothing)) continue;
      arrays.push_back(column(value.name, "<f8", rows_, value.numbers));
    }
    arrays.push_back(column("sentence", "<i8", rows_, sentences_));
    if (kind_ != IndexKind::kNone) {
      arrays.push_back(column(std::string(index_name(kind_)), "<i8", rows_, indices_));
    }
    Spill lengths(beside_);
    lengths.write(lengths_.data(), lengths_.size() * sizeof(std::int32_t));
    arrays.push_back(column("lengths", "<i4", lengths_.size(), lengths));
    write_npz(file_, name_, arrays);
    file_.commit();
  }

 private:
  struct Value {
    const char* name;
    std::optional<double> TreeRow::*member;
    Spill numbers;
    std::optional<bool> is_there = std::nullopt;  // Unknown before the first row.
  };

  static const std::string& checked(const std::string& file) {
    if (file.empty()) fail("npz cannot go to standard output: give a file (-o)");
    return file;
  }

  std::int32_t& length_of(std::size_t sentence) {
    if (sentence >= kMostSentences) {
      fail("{}: sentence {}, but npz holds at most {}", name_, sentence, kMostSentences);
    }
    if (sentence >= lengths_.size()) lengths_.resize(sentence + 1);
    return lengths_[sentence];
  }

  static void same_keys(const TreeRow& row, const char* key, bool has, std::optional<bool>& all) {
    if (!all) all = has;
    if (*all == has) return;
    fail("sentence {}: a tree with{} {} among trees with{}: npz has no place for that",
         row.sentence, has ? "" : "out", key, has ? "out" : "");
  }

  void put_labels(const TreeRow& row) {
    for (const std::string& label : row.labels) {
      if (label.find('\0') != std::string::npos) {
        fail("sentence {}: a label holds the character 0, which npz cannot keep", row.sentence);
      }
      label_width_ = std::max(label_width_, count_code_points(label));
      label_text_.put(static_cast<std::uint32_t>(label.size()));
      label_text_.write(label.data(), label.size());
    }
  }

  // Rows of heads_, padded: as many as make a piece.
  NpyArray heads() {
    NpyArray array{"heads", "<i4", {rows_, longest_}, rows_ * longest_ * sizeof(std::int32_t),
                   {},      {}};
    array.rewind = [this] {
      heads_.rewind();
      rows_left_ = rows_;
    };
    array.next = [this](std::vector<char>& piece) {
      const std::size_t width = longest_ * sizeof(std::int32_t);
      const std::size_t count = std::min(rows_left_, kPiece / width + 1);
      piece.assign(count * width, static_cast<char>(-1));  // All bits: -1.
      for (std::size_t i = 0; i < count; ++i) {
        std::int32_t n = 0;
        heads_.read(&n, sizeof(n));
        heads_.read(piece.data() + i * width, static_cast<std::size_t>(n) * sizeof(n));
      }
      rows_left_ -= count;
    };
    return array;
  }

  // One row a piece. The lengths come from heads_, which therefore is read once more.
  NpyArray labels() {
    label_width_ = std::max<std::size_t>(label_width_, 1);
    NpyArray array{"labels", fmt::format("<U{}", label_width_), {rows_, longest_}, 0, {}, {}};
    array.bytes = rows_ * longest_ * label_width_ * sizeof(char32_t);
    array.rewind = [this] {
      heads_.rewind();
      label_text_.rewind();
    };
    array.next = [this](std::vector<char>& piece) {
      std::int32_t n = 0;
      heads_.read(&n, sizeof(n));
      row_.resize(static_cast<std::size_t>(n));
      heads_.read(row_.data(), row_.size() * sizeof(n));
      codes_.assign(longest_ * label_width_, 0);
      for (std::size_t i = 0; i < row_.size(); ++i) {
        std::uint32_t size = 0;
        label_text_.read(&size, sizeof(size));
        label_.resize(size);
        label_text_.read(label_.data(), size);
        bool valid = true;
        for (std::size_t at = 0, j = 0; at < label_.size(); ++j) {
          codes_[i * label_width_ + j] = next_code_point(label_, at, valid);
        }
      }
      piece.resize(codes_.size() * sizeof(char32_t));
      std::memcpy(piece.data(), codes_.data(), piece.size());
    };
    return array;
  }

  std::string name_;
  OutputFile file_;
  IndexKind kind_;
  std::string beside_;
  std::size_t rows_ = 0;
  std::size_t rows_left_ = 0;
  std::size_t longest_ = 0;
  std::vector<std::int32_t> lengths_;
  Spill heads_{beside_};  // A row's length, then its heads.
  Spill sentences_{beside_};
  Spill indices_{beside_};
  std::array<Value, 4> values_{{{"score", &TreeRow::score, Spill(beside_)},
                                {"log_prob", &TreeRow::log_prob, Spill(beside_)},
                                {"gumbel", &TreeRow::gumbel, Spill(beside_)},
                                {"weight", &TreeRow::weight, Spill(beside_)}}};
  std::optional<bool> has_labels_;
  std::size_t label_width_ = 0;
  Spill label_text_{beside_};
  std::vector<std::int32_t> row_;
  std::vector<char32_t> codes_;
  std::string label_;
};

}  // namespace

std::unique_ptr<TreeWriter> npz_writer(const std::string& file, IndexKind kind) {
  return std::make_unique<NpzWriter>(file, kind);
}

}  // namespace taproot::cli

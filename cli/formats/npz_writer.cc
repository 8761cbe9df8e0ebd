// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "error.h"
#include "formats/formats.h"
#include "io/archive_writer.h"
#include "io/output_file.h"
#include "io/spill.h"
#include "io/text_column.h"

namespace taproot::cli {
namespace {

// 'lengths' has an entry for every number up to the largest, and a wrong number must not fill the
// disk.
constexpr std::size_t kMostSentences = 100'000'000;
constexpr std::size_t kPiece = std::size_t{1} << 18;

class NpzWriter final : public TreeWriter {
 public:
  NpzWriter(const std::string& file, IndexKind kind)
      : name_(checked(file)), file_(file), kind_(kind), beside_(file_.temporary()) {}

  void sentence(std::size_t number, int n, const WordSentence*) override {
    sentence_of(number).length = n;
  }

  void tree(const TreeRow& row) override {
    const auto n = static_cast<std::int32_t>(row.heads.size());
    SentenceInfo& sentence = sentence_of(row.sentence);
    if (sentence.length == 0) sentence.length = n;
    if (sentence.length != n) {
      fail("sentence {}: a tree has {} heads, but the sentence has {} words", row.sentence, n,
           sentence.length);
    }
    ++sentence.trees;
    sentences_.put(static_cast<std::int64_t>(row.sentence));
    indices_.put(static_cast<std::int64_t>(row.index));
    heads_.put(n);
    heads_.write(row.heads.data(), row.heads.size() * sizeof(std::int32_t));
    longest_ = std::max(longest_, row.heads.size());
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const auto& [name, member] = kTreeValues[i];
      same_keys(row, name, (row.*member).has_value(), values_[i].is_there);
      if (row.*member) values_[i].numbers.put(*(row.*member));
    }
    if (n > 0) same_keys(row, "labels", !row.labels.empty(), has_labels_);
    put_labels(row);
    ++rows_;
  }

  // The archive has no place for messages. The sentence has a length and no trees.
  void failed(const FailedRow&) override {}

  void exhausted(const ExhaustedRow& row) override {
    SentenceInfo& sentence = sentence_of(row.sentence);
    if (sentence.trees != row.trees) {
      fail("sentence {}: it is said to be exhausted after {} trees, but it has {}", row.sentence,
           row.trees, sentence.trees);
    }
    sentence.exhausted = true;
    any_exhausted_ = true;
  }

  void finish() override {
    std::vector<NpyArray> arrays;
    arrays.push_back(heads());
    if (has_labels_.value_or(false)) arrays.push_back(label_array());
    for (std::size_t i = 0; i < values_.size(); ++i) {
      // With no row to show which values there are, assume log_prob, which all commands have.
      const auto& [name, member] = kTreeValues[i];
      const bool by_default = rows_ == 0 && member == &TreeRow::log_prob;
      if (!values_[i].is_there.value_or(by_default)) continue;
      arrays.push_back(spilled_array(name, "<f8", sizeof(double), values_[i].numbers));
    }
    arrays.push_back(spilled_array("sentence", "<i8", sizeof(std::int64_t), sentences_));
    if (kind_ != IndexKind::kNone) {
      arrays.push_back(
          spilled_array(std::string(index_name(kind_)), "<i8", sizeof(std::int64_t), indices_));
    }
    Spill lengths(beside_);
    Spill exhausted(beside_);
    for (const SentenceInfo& sentence : all_sentences_) {
      lengths.put(sentence.length);
      exhausted.put(static_cast<std::uint8_t>(sentence.exhausted));
    }
    arrays.push_back(spilled_array("lengths", "<i4", sizeof(std::int32_t), lengths));
    // Only the k best and trees without replacement (has_gumbel()) can be fewer than asked for.
    if (any_exhausted_ || kind_ == IndexKind::kRank || has_gumbel()) {
      arrays.push_back(spilled_array("exhausted", "|b1", 1, exhausted));
    }
    write_npz(file_, name_, arrays);
    file_.commit();
  }

 private:
  struct Value {
    Spill numbers;
    std::optional<bool> is_there = std::nullopt;  // Unknown before the first row.
  };
  struct SentenceInfo {
    std::int32_t length = 0;
    bool exhausted = false;
    std::size_t trees = 0;
  };

  static const std::string& checked(const std::string& file) {
    if (file.empty())
      fail("an .npz archive cannot be written to standard output; name a file with -o");
    return file;
  }

  SentenceInfo& sentence_of(std::size_t number) {
    if (number >= kMostSentences) {
      fail("{} cannot hold sentence {}; an .npz archive holds at most {} sentences", name_, number,
           kMostSentences);
    }
    if (number >= all_sentences_.size()) all_sentences_.resize(number + 1);
    return all_sentences_[number];
  }

  bool has_gumbel() const {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (kTreeValues[i].second == &TreeRow::gumbel) return values_[i].is_there.value_or(false);
    }
    return false;
  }

  static void same_keys(const TreeRow& row, const char* key, bool has, std::optional<bool>& all) {
    if (!all) all = has;
    if (*all == has) return;
    fail(
        "sentence {}: a tree has {} '{}', unlike the trees before it; in an .npz archive all trees "
        "must be alike",
        row.sentence, has ? "a" : "no", key);
  }

  void put_labels(const TreeRow& row) {
    for (const std::string& label : row.labels) {
      if (label.find('\0') != std::string::npos) {
        fail("sentence {}: a label holds a zero byte, which an .npz archive cannot keep",
             row.sentence);
      }
      labels_.put(label);
    }
  }

  // Padded rows of heads_, as many as make a piece.
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
      piece.assign(count * width, static_cast<char>(-1));  // Every bit is set, which is -1.
      for (std::size_t i = 0; i < count; ++i) {
        std::int32_t n = 0;
        heads_.read(&n, sizeof(n));
        heads_.read(piece.data() + i * width, static_cast<std::size_t>(n) * sizeof(n));
      }
      rows_left_ -= count;
    };
    return array;
  }

  // Each piece is one row. The lengths are in heads_, which is therefore read once more.
  NpyArray label_array() {
    const std::size_t width = labels_.width() * sizeof(char32_t);
    NpyArray array{"labels", fmt::format("<U{}", labels_.width()), {rows_, longest_}, 0, {}, {}};
    array.bytes = rows_ * longest_ * width;
    array.rewind = [this] {
      heads_.rewind();
      labels_.rewind();
    };
    array.next = [this, width](std::vector<char>& piece) {
      std::int32_t n = 0;
      heads_.read(&n, sizeof(n));
      row_.resize(static_cast<std::size_t>(n));
      heads_.read(row_.data(), row_.size() * sizeof(n));
      piece.assign(longest_ * width, 0);
      for (std::size_t i = 0; i < row_.size(); ++i) labels_.next(piece.data() + i * width);
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
  std::vector<SentenceInfo> all_sentences_;
  bool any_exhausted_ = false;
  Spill heads_{beside_};  // The length of a row, then its heads.
  Spill sentences_{beside_};
  Spill indices_{beside_};
  std::array<Value, kTreeValues.size()> values_{
      {{Spill(beside_)}, {Spill(beside_)}, {Spill(beside_)}, {Spill(beside_)}}};
  std::optional<bool> has_labels_;
  TextColumn labels_{beside_};
  std::vector<std::int32_t> row_;
};

}  // namespace

std::unique_ptr<TreeWriter> npz_writer(const std::string& file, IndexKind kind) {
  return std::make_unique<NpzWriter>(file, kind);
}

}  // namespace taproot::cli

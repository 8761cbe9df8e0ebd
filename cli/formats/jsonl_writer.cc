// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "formats/formats.h"
#include "formats/line_writer.h"

namespace taproot::cli {
namespace {

class JsonlWriter final : public LineWriter {
 public:
  using LineWriter::LineWriter;

  std::unique_ptr<TreeWriter> part() const override { return std::make_unique<JsonlWriter>(kind_); }

  void sentence(std::size_t, int, const WordSentence*) override {}

  void tree(const TreeRow& row) override {
    begin(row.sentence);
    if (kind_ != IndexKind::kNone) {
      line_.text(index_key_);
      line_.number(row.index);
    }
    heads(row.heads);
    if (!row.labels.empty()) labels(row.labels);
    for (const auto& [name, member] : kTreeValues) value(name, row.*member);
    end();
  }

  void failed(const FailedRow& row) override {
    write_failure(line_, Format::kJsonl, row);
    flush_if_full();
  }

  void exhausted(const ExhaustedRow& row) override {
    begin(row.sentence);
    line_.text(",\"exhausted\":true,\"trees\":");
    line_.number(row.trees);
    end();
  }

 private:
  void begin(std::size_t sentence) {
    line_.text("{\"sentence\":");
    line_.number(sentence);
  }

  void end() {
    line_.text("}\n");
    flush_if_full();
  }

  void heads(const std::vector<std::int32_t>& heads) {
    line_.text(",\"heads\":[");
    line_.append(heads.size() * (kLongestNumber + 1), [&](char* at) {
      for (const std::int32_t head : heads) {
        at = put_number(at, head);
        *at++ = ',';
      }
      return heads.empty() ? at : at - 1;  // No comma follows the last head.
    });
    line_.byte(']');
  }

  void labels(const std::vector<std::string>& labels) {
    line_.text(",\"labels\":[");
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (i > 0) line_.byte(',');
      line_.json(labels[i]);
    }
    line_.byte(']');
  }

  // JSON has no infinities and no NaN.
  void value(const char* name, const std::optional<double>& number) {
    if (!number) return;
    line_.text(",\"");
    line_.text(name);
    line_.text("\":");
    if (std::isfinite(*number)) {
      line_.number(*number);
    } else {
      line_.text("null");
    }
  }

  std::string index_key_ = fmt::format(",\"{}\":", index_name(kind_));
};

}  // namespace

std::unique_ptr<TreeWriter> jsonl_writer(const std::string& file, IndexKind kind) {
  return std::make_unique<JsonlWriter>(file, kind);
}

}  // namespace taproot::cli

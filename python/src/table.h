// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core.h"

namespace taproot::python {

/// By name.
using Arrays = nanobind::typed<nanobind::dict, nanobind::str, nanobind::any>;

/// Records of every sentence as arrays [k][B][N] and [k][B], k the most trees of any sentence.
template <typename Record>
class Table {
 public:
  Table(const Core& core, const std::vector<Record>& records)
      : batch_(core.size()), row_(core.row()), records_(records) {
    std::vector<std::int32_t> counts;
    for (const Record& record : records) {
      k_ = std::max(k_, record.size());
      counts.push_back(static_cast<std::int32_t>(record.size()));
    }
    arrays_["counts"] = to_numpy(std::move(counts), {batch_});
    add_trees("heads", &Record::heads);
    if (core.trees.label_count() > 0) add_trees("labels", &Record::labels);
  }

  void add_trees(const char* name, std::vector<std::int32_t> Record::*member) {
    std::vector<std::int32_t> table(k_ * batch_ * row_, -1);
    for (std::size_t b = 0; b < batch_; ++b) {
      const auto n = static_cast<std::size_t>(records_[b].n);
      for (std::size_t s = 0; s < records_[b].size(); ++s) {
        std::copy_n((records_[b].*member).data() + s * n, n,
                    table.data() + (s * batch_ + b) * row_);
      }
    }
    arrays_[name] = to_numpy(std::move(table), {k_, batch_, row_});
  }

  void add_numbers(const char* name, std::vector<double> Record::*member, double missing) {
    std::vector<double> table(k_ * batch_, missing);
    for (std::size_t b = 0; b < batch_; ++b) {
      for (std::size_t s = 0; s < records_[b].size(); ++s) {
        table[s * batch_ + b] = (records_[b].*member)[s];
      }
    }
    arrays_[name] = to_numpy(std::move(table), {k_, batch_});
  }

  template <typename T, typename Get>
  void add_of_sentences(const char* name, Get&& get) {
    std::vector<T> column;
    for (const Record& record : records_) column.push_back(get(record));
    arrays_[name] = to_numpy(std::move(column), {batch_});
  }

  Arrays take() { return std::move(arrays_); }

 private:
  std::size_t batch_;
  std::size_t row_;
  const std::vector<Record>& records_;
  std::size_t k_ = 0;
  Arrays arrays_;
};

}  // namespace taproot::python

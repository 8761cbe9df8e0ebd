// SPDX-License-Identifier: Apache-2.0
//
// One function per command. Each returns the exit code.
#pragma once

#include <string>

#include "options.h"

namespace taproot::cli {

int run_logz(const Options& options);
int run_entropy(const Options& options);
int run_marginals(const Options& options);
int run_argmax(const Options& options);
int run_mbr(const Options& options);
int run_kbest(const Options& options);
int run_sample(const Options& options);
int run_swor(const Options& options);
int run_info(const Options& options);
int run_edges(const Options& options);
int run_show(const Options& options);
int run_report(const Options& options);

struct EvalOptions {
  std::string trees;
  std::string gold;
  std::string over = "best";  ///< Of several trees per sentence: "best", or "mean".
};
int run_eval(const EvalOptions& options);

struct ConvertOptions {
  std::string trees;
  std::string output;
  std::string format_name;
  Format format = Format::kJsonl;
  std::string words;
};
int run_convert(const ConvertOptions& options);

}  // namespace taproot::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdio>

namespace taproot::cli {

/// Shows on standard error how many sentences are done, if that is a terminal and the work takes
/// longer than a second, or if `always` is set.
class Progress {
 public:
  Progress(bool quiet, bool always)
      : on_(!quiet && (always || isatty(fileno(stderr)) != 0)), always_(always) {}
  ~Progress() {
    if (shown_) std::fputc('\n', stderr);
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void done(std::size_t sentences) {
    done_ += sentences;
    const auto now = Clock::now();
    if (!on_ || (!always_ && now - start_ < std::chrono::seconds(1))) return;
    if (shown_ && now - last_ < std::chrono::milliseconds(200)) return;
    const double seconds = std::chrono::duration<double>(now - start_).count();
    std::fprintf(stderr, "\r%zu sentences, %.0f per second ", done_,
                 seconds > 0 ? static_cast<double>(done_) / seconds : 0.0);
    std::fflush(stderr);
    last_ = now;
    shown_ = true;
  }

 private:
  using Clock = std::chrono::steady_clock;

  bool on_;
  bool always_;
  bool shown_ = false;
  std::size_t done_ = 0;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_;
};

}  // namespace taproot::cli

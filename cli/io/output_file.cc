// SPDX-License-Identifier: Apache-2.0
#include "io/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "error.h"

namespace taproot::cli {
namespace {

// For short writes. Long ones go past it, straight to the system.
constexpr std::size_t kBuffer = std::size_t{1} << 16;

// The names of unfinished files. A signal handler reads them, so they need no allocation and no
// lock.
struct Slot {
  std::atomic<bool> used{false};
  std::array<char, PATH_MAX> path{};
};
static_assert(std::atomic<bool>::is_always_lock_free);

std::array<Slot, 16> slots;
std::mutex slots_mutex;

extern "C" void remove_temporaries(int signal) {
  for (const Slot& slot : slots) {
    if (slot.used.load(std::memory_order_acquire)) unlink(slot.path.data());
  }
  // SA_RESETHAND has restored the default action, so the process now ends by this signal and the
  // shell can tell.
  raise(signal);
}

}  // namespace

void remove_unfinished_on_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction old {};
    // A signal that is ignored (nohup, a background job of a shell) stays ignored.
    if (sigaction(signal, nullptr, &old) != 0 || old.sa_handler != SIG_DFL) continue;
    struct sigaction action {};
    action.sa_handler = remove_temporaries;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
  }
}

namespace {

bool enter(const std::string& path) {
  const std::lock_guard lock(slots_mutex);
  if (path.size() >= PATH_MAX) return false;
  for (Slot& slot : slots) {
    if (slot.used.load(std::memory_order_relaxed)) continue;
    std::memcpy(slot.path.data(), path.c_str(), path.size() + 1);
    slot.used.store(true, std::memory_order_release);
    return true;
  }
  return false;
}

void leave(const std::string& path) {
  const std::lock_guard lock(slots_mutex);
  for (Slot& slot : slots) {
    if (slot.used.load(std::memory_order_relaxed) && path == slot.path.data()) {
      slot.used.store(false, std::memory_order_release);
    }
  }
}

std::string shown(const std::string& name) { return name.empty() ? "standard output" : name; }

[[noreturn]] void fail_to_write(const std::string& name) {
  fail("{} cannot be written: {}", shown(name), std::strerror(errno));
}

// The path behind symbolic links, so that the file is replaced and not the link.
std::string resolved(const std::string& name) {
  char* const real = realpath(name.c_str(), nullptr);
  if (real == nullptr) return name;
  std::string path = real;
  std::free(real);
  return path;
}

// Opens a new file beside `name`, and stores its path in `temporary`.
int open_temporary(const std::string& name, std::string& temporary) {
  static std::atomic<unsigned> count{0};
  for (;;) {
    temporary = fmt::format("{}.tmp-{}-{}", name, getpid(), count++);
    // Enter the name before the file exists, so that no signal can come in between. A file of this
    // name can only be left over from a process that has ended, because the name has our process
    // id.
    if (!enter(temporary)) {
      errno = temporary.size() >= PATH_MAX ? ENAMETOOLONG : EMFILE;
      return -1;
    }
    const int descriptor = open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) return descriptor;
    const int error = errno;
    leave(temporary);
    errno = error;
    if (error != EEXIST) return -1;
  }
}

}  // namespace

OutputFile::OutputFile(const std::string& name) : name_(name) {
  if (name.empty()) {
    // Static, because the stream is flushed once more when the program exits.
    static std::array<char, kBuffer> buffer;
    stream_ = stdout;
    std::setvbuf(stream_, buffer.data(), _IOFBF, buffer.size());
    return;
  }
  struct stat old {};
  const bool exists = stat(name.c_str(), &old) == 0;
  if (exists && S_ISDIR(old.st_mode)) fail("{} cannot be written because it is a folder", name);
  if (exists && !S_ISREG(old.st_mode)) {  // A device or a pipe, which renaming would destroy.
    stream_ = std::fopen(name.c_str(), "we");
    if (stream_ == nullptr) fail_to_write(name_);
  } else {
    name_ = exists ? resolved(name) : name;
    if (exists && access(name_.c_str(), W_OK) != 0) fail_to_write(name_);
    const int descriptor = open_temporary(name_, temporary_);
    if (descriptor < 0) {
      temporary_.clear();
      fail_to_write(name_);
    }
    // That the old permissions cannot be kept is not worth an error.
    if (exists) static_cast<void>(fchmod(descriptor, old.st_mode & 07777));
    stream_ = fdopen(descriptor, "w+");
    if (stream_ == nullptr) {
      close(descriptor);
      unlink(temporary_.c_str());
      leave(temporary_);
      fail_to_write(name_);
    }
  }
  buffer_.resize(kBuffer);
  std::setvbuf(stream_, buffer_.data(), _IOFBF, buffer_.size());
}

OutputFile::~OutputFile() {
  if (stream_ != nullptr && stream_ != stdout) std::fclose(stream_);
  if (temporary_.empty()) return;
  unlink(temporary_.c_str());
  leave(temporary_);
}

void OutputFile::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stream_) != text.size()) fail_to_write(name_);
}

void OutputFile::commit() {
  if (stream_ == nullptr) return;
  if (std::fflush(stream_) != 0) fail_to_write(name_);
  if (stream_ == stdout) return;
  std::FILE* const stream = std::exchange(stream_, nullptr);
  if (std::fclose(stream) != 0) fail_to_write(name_);
  if (temporary_.empty()) return;
  if (std::rename(temporary_.c_str(), name_.c_str()) != 0) fail_to_write(name_);
  leave(temporary_);
  temporary_.clear();
}

}  // namespace taproot::cli

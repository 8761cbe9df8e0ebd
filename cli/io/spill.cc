// SPDX-License-Identifier: Apache-2.0
#include "io/spill.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "error.h"

namespace taproot::cli {
namespace {

constexpr std::size_t kInMemory = std::size_t{4} << 20;

std::FILE* open_nameless(const std::string& beside) {
  if (beside.empty()) return std::tmpfile();
  const std::string path = beside + "-rows";
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) return nullptr;
  unlink(path.c_str());  // At once, so that nothing is left behind however the program ends.
  return fdopen(descriptor, "w+");
}

}  // namespace

void Spill::write(const void* bytes, std::size_t size) {
  if (buffer_.size() + size > kInMemory) flush();
  const auto* const begin = static_cast<const char*>(bytes);
  buffer_.insert(buffer_.end(), begin, begin + size);
  size_ += size;
}

void Spill::flush() {
  if (!file_) {
    file_.reset(open_nameless(beside_));
    if (file_) std::setvbuf(file_.get(), nullptr, _IONBF, 0);
  }
  if (!file_ || std::fwrite(buffer_.data(), 1, buffer_.size(), file_.get()) != buffer_.size()) {
    fail("a temporary file cannot be written{}{}: {}", beside_.empty() ? "" : " beside ", beside_,
         std::strerror(errno));
  }
  buffer_.clear();
}

void Spill::rewind() {
  at_ = 0;
  left_ = size_;
  if (!file_) return;
  if (!std::exchange(reading_, true)) flush();
  std::rewind(file_.get());
  buffer_.clear();
}

void Spill::fill() {
  buffer_.resize(file_ ? kInMemory : 0);
  if (file_) buffer_.resize(std::fread(buffer_.data(), 1, kInMemory, file_.get()));
  at_ = 0;
  if (buffer_.empty()) fail("a temporary file cannot be read back: {}", std::strerror(errno));
}

void Spill::read(void* bytes, std::size_t size) {
  auto* to = static_cast<char*>(bytes);
  left_ -= std::min(size, left_);
  while (size > 0) {
    if (at_ == buffer_.size()) fill();
    const std::size_t piece = std::min(size, buffer_.size() - at_);
    std::memcpy(to, buffer_.data() + at_, piece);
    at_ += piece;
    to += piece;
    size -= piece;
  }
}

}  // namespace taproot::cli

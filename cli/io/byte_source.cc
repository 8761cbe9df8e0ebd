// SPDX-License-Identifier: Apache-2.0
#include "io/byte_source.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "error.h"
#include "io/standard_input.h"

namespace taproot::cli {
namespace {

// A multiple of every page size.
constexpr std::uint64_t kWindow = std::uint64_t{16} << 20;

class FileSource final : public ByteSource {
 public:
  explicit FileSource(const std::string& path) : path_(shown_name(path)) {
    // O_NONBLOCK, so that a named pipe without a writer is an error and does not block.
    file_ = ::open(openable(path).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file_ < 0) fail("{} cannot be opened: {}", path_, std::strerror(errno));
    try {
      check();
    } catch (...) {
      ::close(file_);
      throw;
    }
  }
  ~FileSource() override {
    unmap();
    ::close(file_);
  }

  std::size_t read(void* out, std::size_t size) override {
    std::size_t done = 0;
    while (done < size && at_ < size_) {
      const std::uint64_t offset = at_ % kWindow;
      if (window_ == nullptr || at_ - offset != begin_) map(at_ - offset);
      const std::size_t part =
          static_cast<std::size_t>(std::min<std::uint64_t>(size - done, length_ - offset));
      std::memcpy(static_cast<char*>(out) + done, static_cast<const char*>(window_) + offset, part);
      done += part;
      at_ += part;
    }
    return done;
  }

  std::uint64_t skip(std::uint64_t size) override {
    const std::uint64_t part = std::min(size, size_ - at_);
    at_ += part;
    return part;
  }

  std::uint64_t size() const override { return size_; }

 private:
  void check() {
    struct stat status;
    if (::fstat(file_, &status) != 0) fail("{} cannot be read: {}", path_, std::strerror(errno));
    if (S_ISDIR(status.st_mode)) fail("{} is a folder, not a file", path_);
    if (!S_ISREG(status.st_mode)) {
      fail("{} is not a regular file; write its content to one first", path_);
    }
    if (status.st_size == 0) fail("{} is empty", path_);
    size_ = static_cast<std::uint64_t>(status.st_size);
  }

  void map(std::uint64_t begin) {
    unmap();
    // If the file has become shorter, reading a mapping beyond its end would raise SIGBUS.
    struct stat status;
    if (::fstat(file_, &status) != 0 || static_cast<std::uint64_t>(status.st_size) < size_) {
      fail("{} became shorter while it was read", path_);
    }
    length_ = std::min(kWindow, size_ - begin);
    void* window =
        ::mmap(nullptr, length_, PROT_READ, MAP_PRIVATE, file_, static_cast<off_t>(begin));
    if (window == MAP_FAILED) fail("{} cannot be mapped: {}", path_, std::strerror(errno));
    ::madvise(window, length_, MADV_SEQUENTIAL);
    window_ = window;
    begin_ = begin;
  }

  void unmap() {
    if (window_ != nullptr) ::munmap(window_, length_);
    window_ = nullptr;
  }

  std::string path_;
  int file_ = -1;
  std::uint64_t size_ = 0;
  std::uint64_t at_ = 0;
  void* window_ = nullptr;
  std::uint64_t begin_ = 0;
  std::uint64_t length_ = 0;
};

}  // namespace

std::unique_ptr<ByteSource> open_file(const std::string& path) {
  return std::make_unique<FileSource>(path);
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  std::string out = "'";
  for (const char c : text.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out + (text.size() > kLongest ? "...'" : "'");
}

std::string describe_content(const std::string& path) {
  std::array<char, 64> first{};
  const std::size_t size = open_file(path)->read(first.data(), first.size());
  const std::string_view bytes(first.data(), size);
  const auto begins = [&](std::string_view magic) { return bytes.starts_with(magic); };
  if (begins("\x93NUMPY")) return "an .npy array";
  if (begins("PK\x03\x04") || begins("PK\x05\x06")) return "a zip archive";
  if (begins("\x1f\x8b")) return "a gzip file";
  if (begins("\x89HDF\r\n")) return "an HDF5 file";
  if (begins("\x80") && size > 1 && first[1] <= 5) return "a Python pickle";
  const bool text = std::all_of(bytes.begin(), bytes.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\r' || c == '\t';
  });
  return text ? "text" : "a file of unknown kind";
}

}  // namespace taproot::cli

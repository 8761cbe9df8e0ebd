// SPDX-License-Identifier: Apache-2.0
#include "io/archive.h"

#include <zip.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <utility>

#include "error.h"
#include "io/standard_input.h"
#include "io/zip_error.h"

namespace taproot::cli {
namespace {

constexpr std::string_view kEnding = ".npy";

class EntrySource final : public ByteSource {
 public:
  EntrySource(std::shared_ptr<zip_t> archive, std::string name, const Archive::Entry& entry)
      : archive_(std::move(archive)),
        name_(std::move(name)),
        size_(entry.size),
        packed_size_(entry.packed_size),
        stored_(entry.stored),
        file_(zip_fopen_index(archive_.get(), entry.index, 0), &zip_fclose) {
    if (!file_) fail("{} cannot be read: {}", name_, zip_message(archive_.get()));
  }

  std::size_t read(void* out, std::size_t size) override {
    std::size_t done = 0;
    while (done < size) {
      const zip_int64_t got = zip_fread(file_.get(), static_cast<char*>(out) + done, size - done);
      if (got < 0) {
        fail("{} is damaged after byte {}: {}", name_, at_, zip_message(file_.get()));
      }
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
      at_ += static_cast<std::uint64_t>(got);
    }
    return done;
  }

  std::uint64_t skip(std::uint64_t size) override {
    // libzip can seek in entries that are not compressed, but reports an error beyond the end.
    constexpr std::uint64_t kWorthSeeking = 1 << 16;
    if (stored_ && size >= kWorthSeeking && at_ <= size_ && size <= size_ - at_ &&
        zip_fseek(file_.get(), static_cast<zip_int64_t>(size), SEEK_CUR) == 0) {
      at_ += size;
      return size;
    }
    std::uint64_t done = 0;
    std::array<char, kWorthSeeking> unused;
    while (done < size) {
      const std::uint64_t part = std::min<std::uint64_t>(size - done, unused.size());
      const std::size_t got = read(unused.data(), static_cast<std::size_t>(part));
      done += got;
      if (got < part) break;
    }
    return done;
  }

  std::uint64_t size() const override { return size_; }
  double expansion() const override {
    return static_cast<double>(size_) /
           static_cast<double>(std::max<std::uint64_t>(1, packed_size_));
  }

 private:
  std::shared_ptr<zip_t> archive_;
  std::string name_;
  std::uint64_t size_;
  std::uint64_t packed_size_;
  bool stored_;
  std::uint64_t at_ = 0;
  std::unique_ptr<zip_file_t, decltype(&zip_fclose)> file_;
};

}  // namespace

Archive::Archive(const std::string& path) : path_(shown_name(path)) {
  // libzip would not say that a file is missing, a folder, empty or of another kind.
  const std::string content = describe_content(path);
  if (content == "an .npy array") {
    fail("{} is not an archive but an .npy array; rename it to end in .npy", path_);
  }
  int code = 0;
  archive_.reset(zip_open(openable(path).c_str(), ZIP_RDONLY, &code), [](zip_t* archive) {
    if (archive != nullptr) zip_discard(archive);
  });
  if (!archive_) {
    const std::string reason = zip_message(code, errno);
    if (content == "a zip archive") {
      fail("{} is a damaged or truncated archive: {}", path_, reason);
    }
    fail("{} is not an .npz archive but {} ({})", path_, content, reason);
  }
  const zip_int64_t count = zip_get_num_entries(archive_.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) add(static_cast<std::uint64_t>(i));
  check_names();
}

void Archive::add(std::uint64_t index) {
  zip_stat_t stat;
  if (zip_stat_index(archive_.get(), index, 0, &stat) != 0) {
    fail("{}: entry {} cannot be read: {}", path_, index, zip_message(archive_.get()));
  }
  constexpr zip_uint64_t kNeeded = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE |
                                   ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
  if ((stat.valid & kNeeded) != kNeeded) fail("{}: entry {} has no name or size", path_, index);
  std::string name = stat.name;
  if (name.find_first_of("/\\") != std::string::npos || name.find("..") != std::string::npos) {
    fail("{}: the entry {} has a path; arrays must have plain names", path_, quoted(name));
  }
  if (stat.encryption_method != ZIP_EM_NONE) {
    fail("{}: {} is encrypted; save the archive without a password", path_, quoted(name));
  }
  if (!name.ends_with(kEnding)) {
    fail("{}: {} is not an .npy array; an .npz archive holds nothing else", path_, quoted(name));
  }
  if (stat.size > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    fail("{}: {} claims the impossible size {}", path_, quoted(name), stat.size);
  }
  name.resize(name.size() - kEnding.size());
  entries_.push_back(
      {std::move(name), index, stat.size, stat.comp_size, stat.comp_method == ZIP_CM_STORE});
}

void Archive::check_names() const {
  std::vector<std::string_view> names;
  for (const Entry& entry : entries_) names.push_back(entry.name);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) fail("{}: two arrays are named {}", path_, quoted(*twice));
}

const Archive::Entry* Archive::find(const std::string& name) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.name == name; });
  return found == entries_.end() ? nullptr : &*found;
}

std::unique_ptr<ByteSource> Archive::open(const Entry& entry) const {
  return std::make_unique<EntrySource>(archive_, path_ + ": " + quoted(entry.name), entry);
}

}  // namespace taproot::cli

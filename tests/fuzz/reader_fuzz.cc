// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target: any bytes as each kind of input file. A reader may refuse them with InputError
// and in no other way; what it accepts must have the size that it says.
//
// Input: byte 0 says which kind of file and which options, the rest is the file. Archives are also
// built around the rest, because a fuzzer does not find check sums by itself.
#include <fcntl.h>
#include <unistd.h>
#include <zip.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "error.h"
#include "input/label_reader.h"
#include "input/score_reader.h"
#include "input/words.h"

namespace taproot::cli {
namespace {

void check(bool condition) {
  if (!condition) __builtin_trap();
}

// The readers go by a file's ending, so memory files need names: in a folder of memory.
class Folder {
 public:
  Folder() {
    char pattern[] = "/dev/shm/taproot_fuzz_XXXXXX";
    check(::mkdtemp(pattern) != nullptr);
    name_ = pattern;
  }
  ~Folder() {
    for (const char* file : {"a.npy", "a.npz", "a.conllu", "a.txt", "lengths"}) {
      ::unlink((name_ + "/" + file).c_str());
    }
    ::rmdir(name_.c_str());
  }

  std::string path(const char* file) const { return name_ + "/" + file; }
  std::string write(const char* file, std::string_view bytes) const {
    const int out = ::open(path(file).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    check(out >= 0 &&
          ::write(out, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    ::close(out);
    return path(file);
  }

 private:
  std::string name_;
};

const Folder& folder() {
  static const Folder folder;
  return folder;
}

void read_scores(const ReadOptions& options) {
  ScoreReader reader(options);
  std::size_t number = options.first;
  for (Sentence sentence; reader.next(sentence); ++number) {
    const auto side = static_cast<std::size_t>(sentence.n) + 1;
    check(sentence.n >= 0 && sentence.number == number && number < options.last);
    check(sentence.wide.size() == (sentence.is_double ? side * side : 0));
    check(sentence.narrow.size() == (sentence.is_double ? 0 : side * side));
  }
}

void read_words(const std::string& path) {
  WordReader reader(path);
  for (WordSentence sentence; reader.next(sentence);) {
    const std::size_t n = sentence.words.size();
    if (!path.ends_with(".conllu")) continue;
    check(sentence.heads.size() == n && sentence.relations.size() == n);
    check(sentence.line_of_word.size() == n && sentence.lines.size() >= n);
    for (const std::int32_t head : sentence.heads) {
      check(head >= -1 && head <= static_cast<std::int64_t>(n));
    }
  }
}

void read_labels(const std::string& path) {
  LabelReader reader(path, 2);
  LabelScores out;
  reader.read(0, 1, out);
  check((out.is_double ? out.wide.size() : out.narrow.size()) == 8);
}

void add(zip_t* archive, const char* name, std::string_view bytes, bool deflate) {
  zip_source_t* source = zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
  const zip_int64_t index = zip_file_add(archive, name, source, 0);
  check(index >= 0);
  zip_set_file_compression(archive, static_cast<zip_uint64_t>(index),
                           deflate ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 1);
}

// The first byte of the rest is where one array ends and the other begins.
std::string build_archive(std::string_view bytes, int options) {
  const std::size_t split = bytes.empty() ? 0 : static_cast<unsigned char>(bytes[0]) % bytes.size();
  const std::string path = folder().path("a.npz");
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
  check(archive != nullptr);
  const bool deflate = (options & 1) != 0;
  const char* first = (options & 2) != 0 ? "scores.npy" : "label_scores.npy";
  add(archive, first, bytes.substr(bytes.empty() ? 0 : 1, split), deflate);
  if (bytes.size() > split + 1) add(archive, "lengths.npy", bytes.substr(split + 1), deflate);
  check(zip_close(archive) == 0);
  return path;
}

void read(int kind, int more, std::string_view bytes) {
  ReadOptions options;
  options.weights = (more & 4) != 0;
  if ((more & 8) != 0) {
    options.first = 1;
    options.last = 3;
  }
  switch (kind) {
    case 0:
      options.files = {folder().write("a.npy", bytes)};
      break;
    case 1:
      options.files = {folder().write("a.npz", bytes)};
      break;
    case 2:
      return read_words(folder().write("a.conllu", bytes));
    case 3:
      return read_words(folder().write("a.txt", bytes));
    case 4: {
      // A batch of three sentences, each of at most two words.
      const std::string header = std::string("{'descr': '") + ((more & 1) != 0 ? '<' : '>') +
                                 "f2', 'fortran_order': False, 'shape': (3, 3, 3)}";
      std::string batch = std::string("\x93NUMPY\x01\0", 8) + static_cast<char>(header.size());
      batch += '\0' + header + std::string(54, '\1');
      options.files = {folder().write("a.npy", batch)};
      options.lengths = folder().write("lengths", bytes);
      break;
    }
    case 5: {
      const std::string path = build_archive(bytes, more);
      if ((more & 2) == 0) return read_labels(path);
      options.files = {path};
      break;
    }
    case 6:
      return read_labels(folder().write("a.npz", bytes));
    default:
      (void)read_label_names(folder().write("a.txt", bytes));
      return;
  }
  read_scores(options);
}

}  // namespace
}  // namespace taproot::cli

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    taproot::cli::read(data[0] % 8, data[0] / 8, bytes);
  } catch (const taproot::cli::InputError& error) {
    taproot::cli::check(error.what()[0] != '\0');
  }
  return 0;
}

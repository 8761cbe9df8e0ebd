// SPDX-License-Identifier: Apache-2.0
#include "io/archive_writer.h"

#include <zip.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <memory>
#include <utility>

#include "error.h"
#include "io/npy_header.h"
#include "io/zip_error.h"

namespace taproot::cli {
namespace {

// The state of libzip's callbacks. An exception must not pass through libzip, which is C code, so
// it is kept here until zip_close has returned.
struct Error {
  std::exception_ptr thrown;
  zip_error_t zip{};
};

struct Source {
  const NpyArray* array = nullptr;
  Error* error = nullptr;
  std::string header;  // Set before libzip asks for anything.
  std::vector<char> piece;
  std::size_t at = 0;
  std::uint64_t left = 0;

  void open() {
    piece.assign(header.begin(), header.end());
    at = 0;
    left = array->bytes;
    array->rewind();
  }

  std::size_t read(char* to, std::size_t size) {
    std::size_t done = 0;
    while (done < size) {
      if (at == piece.size()) {
        if (left == 0) break;
        array->next(piece);
        at = 0;
        left -= piece.size();
      }
      const std::size_t count = std::min(size - done, piece.size() - at);
      std::memcpy(to + done, piece.data() + at, count);
      at += count;
      done += count;
    }
    return done;
  }
};

zip_int64_t input(void* state, void* data, zip_uint64_t size, zip_source_cmd_t command) {
  Source& source = *static_cast<Source*>(state);
  try {
    switch (command) {
      case ZIP_SOURCE_OPEN:
        source.open();
        return 0;
      case ZIP_SOURCE_READ:
        return static_cast<zip_int64_t>(source.read(static_cast<char*>(data), size));
      case ZIP_SOURCE_CLOSE:
      case ZIP_SOURCE_FREE:
        return 0;
      case ZIP_SOURCE_STAT: {
        zip_stat_t* const stat = static_cast<zip_stat_t*>(data);
        zip_stat_init(stat);
        stat->valid = ZIP_STAT_SIZE;
        stat->size = source.header.size() + source.array->bytes;
        return sizeof(zip_stat_t);
      }
      case ZIP_SOURCE_ERROR:
        return zip_error_to_data(&source.error->zip, data, size);
      case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE,
                                              ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE,
                                              -1);
      default:
        zip_error_set(&source.error->zip, ZIP_ER_OPNOTSUPP, 0);
        return -1;
    }
  } catch (...) {
    source.error->thrown = std::current_exception();
    zip_error_set(&source.error->zip, ZIP_ER_READ, 0);
    return -1;
  }
}

// The archive that is written. Given a file name, libzip would make a temporary file of its own,
// which would be left behind on Ctrl-C.
struct Sink {
  OutputFile* file = nullptr;
  Error* error = nullptr;
  zip_uint64_t at = 0;
  zip_uint64_t end = 0;
};

zip_int64_t output(void* state, void* data, zip_uint64_t size, zip_source_cmd_t command) {
  Sink& sink = *static_cast<Sink*>(state);
  try {
    switch (command) {
      case ZIP_SOURCE_STAT:  // The archive does not exist yet.
        zip_error_set(&sink.error->zip, ZIP_ER_READ, ENOENT);
        return -1;
      case ZIP_SOURCE_WRITE:
        sink.file->write({static_cast<const char*>(data), size});
        sink.at += size;
        sink.end = std::max(sink.end, sink.at);
        return static_cast<zip_int64_t>(size);
      case ZIP_SOURCE_SEEK_WRITE: {
        const zip_int64_t to =
            zip_source_seek_compute_offset(sink.at, sink.end, data, size, &sink.error->zip);
        if (to < 0) return -1;
        if (fseeko(sink.file->stream(), to, SEEK_SET) != 0) {
          zip_error_set(&sink.error->zip, ZIP_ER_SEEK, errno);
          return -1;
        }
        sink.at = static_cast<zip_uint64_t>(to);
        return 0;
      }
      case ZIP_SOURCE_TELL_WRITE:
        return static_cast<zip_int64_t>(sink.at);
      case ZIP_SOURCE_ERROR:
        return zip_error_to_data(&sink.error->zip, data, size);
      case ZIP_SOURCE_SUPPORTS:
        return ZIP_SOURCE_SUPPORTS_WRITABLE;
      case ZIP_SOURCE_BEGIN_WRITE:
      case ZIP_SOURCE_COMMIT_WRITE:
      case ZIP_SOURCE_ROLLBACK_WRITE:
      case ZIP_SOURCE_CLOSE:
      case ZIP_SOURCE_FREE:
        return 0;
      default:
        zip_error_set(&sink.error->zip, ZIP_ER_OPNOTSUPP, 0);
        return -1;
    }
  } catch (...) {
    sink.error->thrown = std::current_exception();
    zip_error_set(&sink.error->zip, ZIP_ER_WRITE, 0);
    return -1;
  }
}

struct Discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};

}  // namespace

NpyArray spilled_array(std::string name, std::string type, std::size_t width, Spill& elements) {
  NpyArray array{
      std::move(name), std::move(type), {elements.size() / width}, elements.size(), {}, {}};
  array.rewind = [&elements] { elements.rewind(); };
  array.next = [&elements](std::vector<char>& piece) {
    piece.resize(std::min(elements.left(), std::size_t{1} << 20));
    elements.read(piece.data(), piece.size());
  };
  return array;
}

void write_npz(OutputFile& file, const std::string& name, const std::vector<NpyArray>& arrays) {
  Error error;
  Sink sink{&file, &error};
  const auto check = [&](bool fine, const std::string& why) {
    if (error.thrown) std::rethrow_exception(error.thrown);
    if (!fine) fail("{} cannot be written: {}", name, why);
  };
  std::vector<Source> sources(arrays.size());
  zip_source_t* const to = zip_source_function_create(output, &sink, &error.zip);
  check(to != nullptr, "there is not enough memory");
  std::unique_ptr<zip_t, Discard> archive(
      zip_open_from_source(to, ZIP_CREATE | ZIP_TRUNCATE, &error.zip));
  check(archive != nullptr, zip_message(&error.zip));
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    sources[i].array = &arrays[i];
    sources[i].error = &error;
    sources[i].header = write_npy_header(arrays[i].type, arrays[i].shape);
    zip_source_t* const from = zip_source_function(archive.get(), input, &sources[i]);
    const zip_int64_t added =
        zip_file_add(archive.get(), (arrays[i].name + ".npy").c_str(), from, ZIP_FL_ENC_UTF_8);
    check(added >= 0, zip_message(archive.get()));
    const auto index = static_cast<zip_uint64_t>(added);
    constexpr zip_uint16_t kFirstDate = 1U << 5U | 1U;  // 1980-01-01 in the format of DOS.
    zip_file_set_dostime(archive.get(), index, 0, kFirstDate, 0);
    zip_set_file_compression(archive.get(), index, ZIP_CM_STORE, 0);
  }
  if (zip_close(archive.get()) == 0) {
    static_cast<void>(archive.release());
  } else {
    check(false, zip_message(archive.get()));
  }
}

}  // namespace taproot::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <zip.h>

#include <string>

namespace taproot::cli {

/// The text of a libzip error. Never ask libzip for the text of an error that it owns: the text is
/// allocated inside the error, and libzip does not free that of a zip_file_t. We ask a copy
/// instead.
inline std::string zip_message(int zip_code, int system_code) {
  zip_error_t copy;
  zip_error_init(&copy);
  zip_error_set(&copy, zip_code, system_code);
  std::string text = zip_error_strerror(&copy);
  zip_error_fini(&copy);
  return text;
}

inline std::string zip_message(zip_error_t* error) {
  return zip_message(zip_error_code_zip(error), zip_error_code_system(error));
}
inline std::string zip_message(zip_t* archive) { return zip_message(zip_get_error(archive)); }
inline std::string zip_message(zip_file_t* file) { return zip_message(zip_file_get_error(file)); }

}  // namespace taproot::cli

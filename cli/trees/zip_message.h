// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <zip.h>

#include <string>

namespace taproot::cli {

/// What libzip says of an error. Of a copy: the text belongs to the error, and libzip forgets to
/// free that of a zip_file_t.
inline std::string zip_message(zip_error_t* error) {
  zip_error_t copy;
  zip_error_init(&copy);
  zip_error_set(&copy, zip_error_code_zip(error), zip_error_code_system(error));
  std::string text = zip_error_strerror(&copy);
  zip_error_fini(&copy);
  return text;
}

}  // namespace taproot::cli

// SPDX-License-Identifier: Apache-2.0
#include "formats/line_writer.h"

namespace taproot::cli {

void write_failure(LineBuffer& line, Format format, const FailedRow& row) {
  if (format == Format::kJsonl) {
    line.text(fmt::format("{{\"sentence\":{},\"status\":", row.sentence));
    line.json(row.status);
    line.text(",\"message\":");
    line.json(row.message);
    line.text("}\n");
    return;
  }
  // Our messages name the sentence; those of a file that is converted may be anyone's.
  const std::string sentence = fmt::format("sentence {}: ", row.sentence);
  line.text("# ");
  line.one_line(row.status);
  line.text(": ");
  if (!row.message.starts_with(sentence)) line.text(sentence);
  line.one_line(row.message);
  line.byte('\n');
}

}  // namespace taproot::cli

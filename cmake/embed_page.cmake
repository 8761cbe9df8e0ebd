# SPDX-License-Identifier: Apache-2.0
# Makes the page of `taproot report` part of the program. Style and script go into the HTML, which
# becomes two strings: what comes before the sentences and what comes after them. The hash of the
# script is a third, because the policy of the page allows this script alone.
#   cmake -DPAGE=cli/report -DOUT=page_text.cc -P embed_page.cmake

file(READ "${PAGE}/page.html" html)
file(READ "${PAGE}/page.css" css)
file(READ "${PAGE}/page.js" js)
string(SHA256 hash "${js}")
string(REPLACE "{{style}}" "${css}" html "${html}")
string(REPLACE "{{script}}" "${js}" html "${html}")
string(FIND "${html}" "{{sentences}}" middle)
if(middle LESS 0)
  message(FATAL_ERROR "page.html has no {{sentences}}")
endif()
string(SUBSTRING "${html}" 0 ${middle} before)
math(EXPR middle "${middle} + 13")
string(SUBSTRING "${html}" ${middle} -1 after)
file(WRITE "${OUT}.new" "// SPDX-License-Identifier: Apache-2.0
#include \"report/page.h\"

namespace taproot::cli {

const char* page_before() { return R\"page(${before})page\"; }
const char* page_script_sha256() { return \"${hash}\"; }
const char* page_after() { return R\"page(${after})page\"; }

}  // namespace taproot::cli
")
file(RENAME "${OUT}.new" "${OUT}")

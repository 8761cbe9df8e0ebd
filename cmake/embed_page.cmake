# SPDX-License-Identifier: Apache-2.0
# Makes the page of `taproot report` part of the program: style and script go into the HTML, which
# becomes two strings, what comes before the sentences and what comes after them. The browser is told
# to run nothing but this script: the policy names its hash.
#   cmake -DPAGE=cli/report -DOUT=page_text.cc -P embed_page.cmake

# A SHA-256 in hexadecimal digits, in base 64: three digits at a time are two characters.
function(base64 hex out)
  set(letters "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  string(APPEND hex "00")  # 256 bits and 8 more: 22 times 12.
  set(text "")
  foreach(at RANGE 0 63 3)
    string(SUBSTRING "${hex}" ${at} 3 digits)
    math(EXPR high "0x${digits} >> 6")
    math(EXPR low "0x${digits} & 63")
    string(SUBSTRING "${letters}" ${high} 1 first)
    string(SUBSTRING "${letters}" ${low} 1 second)
    string(APPEND text "${first}${second}")
  endforeach()
  string(SUBSTRING "${text}" 0 43 text)
  set(${out} "${text}=" PARENT_SCOPE)
endfunction()

file(READ "${PAGE}/page.html" html)
file(READ "${PAGE}/page.css" css)
file(READ "${PAGE}/page.js" js)
string(SHA256 hash "${js}")
base64("${hash}" hash)
string(REPLACE "{{script-hash}}" "${hash}" html "${html}")
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
const char* page_after() { return R\"page(${after})page\"; }

}  // namespace taproot::cli
")
file(RENAME "${OUT}.new" "${OUT}")

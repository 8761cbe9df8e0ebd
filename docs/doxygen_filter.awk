# SPDX-License-Identifier: Apache-2.0
# Puts an empty line around code in a comment, which is indented, so that Doxygen takes it for code, and leaves out
# friends, which are none of a user's business.
/^ *friend struct detail::/ { next }
{
  is_comment = $0 ~ /^ *\/\/\/ /
  is_code = $0 ~ /^ *\/\/\/     [^ ]/
  if (is_comment && was_comment && is_code != was_code) print "/// "
  was_comment = is_comment
  was_code = is_code
  print
}

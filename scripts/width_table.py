#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints src/draw/width_table.h from this Python's Unicode data: which code points take no cell of a
terminal, and which take two. Run it when a new Unicode matters: scripts/width_table.py > src/draw/width_table.h
"""
import unicodedata as u


def ranges(chosen):
    """Code points that are chosen, as ranges; a gap of unassigned ones does not split a range."""
    out = []
    for code in range(0x110000):
        if not chosen(code):
            continue
        if out and all(u.category(chr(c)) == "Cn" for c in range(out[-1][1] + 1, code)):
            out[-1][1] = code
        else:
            out.append([code, code])
    return out


def is_zero(code):
    return u.category(chr(code)) in ("Mn", "Me") or 0x1160 <= code <= 0x11FF


def is_wide(code):
    return u.east_asian_width(chr(code)) in "WF" and not is_zero(code)


def table(name, chosen):
    print(f"inline constexpr CodeRange {name}[] = {{")
    cells = [f"{{0x{a:X}, 0x{b:X}}}" for a, b in ranges(chosen)]
    for at in range(0, len(cells), 5):
        print("    " + ", ".join(cells[at : at + 5]) + ",")
    print("};")


print(f"""// SPDX-License-Identifier: Apache-2.0
//
// Made by scripts/width_table.py from Unicode {u.unidata_version}.
#pragma once

namespace taproot::detail {{

struct CodeRange {{
  char32_t first;
  char32_t last;
}};
""")
print("/// Combining marks, and the vowels and finals of Hangul syllables: no cell of their own.")
table("kZeroWidth", is_zero)
print("\n/// East Asian wide and full-width, emoji among them: two cells.")
table("kWide", is_wide)
print("\n}  // namespace taproot::detail")

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A picture of a report, with a word picked, in light or dark.

    python3 tests/browser/picture.py REPORT.html SENTENCE WORD light|dark OUT.png
"""
import pathlib
import sys

import browser
from PIL import Image


def main(page, sentence, word, scheme, out):
    driver = browser.start(1240, 980)
    try:
        browser.prefer(driver, scheme)
        browser.open_report(driver, f"{pathlib.Path(page).resolve().as_uri()}#{sentence}", sentence)
        button = driver.find_element("css selector", f"#words button[data-word='{word}']")
        if button.get_attribute("aria-pressed") != "true":
            button.click()
        driver.save_screenshot(out)
        with Image.open(out) as image:
            small = image.convert("RGB").quantize(48, Image.Quantize.MAXCOVERAGE, kmeans=3, dither=Image.Dither.NONE)
        small.save(out, optimize=True)  # A quarter of the size, and looks the same.
    finally:
        driver.quit()


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    main(*sys.argv[1:])

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long a report of 1,000 sentences of 25 words takes to write and to open, and how large it is.

    python3 bench/report.py PROGRAM

Three kinds of scores: a parser's that is sure, one's that is not, and noise, where every edge is in the
file and no two samples are the same tree. Opening is from the request to the first sentence drawn, in
Chromium, its remote control included; the median of five.
"""
import array
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "browser"))
import browser  # noqa: E402

SENTENCES, WORDS = 1000, 25
VOCABULARY = "the a of to and in that it is was for on are with as they be at one have this from or had by".split()


def tree(n):
    """Heads of words 1..n: each below a node that was there before it."""
    order = random.sample(range(1, n + 1), n)
    heads = {}
    for i, word in enumerate(order):
        heads[word] = random.choice(order[:i]) if i else 0
    return heads


def scores(margin):
    """The bytes of a padded .npy: noise, and `margin` more for the edges of one tree a sentence."""
    side = WORDS + 1
    cells = array.array("f")
    for _ in range(SENTENCES):
        matrix = [random.gauss(0, 1) for _ in range(side * side)]
        for word, head in tree(WORDS).items():
            matrix[head * side + word] += margin
        cells.extend(matrix)
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({SENTENCES}, {side}, {side}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + cells.tobytes()


def main(program):
    random.seed(1)
    print("| scores | seconds to write | MB | seconds to open | to the next sentence |\n| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        words = folder / "words.txt"
        words.write_text("".join(" ".join(random.choices(VOCABULARY, k=WORDS)) + "\n" for _ in range(SENTENCES)))
        for name, margin in (("a sure parser's", 9), ("an unsure parser's", 5), ("noise", 0)):
            (folder / "scores.npy").write_bytes(scores(margin))
            page = folder / "report.html"
            begin = time.monotonic()
            subprocess.run([program, "report", folder / "scores.npy", "--words", words, "-o", page], check=True)
            written = time.monotonic() - begin
            opened, moved = [], []
            for _ in range(5):
                driver = browser.start()
                try:
                    opened.append(browser.open_report(driver, page.as_uri()))
                    begin = time.monotonic()
                    driver.execute_script("document.querySelector('[data-number=\"500\"]').click()")
                    browser.wait(driver, "document.getElementById('main').dataset.number === '500'")
                    moved.append(time.monotonic() - begin)
                finally:
                    driver.quit()
            print(f"| {name} | {written:.2f} | {page.stat().st_size / 1e6:.1f} | {statistics.median(opened):.2f} "
                  f"| {statistics.median(moved):.3f} |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])

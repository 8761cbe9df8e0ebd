#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Drives the page of `taproot report` in Chromium, as a reader would: clicks, the slider, search, keys.

    python3 tests/browser/report_test.py PROGRAM
"""
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import browser

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ""
LABELS = ("--labels", "data/labels.txt", "--label-scores", "data/demo_labels.npz")

# For the sentences of the demo with three, five and six words (numbers 2, 16 and 4).
HOSTILE = {
    2: ["</script><script>window.hacked=1</script>", "<img/src=x/onerror=window.hacked=2>", "\"'&amp;<!--"],
    4: ["\u05e9\u05dc\u05d5\u05dd", "\u202eevil", "\u6f22\u5b57", "\U0001f469\u200d\U0001f469\u200d\U0001f467",
        "e\u0301t\u00e9\u0001", "<svg/onload=window.hacked=3>"],
    16: ["javascript:window.hacked=4", "{{about}}", "</title></style><script>window.hacked=5</script>"],
}


def taproot(*arguments, codes=(0,)):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode in codes, done.stderr
    return done.stdout


def four_digits(p):
    """As the page knows it: 1 is exactly 1 alone."""
    return min(float(f"{p:.4g}"), 0.9999) if p < 1 else 1


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.folder.name)
        cls.report = folder / "report.html"
        taproot("report", "data/demo.npz", "--words", "data/demo.txt", "-o", cls.report)
        cls.failing = folder / "failing.html"
        taproot("report", "data/demo.npz", "--words", "data/demo.txt", "--force", "1>8", "-o", cls.failing, codes=(1,))
        words = [line.split() for line in (ROOT / "data/demo.txt").read_text().splitlines()]
        for number, text in HOSTILE.items():
            words[number] = text
        hostile_words = folder / "words.txt"
        hostile_words.write_text("".join(" ".join(line) + "\n" for line in words))
        cls.hostile = folder / "hostile.html"
        taproot("report", "data/demo.npz", "--words", hostile_words, "-o", cls.hostile,
                "--title", "</title><script>window.hacked=6</script>")
        cls.labeled = folder / "labeled.html"
        taproot("report", "data/demo.npz", "--words", "data/demo.txt", *LABELS, "-o", cls.labeled)
        cls.projective = folder / "projective.html"
        taproot("report", "data/demo.npz", "--words", "data/demo.txt", "--projective", "-o", cls.projective)
        conllu = folder / "words.conllu"
        with conllu.open("w") as file:
            for b, line in enumerate((ROOT / "data/demo.txt").read_text().splitlines()):
                file.write(f"# sent_id = dev-<{b}>\n")
                file.writelines(f"{i}\t{word}" + "\t_" * 8 + "\n" for i, word in enumerate(line.split(), 1))
                file.write("\n")
        cls.with_ids = folder / "ids.html"
        taproot("report", "data/demo.npz", "--words", conllu, "-o", cls.with_ids)
        cls.marginals = [json.loads(line)["marginals"] for line in taproot("marginals", "data/demo.npz").splitlines()]
        cls.entropies = [json.loads(line)["entropy"] for line in taproot("entropy", "data/demo.npz").splitlines()]
        cls.words = [line.split() for line in (ROOT / "data/demo.txt").read_text().splitlines()]
        cls.driver = browser.start()
        browser.prefer(cls.driver, "light")

    @classmethod
    def tearDownClass(cls):
        cls.driver.quit()
        cls.folder.cleanup()

    def open(self, page, number=0):
        self.driver.get("about:blank")  # Another fragment alone would not load it anew.
        browser.open_report(self.driver, f"{page.as_uri()}#{number}", number)

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def press(self, *keys):
        ActionChains(self.driver).send_keys(*keys).perform()

    def number(self):
        return int(self.find("#main").get_attribute("data-number"))

    def go(self, number):
        browser.wait(self.driver, f"document.getElementById('main').dataset.number === '{number}'")

    def visible_edges(self):
        script = """return [...document.querySelectorAll('#drawing path')]
            .filter((path) => getComputedStyle(path).display !== 'none')
            .map((path) => [Number(path.dataset.h), Number(path.dataset.m)])"""
        return {tuple(edge) for edge in self.driver.execute_script(script)}

    def edges_from(self, number, threshold):
        matrix = self.marginals[number]
        return {(h, m) for h, row in enumerate(matrix) for m, p in enumerate(row) if four_digits(p) >= threshold}

    def test_opens_without_errors_or_requests(self):
        browser.requests(self.driver)
        for page in (self.report, self.hostile, self.failing):
            self.open(page)
            self.press(Keys.ARROW_DOWN, Keys.ARROW_RIGHT, "1")
            asked = [url for url in browser.requests(self.driver) if url != "about:blank"]
            self.assertEqual({url.split("#")[0] for url in asked}, {page.as_uri()})
            self.assertEqual([entry["message"] for entry in self.driver.get_log("browser")], [])

    def test_draws_edges_above_the_threshold(self):
        for number in (0, 3, 20):
            self.open(self.report, number)
            self.assertEqual(self.visible_edges(), self.edges_from(number, 0.05))
            self.assertIn(f"{self.entropies[number]:.2f}", self.find("#facts").text)
            for path in self.all("#drawing path"):
                h, m = int(path.get_attribute("data-h")), int(path.get_attribute("data-m"))
                p = self.marginals[number][h][m]
                self.assertEqual(float(path.get_attribute("data-p")), four_digits(p))
                self.assertAlmostEqual(float(path.get_attribute("opacity")), 0.45 + 0.55 * p, delta=0.006)

    def texts_on_edges(self):
        """What is written on the edges and can be seen, by edge."""
        script = """return [...document.querySelectorAll('#drawing text[data-h]')]
            .filter((text) => getComputedStyle(text).display !== 'none' && text.textContent !== 'ROOT')
            .map((text) => [Number(text.dataset.h), Number(text.dataset.m), text.textContent])"""
        return {(h, m): text for h, m, text in self.driver.execute_script(script)}

    def test_numbers_stand_on_edges(self):
        self.open(self.report, 20)
        texts = self.texts_on_edges()
        self.assertEqual(set(texts), self.edges_from(20, 0.05))
        for (h, m), text in texts.items():
            p = self.marginals[20][h][m]
            self.assertEqual(text, ">99%" if 0.995 <= p < 1 else f"{100 * p:.0f}%")
        self.assertIn("The number on an edge is its probability.", self.find("#edges-note").text)
        # Below the page's first threshold there are edges without numbers, and the page says so.
        self.find("#threshold").send_keys(Keys.HOME)
        self.assertIn("numbers are on edges from 5 %", self.find("#drawn").text)
        self.press(Keys.ESCAPE)
        self.assertEqual(set(self.texts_on_edges()), self.edges_from(20, 0.05))

    def labels_of(self, number):
        """The probability of every edge with each of its labels, by edge, the most probable label first."""
        rows = taproot("marginals", "data/demo.npz", *LABELS, "--threshold", "0", "--sentences", number).splitlines()
        found = {}
        for row in map(json.loads, rows):
            found.setdefault((row["head"], row["modifier"]), []).append((row["label"], row["probability"]))
        return {edge: sorted(labels, key=lambda pair: -pair[1]) for edge, labels in found.items()}

    def test_labels_stand_on_edges(self):
        for number in (3, 9):
            self.open(self.labeled, number)
            labels = self.labels_of(number)
            texts = self.texts_on_edges()
            # Which edges are drawn goes by the edge; the number beside a label is of the edge with this label.
            self.assertEqual(set(texts), {edge for edge, own in labels.items() if sum(p for _, p in own) >= 0.05})
            for edge, text in texts.items():
                name, p = labels[edge][0]
                self.assertEqual(text, f"{name} {'>99%' if 0.995 <= p < 1 else f'{100 * p:.0f}%'}")
            self.assertIn("number beside a label is the probability of the edge with this label",
                          self.find("#edges-note").text)

    def test_sampled_trees_have_labels_of_their_own(self):
        self.open(self.labeled, 3)
        labels = self.labels_of(3)
        best = {edge: own[0][0] for edge, own in labels.items()}
        others = 0
        for row in self.all("#trees button")[:6]:
            row.click()
            shown = self.texts_on_edges()
            picked = {(int(e.get_attribute("data-h")), int(e.get_attribute("data-m"))) for e in self.all("path.picked")}
            self.assertTrue(picked and picked <= set(shown))
            for edge in picked:
                name, number = shown[edge].rsplit(" ", 1)
                p = 100 * dict(labels[edge])[name]
                self.assertAlmostEqual(float(number.strip("<>%")), p, delta=1.01)
                others += name != best[edge]
            row.click()
        self.assertGreater(others, 0)

    def test_heads_list_their_labels(self):
        self.open(self.labeled, 3)
        labels = self.labels_of(3)
        self.press(Keys.ESCAPE)
        self.find("#words button[data-word='1']").click()
        rows = self.all("#heads tr")
        self.assertEqual(rows[0].text.split(), ["relatives", "2", "55.6", "%"])
        listed = [piece.rsplit(" ", 2) for piece in rows[1].text.split(", ")]
        self.assertGreater(len(listed), 1)
        for (name, number, sign), (expected, p) in zip(listed, labels[2, 1]):
            self.assertEqual((name, sign), (expected, "%"))
            self.assertAlmostEqual(float(number), 100 * p, delta=0.06)
        self.assertAlmostEqual(sum(float(number) for _, number, _ in listed), 55.6, delta=0.6)
        # A pointer on an edge says both.
        arc = self.find("#drawing path[data-h='2'][data-m='1']")
        self.driver.execute_script("arguments[0].dispatchEvent(new Event('pointerover', {bubbles: true}))", arc)
        self.assertIn(f"55.6 %; {listed[0][0]} {listed[0][1]} %", self.find("#hover").text)

    def test_bars_of_words_have_a_legend(self):
        for number in (0, 3):
            self.open(self.report, number)
            columns = list(zip(*self.marginals[number]))[1:]
            most = max(math.log(2), *(-sum(p * math.log(p) for p in column if p > 0) for column in columns))
            self.assertEqual(self.find("#words-note").text,
                             f"The bars compare the words of this sentence; a full bar is {most:.2f} nats.")

    def test_begins_with_the_most_doubtful_word(self):
        for number in (0, 9, 20):
            self.open(self.report, number)
            columns = list(zip(*self.marginals[number]))[1:]
            entropies = [-sum(p * math.log(p) for p in column if p > 0) for column in columns]
            m = 1 + max(range(len(entropies)), key=entropies.__getitem__)
            self.assertIn(f"(word {m})", self.find("#head-title").text)
            self.assertEqual(self.find("#words button[aria-pressed='true']").get_attribute("data-word"), str(m))
            # It is marked by its color; no other edge fades.
            opacities = self.driver.execute_script("""return [...document.querySelectorAll('#drawing path')]
                .map((path) => getComputedStyle(path).strokeOpacity)""")
            self.assertEqual(set(opacities), {"1"})

    def test_numbers_are_for_people(self):
        self.open(self.report, 9)
        self.assertIn("log Z\n\u22120.0007", self.find("#facts").text)
        for number in range(len(self.words)):
            self.open(self.report, number)
            shown = self.find("#view").text
            self.assertIsNone(re.search(r"\de[-+]?\d|-\d|NaN|Infinity", shown), shown)
        self.open(self.report, 22)
        self.assertIn("p < 0.001 %", self.find("#trees").text)

    def test_bars_of_trees_share_one_scale(self):
        self.open(self.report, 9)
        rows = self.driver.execute_script("""return [...document.querySelectorAll('#trees button')].map((button) =>
            [button.querySelector('.share').getBoundingClientRect().width,
             button.querySelector('.bar').getBoundingClientRect().width, button.querySelector('.count').textContent])""")
        self.assertGreater(len(rows), 5)
        for track, bar, count in rows:
            self.assertEqual(track, rows[0][0])
            self.assertAlmostEqual(bar / track, int(count.split()[0]) / 100, delta=0.01)

    def test_list_shows_entropy_per_word(self):
        self.open(self.report)
        rates = [h / len(words) for h, words in zip(self.entropies, self.words)]
        self.assertIn(f"entropy per word; a full bar is {max(rates):.2f} nats", self.find("#legend").text)
        rows = self.driver.execute_script("""return [...document.querySelectorAll('#list button')].map((button) =>
            [parseFloat(button.querySelector('.meter i').style.width), button.querySelector('.rate').textContent])""")
        for rate, (width, value) in zip(rates, rows):
            self.assertAlmostEqual(width, 100 * rate / max(rates), delta=0.01)
            self.assertEqual(value, f"{rate:.2f}")

    def test_long_sentences_scroll_and_say_so(self):
        self.open(self.report, 0)
        self.assertFalse(self.find("#scroll-hint").is_displayed())
        self.open(self.report, 22)

        def seen():
            first, last = re.match(r"Words (\d+) to (\d+) of 54 are in view", self.find("#scroll-hint").text).groups()
            return range(int(first), int(last) + 1)

        m = int(self.find("#words button[aria-pressed='true']").get_attribute("data-word"))
        self.assertIn(m, seen())
        shaded = "[...document.getElementById('frame').classList].join()"
        for left, word, sides in ((0, 1, "more-after"), (10**6, 54, "more-before")):
            self.driver.execute_script("document.getElementById('drawing').scrollLeft = arguments[0]", left)
            browser.wait(self.driver, f"{shaded} === arguments[0]", sides)
            self.assertIn(word, seen())
        self.press(*[Keys.ARROW_LEFT] * 60)
        browser.wait(self.driver, "document.getElementById('scroll-hint').textContent.startsWith('Words 1 to')")

    def test_hints_tell_which_words_are_whole(self):
        seen = """
            const box = document.getElementById('drawing').getBoundingClientRect();
            return [...document.querySelectorAll('#drawing text[data-i]')].filter((word) => {
              const { left, right } = word.getBoundingClientRect();
              return left >= box.left - 1 && right <= box.right + 1;
            }).map((word) => Number(word.dataset.i));"""
        hinted = 0
        try:
            for width in (420, 460, 500, 540, 600, 700):
                size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
                self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
                for page, number in ((self.report, 0), (self.labeled, 0), (self.report, 3)):
                    self.open(page, number)
                    n = len(self.words[number])
                    whole = self.driver.execute_script(seen)
                    hint = self.find("#scroll-hint")
                    self.assertEqual(hint.is_displayed(), len(whole) < n, (width, number, whole))
                    if hint.is_displayed():
                        hinted += 1
                        self.assertIn(f"Words {whole[0]} to {whole[-1]} of {n} are in view", hint.text)
                    # Where the selected word is in view from the beginning, the beginning is shown.
                    left = self.driver.execute_script("return document.getElementById('drawing').scrollLeft")
                    selected = int(self.find("#words button[aria-pressed='true']").get_attribute("data-word"))
                    if left > 0:
                        self.driver.execute_script("document.getElementById('drawing').scrollLeft = 0")
                        edge = self.driver.execute_script("""
                            const box = document.getElementById('drawing').getBoundingClientRect();
                            return box.right - document.querySelector('#drawing .word').getBoundingClientRect().right""")
                        self.assertLess(edge, 48, (width, number, selected))
        finally:
            self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        self.assertGreater(hinted, 0)

    def test_says_which_trees_it_is_about(self):
        for page, trees in ((self.report, "single-root trees"), (self.projective, "single-root projective trees")):
            self.open(page)
            self.assertEqual(self.find("#summary").text, f"{len(self.words)} sentences, {trees}")

    def test_shows_sent_ids(self):
        self.open(self.with_ids, 1)
        self.assertEqual(self.find("#sent-id").text, "dev-<1>")
        self.find("#search").send_keys("DEV-<0")
        self.assertEqual([b.get_attribute("data-number") for b in self.all("#list button")], ["0"])
        self.open(self.report, 1)
        self.assertFalse(self.find("#sent-id").is_displayed())

    def test_narrow_pages_are_not_cut_off(self):
        narrow = {"width": 400, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", narrow)
        try:
            for page, number in ((self.report, 9), (self.report, 22), (self.labeled, 3), (self.with_ids, 1)):
                self.open(page, number)
                self.assertLessEqual(self.driver.execute_script("return document.documentElement.scrollWidth"), 400)
                for selector in ("#theme", "#facts", "#threshold", "#trees", "#heads", "#legend"):
                    right = "return document.querySelector(arguments[0]).getBoundingClientRect().right"
                    self.assertLessEqual(self.driver.execute_script(right, selector), 400, selector)
        finally:
            self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    def test_the_selected_word_is_whole_on_narrow_pages(self):
        inside = """
            const word = document.querySelector('#drawing .word').getBoundingClientRect();
            const box = document.getElementById('drawing').getBoundingClientRect();
            const button = document.querySelector('#words [aria-pressed=true]').getBoundingClientRect();
            const list = document.getElementById('words').getBoundingClientRect();
            const title = document.getElementById('head-title');
            return [word.left - box.left, box.right - word.right, button.top - list.top + 1,
                    list.bottom - button.bottom + 1, list.right - button.right + 1,
                    title.clientWidth - title.scrollWidth];"""
        try:
            for page, number in ((self.report, 3), (self.report, 20), (self.report, 22), (self.hostile, 2)):
                self.open(page, number)
                for width in (1000, 400):  # Also after the window has become narrow.
                    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
                    self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
                    browser.wait(self.driver, "innerWidth === arguments[0]", width)
                    browser.wait(self.driver, "new Promise((done) => requestAnimationFrame(() => done(true)))")
                    room = self.driver.execute_script(inside)
                    if page is self.hostile:
                        room = room[2:]  # One of its words is wider than the page.
                    self.assertGreaterEqual(min(room), 0, (number, width, room))
        finally:
            self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    def test_says_that_it_is_loading(self):
        loading = "document.getElementById('loading').checkVisibility()"
        self.open(self.report)
        self.assertFalse(self.driver.execute_script("return " + loading))
        # A page that cannot unpack its sentences yet.
        slow = self.report.with_name("slow.html")
        slow.write_text(self.report.read_text().replace("const s = JSON.parse(block", "const s = later(block"))
        self.driver.get(slow.as_uri())
        self.assertTrue(self.driver.execute_script("return " + loading))
        self.assertEqual(self.find("#loading").text, "Loading …")
        self.driver.get_log("browser")  # The script is not the one that the page's policy names.

    def test_paper_shows_all(self):
        self.open(self.report, 22)
        heights = "['words', 'trees', 'drawing'].map((id) => document.getElementById(id)).map((e) => e.scrollHeight - e.clientHeight)"
        self.assertGreater(max(self.driver.execute_script(f"return {heights}")), 1)
        self.driver.execute_script("dispatchEvent(new Event('beforeprint'))")
        self.assertLessEqual(max(self.driver.execute_script(f"return {heights}")), 1)
        self.assertFalse(self.find("nav").is_displayed())
        self.driver.execute_script("dispatchEvent(new Event('afterprint'))")
        self.assertTrue(self.find("nav").is_displayed())

    def test_slider_hides_and_shows_edges(self):
        self.open(self.report, 20)
        slider = self.find("#threshold")
        seen = set()
        # Dragged to the left, to the right, and by the keyboard.
        for move in (
            lambda: ActionChains(self.driver).drag_and_drop_by_offset(slider, -slider.size["width"] // 4, 0).perform(),
            lambda: ActionChains(self.driver).drag_and_drop_by_offset(slider, slider.size["width"] // 3, 0).perform(),
            lambda: slider.send_keys(Keys.ARROW_RIGHT * 20),
            lambda: slider.send_keys(Keys.END),
            lambda: slider.send_keys(Keys.HOME),
        ):
            move()
            threshold = self.driver.execute_script("""
                const value = Number(document.getElementById('threshold').value);
                return value <= 0 ? 0.001 : 0.001 ** (1 - value / 1000);""")
            expected = self.edges_from(20, threshold)
            drawn = {(int(p.get_attribute("data-h")), int(p.get_attribute("data-m"))) for p in self.all("#drawing path")}
            self.assertEqual(self.visible_edges(), expected & drawn)
            if threshold >= 0.0011:
                self.assertEqual(self.visible_edges(), expected)
            self.assertIn(f"{len(self.visible_edges())} of {len(drawn)} edges", self.find("#drawn").text)
            seen.add(round(threshold, 5))
        self.assertEqual(len(seen), 5)
        self.assertIn("are not in this file", self.find("#drawn").text)

    def test_click_on_a_word_shows_its_heads(self):
        self.open(self.report, 0)
        self.press(Keys.ESCAPE)
        for click in (self.find("#drawing text[data-i='7']"), self.find("#words button[data-word='4']")):
            click.click()
            m = int(click.get_attribute("data-i") or click.get_attribute("data-word"))
            self.assertIn(f"Head of {self.words[0][m - 1]} (word {m})", self.find("#head-title").text)
            rows = [[cell.text for cell in row.find_elements(By.TAG_NAME, "td")] for row in self.all("#heads tr")]
            column = [(p[m], h) for h, p in enumerate(self.marginals[0])]
            p, h = max(column)
            self.assertEqual(rows[0][0].split(), [self.words[0][h - 1], str(h)] if h else ["ROOT"])
            self.assertAlmostEqual(float(rows[0][-1].strip("> %")), 100 * p, delta=0.11)
            picked = {(int(e.get_attribute("data-h")), int(e.get_attribute("data-m"))) for e in self.all("path.picked")}
            self.assertTrue(picked and all(edge[1] == m for edge in picked))
        self.press(Keys.ESCAPE)
        self.assertEqual(self.all("path.picked"), [])

    def test_sampled_trees_are_shown_whole(self):
        self.open(self.report, 20)
        rows = self.all("#trees button")
        counts = [int(row.find_element(By.CSS_SELECTOR, ".count").text.split()[0]) for row in rows]
        self.assertEqual(sum(counts), 100)
        self.assertEqual(counts, sorted(counts, reverse=True))
        self.find("#threshold").send_keys(Keys.END)
        rows[-1].click()
        picked = self.visible_edges()
        self.assertEqual(sorted(m for _, m in picked), list(range(1, 34)))
        self.press("1")
        self.assertEqual(self.all("#trees button[aria-pressed='true']"), [rows[0]])

    def test_search_and_order(self):
        self.open(self.report)
        self.press("/", "table")
        shown = [int(b.get_attribute("data-number")) for b in self.all("#list button")]
        expected = [i for i, words in enumerate(self.words) if "table" in " ".join(words).lower()]
        self.assertEqual(shown, expected)
        self.assertIn(f"{len(expected)} of {len(self.words)}", self.find("#found").text)
        self.press(Keys.ENTER)
        self.go(expected[0])
        self.press("/", Keys.ESCAPE)
        self.assertEqual(len(self.all("#list button")), len(self.words))
        self.find("#search").send_keys("17")
        self.assertEqual([b.get_attribute("data-number") for b in self.all("#list button")], ["17"])
        self.press(Keys.ESCAPE, Keys.ESCAPE)
        self.find("#order option[value='entropy']").click()
        shown = [int(b.get_attribute("data-number")) for b in self.all("#list button")]
        self.assertEqual(shown, sorted(range(len(self.words)), key=lambda i: -self.entropies[i]))

    def test_keys(self):
        self.open(self.report)
        self.press(Keys.ARROW_DOWN)
        self.go(1)
        self.press("j")
        self.go(2)
        self.press("k", Keys.ARROW_UP)
        self.go(0)
        self.press(Keys.ARROW_UP)
        self.assertEqual(self.number(), 0)
        self.press(Keys.ESCAPE, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
        self.assertIn("word 2", self.find("#head-title").text)
        self.press(Keys.ARROW_LEFT)
        self.assertIn("word 1", self.find("#head-title").text)
        before = self.find("#level").text
        self.press("+", "+", "+")
        self.assertNotEqual(self.find("#level").text, before)
        self.press("-", "-", "-")
        self.assertEqual(self.find("#level").text, before)
        self.press("?")
        self.assertTrue(self.find("#help").is_displayed())
        self.press(Keys.ESCAPE)
        browser.wait(self.driver, "!document.getElementById('help').open")

    def test_light_and_dark(self):
        background_is = "getComputedStyle(document.body).backgroundColor"

        def background():
            return self.driver.execute_script("return " + background_is)

        self.open(self.report)
        light = background()
        browser.prefer(self.driver, "dark")
        browser.wait(self.driver, f"{background_is} !== arguments[0]", light)
        dark = background()
        self.find("#theme").click()
        self.assertEqual(background(), light)
        self.press("t")
        self.assertEqual(background(), dark)
        self.find("#theme").click()
        self.assertEqual(background(), light)
        browser.prefer(self.driver, "light")

    def test_words_stay_text(self):
        self.open(self.hostile)
        for number, words in HOSTILE.items():
            self.driver.execute_script(f"document.querySelector('[data-number=\"{number}\"]').click()")
            self.go(number)
            shown = [word.replace("\u202e", "<U+202E>").replace("\u0001", "<U+0001>") for word in words]
            self.assertEqual([t.get_attribute("textContent") for t in self.all("#drawing text[data-i]")], shown)
            self.assertEqual([b.get_attribute("textContent") for b in self.all("#words bdi")], shown)
            self.press(Keys.ESCAPE)
            for i in range(len(words)):
                self.press(Keys.ARROW_RIGHT)
                self.assertIn(shown[i], self.find("#head-title").get_attribute("textContent"))
            self.press("1")
        self.assertEqual(self.all("#main script, #list script, #main img, #main svg svg"), [])
        self.assertIsNone(self.driver.execute_script("return window.hacked"))
        self.assertEqual(self.driver.title, "</title><script>window.hacked=6</script>")
        # Even markup that got in could not run.
        self.driver.execute_script("""
            const script = document.createElement('script');
            script.textContent = 'window.hacked = 7';
            document.body.append(script);
            document.getElementById('drawing').innerHTML = '<img src=x onerror="window.hacked=8">';""")
        self.assertIsNone(self.driver.execute_script("return window.hacked"))
        self.driver.get_log("browser")  # What the policy refused.

    def test_failed_sentences_say_why(self):
        self.open(self.failing, 2)
        self.assertTrue(self.find("#failed").is_displayed())
        self.assertIn("bad_constraint", self.find("#failed-name").text)
        self.assertIn("She sleeps", self.find("#failed-words").text)
        self.assertIn("names word 8", self.find("#failed-message").text)
        self.press(Keys.ARROW_DOWN)
        self.go(3)
        self.assertIn("without an answer", self.find("#summary").text)

    # What C++ can only guess: how wide the words really are.
    def test_arcs_meet_their_words(self):
        for page, number in ((self.report, 0), (self.report, 20), (self.hostile, 4), (self.hostile, 2)):
            self.open(page, number)
            boxes, ends = self.driver.execute_script("""
                const words = [...document.querySelectorAll('#drawing text[data-i]')].map((t) => {
                  const box = t.getBBox();
                  return [box.x, box.x + box.width, box.y];
                });
                const ends = [...document.querySelectorAll('#drawing path')].map((path) => {
                  const from = path.getPointAtLength(0);
                  const box = path.getBBox();
                  return [Number(path.dataset.h), Number(path.dataset.m), from.x, box.y + box.height];
                });
                return [words, ends];""")
            for left, right in zip(boxes, boxes[1:]):
                self.assertLess(left[1], right[0])
            for h, m, x, bottom in ends:
                self.assertLessEqual(bottom, boxes[m - 1][2] + 4)
                if h > 0:
                    middle = (boxes[h - 1][0] + boxes[h - 1][1]) / 2
                    self.assertLess(abs(x - middle), 9)


class Drawings(unittest.TestCase):
    """The SVG by itself: as a file, and in a page of another's colors."""

    def test_is_strict_xml(self):
        for path in sorted((ROOT / "tests/golden").glob("*.svg")):
            root = xml.etree.ElementTree.parse(path).getroot()
            self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
            self.assertEqual(root.get("role"), "img")
            self.assertTrue(root[0].tag.endswith("title") and root[0].text)

    def test_takes_its_color_from_around_it(self):
        driver = browser.start()
        try:
            script = "return getComputedStyle(document.querySelector('text') || document.documentElement).fill"
            golden = (ROOT / "tests/golden/telescope.svg").as_uri()
            colors = {}
            for scheme in ("light", "dark"):
                browser.prefer(driver, scheme)
                driver.get(golden)
                colors[scheme] = driver.execute_script(script)
            self.assertEqual(colors, {"light": "rgb(27, 31, 36)", "dark": "rgb(230, 233, 238)"})
            driver.get("about:blank")
            svg = (ROOT / "tests/golden/telescope.svg").read_text()
            driver.execute_script("document.body.style.color = 'rgb(1, 2, 3)'; document.body.innerHTML = arguments[0]", svg)
            self.assertEqual(driver.execute_script(script), "rgb(1, 2, 3)")
        finally:
            driver.quit()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()

// SPDX-License-Identifier: Apache-2.0
// What the page does. Words are users' text: they go into the page as text, never as markup. The
// drawings are the renderer's, and inert until a sentence is shown.
"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const about = JSON.parse($("about").textContent);
  const blocks = [...document.querySelectorAll("script.sentence")];
  const sentences = blocks.map((block) => {
    const s = JSON.parse(block.textContent);
    const next = block.nextElementSibling;
    s.packed = next && next.className === "details" ? next : null;
    s.words = s.words || Array.from({ length: s.n }, (_, i) => String(i + 1));
    s.text = s.words.join(" ");
    return s;
  });

  // A picture of the page, or paper: neither scrolls, so everything is shown at its full height.
  const still = (is) => document.documentElement.toggleAttribute("data-still", is);
  still(about.still);

  const state = { shown: [], wanted: null, current: null, edges: [], word: 0, tree: -1, threshold: about.threshold };

  const element = (tag, attributes = {}, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };
  const text = (value) => element("bdi", {}, value);
  const meter = (share) => {
    const bar = element("i");
    bar.style.width = `${100 * Math.min(1, Math.max(0, share))}%`;
    return element("span", { class: "meter" }, bar);
  };
  const bar = (share) => {
    const made = element("span", { class: "bar" });
    made.style.width = `${100 * share}%`;
    return made;
  };
  // Numbers for people: a minus sign, no exponents, and no digits that nobody reads. What rounds to a
  // limit says so.
  const decimal = (value) => {
    const size = Math.abs(value);
    if (size < 5e-5) return value === 0 ? "0" : "≈ 0";
    const places = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : size >= 0.01 ? 3 : 4;
    return value.toFixed(places).replace("-", "−");
  };
  const percent = (p) => {
    const shown = 100 * p;
    if (p >= 1) return "100 %";
    if (shown >= 99.95) return "> 99.9 %";
    if (shown < 0.001) return "< 0.001 %";
    return `${shown.toFixed(shown >= 10 ? 1 : shown >= 0.1 ? 2 : 3)} %`;
  };
  // As the renderer writes on an edge.
  const on_edge = (p) => {
    const whole = Math.round(100 * p);
    if (whole === 0 && p > 0) return "<1%";
    return whole === 100 && p < 1 ? ">99%" : `${whole}%`;
  };
  const short_percent = (p) => `${Number((100 * p).toPrecision(3))} %`;
  const node = (s, i) => (i === 0 ? "ROOT" : s.words[i - 1]);
  const rate = (s) => (s.n > 0 ? s.entropy / s.n : 0);
  const largest = sentences.reduce((most, s) => Math.max(most, s.failed ? 0 : rate(s)), 1e-9);

  // What is packed: deflated JSON in base 64. Unpacked once, when the sentence is first shown.
  const unpack = async (s) => {
    if (s.failed || s.trees) return;
    const bytes = Uint8Array.from(atob(s.packed.textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    Object.assign(s, await new Response(stream).json());
    // The labels of an edge, each with the probability of the edge with this label.
    s.labels_of = new Map((s.labels || []).map(([h, m, ...pairs]) => {
      const found = [];
      for (let i = 0; i < pairs.length; i += 2) found.push({ name: pairs[i], p: pairs[i + 1] });
      return [`${h} ${m}`, found];
    }));
  };

  // ---- the list

  const item = (s) => {
    const button = element("button", { type: "button", "data-number": s.number, title: s.sent_id || "" },
      element("span", { class: "number" }, String(s.number)),
      element("span", { class: "words", dir: "auto" }, s.text || "(no words)"));
    if (s.failed) button.append(element("span", { class: "bad" }, s.failed));
    else {
      button.append(element("span", { class: "rate" }, meter(rate(s) / largest),
        element("span", {}, rate(s).toFixed(2))));
    }
    button.addEventListener("click", () => show(s));
    s.button = button;
    return element("li", {}, button);
  };
  for (const s of sentences) s.item = item(s);

  const list = () => {
    const query = $("search").value.trim().toLocaleLowerCase();
    const found = query === "" ? [...sentences] : sentences.filter((s) =>
      s.text.toLocaleLowerCase().includes(query) || String(s.number) === query ||
      (s.sent_id || "").toLocaleLowerCase().includes(query));
    const order = $("order").value;
    const key = order === "entropy" ? (s) => s.entropy : rate;
    if (order !== "number") found.sort((a, b) => (b.failed ? -1 : key(b)) - (a.failed ? -1 : key(a)));
    state.shown = found;
    $("list").replaceChildren(...found.map((s) => s.item));
    $("found").textContent = query === "" ? "" : `${found.length} of ${sentences.length} sentences`;
  };

  // ---- the drawing

  // Collects the edges of the drawing. Each has a path. It also has texts if its probability is at
  // least about.threshold or, in a report with labels, if a sampled tree has it.
  const read_edges = () => {
    const found = new Map();
    for (const path of $("drawing").querySelectorAll("path[data-h]")) {
      const { h, m, p, l } = path.dataset;
      found.set(`${h} ${m}`, { h: Number(h), m: Number(m), p: Number(p), label: l || "", path, texts: [] });
    }
    for (const shown of $("drawing").querySelectorAll("text[data-h]")) {
      const own = shown.textContent;
      found.get(`${shown.dataset.h} ${shown.dataset.m}`).texts.push({ shown, own });
    }
    return [...found.values()];
  };

  const cut = () => {
    let drawn = 0;
    for (const edge of state.edges) {
      const picked = edge.path.classList.contains("picked");
      // A tree that is shown is shown whole.
      const below = edge.p < state.threshold && !(state.tree >= 0 && picked);
      edge.path.classList.toggle("below", below);
      for (const { shown, own } of edge.texts) {
        shown.classList.toggle("below", below || (edge.p < about.threshold && !picked && own !== "ROOT"));
      }
      if (edge.p >= state.threshold) drawn += 1;
    }
    const missing = state.current.below_floor;
    $("level").textContent = short_percent(state.threshold);
    $("drawn").textContent = `${drawn} of ${state.edges.length} edges` +
      (state.threshold < about.threshold ? `; numbers are on edges from ${short_percent(about.threshold)}` : "") +
      (missing > 0 ? `; ${missing} more below ${short_percent(about.floor)} are not in this file` : "");
  };

  // Says which words are in view if not all are, and shades the sides where the drawing goes on.
  const hint = () => {
    const box = $("drawing");
    const far = box.scrollWidth - box.clientWidth;
    $("frame").classList.toggle("more-before", box.scrollLeft > 1);
    $("frame").classList.toggle("more-after", box.scrollLeft < far - 1);
    const { left, right } = box.getBoundingClientRect();
    const seen = [...box.querySelectorAll("[data-i]")].filter((word) => {
      const { left: begin, right: end } = word.getBoundingClientRect();
      const whole = begin >= left - 1 && end <= right + 1;
      return whole || (begin <= left && end >= right);  // Or wider than the drawing.
    }).map((word) => Number(word.dataset.i));
    $("scroll-hint").hidden = far <= 1 || seen.length === state.current.n;
    if ($("scroll-hint").hidden) return;
    const range = seen.length > 0 ? `Words ${seen[0]} to ${seen[seen.length - 1]}` : "No words";
    $("scroll-hint").textContent = `${range} of ${state.current.n} are in view. Scroll sideways, or press → and ←.`;
  };
  // Brings a word to the middle unless it is in view already, clear of the shades.
  const bring_to_view = (m) => {
    const drawing = $("drawing");
    const word = drawing.querySelector(`[data-i="${m}"]`);
    if (!word) return;
    const box = drawing.getBoundingClientRect();
    const { left, right } = word.getBoundingClientRect();
    const shade = (more) => (more > 1 ? 48 : 0);
    const seen = left >= box.left + shade(drawing.scrollLeft) &&
      right <= box.right - shade(drawing.scrollWidth - drawing.clientWidth - drawing.scrollLeft);
    // Of a word that is wider than the drawing, its beginning.
    const wide = right - left > box.width;
    if (!seen) drawing.scrollLeft += wide ? left - box.left : (left + right) / 2 - (box.left + box.right) / 2;
    const list = $("words");
    const button = list.children[m - 1];
    const above = button.offsetTop;
    if (above < list.scrollTop || above + button.offsetHeight > list.scrollTop + list.clientHeight) {
      list.scrollTop = above - (list.clientHeight - button.offsetHeight) / 2;
    }
  };

  // The slider is logarithmic, from the floor to 1.
  const lowest = Math.max(about.floor, 1e-6);
  const from_slider = (value) => (value <= 0 ? about.floor : lowest ** (1 - value / 1000));
  const to_slider = (p) => Math.round(1000 * (1 - Math.log(Math.max(p, lowest)) / Math.log(lowest)));
  const set_threshold = (p) => {
    state.threshold = Math.min(1, Math.max(about.floor, p));
    $("threshold").value = lowest < 1 ? to_slider(state.threshold) : 0;
    if (state.current && !state.current.failed) cut();
  };

  const probability_with = (s, h, m, name) => s.labels_of.get(`${h} ${m}`).find((label) => label.name === name).p;

  const mark = () => {
    const s = state.current;
    const tree = state.tree >= 0 ? s.trees[state.tree] : null;
    $("drawing").classList.toggle("tree", tree !== null);
    for (const { h, m, label, path, texts } of state.edges) {
      const picked = tree ? tree.heads[m - 1] === h : m === state.word;
      path.classList.toggle("picked", picked);
      if (picked) path.parentNode.append(path);  // On top of the others.
      for (const { shown, own } of texts) {
        shown.classList.toggle("picked", picked);
        // An edge of a sampled tree has the label that was sampled.
        const relabel = picked && tree && tree.labels && own !== "ROOT";
        shown.textContent = relabel && tree.labels[m - 1] !== label
          ? `${tree.labels[m - 1]} ${on_edge(probability_with(s, h, m, tree.labels[m - 1]))}` : own;
      }
    }
    for (const word of $("drawing").querySelectorAll("[data-i]")) {
      word.classList.toggle("word", Number(word.dataset.i) === state.word);
    }
    [...$("words").children].forEach((b, i) => b.setAttribute("aria-pressed", i + 1 === state.word));
    [...$("trees").children].forEach((li, i) =>
      li.firstChild.setAttribute("aria-pressed", i === state.tree));
    cut();
  };

  // ---- a word's heads

  const show_heads = () => {
    const s = state.current;
    const m = state.word;
    $("heads").replaceChildren();
    if (m === 0) {
      $("head-title").textContent = "Head of a word";
      $("rest").textContent = "Click on a word, or press → and ←.";
      return;
    }
    $("head-title").replaceChildren("Head of ", text(s.words[m - 1]), ` (word ${m})`);
    const rows = state.edges.filter((edge) => edge.m === m).sort((a, b) => b.p - a.p);
    let sum = 0;
    for (const { h, p } of rows) {
      sum += p;
      $("heads").append(element("tr", {},
        element("td", {}, text(node(s, h)), element("small", {}, h > 0 ? ` ${h}` : "")),
        element("td", {}, element("span", { class: "share" }, bar(p))), element("td", {}, percent(p))));
      const labels = (s.labels_of.get(`${h} ${m}`) || []).filter((label) => label.p >= about.floor);
      if (labels.length === 0) continue;
      const listed = labels.flatMap(({ name, p: with_label }, i) =>
        [i > 0 ? ", " : "", text(name), ` ${percent(with_label)}`]);
      $("heads").append(element("tr", { class: "labels" }, element("td", { colspan: "3" }, ...listed)));
    }
    const others = s.n - rows.length;
    const rest = Math.max(0, 1 - sum);
    $("rest").textContent = `Entropy ${decimal(s.entropy_of_words[m - 1])} nats.` +
      (others > 0 ? ` ${others} other ${others === 1 ? "head" : "heads"}, ` +
        `${rest < 5e-4 ? "less than 0.05 %" : percent(rest)} together.` : "");
  };

  const pick_word = (m) => {
    state.word = m === state.word ? 0 : m;
    state.tree = -1;
    mark();
    show_heads();
  };

  // ---- sampled trees

  // What tells a tree from the most frequent one.
  const difference = (s, tree, first) => {
    const pieces = [];
    tree.heads.forEach((h, i) => {
      const label = tree.labels ? tree.labels[i] : "";
      if (h === first.heads[i] && (!tree.labels || label === first.labels[i])) return;
      // Words are numbered and set apart by semicolons, because they may be commas, or alike.
      if (pieces.length > 0) pieces.push("; ");
      pieces.push(text(s.words[i]), element("small", {}, ` ${i + 1}`), label ? ` ← ${label} ` : " ← ",
        text(node(s, h)), element("small", {}, h > 0 ? ` ${h}` : ""));
    });
    return pieces;
  };

  const first_tree = (s) => {
    if (s.trees.length === 1) return "the only tree sampled";
    const most = s.trees[0].count > s.trees[1].count ? "the most frequent tree" : "one of the most frequent trees";
    return `${most}; below, what differs from it`;
  };

  const show_trees = () => {
    const s = state.current;
    $("trees-note").textContent = `${about.samples} samples with replacement, seed ${about.seed}: ` +
      `${s.trees.length} different ${s.trees.length === 1 ? "tree" : "trees"}. ` +
      "A bar is a tree's share of the samples, p its probability" +
      (s.trees[0].labels ? " with its labels." : ".");
    // A picture has the first ones, and says so.
    const listed = about.still ? s.trees.slice(0, 12) : s.trees;
    if (listed.length < s.trees.length) $("trees-note").append(` The ${listed.length} most frequent are shown.`);
    $("trees").replaceChildren(...listed.map((tree, i) => {
      const share = element("span", { class: "share" }, bar(tree.count / about.samples));
      const button = element("button", { type: "button", title: `log p = ${tree.log_prob}` },
        element("span", { class: "count" }, `${tree.count} of ${about.samples}`),
        element("span", { class: "p" }, `p ${percent(Math.exp(tree.log_prob))}`), share,
        element("span", { class: "how" }, ...(i === 0 ? [first_tree(s)] : difference(s, tree, s.trees[0]))));
      button.addEventListener("click", () => pick_tree(i));
      return element("li", {}, button);
    }));
  };

  const pick_tree = (i) => {
    state.tree = i === state.tree ? -1 : i;
    state.word = 0;
    mark();
    show_heads();
  };

  // ---- a sentence

  const show_words = () => {
    const s = state.current;
    const most = Math.max(Math.log(2), ...s.entropy_of_words);
    $("words-note").textContent = `The bars compare the words of this sentence; a full bar is ${most.toFixed(2)} nats.`;
    $("words").replaceChildren(...s.words.map((word, i) => {
      const button = element("button", { type: "button", "data-word": i + 1 },
        text(word), meter(s.entropy_of_words[i] / most),
        element("span", { class: "value" }, s.entropy_of_words[i] < 0.005 ? "≈ 0" : s.entropy_of_words[i].toFixed(2)));
      button.addEventListener("click", () => pick_word(i + 1));
      return button;
    }));
  };

  // Whoever takes a picture reads how high the page is.
  const finished = (s) => {
    $("main").dataset.number = s.number;
    if (about.still) $("main").dataset.height = Math.ceil(document.body.getBoundingClientRect().height);
  };

  const show = async (s, scroll = false) => {
    state.wanted = s;
    await unpack(s);
    if (state.wanted !== s) return;  // Somebody was faster.
    if (state.current) state.current.button.removeAttribute("aria-current");
    state.current = s;
    state.tree = -1;
    s.button.setAttribute("aria-current", "true");
    if (scroll) s.button.scrollIntoView({ block: "nearest" });
    history.replaceState(null, "", `#${s.number}`);
    $("loading").hidden = true;
    $("view").hidden = Boolean(s.failed);
    $("failed").hidden = !s.failed;
    $("hover").textContent = "";
    if (s.failed) {
      $("failed-name").textContent = `Sentence ${s.number}: ${s.failed}`;
      $("failed-words").textContent = s.text;
      $("failed-message").textContent = s.message;
      finished(s);
      return;
    }
    $("name").textContent = `Sentence ${s.number}`;
    $("sent-id").textContent = s.sent_id || "";
    const facts = [["words", String(s.n), s.n],
      ["entropy", `${decimal(s.entropy)} nats, ${decimal(rate(s))} per word`, s.entropy],
      ["log Z", decimal(s.log_partition), s.log_partition]];
    $("facts").replaceChildren(...facts.map(([name, value, exact]) =>
      element("div", {}, element("dt", {}, name), element("dd", { title: exact }, value))));
    // Our own renderer's markup: users' words are escaped in it.
    $("drawing").innerHTML = s.svg;
    $("edges-note").textContent = s.labels
      ? "The number beside a label is the probability of the edge with this label. Strokes and the slider go by " +
        "the edge, whatever its label."
      : "The number on an edge is its probability.";
    state.edges = read_edges();
    // The most doubtful word is the first to be looked at.
    state.word = s.n > 0 ? 1 + s.entropy_of_words.indexOf(Math.max(...s.entropy_of_words)) : 0;
    for (const word of $("drawing").querySelectorAll("[data-i]")) {
      word.addEventListener("click", () => pick_word(Number(word.dataset.i)));
    }
    show_words();
    show_trees();
    show_heads();
    mark();
    $("drawing").scrollTop = $("drawing").scrollHeight;
    $("drawing").scrollLeft = 0;
    bring_to_view(state.word);
    hint();
    finished(s);
  };

  const step = (by) => {
    if (state.shown.length === 0) return;
    const at = state.shown.indexOf(state.wanted);
    const to = at < 0 ? 0 : Math.min(state.shown.length - 1, Math.max(0, at + by));
    show(state.shown[to], true);
  };
  const step_word = (by) => {
    const s = state.current;
    if (!s || s.failed) return;
    const to = state.word === 0 ? (by > 0 ? 1 : s.n) : state.word + by;
    if (to < 1 || to > s.n) return;
    pick_word(to);
    $("words").children[to - 1].scrollIntoView({ block: "nearest" });
    bring_to_view(to);
  };

  // ---- light and dark

  const wants_dark = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  const paint = () => {
    document.documentElement.dataset.theme = chosen || (wants_dark.matches ? "dark" : "light");
  };
  const toggle_theme = () => {
    chosen = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    paint();
  };
  wants_dark.addEventListener("change", paint);
  paint();

  // ---- events

  $("theme").addEventListener("click", toggle_theme);
  $("keys").addEventListener("click", () => $("help").showModal());
  $("search").addEventListener("input", list);
  $("order").addEventListener("change", list);
  $("threshold").addEventListener("input", () => set_threshold(from_slider(Number($("threshold").value))));
  $("drawing").addEventListener("scroll", hint);
  addEventListener("resize", () => {
    if (!state.current || state.current.failed) return;
    bring_to_view(state.word);
    hint();
  });
  addEventListener("beforeprint", () => still(true));
  addEventListener("afterprint", () => still(about.still));
  $("drawing").addEventListener("pointerover", (event) => {
    const arc = event.target.closest("path[data-h]");
    const s = state.current;
    $("hover").replaceChildren();
    if (arc === null) return;
    $("hover").append(text(node(s, Number(arc.dataset.h))), " → ",
      text(node(s, Number(arc.dataset.m))), `  ${percent(Number(arc.dataset.p))}`);
    if (arc.dataset.l) $("hover").append("; ", text(arc.dataset.l), ` ${percent(Number(arc.dataset.q))}`);
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
    const searching = event.target === $("search");
    const key = event.key;
    if (key === "Escape") {
      if (searching && $("search").value !== "") {
        $("search").value = "";
        list();
      } else if (searching) {
        $("main").focus();
      } else if (state.current && !state.current.failed) {
        state.word = 0;
        state.tree = -1;
        mark();
        show_heads();
      }
      return;
    }
    if (searching && key === "Enter") {
      if (state.shown.length > 0) show(state.shown[0], true);
      $("main").focus();
      return;
    }
    if (event.target instanceof HTMLSelectElement) return;
    if (searching && key !== "ArrowDown" && key !== "ArrowUp") return;
    const sliding = event.target === $("threshold");
    if (sliding && key.startsWith("Arrow")) return;
    const keys = {
      ArrowDown: () => step(1), j: () => step(1), ArrowUp: () => step(-1), k: () => step(-1),
      ArrowRight: () => step_word(1), ArrowLeft: () => step_word(-1),
      "+": () => set_threshold(state.threshold * 1.25), "=": () => set_threshold(state.threshold * 1.25),
      "-": () => set_threshold(state.threshold / 1.25),
      "/": () => $("search").focus(), t: toggle_theme, "?": () => $("help").showModal(),
    };
    const s = state.current;
    if (/^[1-9]$/.test(key) && s && !s.failed && s.trees.length >= Number(key)) {
      pick_tree(Number(key) - 1);
    } else if (keys[key]) {
      keys[key]();
    } else {
      return;
    }
    event.preventDefault();
  });

  const failures = sentences.filter((s) => s.failed).length;
  $("summary").textContent = `${sentences.length} ${sentences.length === 1 ? "sentence" : "sentences"}` +
    (failures > 0 ? `, ${failures} without an answer` : "") +
    `, ${about.root}-root ${about.projective ? "projective " : ""}trees`;
  $("legend").append(meter(1), `entropy per word; a full bar is ${largest.toFixed(2)} nats`);
  list();
  set_threshold(about.threshold);
  const wanted = sentences.find((s) => `#${s.number}` === location.hash);
  if (typeof DecompressionStream === "undefined") {
    $("loading").textContent = "This browser cannot unpack the sentences: it has no DecompressionStream.";
  } else if (sentences.length > 0) {
    show(wanted || sentences[0], true);
  } else {
    $("loading").hidden = true;
  }
})();

// SPDX-License-Identifier: Apache-2.0
#include "report/sentence_data.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <stdexcept>
#include <utility>

#include "formats/conllu_keys.h"
#include "io/base64.h"
#include "report/page.h"
#include "taproot/draw.h"

namespace taproot::cli {
namespace {

using Json = nlohmann::ordered_json;

// Few digits, because a report holds many numbers and nobody reads more digits.
double shortened(double value, int digits = 6) {
  return std::strtod(fmt::format("{:.{}g}", value, digits).c_str(), nullptr);
}

// A probability with four digits, but 1 for exactly 1 alone.
double shortened_probability(double p) { return p < 1 ? std::min(shortened(p, 4), 0.9999) : 1.0; }

// The labels of every edge that is drawn, the most probable first, each with the probability of the
// edge with this label: [head, modifier, name, probability, name, probability, ...]. An edge has
// its best label, those that were sampled, and those from `floor` on.
Json labels_json(const Context& context, const EdgeLabels& labels,
                 const std::vector<std::uint8_t>& drawn,
                 const std::set<std::pair<std::size_t, std::string>>& sampled, std::size_t side) {
  const std::size_t count = context.label_names.size();
  Json edges = Json::array();
  std::vector<std::size_t> order(count);
  for (std::size_t edge = 0; edge < drawn.size(); ++edge) {
    if (drawn[edge] == 0) continue;
    const auto p = [&](std::size_t label) { return labels.of_all[edge * count + label]; };
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return p(a) > p(b); });
    Json one = {edge / side, edge % side};
    for (const std::size_t label : order) {
      const std::string& name = context.label_names[label];
      if (label != order[0] && p(label) < context.options.floor && !sampled.contains({edge, name}))
        continue;
      one.push_back(shown_text(name));
      one.push_back(shortened_probability(p(label)));
    }
    edges.push_back(std::move(one));
  }
  return edges;
}

// The value of "# sent_id = ..." among the comments of a CoNLL-U sentence, or "".
std::string sent_id(const WordSentence& sentence) {
  for (const std::string& line : sentence.lines) {
    const auto comment = conllu_comment(line);
    if (comment && comment->first == "sent_id") return std::string(comment->second);
  }
  return "";
}

Json begin_sentence(const Context& context, std::size_t i) {
  Json json = {{"number", context.number(i)}, {"n", context.chunk.sentences[i].n}};
  if (const WordSentence* const own = context.chunk.words_of(i)) {
    if (const std::string id = sent_id(*own); !id.empty()) json["sent_id"] = shown_text(id);
    Json words = Json::array();
    for (const std::string& word : own->words) words.push_back(shown_text(word));
    json["words"] = std::move(words);
  }
  return json;
}

// `text` deflated, in base 64: about a seventh of its size. A browser unpacks it (with
// DecompressionStream) when a sentence is shown.
std::string packed(std::string_view text) {
  uLongf size = compressBound(static_cast<uLong>(text.size()));
  std::vector<std::uint8_t> bytes(size);
  const auto* const data = reinterpret_cast<const Bytef*>(text.data());
  if (compress2(bytes.data(), &size, data, static_cast<uLong>(text.size()), 7) != Z_OK) {
    throw std::runtime_error("zlib could not deflate a sentence");
  }
  return base64(std::span(bytes).first(size));
}

std::string block(const char* type, const char* name, const std::string& content) {
  return fmt::format("<script type=\"{}\" class=\"{}\">{}</script>\n", type, name, content);
}

Json tree_json(const TreeGroup& group) {
  Json tree = {{"count", group.count},
               {"log_prob", shortened(*group.row.log_prob)},
               {"heads", group.row.heads}};
  if (!group.row.labels.empty()) {
    Json labels = Json::array();
    for (const std::string& label : group.row.labels) labels.push_back(shown_text(label));
    tree["labels"] = std::move(labels);
  }
  return tree;
}

}  // namespace

std::string sentence_html(const Context& context, std::size_t i, const SentenceAnswers& answers) {
  const Options& options = context.options;
  const auto side = static_cast<std::size_t>(context.chunk.sentences[i].n) + 1;
  const std::vector<double>& p = answers.marginals;

  Json json = begin_sentence(context, i);
  json["entropy"] = shortened(answers.entropy);
  Json details;
  details["log_partition"] = shortened(answers.log_partition);
  Json of_words = Json::array();
  for (std::size_t m = 1; m < side; ++m) {
    double sum = 0;
    for (std::size_t h = 0; h < side; ++h) {
      const double q = p[h * side + m];
      if (q > 0) sum -= q * std::log(q);
    }
    of_words.push_back(std::abs(shortened(sum, 4)));  // Not "-0".
  }
  details["entropy_of_words"] = std::move(of_words);

  std::vector<std::uint8_t> sampled(p.size(), 0);
  std::set<std::pair<std::size_t, std::string>> sampled_labels;  // Of edges.
  Json trees = Json::array();
  for (const TreeGroup& group : grouped(context, i, answers.samples)) {
    trees.push_back(tree_json(group));
    for (std::size_t m = 1; m < side; ++m) {
      const std::size_t edge = static_cast<std::size_t>(group.row.heads[m - 1]) * side + m;
      sampled[edge] = 1;
      if (!group.row.labels.empty()) sampled_labels.emplace(edge, group.row.labels[m - 1]);
    }
  }
  details["trees"] = std::move(trees);

  // Edges that are not drawn are counted.
  std::size_t edges = 0;
  for (std::size_t e = 0; e < p.size(); ++e) {
    if (p[e] <= 0 || p[e] >= options.floor || sampled[e] != 0) continue;
    ++edges;
  }
  details["below_floor"] = edges;

  SvgOptions svg;
  svg.threshold = options.floor;
  svg.text_from = options.threshold;
  const EdgeLabels labels = edge_labels(context, i, p);
  svg.labels = labels.best;
  svg.label_probabilities = labels.probability;
  svg.also = sampled;
  svg.hints = false;
  details["svg"] = marginals_svg(context.chunk.words_or_none(i), p, svg);
  if (!labels.best.empty()) {
    std::vector<std::uint8_t> drawn = sampled;
    for (std::size_t e = 0; e < p.size(); ++e) {
      if (p[e] > 0 && p[e] >= options.floor) drawn[e] = 1;
    }
    details["labels"] = labels_json(context, labels, drawn, sampled_labels, side);
  }
  return block("application/json", "sentence", escape_script(json.dump())) +
         block("application/octet-stream", "details", packed(details.dump()));
}

std::string failure_html(const Context& context, std::size_t i, const FailedRow& row) {
  Json json = begin_sentence(context, i);
  json["failed"] = row.status;
  json["message"] = shown_text(row.message);
  return block("application/json", "sentence", escape_script(json.dump()));
}

}  // namespace taproot::cli

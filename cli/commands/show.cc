// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "commands/commands.h"
#include "commands/number_file.h"
#include "commands/tree_results.h"
#include "error.h"
#include "io/output_file.h"
#include "picture/rendering.h"
#include "taproot/draw.h"
#include "terminal.h"

namespace taproot::cli {
namespace {

// A drawing and its caption.
struct Picture {
  std::string caption;
  std::string drawing;
};

struct Style {
  bool svg = false;
  TextOptions text;
};

// Four significant digits, also next to 1.
std::string probability(double log_prob) {
  if (log_prob >= 0) return "probability 1";
  if (log_prob > -5e-4) return fmt::format("probability 1 - {:.2g}", -std::expm1(log_prob));
  return fmt::format("probability {:.4g}", std::exp(log_prob));
}

Picture picture_of(const Style& style, const std::vector<std::string>& words, const TreeRow& row,
                   std::string caption) {
  Picture picture{std::move(caption), {}};
  if (style.svg) {
    SvgOptions options;
    options.labels = row.labels;
    picture.drawing = tree_svg(words, row.heads, options);
  } else {
    TextOptions options = style.text;
    options.labels = row.labels;
    picture.drawing = tree_text(words, row.heads, options);
  }
  return picture;
}

Picture marginals_picture(const Style& style, const std::vector<std::string>& words,
                          const std::vector<double>& p, const EdgeLabels& labels, double entropy) {
  const double threshold = style.text.threshold;
  const auto less =
      std::count_if(p.begin(), p.end(), [&](double x) { return x > 0 && x < threshold; });
  Picture picture;
  picture.caption =
      fmt::format("entropy {:.4g} nats; edges from {:g} % on", entropy, 100 * threshold);
  if (less > 0) picture.caption += fmt::format(", {} less probable ones not drawn", less);
  if (!labels.best.empty()) picture.caption += "; numbers are of edges with their labels";
  if (style.svg) {
    SvgOptions options;
    options.threshold = threshold;
    options.labels = labels.best;
    options.label_probabilities = labels.probability;
    picture.drawing = marginals_svg(words, p, options);
  } else {
    TextOptions options = style.text;
    options.labels = labels.best;
    options.label_probabilities = labels.probability;
    picture.drawing = marginals_text(words, p, options);
  }
  return picture;
}

// Draws the pictures of every sentence of a chunk.
std::vector<std::vector<Picture>> draw(Engine& engine, const Context& context, const Style& style,
                                       std::vector<Outcome>& outcomes) {
  const Options& options = context.options;
  const std::size_t size = context.chunk.size();
  std::vector<std::vector<Picture>> pictures(size);
  DependencyTrees trees = engine.trees(context.chunk, options.marginals);
  if (options.marginals) {
    std::vector<std::vector<double>> p;
    std::vector<double> entropies(size);
    outcomes = find_marginals(trees, p);
    trees.entropy(entropies);
    for (std::size_t i = 0; i < size; ++i) {
      if (outcomes[i].ok()) {
        pictures[i].push_back(marginals_picture(style, context.chunk.words_or_none(i), p[i],
                                                edge_labels(context, i, p[i]), entropies[i]));
      }
    }
    return pictures;
  }
  const SampleOptions how{algorithm_named(options.algorithm), options.seed};
  const std::vector<SentenceTrees> found = options.has_k
                                               ? sample_trees(trees, how, options.k)
                                               : decoded_trees(trees, &DependencyTrees::argmax);
  for (std::size_t i = 0; i < size; ++i) {
    outcomes[i] = found[i].outcome;
    for (const TreeGroup& group : grouped(context, i, found[i])) {
      const std::string which =
          options.has_k ? fmt::format("{} of {} samples", group.count, options.k) : "best tree";
      pictures[i].push_back(picture_of(style, context.chunk.words_or_none(i), group.row,
                                       which + ", " + probability(*group.row.log_prob)));
    }
  }
  return pictures;
}

}  // namespace

int run_show(const Options& options) {
  if (options.has_k && options.marginals)
    fail("-k shows samples and --marginals all edges; choose one of them");
  Style style;
  style.svg = options.format != Format::kText;
  style.text.width = options.width > 0 ? options.width : terminal_width();
  style.text.color = wants_color(options.color, options.output.empty());
  style.text.threshold = options.threshold;
  std::optional<Rendering> rendering;
  if (style.svg && options.format != Format::kSvg) {
    rendering.emplace(Rendering::Kind::kFigure, options.format, options.output);
  }
  ChunkReader reader(options, options.has_k ? options.k : 1);
  Engine engine(options);
  OutputFile out(rendering ? rendering->source() : options.output);
  bool failed = false;
  std::size_t drawings = 0;
  Chunk chunk;
  while (reader.next(chunk)) {
    const Context context{options, chunk, reader.label_names()};
    std::vector<Outcome> outcomes(chunk.size());
    const auto pictures = draw(engine, context, style, outcomes);
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      if (!outcomes[i].ok()) {
        failed = true;
        const FailedRow row = chunk.failure(i, outcomes[i]);
        const std::string said = fmt::format("{}: {}\n", row.status, shown_text(row.message));
        style.svg ? fmt::print(stderr, "{}", said) : out.write(said + "\n");
      }
      for (const Picture& picture : pictures[i]) {
        if (style.svg && ++drawings > 1) {
          fail("a {} file holds one drawing; choose one sentence with --sentences N, and one tree",
               to_string(options.format));
        }
        if (style.svg) {
          out.write(picture.drawing);
        } else {
          out.write(fmt::format("sentence {}: {}\n{}\n", chunk.sentences[i].number, picture.caption,
                                picture.drawing));
        }
      }
    }
  }
  if (style.svg && drawings == 0 && !failed) fail("the input has no sentence to draw");
  if (drawings > 0 || !style.svg) out.commit();
  if (rendering && drawings > 0) rendering->finish();
  return failed ? kSomeFailed : kAllFine;
}

}  // namespace taproot::cli

// SPDX-License-Identifier: Apache-2.0
#include "input/constraint_list.h"

#include <algorithm>
#include <limits>
#include <sstream>

#include "error.h"
#include "io/byte_source.h"
#include "io/text_lines.h"
#include "parse.h"
#include "taproot/draw.h"

namespace taproot::cli {
namespace {

constexpr const char* kWanted =
    "expected 'SENTENCE force HEAD:MODIFIER', 'SENTENCE forbid HEAD:MODIFIER' or "
    "'SENTENCE roots WORD,...'";

ConstraintKind kind_named(const std::string& where, const std::string& name) {
  if (name == "force") return ConstraintKind::kForce;
  if (name == "forbid") return ConstraintKind::kForbid;
  if (name == "roots") return ConstraintKind::kRoots;
  fail("{}: {}, not {}", where, kWanted, quoted(name));
}

}  // namespace

int ConstraintList::Item::largest() const {
  return kind == ConstraintKind::kRoots ? *std::ranges::max_element(words)
                                        : std::max(head, modifier);
}

void ConstraintList::Item::apply(Constraints& constraints) const {
  if (kind == ConstraintKind::kForce) constraints.force(head, modifier);
  if (kind == ConstraintKind::kForbid) constraints.forbid(head, modifier);
  if (kind == ConstraintKind::kRoots) constraints.allow_roots(words);
}

ConstraintList::Item ConstraintList::parsed(ConstraintKind kind, const std::string& option,
                                            const std::string& value) {
  Item item{kind, fmt::format("{} {}", option, value), 0, 0, {}};
  if (kind == ConstraintKind::kRoots) {
    item.words = parse_words(option, value);
  } else {
    std::tie(item.head, item.modifier) = parse_edge(option, value);
  }
  return item;
}

void ConstraintList::add(ConstraintKind kind, const std::string& option, const std::string& value) {
  everywhere_.push_back(parsed(kind, option, value));
}

void ConstraintList::read(const std::string& file) {
  TextLines in(file);
  for (std::string line; in.next(line);) {
    std::istringstream words(line);
    std::string number;
    if (!(words >> number) || number.starts_with('#')) continue;
    const std::string where = in.where();
    std::string name;
    std::string value;
    if (!(words >> name >> value)) fail("{}: {}, not {}", where, kWanted, quoted(line));
    const std::size_t sentence =
        parse_integer(where, number, 0, std::numeric_limits<std::int64_t>::max());
    const ConstraintKind kind = kind_named(where, name);
    do {
      Item item = parsed(kind, where, value);
      item.where = fmt::format("'{} {}' in {}", name, value, shown_text(where));
      of_sentence_[sentence].push_back(std::move(item));
    } while (words >> value);
  }
}

void ConstraintList::check_sentences(std::size_t first, std::size_t count) const {
  for (const auto& [sentence, items] : of_sentence_) {
    if (sentence >= first && sentence - first < count) continue;
    if (count == 0)
      fail("{}: there is no sentence {}, as the input is empty", items[0].where, sentence);
    fail("{}: there is no sentence {}; those of the input are numbered {} to {}", items[0].where,
         sentence, first, first + count - 1);
  }
}

Constraints ConstraintList::of(std::size_t sentence, int n, std::string& problem) const {
  Constraints constraints;
  problem.clear();
  const auto add = [&](const std::vector<Item>& items) {
    for (const Item& item : items) {
      if (item.largest() > n && problem.empty()) {
        problem = fmt::format("{} names word {}, but the length of the sentence is {}", item.where,
                              item.largest(), n);
      }
      if (problem.empty()) item.apply(constraints);
    }
  };
  add(everywhere_);
  if (const auto own = of_sentence_.find(sentence); own != of_sentence_.end()) add(own->second);
  return problem.empty() ? constraints : Constraints();
}

}  // namespace taproot::cli

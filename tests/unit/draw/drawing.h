// SPDX-License-Identifier: Apache-2.0
//
// Reads a drawing back with a parser that is not ours, to check what is where.
#pragma once

#include <gtest/gtest.h>

#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace taproot {

struct Point {
  double x;
  double y;
};

struct DrawnEdge {
  int head;
  int modifier;
  double opacity = 1;
  double probability = -1;  ///< data-p
  std::string label;        ///< data-l
  std::string hint;
  Point begin;
  Point end;
  std::vector<Point> line;  ///< Many points along it, without the arrow head.
};

struct DrawnText {
  int word = 0;  ///< data-i; 0 for labels.
  int head = 0;  ///< data-h of a text on an edge.
  int of = 0;    ///< data-m of a text on an edge.
  Point at{};
  std::string text;
  bool from_left = false;  ///< text-anchor="start"
};

struct Drawing {
  double width = 0;
  double height = 0;
  std::string title;
  std::vector<DrawnEdge> edges;
  std::vector<DrawnText> words;
  std::vector<DrawnText> labels;
};

/// The points of a path; those behind its second move are the arrow head. A small letter counts
/// from the point before, a capital one from the corner of the drawing.
inline std::vector<Point> points_of(const std::string& d) {
  std::vector<Point> points;
  std::istringstream in(d);
  Point at{0, 0};
  char letter = 0;
  for (int moves = 0;;) {
    in >> std::ws;
    if (in.peek() == EOF) break;
    if (std::isalpha(in.peek()) != 0) in >> letter;
    const auto command = static_cast<char>(std::toupper(letter));
    const Point origin = letter == command ? Point{0, 0} : at;
    if (command == 'M' && ++moves == 2) break;
    const auto read = [&] {
      Point point{};
      in >> point.x >> point.y;
      return Point{origin.x + point.x, origin.y + point.y};
    };
    if (command == 'M') {
      at = read();
      points.push_back(at);
    } else if (command == 'V' || command == 'H') {
      Point to = at;
      double number = 0;
      in >> number;
      (command == 'V' ? to.y : to.x) = (command == 'V' ? origin.y : origin.x) + number;
      for (int i = 1; i <= 50; ++i) {
        points.push_back({at.x + (to.x - at.x) * i / 50, at.y + (to.y - at.y) * i / 50});
      }
      at = to;
    } else if (command == 'C') {
      const Point b = read();
      const Point c = read();
      const Point e = read();
      for (int i = 1; i <= 50; ++i) {
        const double t = i / 50.0;
        const double s = 1 - t;
        const auto curve = [&](double p, double q, double r, double z) {
          return s * s * s * p + 3 * s * s * t * q + 3 * s * t * t * r + t * t * t * z;
        };
        points.push_back({curve(at.x, b.x, c.x, e.x), curve(at.y, b.y, c.y, e.y)});
      }
      at = e;
    } else {
      ADD_FAILURE() << "no such command: " << letter << " in " << d;
      break;
    }
  }
  EXPECT_FALSE(in.fail()) << d;
  return points;
}

inline Drawing read_drawing(const std::string& svg) {
  using boost::property_tree::ptree;
  Drawing drawing;
  ptree document;
  std::istringstream in(svg);
  boost::property_tree::read_xml(in, document);
  EXPECT_EQ(document.size(), 1U) << "one element";
  const ptree& root = document.get_child("svg");
  EXPECT_EQ(root.get<std::string>("<xmlattr>.role"), "img");
  drawing.width = root.get<double>("<xmlattr>.width");
  drawing.height = root.get<double>("<xmlattr>.height");
  drawing.title = root.get<std::string>("title");
  EXPECT_EQ(svg.find(" id="), std::string::npos);
  EXPECT_EQ(svg.find("href"), std::string::npos);
  for (const auto& [tag, group] : root) {
    if (tag != "g") continue;
    for (const auto& [name, element] : group) {
      if (name == "path") {
        DrawnEdge edge{};
        edge.head = element.get<int>("<xmlattr>.data-h");
        edge.modifier = element.get<int>("<xmlattr>.data-m");
        edge.opacity = element.get<double>("<xmlattr>.opacity", 1);
        edge.probability = element.get<double>("<xmlattr>.data-p", -1);
        edge.label = element.get<std::string>("<xmlattr>.data-l", "");
        edge.hint = element.get<std::string>("title", "");
        edge.line = points_of(element.get<std::string>("<xmlattr>.d"));
        edge.begin = edge.line.front();
        edge.end = edge.line.back();
        drawing.edges.push_back(edge);
      } else if (name == "text") {
        DrawnText text;
        text.word = element.get<int>("<xmlattr>.data-i", 0);
        text.head = element.get<int>("<xmlattr>.data-h", 0);
        text.of = element.get<int>("<xmlattr>.data-m", 0);
        text.at = {element.get<double>("<xmlattr>.x"), element.get<double>("<xmlattr>.y")};
        text.text = element.data();
        text.from_left = element.get<std::string>("<xmlattr>.text-anchor", "") == "start";
        (text.word > 0 ? drawing.words : drawing.labels).push_back(text);
      } else {
        EXPECT_EQ(name, "<xmlattr>");
      }
    }
  }
  return drawing;
}

}  // namespace taproot

// SPDX-License-Identifier: Apache-2.0
//
// What the readers accept: every element type, byte order, layout and version.
#include <bit>
#include <cmath>
#include <limits>

#include "input/label_reader.h"
#include "input_files.h"
#include "io/npy_reader.h"

namespace taproot::cli {
namespace {

using Floats = std::vector<float>;
using Doubles = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST_F(InputFiles, ReadsEveryFloatType) {
  const Doubles values{0, 1, -2, 0.5};
  const std::vector<std::uint16_t> halves{0, 0x3c00, 0xc000, 0x3800};
  for (const bool swapped : {false, true}) {
    const std::string order = swapped ? ">" : "<";
    const auto half = read(write("h.npy", npy(order + "f2", "(2, 2)", bytes_of(halves, swapped))));
    const Floats narrow(values.begin(), values.end());
    const auto single =
        read(write("s.npy", npy(order + "f4", "(2, 2)", bytes_of(narrow, swapped))));
    const auto wide = read(write("d.npy", npy(order + "f8", "(2, 2)", bytes_of(values, swapped))));
    ASSERT_EQ(half.size() + single.size() + wide.size(), 3U);
    EXPECT_EQ(half[0].narrow, narrow);
    EXPECT_EQ(single[0].narrow, narrow);
    EXPECT_EQ(wide[0].wide, values);
    EXPECT_FALSE(half[0].is_double);
    EXPECT_TRUE(wide[0].is_double && wide[0].narrow.empty());
    EXPECT_EQ(wide[0].n, 1);
  }
}

TEST(Half, IsExactForEveryPattern) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = from_half(static_cast<std::uint16_t>(bits));
    const int exponent = static_cast<int>((bits >> 10) & 0x1f);
    const auto fraction = static_cast<double>(bits & 0x3ff);
    EXPECT_EQ(std::signbit(value), bits >= 0x8000);
    if (exponent == 0x1f) {
      EXPECT_EQ(std::isnan(value), fraction != 0);
      EXPECT_EQ(std::isinf(value), fraction == 0);
    } else {
      const double expected =
          exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
      EXPECT_EQ(std::abs(value), expected);
    }
  }
}

TEST_F(InputFiles, ReadsEveryVersionAndWayToWriteAHeader) {
  const Floats values{1, 2, 3, 4};
  const std::string data = bytes_of(values);
  const std::vector<std::string> headers{
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }\n",
      "{'shape':(2,2),'fortran_order':False,'descr':'<f4'}",
      "  { \"descr\" : \"<f4\" ,\n 'shape' : ( 2 , 2 , ) , 'fortran_order' : False , }  \n",
      "{'descr': '=f4', 'fortran_order': False, 'shape': (2L, 2L)}",
  };
  for (const std::string& header : headers) {
    for (const int version : {1, 2, 3}) {
      const auto sentences = read(write("a.npy", npy_with(header, data, version)));
      ASSERT_EQ(sentences.size(), 1U);
      EXPECT_EQ(sentences[0].narrow, values) << header;
    }
  }
}

TEST_F(InputFiles, TransposesFortranOrder) {
  const Floats values{1, 2, 3, 4};
  const std::string bytes = npy("<f4", "(2, 2)", bytes_of(values), true);
  EXPECT_EQ(read(write("a.npy", bytes))[0].narrow, (Floats{1, 3, 2, 4}));
  EXPECT_EQ(read(write("a.npz", zip({{"x", bytes}})))[0].narrow, (Floats{1, 3, 2, 4}));
}

TEST_F(InputFiles, ReadsRaggedArchives) {
  const Floats values{1, 2, 3, 4, 5, 6};
  for (const bool deflate : {false, true}) {
    for (const bool fortran : {false, true}) {
      for (const std::string type : {"|i1", "<i2", ">i2", "<i4", ">i8", "|u1", "<u4", "<u8"}) {
        const auto width = static_cast<std::size_t>(type[2] - '0');
        std::string lengths;
        for (const char n : {'\1', '\0', '\0'}) {
          std::string raw(width, '\0');
          (type[0] == '>' ? raw.back() : raw.front()) = n;
          lengths += raw;
        }
        const auto sentences =
            read(write("a.npz", zip({{"other", "no array"},
                                     {"scores", npy("<f4", "(6,)", bytes_of(values), fortran)},
                                     {"lengths", npy(type, "(3,)", lengths)}},
                                    deflate)));
        ASSERT_EQ(sentences.size(), 3U);
        EXPECT_EQ(sentences[0].narrow, (Floats{1, 2, 3, 4}));
        EXPECT_EQ(sentences[1].narrow, Floats{5});
        EXPECT_EQ(sentences[2].narrow, Floats{6});
        EXPECT_EQ(sentences[2].n, 0);
        EXPECT_EQ(sentences[2].number, 2U);
      }
    }
  }
  EXPECT_TRUE(
      read(write("e.npz", zip({{"scores", floats("(0,)", {})}, {"lengths", integers("(0,)", {})}})))
          .empty());
}

TEST_F(InputFiles, ReadsOneArrayASentenceInTheArchivesOrder) {
  const auto sentences = read(
      write("a.npz", zip({{"z", floats("(1, 1)", {7})}, {"a", floats("(2, 2)", {1, 2, 3, 4})}})));
  ASSERT_EQ(sentences.size(), 2U);
  EXPECT_EQ(sentences[0].narrow, Floats{7});
  EXPECT_EQ(sentences[1].narrow, (Floats{1, 2, 3, 4}));
}

TEST_F(InputFiles, ReadsPaddedBatches) {
  const Floats c{1, 2, 3, 4, 5, 6, 7, 8};
  const Floats f{1, 5, 3, 7, 2, 6, 4, 8};  // The same batch.
  for (const bool fortran : {false, true}) {
    ReadOptions options;
    options.files = {write("a.npy", npy("<f4", "(2, 2, 2)", bytes_of(fortran ? f : c), fortran))};
    auto sentences = read(options);
    ASSERT_EQ(sentences.size(), 2U);
    EXPECT_EQ(sentences[0].narrow, (Floats{1, 2, 3, 4}));
    EXPECT_EQ(sentences[1].narrow, (Floats{5, 6, 7, 8}));
    for (const std::string& lengths :
         {write("l.npy", integers("(2,)", {0, 1})), write("l.txt", " 0\r\n\t1")}) {
      options.lengths = lengths;
      sentences = read(options);
      ASSERT_EQ(sentences.size(), 2U);
      EXPECT_EQ(sentences[0].narrow, Floats{1});
      EXPECT_EQ(sentences[1].narrow, (Floats{5, 6, 7, 8}));
      ReadOptions slice = options;
      slice.first = 1;
      EXPECT_EQ(read(slice)[0].narrow, (Floats{5, 6, 7, 8}));
    }
  }
}

// What lies beyond the length of a sentence is never looked at.
TEST_F(InputFiles, ReadsPaddedBatchesWithTheirLengthsFromArchives) {
  const Floats batch{1, NAN, NAN, NAN, 5, 6, 7, 8, 9, NAN, NAN, NAN};
  for (const bool deflate : {false, true}) {
    ReadOptions options;
    options.files = {write("a.npz", zip({{"lengths", integers("(3,)", {0, 1, 0})},
                                         {"scores", floats("(3, 2, 2)", batch)}},
                                        deflate))};
    const auto sentences = read(options);
    ASSERT_EQ(sentences.size(), 3U);
    EXPECT_EQ(sentences[0].narrow, Floats{1});
    EXPECT_EQ(sentences[1].narrow, (Floats{5, 6, 7, 8}));
    EXPECT_EQ(sentences[2].narrow, Floats{9});
    options.first = 2;
    EXPECT_EQ(read(options).at(0).narrow, Floats{9});
    // Without lengths beside them they are full, or --lengths has the lengths.
    options.first = 0;
    options.files = {
        write("b.npz", zip({{"scores", floats("(2, 1, 1)", {3, 4})}}, deflate)),
        write("c.npz", zip({{"scores", floats("(1, 2, 2)", {6, 99, 99, 99})}}, deflate))};
    EXPECT_EQ(read(options).at(2).n, 1);
    options.lengths = write("l.txt", "0 0 0");
    EXPECT_EQ(read(options).at(2).narrow, Floats{6});
  }
  // Label scores too.
  const auto labels = write(
      "l.npz", zip({{"label_scores", floats("(2, 2, 2, 2)", {1, 2, NAN, NAN, NAN, NAN, NAN, NAN, 11,
                                                             12, 13, 14, 15, 16, 17, 18})},
                    {"lengths", integers("(2,)", {0, 1})}}));
  LabelReader reader(labels, 2);
  LabelScores out;
  reader.read(0, 0, out);
  EXPECT_EQ(out.narrow, (Floats{1, 2}));
  reader.read(1, 1, out);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(out.view()(i / 4, i / 2 % 2, i % 2), 11 + i);
}

TEST_F(InputFiles, NumbersSentencesFromTheFirstNumberOn) {
  ReadOptions options;
  options.files = {write("a.npy", floats("(3, 1, 1)", {3, 4, 5}))};
  options.first_number = 100;
  const auto all = read(options);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].number, 100U);
  EXPECT_EQ(all[2].number, 102U);
  options.first = 101;
  options.last = 102;
  EXPECT_EQ(read(options).at(0).narrow, Floats{4});
  options.first = 1;
  options.last = 2;
  EXPECT_EQ(message([&] { read(options); }),
            "sentence 1 is not in the input, whose 3 sentences are numbered 100 to 102");
}

TEST_F(InputFiles, JoinsFilesAndSlicesThem) {
  ReadOptions options;
  options.files = {
      write("a.npz",
            zip({{"scores", floats("(3,)", {0, 1, 2})}, {"lengths", integers("(3,)", {0, 0, 0})}})),
      write("b.npy", floats("(2, 1, 1)", {3, 4})),
      write("c.npy", floats("(1, 1)", {5})),
      write("d.npy", floats("(1, 2, 2)", {6, 99, 99, 99})),
      write("e.npz", zip({{"a", floats("(1, 1)", {7})}, {"b", floats("(1, 1)", {8})}})),
  };
  options.lengths = write("l.txt", "0 0 0");
  for (std::size_t first = 0; first <= 10; ++first) {
    for (std::size_t last = 0; last <= 11; ++last) {
      options.first = first;
      options.last = last;
      const std::size_t end = std::min<std::size_t>(last, 9);
      if (end <= first) {
        EXPECT_NE(message([&] { read(options); }).find("whose 9 sentences are numbered 0 to 8"),
                  std::string::npos);
        continue;
      }
      const auto sentences = read(options);
      EXPECT_EQ(ScoreReader(options).chosen(), sentences.size());
      ASSERT_EQ(sentences.size(), end - first);
      for (std::size_t i = 0; i < sentences.size(); ++i) {
        EXPECT_EQ(sentences[i].number, first + i);
        EXPECT_EQ(sentences[i].narrow, Floats{static_cast<float>(first + i)});
      }
    }
  }
}

TEST_F(InputFiles, SkipsWithinLargeArchivesAndFiles) {
  // Larger than every buffer and window, so that skipping seeks.
  constexpr std::size_t kSide = 601;
  constexpr std::size_t kCount = 14;
  Floats values(kCount * kSide * kSide);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 9999991);
  const std::vector<std::int32_t> lengths(kCount, kSide - 1);
  const std::string scores = floats(fmt::format("({},)", values.size()), values);
  ReadOptions options;
  options.first = 12;
  for (const int kind : {0, 1, 2}) {
    options.files = {
        kind == 0
            ? write("a.npy", floats(fmt::format("({0}, {1}, {1})", kCount, kSide), values))
            : write("a.npz",
                    zip({{"scores", scores}, {"lengths", integers("(14,)", lengths)}}, kind == 2))};
    const auto sentences = read(options);
    ASSERT_EQ(sentences.size(), 2U);
    for (std::size_t s = 0; s < 2; ++s) {
      EXPECT_TRUE(std::equal(sentences[s].narrow.begin(), sentences[s].narrow.end(),
                             values.begin() + static_cast<long>((12 + s) * kSide * kSide)));
    }
  }
}

TEST_F(InputFiles, TakesLogsOfWeights) {
  ReadOptions options;
  options.weights = true;
  options.files = {write("a.npy", floats("(2, 2)", {0, 1, -1, 3}))};
  const auto sentences = read(options);
  ASSERT_TRUE(sentences.at(0).is_double);
  EXPECT_TRUE(sentences[0].narrow.empty());
  EXPECT_EQ(sentences[0].wide[0], -kInfinity);
  EXPECT_EQ(sentences[0].wide[1], 0);
  EXPECT_TRUE(std::isnan(sentences[0].wide[2]));
  EXPECT_EQ(sentences[0].wide[3], std::log(3.0));
}

TEST_F(InputFiles, ReusesASentenceOfAnotherSize) {
  ReadOptions options;
  options.files = {write("a.npy", floats("(2, 2)", {1, 2, 3, 4})),
                   write("b.npy", npy("<f8", "(1, 1)", bytes_of<double>({5}))),
                   write("c.npy", floats("(1, 1)", {6}))};
  ScoreReader reader(options);
  Sentence sentence;
  ASSERT_TRUE(reader.next(sentence) && reader.next(sentence));
  EXPECT_EQ(sentence.wide, Doubles{5});
  EXPECT_TRUE(sentence.narrow.empty());
  ASSERT_TRUE(reader.next(sentence));
  EXPECT_EQ(sentence.narrow, Floats{6});
  EXPECT_FALSE(sentence.is_double || reader.next(sentence) || reader.next(sentence));
}

TEST_F(InputFiles, ReadsLabelScores) {
  const Doubles values{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const Floats narrow(values.begin(), values.end());
  const auto lengths = integers("(3,)", {0, 1, 0});
  for (const auto& scores :
       {npy("<f8", "(12,)", bytes_of(values)), floats("(6, 2)", narrow), floats("(12,)", narrow)}) {
    const auto file = write("l.npz", zip({{"label_scores", scores}, {"lengths", lengths}}, true));
    LabelReader reader(file, 2);
    LabelScores out;
    reader.read(1, 1, out);
    for (int i = 0; i < 8; ++i) EXPECT_EQ(out.view()(i / 4, i / 2 % 2, i % 2), 3 + i);
    reader.read(2, 0, out);
    EXPECT_EQ(out.view()(0, 0, 0), 11);
    EXPECT_EQ(out.view()(0, 0, 1), 12);
  }
  EXPECT_EQ(read_label_names(write("names", "nsubj\r\nobj\ndet")),
            (std::vector<std::string>{"nsubj", "obj", "det"}));
}

}  // namespace
}  // namespace taproot::cli

// SPDX-License-Identifier: Apache-2.0
//
// Headers that are written and parsed, and arrays that are read item by item.
#include <sstream>

#include "input_files.h"
#include "io/npy_column.h"

namespace taproot::cli {
namespace {

TEST(NpyHeader, SurvivesWritingAndParsing) {
  const std::vector<std::vector<std::uint64_t>> shapes = {
      {}, {0}, {3}, {2, 5}, {(1ULL << 32U) + 7, 100}, {1ULL << 40U}};
  for (const auto& shape : shapes) {
    for (const std::string type : {"<f8", "<i4", "|b1", "<U17"}) {
      const std::string header = write_npy_header(type, shape);
      EXPECT_EQ(header.size() % 64, 0U);
      EXPECT_EQ(header.back(), '\n');
      const auto size =
          static_cast<unsigned char>(header[8]) + 256U * static_cast<unsigned char>(header[9]);
      EXPECT_EQ(size + 10, header.size());
      const NpyHeader parsed = parse_npy_header("x", header.substr(10));
      EXPECT_EQ(parsed.type, type);
      EXPECT_EQ(parsed.shape, shape);
      EXPECT_FALSE(parsed.fortran);
      std::uint64_t count = 1;
      for (const std::uint64_t extent : shape) count *= extent;
      EXPECT_EQ(parsed.count, count);
    }
  }
}

TEST(NpyHeader, KnowsTheTypes) {
  const auto of = [](const std::string& type) {
    return parse_npy_header("x",
                            "{'descr': '" + type + "', 'fortran_order': False, 'shape': (1,), }");
  };
  EXPECT_EQ(of("<U5").kind, 'U');
  EXPECT_EQ(of("<U5").width, 20U);
  EXPECT_TRUE(of(">i8").swapped);
  EXPECT_FALSE(of("|u1").swapped);
  for (const char* bad :
       {"<U0", "<U5000", "<f1", "<f16", "<i3", "|i4", "<b2", "O", "<", "<f", "<f4x"}) {
    EXPECT_EQ(of(bad).kind, 0) << bad;
  }
}

TEST_F(InputFiles, ColumnsAreReadItemByItem) {
  // More items than one piece holds.
  std::vector<std::int64_t> numbers(100000);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<std::int64_t>(i * i) - 7;
  const std::string file = write(
      "a.npz", zip({{"big", npy("<i8", "(100000,)", bytes_of(numbers))},
                    {"swapped", npy(">i4", "(2,)", bytes_of<std::int32_t>({1, -2}, true))},
                    {"flags", npy("|b1", "(2,)", std::string("\1\0", 2))},
                    {"halves", npy("<f2", "(1,)", std::string("\0\x3c", 2))},
                    {"texts", npy("<U2", "(2,)", bytes_of<std::uint32_t>({'a', 0x1F333, 'b', 0}))}},
                   true));
  const Archive archive(file);
  NpyColumn big(open_array(archive, "big"));
  for (const std::int64_t number : numbers) ASSERT_EQ(big.next_integer(), number);
  EXPECT_NE(message([&] { big.next_integer(); }).find("has only 100000 items"), std::string::npos);
  NpyColumn swapped(open_array(archive, "swapped"));
  EXPECT_EQ(swapped.next_integer(), 1);
  EXPECT_EQ(swapped.next_integer(), -2);
  NpyColumn flags(open_array(archive, "flags"));
  EXPECT_EQ(flags.next_integer(), 1);
  EXPECT_EQ(flags.next_integer(), 0);
  EXPECT_EQ(NpyColumn(open_array(archive, "halves")).next_double(), 1.0);
  NpyColumn texts(open_array(archive, "texts"));
  EXPECT_EQ(texts.next_text(), "a\xf0\x9f\x8c\xb3");
  EXPECT_EQ(texts.next_text(), "b");
  EXPECT_NE(message([&] { open_array(archive, "none"); }).find("has no array 'none'; it has 'big'"),
            std::string::npos);
}

}  // namespace
}  // namespace taproot::cli

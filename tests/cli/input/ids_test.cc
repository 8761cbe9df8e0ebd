// SPDX-License-Identifier: Apache-2.0
#include "input/ids.h"

#include "input_files.h"

namespace taproot::cli {
namespace {

using Ids = std::vector<std::uint64_t>;

TEST_F(InputFiles, ReadsIds) {
  EXPECT_EQ(read_ids(write("a.txt", "0\n18446744073709551615\r\n007")),
            (Ids{0, 18446744073709551615U, 7}));
  EXPECT_EQ(read_ids(write("a.npy", integers("(3,)", {5, 0, 2147483647}))),
            (Ids{5, 0, 2147483647}));
  EXPECT_EQ(read_ids(write("u.npy", npy(">u8", "(2,)", bytes_of(Ids{1, ~std::uint64_t{0}}, true)))),
            (Ids{1, ~std::uint64_t{0}}));
}

TEST_F(InputFiles, RefusesWhatIsNotAnId) {
  const auto refuse = [&](const std::string& bytes, const std::string& fragment) {
    const std::string file = write("ids", bytes);
    const std::string text = message([&] { read_ids(file); });
    EXPECT_NE(text.find(fragment), std::string::npos) << text;
    EXPECT_NE(text.find(file), std::string::npos) << text;
  };
  refuse("1\n\n2\n", "line 2: '' is not a whole number from 0 to 2^64 - 1");
  refuse("1\n-1\n", "line 2: '-1'");
  refuse("18446744073709551616\n", "line 1: '18446744073709551616'");
  refuse("1 2\n", "line 1: '1 2'");
  refuse("x\n", "line 1: 'x'");
  refuse("", "is empty");
  refuse(integers("(2,)", {1, -4}), "id 1 is -4, which is negative");
  refuse(integers("(1, 2)", {1, 4}), "must have one dimension, and has shape (1, 2)");
  refuse(floats("(1,)", {1}), "must hold integers");
  refuse(zip({{"a", integers("(1,)", {1})}}), "is a zip archive");
}

}  // namespace
}  // namespace taproot::cli

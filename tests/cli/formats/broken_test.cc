// SPDX-License-Identifier: Apache-2.0
//
// Files of trees that the readers refuse, and what they say about them.
#include <cstring>

#include "formats/tree_files.h"
#include "io/archive_writer.h"

namespace taproot::cli {
namespace {

TEST_F(Trees, BrokenJsonLines) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{", "line 1: the line is not JSON"},
      {"nothing", "is not JSON"},
      {"{\"sentence\":0,\"heads\":[0]} x", "is not JSON"},
      {"[1]", "the line is a list, not an object"},
      {"5", "the line is 5, not an object"},
      {"{\"heads\":[0]}", "the key 'sentence' is missing"},
      {"{\"sentence\":0}", "the key 'heads' is missing"},
      {"{\"sentence\":0,\"n\":3,\"status\":\"ok\",\"log_partition\":1}",
       "the key 'message' is missing"},
      {"{\"sentence\":0,\"exhausted\":true}", "the key 'trees' is missing"},
      {"{\"sentence\":0,\"exhausted\":false,\"trees\":1}", "'exhausted' is false, not true"},
      {"{\"sentence\":0,\"sentence\":0,\"heads\":[0]}", "the key 'sentence' appears twice"},
      {"{\"sentence\":0,\"heads\":[0],\"heads\":[0]}", "the key 'heads' appears twice"},
      {"{\"sentence\":-1,\"heads\":[0]}", "'sentence' is -1"},
      {"{\"sentence\":0.5,\"heads\":[0]}", "'sentence' is 0.5"},
      {"{\"sentence\":18446744073709551615,\"heads\":[0]}", "'sentence' is 18446744073709551615"},
      {"{\"sentence\":0,\"heads\":0}", "'heads' is 0, not a list of heads"},
      {"{\"sentence\":0,\"heads\":[0,\"1\"]}", "'heads' holds \"1\""},
      {"{\"sentence\":0,\"heads\":[0,-1]}", "'heads' holds -1"},
      {"{\"sentence\":0,\"heads\":[0,1.5]}", "'heads' holds 1.5"},
      {"{\"sentence\":0,\"heads\":[0,[1]]}", "'heads' holds a list"},
      {"{\"sentence\":0,\"heads\":[0,{}]}", "'heads' holds an object"},
      {"{\"sentence\":0,\"heads\":[0,null]}", "'heads' holds null"},
      {"{\"sentence\":0,\"heads\":[0,3]}", "the head of word 2 is 3, not one of 0 to 2"},
      {"{\"sentence\":0,\"heads\":[0,2]}", "word 2 is its own head"},
      {"{\"sentence\":0,\"heads\":[0,9999999999]}", "'heads' holds 9999999999"},
      {"{\"sentence\":0,\"heads\":[0],\"labels\":[]}", "the tree has 0 labels but 1 heads"},
      {"{\"sentence\":0,\"heads\":[0],\"labels\":[1]}", "'labels' holds 1, not a text"},
      {"{\"sentence\":0,\"heads\":[0],\"log_prob\":\"x\"}", "'log_prob' is \"x\", not a number"},
      {"{\"sentence\":0,\"heads\":[0],\"log_prob\":[1]}", "'log_prob' is a list"},
      {"{\"sentence\":0,\"heads\":[0],\"log_prob\":1e999}", "is not JSON"},
      {"{\"sentence\":0,\"heads\":[0],\"weight\":NaN}", "is not JSON"},
      {"{\"sentence\":0,\"sample\":0,\"rank\":0,\"heads\":[0]}", "both 'sample' and 'rank'"},
      {"{\"sentence\":0,\"status\":1,\"message\":\"\"}", "'status' is 1, not a text"},
      {"{\"sentence\":0,\"heads\":[0],\"labels\":[\"\xff\"]}", "the line is not UTF-8"},
      {"{\"sentence\":0,\"heads\":[0]}\n\n{\"sentence\":0,\"heads\":[0,1]}",
       "line 3: the tree has 2 heads, but the tree before it of sentence 0 has 1"},
      {"{\"sentence\":0,\"sample\":0,\"heads\":[0]}\n{\"sentence\":0,\"heads\":[0]}",
       "line 2: the tree has neither 'sample' nor 'rank', but the trees before it have 'sample'"}};
  for (const auto& [text, part] : cases) {
    SCOPED_TRACE(text);
    expect_error(put("x.jsonl", text), part);
  }
  expect_error(path("missing.jsonl"), "cannot be opened");
  expect_error(folder_.string(), "is a folder");
  expect_error(put("x.txt", "0 0 -1 0\n"), "cannot be read from text");
  // Keys of others are nothing to us, whatever they hold.
  EXPECT_EQ(read_all(put("x.jsonl",
                         "{\"a\":{\"heads\":[[1]],\"b\":[{}]},\"sentence\":0,\"heads\":[0],"
                         "\"z\":[1,[\"x\"]]}"))
                .size(),
            1U);
}

TEST_F(Trees, BrokenConllu) {
  const std::string word = "1\ta\t_\t_\t_\t_\t0\t_\t_\t_\n";
  const std::string two = word + "2\tb\t_\t_\t_\t_\t1\t_\t_\t_\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n", "block 1: word 1 has no head"},
      {"1\ta\t_\t_\t_\t_\t7\t_\t_\t_\n", "7"},
      {"1\ta\t_\t_\t_\t_\tx\t_\t_\t_\n", "x"},
      {"1\ta\t_\t_\t_\t_\t0\t_\t_\n", "columns"},
      {"# sentence = x\n" + word, "'# sentence' is 'x', not a number from 0"},
      {"# sentence = -1\n" + word, "'# sentence' is '-1'"},
      {"# sentence = 18446744073709551615\n" + word, "too large"},
      {"# sentence = 1\n# sentence = 1\n" + word, "'# sentence' appears twice"},
      {"# sample = 0\n# rank = 0\n" + word, "both '# sample' and '# rank'"},
      {"# sample = 0\n" + word + "\n" + word, "block 2: the tree does not have the same index"},
      {"# sample = 1.5\n" + word, "'# sample' is '1.5'"},
      {"# log_prob = minus one\n" + word, "'# log_prob' is 'minus one', not a number"},
      {"# weight =\n" + word, "'# weight' is ''"},
      {"# labeled = maybe\n" + word, "'maybe', not yes"},
      {"# exhausted = x\n" + word, "'# exhausted' is 'x'"},
      {"# sentence = 4\n" + word + "\n# sentence = 4\n" + two,
       "block 2: the tree has 2 heads, but the tree before it of sentence 4 has 1"}};
  for (const auto& [text, part] : cases) {
    SCOPED_TRACE(text);
    expect_error(put("x.conllu", text), part);
  }
}

// An archive of arrays that need not fit together.
struct RawArray {
  std::string name;
  std::string type;
  std::vector<std::uint64_t> shape;
  std::string bytes;
};

template <typename T>
RawArray raw(const std::string& name, const std::string& type, std::vector<std::uint64_t> shape,
             const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return {name, type, std::move(shape), bytes};
}

void write_raw(const std::string& file, const std::vector<RawArray>& raws) {
  std::vector<NpyArray> arrays;
  for (const RawArray& one : raws) {
    arrays.push_back(
        {one.name, one.type, one.shape, one.bytes.size(), [] {},
         [&one](std::vector<char>& piece) { piece.assign(one.bytes.begin(), one.bytes.end()); }});
  }
  OutputFile output(file);
  write_npz(output, file, arrays);
  output.commit();
}

TEST_F(Trees, BrokenNpz) {
  using I4 = std::vector<std::int32_t>;
  using I8 = std::vector<std::int64_t>;
  using F8 = std::vector<double>;
  const RawArray heads = raw("heads", "<i4", {2, 2}, I4{0, 1, 0, -1});
  const RawArray sentence = raw("sentence", "<i8", {2}, I8{0, 1});
  const RawArray lengths = raw("lengths", "<i4", {2}, I4{2, 1});
  const RawArray bad_text{
      "labels", "<U1", {2, 2}, std::string("\0\xd8\0\0", 4) + std::string(12, '\0')};
  const std::vector<std::pair<std::vector<RawArray>, std::string>> cases = {
      {{sentence}, "has no array 'heads'"},
      {{heads}, "has no array 'sentence'"},
      {{raw("heads", "<f8", {1, 1}, F8{0}), sentence}, "heads must hold integers"},
      {{raw("heads", "|O", {1, 1}, I8{0}), sentence}, "heads must hold integers, not '|O'"},
      {{raw("heads", "<i4", {2}, I4{0, 0}), sentence},
       "must be a matrix with one row per tree, and has shape (2,)"},
      {{raw("heads", "<i4", {3, 2}, I4{0, 1, 0, -1}), sentence}, "its shape (3, 2) needs 24 bytes"},
      {{raw("heads", "<i4", {1ULL << 62U, 1ULL << 62U}, I4{0}), sentence}, "impossible shape"},
      {{raw("heads", "<i4", {0, 1ULL << 40U}, I4{}), sentence}, "trees of 1099511627776 words"},
      {{heads, raw("sentence", "<i8", {1}, I8{0})}, "sentence must have shape (2,), and has (1,)"},
      {{heads, raw("sentence", "<f8", {2}, F8{0, 1})}, "sentence must hold integers"},
      {{heads, raw("sentence", "<i8", {2}, I8{0, -1})}, "row 1: sentence is -1"},
      {{raw("heads", "<i4", {2, 2}, I4{0, 1, -1, 0}), sentence},
       "row 1: word 2 has a head behind the padding"},
      {{raw("heads", "<i4", {2, 2}, I4{0, 1, 0, -2}), sentence}, "row 1: the head of word 2 is -2"},
      {{raw("heads", "<i4", {2, 2}, I4{0, 3, 0, 1}), sentence}, "row 0: the head of word 2 is 3"},
      {{raw("heads", "<i8", {2, 1}, I8{0, 1LL << 40U}), sentence},
       "the head of word 1 is 1099511627776"},
      {{heads, sentence, raw("lengths", "<i4", {2}, I4{2, 2})},
       "row 1: the tree has 1 heads, but 'lengths' says 2"},
      {{heads, sentence, raw("lengths", "<i4", {1}, I4{2})},
       "row 1: the tree is of sentence 1, but 'lengths' has 1"},
      {{heads, sentence, raw("lengths", "<i4", {2}, I4{2, -1})},
       "lengths: length 1 is -1, which is negative"},
      {{heads, sentence, raw("lengths", "<i4", {1, 2}, I4{2, 1})},
       "lengths must have one dimension"},
      {{heads, sentence, lengths, raw("log_prob", "<i8", {2}, I8{0, 1})},
       "log_prob must hold float"},
      {{heads, sentence, lengths, raw("log_prob", "<f8", {3}, F8{0, 1, 2})},
       "must have shape (2,), and has (3,)"},
      {{heads, sentence, lengths, raw("labels", "<i4", {2, 2}, I4{0, 0, 0, 0})},
       "must hold short texts"},
      {{heads, sentence, lengths, raw("labels", "<U1", {2, 1}, I4{65, 65})},
       "must have shape (2, 2), and has (2, 1)"},
      {{heads, sentence, lengths, bad_text}, "not a character"},
      {{heads, sentence, raw("sample", "<i8", {2}, I8{0, -5})}, "row 1: sample or rank is -5"},
      {{heads, sentence, raw("sample", "<i8", {2}, I8{0, 0}), raw("rank", "<i8", {2}, I8{0, 0})},
       "both 'sample' and 'rank'"},
      {{heads, raw("sentence", "<i8", {2}, I8{0, 0})},
       "row 1: the tree has 1 heads, but the tree before"}};
  for (const auto& [arrays, part] : cases) {
    SCOPED_TRACE(part);
    write_raw(path("x.npz"), arrays);
    expect_error(path("x.npz"), part);
  }
  write_raw(path("y.npz"), {heads, sentence, lengths});
  EXPECT_EQ(read_all(path("y.npz")).size(), 2U);
  const std::string whole = get("y.npz");
  expect_error(put("x.npz", "no zip"), "is not an .npz archive but text");
  expect_error(put("x.npz", ""), "x.npz");
  expect_error(put("x.npz", whole.substr(0, whole.size() / 2)), "damaged or truncated");
  expect_error(path("missing.npz"), "cannot be opened");
  std::string changed = whole;
  changed[changed.find("NUMPY")] = 'M';
  expect_error(put("x.npz", changed), "is not an .npy array");
  changed = whole;  // A number that is not the one whose checksum was written.
  changed[changed.find("\n", changed.find("NUMPY")) + 1] = 'x';
  expect_error(put("x.npz", changed), "CRC");
  // Whatever single byte is wrong: an error or rows, nothing else.
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const char flip : {'\x01', '\x80', '\xff'}) {
      changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ flip);
      try {
        read_all(put("x.npz", changed));
      } catch (const InputError&) {
      }
    }
  }
}
}  // namespace
}  // namespace taproot::cli

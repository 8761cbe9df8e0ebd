// SPDX-License-Identifier: Apache-2.0
//
// The library on a GPU. DependencyTrees (taproot/dependency_trees.h) works on a Cuda as it works on
// a Pool, with scores and answers in host memory. CudaDependencyTrees, in this header, has the same
// questions for scores that are in device memory already. docs/cuda.md says which answers agree
// with the CPU's bit for bit.
//
// Where there is no CUDA, in the build or on the machine, making a Cuda throws std::runtime_error;
// nothing runs on the CPU instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "taproot/types.h"
#include "taproot/without_replacement.h"

namespace taproot {

/// Whether this build has CUDA and this machine a device for it.
TAPROOT_API bool cuda_available();
/// The name of the device, or the reason why there is none.
TAPROOT_API std::string cuda_description();

/// The precision of the arithmetic on the device. Nothing is subtracted in an elimination, so
/// float32 keeps its relative accuracy there; a sentence that does not fit the range of float32 is
/// done in float64. hessian_product is always in float64. docs/cuda.md has the measured errors.
enum class Precision : std::uint8_t { kFloat64, kFloat32 };

/// What a Cuda has done so far.
struct CudaStatistics {
  /// Kernels that the process has launched since this Cuda was made, by whatever object.
  std::uint64_t launches = 0;
  /// Eliminations of a batch, or of a piece of a batch that is too large for the memory. A batch
  /// whose answers are kept has one, however many questions it is asked.
  std::uint64_t eliminations = 0;
  std::uint64_t on_cpu = 0;     ///< Sentences that DependencyTrees had to finish on the CPU.
  std::uint64_t fallbacks = 0;  ///< Trees by un-elimination because popping was given up.
  std::uint64_t exact = 0;      ///< Laws of beams that were found by contraction in float64.
};

/// A GPU: the one that is current when the Cuda is made. It keeps memory that it has used, so
/// that later calls need not allocate. Safe to use from several threads and on several streams.
/// Moved from, it may only be assigned to or destroyed.
///
/// CUDA errors throw std::runtime_error.
class TAPROOT_API Cuda {
 public:
  explicit Cuda(Precision precision = Precision::kFloat64);
  ~Cuda();
  Cuda(Cuda&&) noexcept;
  Cuda& operator=(Cuda&&) noexcept;

  /// Waits for the device.
  CudaStatistics statistics() const;
  /// Gives the memory that no object uses any more back to the device. Waits for the device.
  void release();

  struct Impl;

 private:
  friend struct CudaAccess;
  explicit Cuda(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

/// The scores of a batch in device memory, with any strides, counted in elements. S[h][m] of
/// sentence b is element start(b) + h * head_stride + m * modifier_stride, where start(b) is
/// offsets[b] or, without offsets, b * sentence_stride.
struct CudaScores {
  const void* data = nullptr;
  bool is_double = true;  ///< Else float.
  std::size_t size = 0;   ///< Sentences.
  int max_n = 0;          ///< Words of the longest sentence.
  std::ptrdiff_t sentence_stride = 0;
  std::ptrdiff_t head_stride = 0;  ///< 0 means n + 1: the rows of a sentence follow one another.
  std::ptrdiff_t modifier_stride = 1;
  /// In device memory; null if all sentences have max_n words.
  const std::int32_t* lengths = nullptr;
  /// In device memory; samples are keyed by these. Null: the position in the batch.
  const std::uint64_t* ids = nullptr;
  /// In device memory: where each sentence begins, if sentences of many lengths follow one another
  /// without padding. What an object keeps is then packed in the same way.
  const std::int64_t* offsets = nullptr;
  std::size_t cells = 0;  ///< The number of elements in all. Required with offsets.
  RootRule root = RootRule::kSingle;
  TreeFamily family = TreeFamily::kAll;
};

/// A matrix over the edges of each sentence in device memory, addressed as CudaScores are. Cells
/// beyond a sentence's length are left alone.
struct CudaEdges {
  void* data = nullptr;
  bool is_double = true;  ///< Else float.
  std::ptrdiff_t sentence_stride = 0;
  std::ptrdiff_t head_stride = 0;
  std::ptrdiff_t modifier_stride = 1;
  const std::int64_t* offsets = nullptr;
};

/// The same, to be read.
struct ConstCudaEdges {
  const void* data = nullptr;
  bool is_double = true;
  std::ptrdiff_t sentence_stride = 0;
  std::ptrdiff_t head_stride = 0;
  std::ptrdiff_t modifier_stride = 1;
  const std::int64_t* offsets = nullptr;
};

/// A number per sentence in device memory: that of sentence b is element b * stride.
struct CudaNumbers {
  void* data = nullptr;
  bool is_double = true;  ///< Else float.
  std::ptrdiff_t stride = 1;
};

/// The same, to be read.
struct ConstCudaNumbers {
  const void* data = nullptr;
  bool is_double = true;
  std::ptrdiff_t stride = 1;
};

/// Trees in device memory: tree s of sentence b has its max_n heads at heads + b * sentence_stride
/// + s * tree_stride. Beyond the sentence's length, and where there is no tree, heads are -1.
struct CudaTreeBuffer {
  std::int32_t* heads = nullptr;
  std::ptrdiff_t sentence_stride = 0;
  std::ptrdiff_t tree_stride = 0;
};

/// Where sample() and cuda_argmax() write trees: as a CudaTreeBuffer, which it can be made from,
/// but with heads of 1, 2, 4 or 8 bytes (int8, int16, int32, int64). Strides count heads.
struct CudaHeadBuffer {
  void* heads = nullptr;
  int head_bytes = 4;
  std::ptrdiff_t sentence_stride = 0;
  std::ptrdiff_t tree_stride = 0;

  CudaHeadBuffer() = default;
  CudaHeadBuffer(void* trees, int bytes, std::ptrdiff_t of_sentence, std::ptrdiff_t of_tree)
      : heads(trees), head_bytes(bytes), sentence_stride(of_sentence), tree_stride(of_tree) {}
  CudaHeadBuffer(const CudaTreeBuffer& trees)
      : heads(trees.heads),
        sentence_stride(trees.sentence_stride),
        tree_stride(trees.tree_stride) {}
};

/// A number per tree in device memory: that of tree s of sentence b is data[b * sentence_stride + s
/// * tree_stride].
struct CudaTreeValues {
  double* data = nullptr;
  std::ptrdiff_t sentence_stride = 0;
  std::ptrdiff_t tree_stride = 1;
};

/// A sentence's outcome in device memory. `status` is the number of a Status, kCudaOutOfRange or
/// kCudaBadLength. `head` and `modifier` name the cell of a bad_score.
struct CudaOutcome {
  std::int32_t status;
  std::int32_t head;
  std::int32_t modifier;
};
/// The sentence has an answer, but the device cannot find it. The CPU has the answer.
inline constexpr std::int32_t kCudaOutOfRange = 100;
/// The sentence's length is negative, or larger than max_n.
inline constexpr std::int32_t kCudaBadLength = 101;

/// Where a sample without replacement goes, all in device memory: [size][k] and [size].
struct CudaWithoutReplacement {
  CudaTreeBuffer trees;
  double* log_prob = nullptr;
  double* gumbel = nullptr;
  double* weight = nullptr;       ///< Horvitz-Thompson; 0 where there is no tree. May be null.
  double* kappa = nullptr;        ///< -inf if these are all the trees that there are.
  std::int32_t* count = nullptr;  ///< How many trees each sentence got.
};

/// The distribution over trees of each sentence of a batch in device memory.
///
/// The first question eliminates, and what it finds stays in device memory with this object: later
/// questions do not eliminate again. Only sample_without_replacement by a beam, which needs other
/// conditional laws, has an elimination of its own, and hessian_product if the precision is
/// float32. A batch whose factors would take more than 16 GB, or half of the memory that was free
/// when the Cuda was made, keeps log Z alone, and later questions eliminate again, piece by piece.
///
/// Questions are asked on a stream (a cudaStream_t; null is the default stream) and do not wait
/// for the device. They may come from several threads and on several streams: this object makes
/// each wait for the one before. The last stream must outlive the object. Sentences that are not ok
/// leave their answers as they were. Sentences beyond the range of double are answered over a wider
/// scalar, on the device. outcomes() has kCudaOutOfRange only for batches whose max_n is too long
/// for the device; sample() and sample_without_replacement() have it in other cases, too.
///
/// Throws std::invalid_argument where memory that is written to is null.
class TAPROOT_API CudaDependencyTrees {
 public:
  /// The memory of the scores, lengths, ids and offsets must outlive this object, unchanged. With
  /// `keep` false nothing but log Z is kept, which saves memory and a little time if there is only
  /// one question.
  CudaDependencyTrees(Cuda& cuda, const CudaScores& scores, bool keep = true);
  ~CudaDependencyTrees();
  CudaDependencyTrees(CudaDependencyTrees&&) noexcept;
  CudaDependencyTrees& operator=(CudaDependencyTrees&&) noexcept;

  const CudaScores& scores() const;

  /// The outcome of each sentence, into device memory.
  void outcomes(CudaOutcome* out, void* stream);
  void log_partition(double* out, void* stream);
  /// p(h -> m). If this or entropy() is asked first, one launch finds both of them and log Z.
  void marginals(const CudaEdges& out, void* stream);
  /// p(0 -> m) of sentence b into out[b * max_n + m - 1].
  void root_marginals(double* out, void* stream);
  void entropy(double* out, void* stream);
  /// log p of k trees per sentence; -inf for heads that are not a tree under the root rule, NaN
  /// where the first head is -1, which means that there is no tree.
  void log_prob(std::size_t k, const CudaTreeBuffer& trees, const CudaTreeValues& out,
                void* stream);
  /// As hessian_product() of taproot/query.h: the derivative of the marginals along `direction`.
  /// NaN where the CPU throws, which is if a value is not finite at an edge that some tree has.
  void hessian_product(const ConstCudaEdges& direction, const CudaEdges& out, void* stream);
  /// E[sum of values[h][m] over the tree's edges], as expectation() of taproot/query.h.
  void expectation(const ConstCudaEdges& values, double* out, void* stream);
  /// As cross_entropy() and kl_divergence() of taproot/query.h, with this object as p. q must be on
  /// the same device, with as many sentences, the same max_n, the same root rule and the same
  /// family of trees; it may be this object. A sentence has an answer where both are ok, and NaN if
  /// their lengths differ.
  void cross_entropy(CudaDependencyTrees& q, double* out, void* stream);
  void kl_divergence(CudaDependencyTrees& q, double* out, void* stream);
  /// The tree of the largest score: argmax() of taproot/decode.h, and always the same tree. It
  /// needs no elimination, and has outcomes of its own, which may be null. `out` has one tree per
  /// sentence, of heads -1 where there is none. `score`, where it has memory, takes the sum of the
  /// tree's scores, rounded once, or NaN.
  void argmax(CudaOutcome* outcomes, const CudaTreeBuffer& out, const CudaNumbers& score,
              void* stream);
  /// The tree with the largest expected number of right heads, as mbr() of taproot/decode.h, from
  /// the device's marginals, cut off below 2^-100; heads -1 where a sentence is not ok.
  void mbr(const CudaTreeBuffer& out, void* stream);
  /// Trees first_tree, ..., first_tree + k - 1 of each sentence by Algorithm::kAuto: those that the
  /// CPU samples for the same seed and ids. It has outcomes of its own, which may be null:
  /// sentences beyond the range of double, which only the CPU samples, are kCudaOutOfRange and have
  /// heads -1. Throws std::invalid_argument if max_n does not fit into a head of
  /// out.head_bytes bytes.
  void sample(std::size_t k, std::uint64_t seed, std::uint32_t first_tree, CudaOutcome* outcomes,
              const CudaHeadBuffer& out, void* stream);
  /// k different trees per sentence, by kAuto or, for all trees, by kBeam: those that the CPU
  /// samples. It has outcomes of its own. kAuto skips repeats; sentences for which the CPU hands
  /// over to the trie, because little probability is left, are kCudaOutOfRange, and so are the
  /// sentences that have fewer than k trees. A beam may be out of range where an elimination is
  /// not: batches with a sentence of more than 1023 words are.
  void sample_without_replacement(std::size_t k, WithoutReplacementAlgorithm algorithm,
                                  std::uint64_t seed, CudaOutcome* outcomes,
                                  const CudaWithoutReplacement& out, void* stream);

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

/// What a training step wants to know of a batch in device memory. Questions whose memory is null
/// are not asked.
struct CudaInference {
  CudaScores scores;  ///< The ids are not used.
  Precision precision = Precision::kFloat64;
  CudaNumbers log_partition;
  CudaNumbers entropy;
  /// p(h -> m), which is also d log Z / d S[h][m]. Unless sentences follow one another (offsets, or
  /// a head_stride of 0), cells beyond a sentence's length, up to max_n, are set to 0.
  CudaEdges marginals;
  /// If not null, the marginals of each sentence are multiplied by its factor: with d loss / d log
  /// Z they are d loss / d S.
  ConstCudaNumbers factor;
  /// log p of this many trees per sentence, as CudaDependencyTrees::log_prob() has them.
  std::size_t tree_count = 0;
  CudaTreeBuffer trees;
  CudaTreeValues log_prob;
  /// If true, the memory of the marginals takes the gradient of the first tree's log p instead: the
  /// edges of the tree less the marginals; 0 where log p is -inf, NaN where it is.
  bool slope_of_tree = false;
  CudaOutcome* outcomes = nullptr;  ///< [size]
};

/// How many bytes of workspace cuda_infer() needs for this question on the current device. It
/// depends on the sizes, on the precision and on which pointers are null, not on where they point.
/// Throws std::invalid_argument where cuda_infer() does, and std::runtime_error without a device.
TAPROOT_API std::size_t cuda_inference_bytes(const CudaInference& question);

/// Answers the question on the current device: two launches (three for all trees in float32), of
/// which all but the first leave alone the sentences that are done; one more for trees, and one
/// more with slope_of_tree. It keeps nothing, allocates nothing, copies nothing to the host and
/// does not wait, so that a CUDA graph can capture it; a replay reads the scores, lengths and
/// factors anew. `workspace` is device memory of at least cuda_inference_bytes(question), aligned
/// to 256 bytes, that nothing else uses until the stream has passed this call.
///
/// Every sentence gets an answer, and one without a tree does not harm the others:
///   ok                        log Z, entropy and marginals, also beyond the range of double
///   no_tree                   log Z = -inf, entropy NaN, marginals 0, log p NaN
///   bad_score, empty          NaN in log Z, entropy, log p and all (max_n+1)^2 marginals
///   a length outside 0..max_n NaN likewise; kCudaBadLength
///
/// Throws std::invalid_argument where the scores or the workspace are null or too small, and where
/// max_n is more than a block of the device has room for (some 3500 words on an H200).
TAPROOT_API void cuda_infer(const CudaInference& question, void* workspace,
                            std::size_t workspace_bytes, void* stream);

/// CudaDependencyTrees::hessian_product() with all memory from the caller, for CUDA graphs: see
/// cuda_infer(). Cells beyond a sentence's length, up to max_n, are set to 0, as are all of a
/// sentence without a tree; a sentence with another outcome has NaN. With the scores as the
/// direction and the factor -1, this is the gradient of the entropies, which may come along.
struct CudaHessian {
  CudaScores scores;  ///< The ids are not used.
  ConstCudaEdges direction;
  CudaEdges out;
  double factor = 1;                ///< What the product is multiplied by.
  CudaNumbers entropy;              ///< Without data: not wanted.
  CudaOutcome* outcomes = nullptr;  ///< [size]; may be null. Must be null without entropies.
};
TAPROOT_API std::size_t cuda_hessian_bytes(const CudaHessian& question);
TAPROOT_API void cuda_hessian_product(const CudaHessian& question, void* workspace,
                                      std::size_t workspace_bytes, void* stream);

/// CudaDependencyTrees::argmax() with all memory from the caller, for CUDA graphs: see
/// cuda_infer().
struct CudaArgmax {
  CudaScores scores;                ///< The ids are not used.
  CudaHeadBuffer trees;             ///< One tree per sentence.
  CudaNumbers score;                ///< May be null.
  CudaOutcome* outcomes = nullptr;  ///< [size]; may be null.
};
TAPROOT_API std::size_t cuda_argmax_bytes(const CudaArgmax& question);
TAPROOT_API void cuda_argmax(const CudaArgmax& question, void* workspace,
                             std::size_t workspace_bytes, void* stream);

/// Rounds answers in float64, [size] in device memory, to float32: for questions that only have
/// float64 answers. It does not wait.
TAPROOT_API void cuda_round(const double* from, std::size_t size, float* to, void* stream);

}  // namespace taproot

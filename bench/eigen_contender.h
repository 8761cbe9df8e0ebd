// SPDX-License-Identifier: Apache-2.0
//
// The same quantities the usual way: a determinant and an inverse of the Laplacian, by Eigen.
#pragma once

#include <memory>
#include <vector>

namespace taproot::bench {

/// The single-root Laplacian of Koo et al. (2007): first row the ROOT edges.
class EigenContender {
 public:
  EigenContender(const std::vector<double>& scores, int n);
  ~EigenContender();

  double log_partition();                 ///< by PartialPivLU
  void invert();                          ///< inverse(), into memory that is kept
  std::vector<double> marginals() const;  ///< from the last invert()

 private:
  struct Matrices;
  int n_;
  std::unique_ptr<Matrices> matrices_;
};

}  // namespace taproot::bench

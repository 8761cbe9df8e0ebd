// SPDX-License-Identifier: Apache-2.0
#include "eigen_contender.h"

#include <Eigen/Dense>
#include <cmath>

namespace taproot::bench {

struct EigenContender::Matrices {
  Eigen::MatrixXd weights;    // [h][m]
  Eigen::MatrixXd laplacian;  // row h-1, column m-1; row 0 replaced by the ROOT edges
  Eigen::MatrixXd inverse;
};

EigenContender::EigenContender(const std::vector<double>& scores, int n)
    : n_(n), matrices_(std::make_unique<Matrices>()) {
  Eigen::MatrixXd& w = matrices_->weights;
  w.resize(n + 1, n + 1);
  for (int h = 0; h <= n; ++h) {
    for (int m = 0; m <= n; ++m) {
      w(h, m) =
          h == m || m == 0
              ? 0.0
              : std::exp(scores[static_cast<std::size_t>(h) * static_cast<std::size_t>(n + 1) +
                                static_cast<std::size_t>(m)]);
    }
  }
  Eigen::MatrixXd& l = matrices_->laplacian;
  l = -w.block(1, 1, n, n);
  for (int m = 0; m < n; ++m) l(m, m) = w.block(1, 1, n, n).col(m).sum();
  l.row(0) = w.row(0).segment(1, n);
}

EigenContender::~EigenContender() = default;

double EigenContender::log_partition() {
  const Eigen::PartialPivLU<Eigen::MatrixXd> lu(matrices_->laplacian);
  return lu.matrixLU().diagonal().array().abs().log().sum();
}

void EigenContender::invert() { matrices_->inverse.noalias() = matrices_->laplacian.inverse(); }

std::vector<double> EigenContender::marginals() const {
  const Eigen::MatrixXd& w = matrices_->weights;
  const Eigen::MatrixXd& b = matrices_->inverse;
  const auto side = static_cast<std::size_t>(n_) + 1;
  std::vector<double> p(side * side, 0.0);
  for (int m = 1; m <= n_; ++m) {
    p[static_cast<std::size_t>(m)] = w(0, m) * b(m - 1, 0);
    for (int h = 1; h <= n_; ++h) {
      if (h == m) continue;
      double g = 0;  // The replaced row holds no word edges.
      if (m != 1) g += b(m - 1, m - 1);
      if (h != 1) g -= b(m - 1, h - 1);
      p[static_cast<std::size_t>(h) * side + static_cast<std::size_t>(m)] = w(h, m) * g;
    }
  }
  return p;
}

}  // namespace taproot::bench

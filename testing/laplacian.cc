// SPDX-License-Identifier: Apache-2.0
#include "testing/laplacian.h"

#include <cstddef>
#include <utility>

#include "testing/graph.h"

namespace taproot::oracle {
namespace {

// Square matrix over the words, 1-based as the words are.
class Matrix {
 public:
  explicit Matrix(int n)
      : n_(n), cells_(static_cast<std::size_t>(n) * static_cast<std::size_t>(n)) {}
  Real& at(int i, int j) { return cells_[index(i, j)]; }
  const Real& at(int i, int j) const { return cells_[index(i, j)]; }
  int size() const { return n_; }

 private:
  std::size_t index(int i, int j) const {
    return static_cast<std::size_t>(i - 1) * static_cast<std::size_t>(n_) +
           static_cast<std::size_t>(j - 1);
  }
  int n_;
  std::vector<Real> cells_;
};

// The row of the single-root matrix that holds the ROOT edges in place of a word's edges.
constexpr int kRootRow = 1;

// Replaces `a` by its inverse (Gauss-Jordan, partial pivoting) and returns its determinant, 0 if a
// pivot vanishes. The inner loop speaks MPFR directly: temporaries would cost more than the
// product.
Real invert(Matrix& a) {
  const int n = a.size();
  Real det = 1;
  Real product;
  std::vector<int> swapped(static_cast<std::size_t>(n) + 1);
  for (int k = 1; k <= n; ++k) {
    int best = k;
    for (int i = k + 1; i <= n; ++i) {
      if (abs(a.at(i, k)) > abs(a.at(best, k))) best = i;
    }
    swapped[static_cast<std::size_t>(k)] = best;
    if (best != k) {
      for (int j = 1; j <= n; ++j) std::swap(a.at(best, j), a.at(k, j));
      det = -det;
    }
    if (a.at(k, k) == 0) return Real(0);
    det *= a.at(k, k);
    const Real inverse_pivot = 1 / a.at(k, k);
    a.at(k, k) = 1;
    for (int j = 1; j <= n; ++j) a.at(k, j) *= inverse_pivot;
    for (int i = 1; i <= n; ++i) {
      if (i == k || a.at(i, k) == 0) continue;
      const Real factor = a.at(i, k);
      a.at(i, k) = 0;
      for (int j = 1; j <= n; ++j) {
        mpfr_mul(product.backend().data(), factor.backend().data(), a.at(k, j).backend().data(),
                 MPFR_RNDN);
        mpfr_sub(a.at(i, j).backend().data(), a.at(i, j).backend().data(), product.backend().data(),
                 MPFR_RNDN);
      }
    }
  }
  // The inverse of the row-permuted matrix; undo the swaps on the columns, last first.
  for (int k = n; k >= 1; --k) {
    const int best = swapped[static_cast<std::size_t>(k)];
    if (best == k) continue;
    for (int i = 1; i <= n; ++i) std::swap(a.at(i, best), a.at(i, k));
  }
  return det;
}

// Scales every column by its largest weight, so that masks and offsets cost no digits. Single-root:
// the largest over the word heads, and one constant for the ROOT row.
void scale(const Problem& problem, Root root, Inference& out) {
  const int n = problem.n;
  const int first_head = root == Root::kMulti ? 0 : 1;
  out.scaled_scores.assign(problem.scores.size(), Real(0));
  out.offset = 0;
  std::optional<Real> root_max;
  for (int m = 1; m <= n; ++m) {
    std::optional<double> column_max;
    for (int h = first_head; h <= n; ++h) {
      const double score = problem.scores[cell(n, h, m)];
      if (has_edge(problem, h, m) && (!column_max || score > *column_max)) column_max = score;
    }
    const Real shift = column_max.value_or(problem.scores[cell(n, 0, m)]);
    out.offset += shift;
    for (int h = 0; h <= n; ++h) {
      if (!has_edge(problem, h, m)) continue;
      out.scaled_scores[cell(n, h, m)] = Real(problem.scores[cell(n, h, m)]) - shift;
    }
    if (!has_edge(problem, 0, m)) continue;
    const Real& root_score = out.scaled_scores[cell(n, 0, m)];
    if (!root_max || root_score > *root_max) root_max = root_score;
  }
  if (root == Root::kMulti) return;
  out.offset += *root_max;
  for (int m = 1; m <= n; ++m) {
    if (has_edge(problem, 0, m)) out.scaled_scores[cell(n, 0, m)] -= *root_max;
  }
}

// Everything the formulas need: weights A, column sums d, X = M^-1 and the bound on its entries.
struct System {
  std::vector<Real> weights;  // [n+1][n+1]
  std::vector<Real> degree;   // [n+1]; ROOT counts only if multi-root
  Matrix x;
  Real x_error;
};

// d log det M / d A[h][m], from dlog det M = tr(X dM): linear in X, of which it has two entries.
Real slope(const Matrix& x, Root root, int h, int m) {
  Real slope = 0;
  if (root == Root::kMulti) {
    slope = x.at(m, m);
    if (h != 0) slope -= x.at(m, h);
  } else if (h == 0) {
    slope = x.at(m, kRootRow);
  } else {
    if (m != kRootRow) slope += x.at(m, m);
    if (h != kRootRow) slope -= x.at(m, h);
  }
  return slope;
}

// p(h -> m) = d log det M / d log A[h][m].
Bounded marginal(const System& s, Root root, int n, int h, int m) {
  const Real& weight = s.weights[cell(n, h, m)];
  return {weight * slope(s.x, root, h, m), 2 * weight * s.x_error};
}

Bounded multi_root_steps(const System& s, int n) {
  Bounded steps{0, 0};
  for (int m = 1; m <= n; ++m) {
    const Real& degree = s.degree[static_cast<std::size_t>(m)];
    steps.value += degree * s.x.at(m, m);
    steps.error += degree * s.x_error;
  }
  return steps;
}

// With L the Laplacian over the words, G = X with column q = kRootRow set to 0 has
// L G e_h = e_h - e_q, and L pi = 0 for pi = X e_q. So the inverse without row and column r is
// (L_r^-1)_mm = G_mm - G_mr - pi_m/pi_r (G_rm - G_rr); the root's marginal A_0r pi_r cancels the
// division.
Bounded single_root_steps(const System& s, const std::vector<bool>& possible, int n) {
  const auto g = [&](int i, int j) { return j == kRootRow ? Real(0) : s.x.at(i, j); };
  Bounded steps{0, 0};
  for (int r = 1; r <= n; ++r) {
    if (!possible[cell(n, 0, r)]) continue;
    const Real& pi_r = s.x.at(r, kRootRow);
    for (int m = 1; m <= n; ++m) {
      if (m == r) continue;
      const Real& pi_m = s.x.at(m, kRootRow);
      const Real left = g(m, m) - g(m, r);
      const Real right = g(r, m) - g(r, r);
      const Real factor = s.weights[cell(n, 0, r)] * s.degree[static_cast<std::size_t>(m)];
      steps.value += factor * (pi_r * left - pi_m * right);
      steps.error +=
          2 * factor * s.x_error * (abs(pi_r) + abs(pi_m) + abs(left) + abs(right) + s.x_error);
    }
  }
  return steps;
}

// Marginals and entropy. What the graph decides is not left to arithmetic: edges in no tree have 0,
// a word with one possible head has it with 1, and a lone tree has entropy 0.
void fill_in(const System& s, const std::vector<bool>& possible, Root root, int n, Inference& out) {
  out.marginals.assign(possible.size(), Bounded{0, 0});
  bool lone_tree = true;
  Real mean_score = 0;
  Real mean_error = 0;
  for (int m = 1; m <= n; ++m) {
    int heads = 0;
    for (int h = 0; h <= n; ++h) heads += possible[cell(n, h, m)] ? 1 : 0;
    if (heads > 1) lone_tree = false;
    for (int h = 0; h <= n; ++h) {
      const std::size_t c = cell(n, h, m);
      if (!possible[c]) continue;
      out.marginals[c] = heads == 1 ? Bounded{1, 0} : marginal(s, root, n, h, m);
      mean_score += out.marginals[c].value * out.scaled_scores[c];
      mean_error += out.marginals[c].error * abs(out.scaled_scores[c]);
    }
  }
  if (lone_tree) {
    out.log_det = {mean_score, 0};
    out.entropy = {0, 0};
  } else {
    out.entropy = {out.log_det.value - mean_score, out.log_det.error + mean_error};
  }
}

// The matrix M of weights; `degree` takes the column sums. Linear in the weights, so that it makes
// dM of dA as well.
Matrix matrix_of(const std::vector<Real>& weights, Root root, int n, std::vector<Real>& degree) {
  Matrix matrix(n);
  degree.assign(static_cast<std::size_t>(n) + 1, Real(0));
  for (int m = 1; m <= n; ++m) {
    Real& sum = degree[static_cast<std::size_t>(m)];
    for (int h = root == Root::kMulti ? 0 : 1; h <= n; ++h) sum += weights[cell(n, h, m)];
    for (int h = 1; h <= n; ++h) matrix.at(h, m) = h == m ? sum : -weights[cell(n, h, m)];
    if (root == Root::kSingle) matrix.at(kRootRow, m) = weights[cell(n, 0, m)];
  }
  return matrix;
}

// Fills all of out but what fill_in() and the steps do; nullopt as infer().
std::optional<System> solve(const Problem& problem, Root root, int digits, Inference& out) {
  const int n = problem.n;
  scale(problem, root, out);
  System s{std::vector<Real>(problem.scores.size(), Real(0)), {}, Matrix(n), Real(0)};
  for (int m = 1; m <= n; ++m) {
    for (int h = 0; h <= n; ++h) {
      if (!has_edge(problem, h, m)) continue;
      const std::size_t c = cell(n, h, m);
      s.weights[c] = exp(out.scaled_scores[c]);
    }
  }
  s.x = matrix_of(s.weights, root, n, s.degree);

  const Real det = invert(s.x);
  if (!(det > 0) || !isfinite(det)) return std::nullopt;

  // The inverse computed is that of M + E, |E| <= 10^-digits |M|. A matrix that rounding has made
  // singular shows here: its inverse is noise of size 10^digits.
  Real norm = 0;
  for (int i = 1; i <= n; ++i) {
    for (int j = 1; j <= n; ++j) {
      if (abs(s.x.at(i, j)) > norm) norm = abs(s.x.at(i, j));
    }
  }
  norm *= n;
  const Real perturbation = (n + 1) * pow(Real(10), -digits);
  if (!(norm * perturbation < Real("1e-30"))) return std::nullopt;
  s.x_error = 2 * norm * norm * perturbation;
  out.log_det = {log(det), 2 * n * (norm + 1) * perturbation};
  return s;
}

Matrix product(const Matrix& a, const Matrix& b) {
  const int n = a.size();
  Matrix c(n);
  for (int i = 1; i <= n; ++i) {
    for (int j = 1; j <= n; ++j) {
      c.at(i, j) = 0;
      for (int k = 1; k <= n; ++k) c.at(i, j) += a.at(i, k) * b.at(k, j);
    }
  }
  return c;
}

}  // namespace

std::optional<Inference> infer(const Problem& problem, Root root, const std::vector<bool>& possible,
                               int digits) {
  const int n = problem.n;
  Inference out;
  const std::optional<System> s = solve(problem, root, digits, out);
  if (!s) return std::nullopt;
  fill_in(*s, possible, root, n, out);
  out.expected_steps =
      root == Root::kMulti ? multi_root_steps(*s, n) : single_root_steps(*s, possible, n);
  return out;
}

std::optional<std::vector<Bounded>> infer_derivative(const Problem& problem, Root root,
                                                     const std::vector<bool>& possible,
                                                     const std::vector<double>& direction,
                                                     int digits) {
  const int n = problem.n;
  Inference inference;
  const std::optional<System> s = solve(problem, root, digits, inference);
  if (!s) return std::nullopt;
  std::vector<Real> moved(possible.size(), Real(0));
  for (int m = 1; m <= n; ++m) {
    for (int h = 0; h <= n; ++h) {
      const std::size_t c = cell(n, h, m);
      if (has_edge(problem, h, m)) moved[c] = s->weights[c] * Real(direction[c]);
    }
  }
  // dX = -X dM X; its error is that of X, first on one side, then on the other.
  std::vector<Real> moved_degree;
  const Matrix dm = matrix_of(moved, root, n, moved_degree);
  const Matrix minus_dx = product(product(s->x, dm), s->x);
  Real norm = 0;
  Real sum = 0;
  for (int i = 1; i <= n; ++i) {
    for (int j = 1; j <= n; ++j) {
      if (abs(s->x.at(i, j)) > norm) norm = abs(s->x.at(i, j));
      sum += abs(dm.at(i, j));
    }
  }
  const Real dx_error = sum * s->x_error * (2 * norm + s->x_error);
  std::vector<Bounded> derivative(possible.size(), Bounded{0, 0});
  for (int m = 1; m <= n; ++m) {
    int heads = 0;
    for (int h = 0; h <= n; ++h) heads += possible[cell(n, h, m)] ? 1 : 0;
    for (int h = 0; h <= n && heads > 1; ++h) {  // A lone head has probability 1 and keeps it.
      const std::size_t c = cell(n, h, m);
      if (!possible[c]) continue;
      derivative[c].value =
          moved[c] * slope(s->x, root, h, m) - s->weights[c] * slope(minus_dx, root, h, m);
      derivative[c].error = 2 * (abs(moved[c]) * s->x_error + s->weights[c] * dx_error);
    }
  }
  return derivative;
}

}  // namespace taproot::oracle
